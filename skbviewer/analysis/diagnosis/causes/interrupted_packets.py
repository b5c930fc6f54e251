# SPDX-License-Identifier: MIT
"""Packets whose processing was interrupted by an interrupt or a softirq."""

from __future__ import annotations

from ...words.wait_kinds import INTERRUPTS
from .. import required_data
from ..finding import Finding, Rule
from ..rule_inputs import Case
from ..wait_findings import Wait, finding_of

NAME = "interrupts"
WAIT = Wait(
    NAME,
    INTERRUPTS,
    "waited while {its} CPU handled interrupts",
    "Interrupts or softirqs interrupted the work on these packets. Move the "
    "interrupts of busy devices to other CPUs (/proc/irq/*/smp_affinity).",
)


def _find(case: Case) -> list[Finding]:
    ns = case.spent(case.made.of_wait(INTERRUPTS))
    return finding_of(case, WAIT, ns, case.waited(ns), case.waits(INTERRUPTS))


RULE = Rule(NAME, (required_data.calls(),), _find)
