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
from .kinds import Index, named
from .lives import Flags, Lives, cut
from .ordering import Small, blocks
from .phases import RECEIVE_START, TRANSMIT


@dataclass(frozen=True)
class SeriesTable:
    """`of`: series of each record or -1; `parent` (series or -1) and `tap` are per series.

    Series are numbered from 0 by their first record.  `met` is the time (ns) when each record's
    function had the skb; `told_by` is the ENTRY of the call that told each event (see tellers) or
    -1.
    """

    of: Small
    parent: Index
    tap: Flags
    met: Index
    told_by: Small


def build(log: KernelLog) -> SeriesTable:
    """The series of `log`."""
    lives = cut(log)
    of = _with_branches(log, lives, _with_preludes(log, lives))
    first = _firsts(of, len(lives.parent))
    ordered = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(of))]
    rank = np.full(len(lives.parent) + 1, -1, np.int32)
    rank[ordered] = np.arange(len(ordered))
    parent = rank[lives.parent[ordered]].astype(np.int64)
    return SeriesTable(rank[of], parent, lives.tap[ordered], lives.met, lives.told_by)


def _firsts(of: Small, count: int) -> Index:
    """The first record of each life, beyond all records where there is none."""
    first = np.full(count + 1, len(of), np.int64)  # the last is that of no life
    for rows in reversed(list(blocks(len(of)))):
        first[of[rows][::-1]] = np.arange(rows.stop - 1, rows.start - 1, -1)
    return first[:count]  # the earliest was written last


def _with_branches(log: KernelLog, lives: Lives, of: Small) -> Small:
    """Series with clones that never see a driver (for a raw socket, say) joined to their parent."""
    count = len(lives.parent)
    wired = np.zeros(count + 1, np.bool_)  # the last is that of no life
    wired[lives.of[named(log, slice(None), TRANSMIT | RECEIVE_START)]] = True
    inner = (lives.parent >= 0) & ~lives.tap & ~wired[:count]
    root = np.where(inner, lives.parent, np.arange(count))
    for _ in range(count.bit_length()):  # each step doubles the generations covered
        root = root[root]
    root = np.where(root[root] == root, root, np.arange(count))  # garbage may be its own ancestor
    if np.array_equal(root, np.arange(count)):
        return of
    return np.append(root, -1).astype(np.int32)[of]  # the last is that of no life


def _with_preludes(log: KernelLog, lives: Lives) -> Small:
    """Lives with each headerless parent's records moved to the clone made next."""
    of = lives.of.copy()
    records = log.records
    count = len(lives.parent)
    known = np.zeros(count + 1, np.bool_)  # the last is that of no life
    known[of[(records["ip_version"] != 0) & (of >= 0)]] = True
    children = np.flatnonzero((lives.parent >= 0) & ~lives.tap)
    children = children[~known[lives.parent[children]] & known[children]]
    if not len(children):
        return of
    span = np.int64(len(of) + 1)
    birth = lives.parent[children] * span + lives.birth[children]
    order = np.argsort(birth, kind="stable")
    children, birth = children[order], birth[order]
    is_parent = np.zeros(count + 1, np.bool_)
    is_parent[lives.parent[children]] = True
    mine = np.flatnonzero(is_parent[of])
    following = np.minimum(np.searchsorted(birth, of[mine] * span + mine), len(birth) - 1)
    child = children[following]  # the one born next, if of the same parent
    moves = (lives.parent[child] == of[mine]) & (lives.birth[child] >= mine)
    of[mine[moves]] = child[moves]
    return of
