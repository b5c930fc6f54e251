# SPDX-License-Identifier: MIT
"""Which return of a function an event was told by.

In: a KBL and its call partners.  Out: for each record the EXIT that told it, or -1.  The event has
the exit's time and CPU, and is the one that the function's probe stands for.  By then the skb may
be freed, or in another thread's hands: only the call says whose life the event belongs to.
"""

from __future__ import annotations

import numpy as np

from ..records import KernelLog
from .ordering import dense
from .pairing import EVENT, EXIT, Index, chosen

# ALLOC, CLONE, COPY, SEGMENT, GRO_MERGE, COALESCE, MORPH, SOCK_ENQUEUE, NF_HOOK of kbl.h
AT_EXIT = (1, 2, 3, 4, 9, 10, 11, 15, 36)


def tellers(log: KernelLog, partner: Index) -> Index:
    """The EXIT of each event told by one."""
    records = log.records
    teller = np.full(len(records), -1, np.int64)
    by_probe = {p.id: p.event for p in log.probes.values() if p.event in AT_EXIT}
    exits = np.flatnonzero(
        (records["kind"] == EXIT) & (partner >= 0) & chosen(records["func"], list(by_probe))
    )
    events = np.flatnonzero((records["kind"] == EVENT) & chosen(records["event"], AT_EXIT))
    if not len(exits) or not len(events):
        return teller
    stands = np.zeros(max(by_probe) + 1, np.int64)
    stands[list(by_probe)] = list(by_probe.values())
    moment = np.cumsum(np.diff(records["ts"], prepend=records["ts"][:1]) != 0)  # in time order
    cpu = dense(records["cpu"])
    span = np.int64((int(cpu.max()) + 1) * (max(AT_EXIT) + 1))

    def key(item: Index, kind: Index) -> Index:
        return moment[item] * span + cpu[item].astype(np.int64) * (max(AT_EXIT) + 1) + kind

    told = key(exits, stands[records["func"][exits]])
    order = np.argsort(told, kind="stable")
    told = told[order]
    wanted = key(events, records["event"][events].astype(np.int64))
    # Of a call that carries several packets the first: they return at one time, the reader puts
    # the packets after the first behind it, and the event is of the first.
    found = np.minimum(np.searchsorted(told, wanted), len(told) - 1)
    same = told[found] == wanted
    teller[events[same]] = exits[order[found[same]]]
    return teller
