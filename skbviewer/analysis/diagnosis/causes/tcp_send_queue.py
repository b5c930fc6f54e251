# SPDX-License-Identifier: MIT
"""Packets that waited in TCP's queue of segments to be sent or sent again."""

from __future__ import annotations

from ...words.wait_kinds import SENDING
from .. import required_data
from ..finding import Finding, Rule
from ..rule_inputs import Case
from ..wait_findings import Wait, finding_of

NAME = "send-queue"
WAIT = Wait(
    NAME,
    SENDING,
    "waited in the send queue of TCP",
    "TCP did not send the packets at once: the congestion window or the receiver's window was used "
    "up, or too much of the connection's data was already queued below TCP (TCP small queues). See "
    "'ss -ti' for cwnd and rwnd_limited.",
)


def _find(case: Case) -> list[Finding]:
    ns = case.spent(case.made.of_wait(SENDING))
    return finding_of(case, WAIT, ns, case.waited(ns), case.waits(SENDING))


RULE = Rule(NAME, (required_data.calls(),), _find)
