# SPDX-License-Identifier: MIT
"""Join lives into series: one packet's way through one kernel.

In: a KBL.  Out: the series of each record; for each series its parent, and whether it is a
sniffer's copy.  TCP keeps the skb that it filled for retransmission and sends a clone.  What
happened to the original before the clone (filling, tcp_write_xmit) belongs to the packet that is
sent, so those records move to the clone's series.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...records import KernelLog, RecordTable
from ...records.compiled import allocation_free
from ...records.kernel_events import SEGMENT
from ...records.types import Bools, Int32s, Int64s, UInt8s
from ..arrays.record_rows import Rows, passing
from ..kernel_functions import RECEIVE_START, TRANSMIT
from ..record_kinds import ENTRY, EVENT, by_probe
from .address_lifetimes import Lives, cut
from .skb_held_from import RecordTimes


@dataclass(frozen=True)
class SeriesTable:
    """The series of one log, numbered from 0 by their first record.

    By record: `of` is its series or -1; `met` is when its function had the skb; `owner_calls` is
    the ENTRY of the call that recorded it (event_owner.py), or -1.  By series: `parent` is a series
    or -1; `tap` is True for a sniffer's copy; `size` is its number of records.
    """

    of: Int32s
    parent: Int64s
    tap: Bools
    met: RecordTimes
    owner_calls: Int32s
    size: Int32s


def build(log: KernelLog) -> SeriesTable:
    """Return the series of `log`."""
    if log.lifetimes is not None:
        return _as_logged(log, log.lifetimes)
    lives = cut(log)
    known, wired = _shown(log, lives)
    child = _headed_children(lives, known)
    root = _roots(lives, wired)
    count = len(lives.parent)
    following, rank = np.full((2, count + 1), -1, np.int32)  # the last stands for "no life"
    born = lives.birth[child], lives.parent[child], child.astype(np.int32)
    _join(lives.of, *born, root.astype(np.int32), following)
    ordered, size = np.zeros((2, count), np.int32)
    found = int(_rank(lives.of, rank, ordered, size))
    ordered, size = ordered[:found], size[:found].copy()
    parent = _parents(lives, root, rank, ordered)
    return SeriesTable(lives.of, parent, lives.tap[ordered], lives.met, lives.owner_calls, size)


def _as_logged(log: KernelLog, of: Int32s) -> SeriesTable:
    """Return the series of a log that already says which records concern one skb."""
    count, none = int(of.max(initial=-1)) + 1, np.zeros(0, np.int32)
    return SeriesTable(
        of=of,
        parent=np.full(count, -1, np.int64),
        tap=np.zeros(count, np.bool_),
        met=RecordTimes(log.records, none, np.zeros(0, np.int64)),
        owner_calls=np.full(len(of), -1, np.int32),
        size=np.bincount(of[of >= 0], minlength=count).astype(np.int32),
    )


def _shown(log: KernelLog, lives: Lives) -> tuple[Bools, Bools]:
    """Return which lives show an IP header, and which ones a driver or the receiving stack had.

    The second ones include the lives that were cut for a driver (GSO segments).
    """
    records = log.records
    rows = records.footprints if isinstance(records, RecordTable) else records
    has_ip = rows["ip_version"] != 0
    made = np.zeros((2, len(lives.parent) + 1), np.bool_)  # the last stands for "no life"
    met = {p.id: 1 for p in log.probes.values() if p.name in TRANSMIT | RECEIVE_START}
    probes = by_probe(met)
    for some in passing(records):
        kind, event, func = Rows(records, some).columns("kind event func")
        number = records.footprint[some] if isinstance(records, RecordTable) else None
        number = np.arange(some.start, some.stop, dtype=np.int32) if number is None else number
        _show(kind, event, func, number, lives.of[some], has_ip, probes, *made)
    return made[0, :-1], made[1, :-1]


@allocation_free
def _show(
    kind: UInt8s,
    event: UInt8s,
    func: Int32s,
    footprint: Int32s,
    of: Int32s,
    has_ip: Bools,
    probes: UInt8s,
    shows_ip: Bools,
    wired: Bools,
) -> None:
    """Set `shows_ip` and `wired`, by life, from some records."""
    for i in range(len(of)):
        if has_ip[footprint[i]]:
            shows_ip[of[i]] = True
        if kind[i] == ENTRY and 0 <= func[i] < len(probes) and probes[func[i]] != 0:
            wired[of[i]] = True
        if kind[i] == EVENT and event[i] == SEGMENT:
            wired[of[i]] = True


def _headed_children(lives: Lives, known: Bools) -> Int64s:
    """Return clones with an IP header whose parents have none, sorted by birth."""
    child = np.flatnonzero((lives.parent >= 0) & ~lives.tap)
    child = child[~known[lives.parent[child]] & known[child]]
    return child[np.argsort(lives.birth[child], kind="stable")]


def _roots(lives: Lives, wired: Bools) -> Int64s:
    """Return the life whose series each life joins.

    A clone that never reaches a driver (for a raw socket, say) joins its parent's series.
    """
    count = len(lives.parent)
    inner = (lives.parent >= 0) & ~lives.tap & ~wired
    root = np.where(inner, lives.parent, np.arange(count))
    for _ in range(count.bit_length()):  # each step doubles the generations covered
        above = root[root]
        if np.array_equal(above, root):
            return root
        root = above
    return np.where(root[root] == root, root, np.arange(count))  # garbage may be its own ancestor


@allocation_free
def _join(
    of: Int32s, birth: Int32s, parent: Int32s, child: Int32s, root: Int32s, following: Int32s
) -> None:
    """Move the records before a clone's birth to the clone, and all records to their roots.

    `child` are clones of `parent`, born at the records `birth`, which are sorted.  `following` is
    scratch: by life, filled with -1.
    """
    born = len(birth) - 1
    for i in range(len(of) - 1, -1, -1):
        while born >= 0 and birth[born] >= i:
            following[parent[born]] = child[born]
            born -= 1
        if of[i] >= 0:
            life = following[of[i]] if following[of[i]] >= 0 else of[i]
            of[i] = root[life]


def _parents(lives: Lives, root: Int64s, rank: Int32s, ordered: Int32s) -> Int64s:
    """Return the series of each series' parent, -1 if there is none or if it is the same series."""
    parent = lives.parent[ordered]
    found = np.where(parent >= 0, rank[root[parent]], np.int32(-1)).astype(np.int64)
    return np.where(found == np.arange(len(found)), -1, found)


@allocation_free
def _rank(of: Int32s, rank: Int32s, ordered: Int32s, size: Int32s) -> int:
    """Replace lives in `of` by series, numbered by their first record; count their records.

    Returns the number of series.
    """
    count = 0
    for i in range(len(of)):
        if of[i] >= 0:
            if rank[of[i]] < 0:
                rank[of[i]], ordered[count] = count, of[i]
                count += 1
            of[i] = rank[of[i]]
            size[of[i]] += 1
    return count
