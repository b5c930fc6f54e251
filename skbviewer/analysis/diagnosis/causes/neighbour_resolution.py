# SPDX-License-Identifier: MIT
"""Packets that waited for the next hop's hardware address, or were dropped without it."""

from __future__ import annotations

import numpy as np

from .. import required_data, wording
from ..finding import CALL, WARNING, Evidence, Finding, Rule
from ..neighbour_waits import ASKS, SENDS, covered_ns, questions, waits_in_questions
from ..rule_inputs import Case
from ..wait_findings import examples

NAME = "neighbour"
ADVICE = (
    "The next hop was not in the neighbour cache, so the packet waited for ARP or neighbour "
    "discovery. This is normal for a first packet; if it happens often, see ip neigh and "
    "net.ipv4.neigh.*.gc_stale_time, or set a permanent entry."
)


def _find(case: Case) -> list[Finding]:
    found = []
    asked, until, failed = questions(case)
    waits = waits_in_questions(case)
    for is_failure in (False, True):
        mine = np.flatnonzero(failed == is_failure)
        leg = case.leg_of(asked[mine])
        (place, row), begin = case.packets_of(leg), case.of_call("entry_ns", asked[mine])
        spans = waits.selected(np.isin(waits.leg, leg))
        ns = covered_ns(spans.row, spans.begin, spans.end, len(case.rows))
        which = ns > 0 if is_failure else case.waited(ns)
        if not which.any():
            continue
        worst = case.worst(ns, which)
        first, number = int(worst[0]), int(which.sum())
        name = wording.packet(case.ids(worst[:1])[0])
        end = (
            "no host answered, so the packet was not sent"
            if is_failure
            else "then the packet was sent"
        )
        text = (
            f"{wording.packets(number)} waited for the hardware address of the next hop. "
            f"{name[0].upper()}{name[1:]} waited {wording.time(int(ns[first]))}, "
            f"{wording.share(int(ns[first]), int(case.kernel_ns[first]))} of its time in kernel; "
            f"{end}."
        )
        own = place[row == first]
        at = own[np.argmax((until[mine] - begin)[own])]
        call = Evidence(
            CALL, int(asked[mine][at]) + 1, f"{ASKS} found no address", int(begin[at]),
            int(until[mine][at] - begin[at]),
        )  # fmt: skip
        evidence = (call, *examples(case, worst, ns, "address resolution"))
        explains = ("queue", "other packets", "interrupts", "outside probed functions")
        found.append(
            Finding(
                NAME, WARNING, case.ids(worst[:1])[0], number, int(ns[which].sum()), text, evidence,
                ADVICE, case.rows[np.flatnonzero(which)], explains,
            )
        )  # fmt: skip
    return found


RULE = Rule(
    NAME,
    (required_data.calls(), required_data.functions(ASKS), required_data.functions(SENDS)),
    _find,
)
