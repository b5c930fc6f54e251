# SPDX-License-Identifier: MIT
"""Packets that were dropped because the receiving socket's queue was full."""

from __future__ import annotations

from ....records.kbl_layout import KblEvent
from ...breakdown.lost_packets import FULL
from .. import required_data, wording
from ..drop_events import drops_of
from ..finding import CRITICAL, EVENT, PACKET, Evidence, Finding, Rule
from ..rule_inputs import EXAMPLES, Case

NAME = "receive-queue-full"
ADVICE = (
    "The program reads more slowly than packets arrive. Let the program read faster or in more "
    "threads; a larger buffer (SO_RCVBUF, net.core.rmem_max) only helps against bursts."
)


def _find(case: Case) -> list[Finding]:
    drops = drops_of(case)
    found = []
    for key in (one for one in drops.keys if one.reason in FULL):
        mine = drops.positions(key)
        number = len(mine)
        shown = [one for one in drops.packet[mine][:EXAMPLES].tolist() if one]
        place = f" in {key.place.split('+')[0]}" if key.place else ""
        text = (
            "The receive queue of a socket was full: "
            f"{wording.packets_at_least(number, case.may_lack_records)} "
            f"{wording.were(number)} dropped ({key.reason}{place})."
        )
        evidence = [
            Evidence(EVENT, int(event) + 1, f"{key.reason} at {key.place}", int(ts))
            for event, ts in zip(drops.event[mine][:EXAMPLES], drops.ts[mine], strict=False)
        ]
        evidence += [Evidence(PACKET, one, wording.packet(one)) for one in shown]
        first = shown[0] if shown else None
        one = Finding(NAME, CRITICAL, first, number, None, text, tuple(evidence), ADVICE)
        found.append(one._replace(rows=drops.rows(mine)))
    return found


RULE = Rule(
    NAME,
    (required_data.events("drop", KblEvent.DROP, KblEvent.CONSUME),),
    _find,
    absence=(required_data.headers(),),
)
