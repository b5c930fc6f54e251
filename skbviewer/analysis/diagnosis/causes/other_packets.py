# SPDX-License-Identifier: MIT
"""Packets whose thread handled other packets before it continued with them."""

from __future__ import annotations

from ...words.wait_kinds import OTHERS
from .. import needs
from ..case import Case
from ..finding import Finding, Rule
from ..waiting import Wait, finding_of

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


RULE = Rule(NAME, (needs.calls(),), _find)
