# SPDX-License-Identifier: MIT
"""Packets that waited until a thread unlocked their socket."""

from __future__ import annotations

from ....words.wait_kinds import BACKLOG
from ... import required_data
from ...finding import Finding, Rule
from ...rule_inputs import Case
from ...wait_findings import Wait, finding_of

NAME = "socket-lock"
WAIT = Wait(
    NAME,
    BACKLOG,
    "waited until a thread unlocked the socket",
    "A program held the socket's lock when the packets came, so the packets waited until the "
    "program released the lock. Shorter system calls, or one socket for each thread, shorten this "
    "wait.",
)


def _find(case: Case) -> list[Finding]:
    ns = case.spent(case.made.of_wait(BACKLOG))
    return finding_of(case, WAIT, ns, case.waited(ns), case.waits(BACKLOG))


RULE = Rule(NAME, (required_data.calls(),), _find)
