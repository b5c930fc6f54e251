# SPDX-License-Identifier: MIT
"""Which return of a function an event was told by.

In: a KBL and its call partners.  Out: for each record the EXIT that told it, or -1.  The event has
the exit's time and CPU, and is the one that the function's probe stands for.  By then the skb may
be freed, or in another thread's hands: only the call says whose life the event belongs to.
"""

from __future__ import annotations

import numpy as np

from ..records import KernelLog
from .pairing import EVENT, EXIT, Index

# ALLOC, CLONE, COPY, SEGMENT, GRO_MERGE, COALESCE, MORPH, SOCK_ENQUEUE, NF_HOOK of kbl.h
AT_EXIT = (1, 2, 3, 4, 9, 10, 11, 15, 36)


def tellers(log: KernelLog, partner: Index) -> Index:
    """The EXIT of each event told by one."""
    records = log.records
    teller = np.full(len(records), -1, np.int64)
    by_probe = {p.id: p.event for p in log.probes.values() if p.event in AT_EXIT}
    exits = np.flatnonzero((records["kind"] == EXIT) & (partner >= 0))
    exits = exits[np.isin(records["func"][exits], list(by_probe))]
    events = np.flatnonzero((records["kind"] == EVENT) & np.isin(records["event"], AT_EXIT))
    if not len(exits) or not len(events):
        return teller
    stands = np.zeros(max(by_probe) + 1, np.int64)
    stands[list(by_probe)] = list(by_probe.values())
    both = np.concatenate([exits, events])
    kind = np.concatenate([stands[records["func"][exits]], records["event"][events]])
    key = np.stack([records["ts"][both], records["cpu"][both].astype(np.int64), kind], axis=1)
    _, place = np.unique(key, axis=0, return_inverse=True)
    place = place.reshape(-1)
    exit_at = np.full(int(place.max()) + 1, -1, np.int64)
    exit_at[place[: len(exits)]] = exits
    teller[events] = exit_at[place[len(exits) :]]
    return teller
