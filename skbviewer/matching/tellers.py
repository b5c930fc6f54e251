# SPDX-License-Identifier: MIT
"""Which call an event was told by when it returned.

In: a KBL.  Out: for each record the ENTRY of that call, or -1.  The event has the return's time and
CPU, and is the one that the function's probe stands for.  By then the skb may be freed, or in
another thread's hands: only the call says whose life the event belongs to.
"""

from __future__ import annotations

import numpy as np

from ..records import KernelLog, part
from .kinds import ENTRY, EVENT, chosen
from .ordering import Small

# ALLOC, CLONE, COPY, SEGMENT, GRO_MERGE, COALESCE, MORPH, SOCK_ENQUEUE, NF_HOOK of kbl.h
AT_EXIT = (1, 2, 3, 4, 9, 10, 11, 15, 36)


def tellers(log: KernelLog) -> Small:
    """The ENTRY of the call that told each event."""
    records = log.records
    teller = np.full(len(records), -1, np.int32)
    by_probe = {p.id: p.event for p in log.probes.values() if p.event in AT_EXIT}
    calls = np.flatnonzero((records["kind"] == ENTRY) & chosen(records["func"], list(by_probe)))
    calls = calls[part(records, "exit_ts", calls) >= 0]
    events = np.flatnonzero((records["kind"] == EVENT) & chosen(records["event"], AT_EXIT))
    if not len(calls) or not len(events):
        return teller
    stands = np.zeros(max(by_probe) + 1, np.int64)
    stands[list(by_probe)] = list(by_probe.values())
    returned, told = part(records, "exit_ts", calls), part(records, "ts", events)
    order = np.argsort(returned, kind="stable")  # nearly in order already
    calls, returned = calls[order], returned[order]
    first = np.searchsorted(returned, told)
    event, cpu = part(records, "event", events), part(records, "cpu", events)
    left = np.flatnonzero(first < len(calls))
    while len(left):  # most often one call returned at that time; of a list's packets the first
        left = left[returned[first[left]] == told[left]]
        call = calls[first[left]]
        mine = (part(records, "exit_cpu", call) == cpu[left]) & (
            stands[part(records, "func", call)] == event[left]
        )
        teller[events[left[mine]]] = call[mine]
        left = left[~mine]
        first[left] += 1
        left = left[first[left] < len(calls)]
    return teller
