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
    "The packet was whole only when its last fragment came. Avoid fragments: lower the MTU of "
    "the sender, or let path MTU discovery work.",
)


def _find(case: Case) -> list[Finding]:
    ns = case.spent(case.made.of_wait(REASSEMBLY))
    return finding_of(case, WAIT, ns, case.waited(ns), case.waits(REASSEMBLY))


RULE = Rule(NAME, (required_data.calls(),), _find)
