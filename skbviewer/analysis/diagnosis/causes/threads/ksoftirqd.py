# SPDX-License-Identifier: MIT
"""Packets that waited until the kernel's thread ksoftirqd took them."""

from __future__ import annotations

from ....words.wait_kinds import SOFTIRQ
from ... import required_data
from ...finding import Finding, Rule
from ...rule_inputs import Case
from ...wait_findings import Wait, finding_of
from ..softirq_wait import ended_in_ksoftirqd, handed_off, long_waits

NAME = "ksoftirqd"
WAIT = Wait(
    NAME,
    SOFTIRQ,
    "waited until the thread ksoftirqd ran",
    "The softirq had too much to do, so the kernel left the work to the thread ksoftirqd, which "
    "competes for the CPU with other threads. Spread receiving over more CPUs, or move programs "
    "off this CPU.",
)


def _find(case: Case) -> list[Finding]:
    ns = case.spent(case.made.of_wait(SOFTIRQ))
    spans = long_waits(case, ns)
    which = case.waited(ns) & handed_off(case, spans)
    return finding_of(case, WAIT, ns, which, spans.selected(ended_in_ksoftirqd(case, spans)))


RULE = Rule(NAME, (required_data.calls(),), _find)
