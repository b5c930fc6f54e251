# SPDX-License-Identifier: MIT
"""Join lives into series: one packet's way through one kernel.

In: a KBL.  Out: the series of each record, and for each series its parent and whether it is a
sniffer's copy.  TCP keeps the skb it filled for retransmission and sends a clone; what happened to
the original up to the clone (filling, tcp_write_xmit) is the beginning of the sent packet's story,
so those records move to the clone's series.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..records import KernelLog
from .lives import Flags, Lives, cut
from .pairing import EXIT, Index, named, pair
from .phases import RECEIVE_START, TRANSMIT


@dataclass(frozen=True)
class SeriesTable:
    """`of`: series of each record or -1; `parent` (series or -1) and `tap` are per series.

    Series are numbered from 0 by their first record.  `partner` pairs entries with exits; `met` is
    the time (ns) when each record's function had the skb.
    """

    of: Index
    parent: Index
    tap: Flags
    partner: Index
    met: Index


def build(log: KernelLog) -> SeriesTable:
    """The series of `log`."""
    partner = pair(log.records)
    lives = cut(log, partner)
    of = _with_branches(log, lives, _with_preludes(log, lives))
    exits = np.flatnonzero((log.records["kind"] == EXIT) & (partner >= 0))
    of[exits] = of[partner[exits]]
    used, first = np.unique(of[of >= 0], return_index=True)
    position = np.flatnonzero(of >= 0)[first]
    rank = np.full(len(lives.parent) + 1, -1, np.int64)
    rank[used[np.argsort(position, kind="stable")]] = np.arange(len(used))
    ordered = used[np.argsort(position, kind="stable")]
    return SeriesTable(
        rank[of], rank[lives.parent[ordered]], lives.tap[ordered], partner, lives.met
    )


def _with_branches(log: KernelLog, lives: Lives, of: Index) -> Index:
    """Series with clones that never see a driver (for a raw socket, say) joined to their parent."""
    everything = np.arange(len(of))
    wired = np.unique(lives.of[named(log, everything, TRANSMIT | RECEIVE_START)])
    count = len(lives.parent)
    inner = (lives.parent >= 0) & ~lives.tap & ~np.isin(np.arange(count), wired)
    root = np.where(inner, lives.parent, np.arange(count))
    for _ in range(count.bit_length()):  # each step doubles the generations covered
        root = root[root]
    root = np.where(root[root] == root, root, np.arange(count))  # garbage may be its own ancestor
    return np.where(of >= 0, root[of], of) if count else of


def _with_preludes(log: KernelLog, lives: Lives) -> Index:
    """Lives with each headerless parent's records moved to the clone made next."""
    of = lives.of.copy()
    records = log.records
    known = np.unique(of[(records["ip_version"] != 0) & (of >= 0)])
    children = np.flatnonzero((lives.parent >= 0) & ~lives.tap)
    children = children[~np.isin(lives.parent[children], known) & np.isin(children, known)]
    children = children[np.lexsort((lives.birth[children], lives.parent[children]))]
    members = np.argsort(lives.of, kind="stable")
    sorted_lives = lives.of[members]
    begin = 0
    for i, child in enumerate(children):
        parent, birth = lives.parent[child], lives.birth[child]
        if i == 0 or lives.parent[children[i - 1]] != parent:
            begin = -1  # a new parent
        lo, hi = np.searchsorted(sorted_lives, [parent, parent + 1])
        mine = members[lo:hi]
        mine = mine[(mine > begin) & (mine <= birth)]
        of[mine] = child
        begin = birth
    return of
