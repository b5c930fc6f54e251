# SPDX-License-Identifier: MIT
"""Packets that waited for their last fragment."""

from __future__ import annotations

from ...words.wait_kinds import REASSEMBLY
from .. import required_data
from ..finding import Finding, Rule
from ..rule_inputs import Case
from ..wait_findings import Wait, finding_of

NAME = "reassembly"
WAIT = Wait(
    NAME,
    REASSEMBLY,
    "waited for other fragments of the same packet",
    "The kernel could reassemble the packet only when its last fragment had come. Avoid fragments: "
    "lower the sender's MTU, or let the ICMP messages of path MTU discovery pass.",
)


def _find(case: Case) -> list[Finding]:
    ns = case.spent(case.made.of_wait(REASSEMBLY))
    return finding_of(case, WAIT, ns, case.waited(ns), case.waits(REASSEMBLY))


RULE = Rule(NAME, (required_data.calls(),), _find)
