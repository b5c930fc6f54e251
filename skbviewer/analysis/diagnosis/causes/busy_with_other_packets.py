# SPDX-License-Identifier: MIT
"""Packets that waited because their thread handled other packets first."""

from __future__ import annotations

from ...words.wait_kinds import OTHERS
from .. import required_data
from ..finding import Finding, Rule
from ..rule_inputs import Case
from ..wait_findings import Wait, finding_of

NAME = "other-packets"
WAIT = Wait(
    NAME,
    OTHERS,
    "waited while {its} thread handled other packets",
    "The thread handled other packets first: packets of the same batch, answers to a packet, or "
    "copies for a sniffer. Smaller batches shorten this wait, but reduce throughput.",
)


def _find(case: Case) -> list[Finding]:
    ns = case.spent(case.made.of_wait(OTHERS))
    return finding_of(case, WAIT, ns, case.waited(ns), case.waits(OTHERS))


RULE = Rule(NAME, (required_data.calls(),), _find)
