# SPDX-License-Identifier: MIT
"""Join address lifetimes into series (skb lifetimes): one packet's path through one kernel.

Input: a KBL.  Output: the series of each record; for each series its parent, and whether it is a
copy for a sniffer.  TCP keeps the skb that it filled for retransmission and sends a clone.  Records
of the original before the clone's birth (filling, tcp_write_xmit) are about the packet that is
sent, so they move to the series of the clone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...records import KernelLog, RecordTable
from ...records.types import Bools, Int32s, Int64s
from ..arrays.record_column_blocks import Rows, record_blocks
from ..kernel_functions import RECEIVE_START, TRANSMIT
from ..record_kinds import by_probe
from .address_lifetimes import AddressLifetimes, assign_lifetimes
from .skb_arrival_in_function import RecordTimes
from .skb_lifetime_loops import join_clones, note_headers, number_series


@dataclass(frozen=True)
class SeriesTable:
    """The series of one log, numbered from 0 by their first record.

    By record: `of` is its series or -1; `met` is the time at which its function had the skb;
    `owner_calls` is the ENTRY of the call on whose return the record was written
    (call_of_event.py), or -1.  By series: `parent` is the series from which it was cloned, or -1;
    `tap` is True for a sniffer's copy; `size` is its number of records.
    """

    of: Int32s
    parent: Int64s
    tap: Bools
    met: RecordTimes
    owner_calls: Int32s
    size: Int32s


def build(log: KernelLog) -> SeriesTable:
    """Return the skb lifetimes (series) of `log`, and the series of each record."""
    if log.lifetimes is not None:
        return _as_logged(log, log.lifetimes)
    lives = assign_lifetimes(log)
    known, wired = _shown(log, lives)
    child = _headed_children(lives, known)
    root = _roots(lives, wired)
    count = len(lives.parent)
    following, rank = np.full((2, count + 1), -1, np.int32)  # the last stands for "no lifetime"
    born = lives.birth[child], lives.parent[child], child.astype(np.int32)
    join_clones(lives.of, *born, root.astype(np.int32), following)
    ordered, size = np.zeros((2, count), np.int32)
    found = int(number_series(lives.of, rank, ordered, size))
    ordered, size = ordered[:found], size[:found].copy()
    parent = _parents(lives, root, rank, ordered)
    return SeriesTable(lives.of, parent, lives.tap[ordered], lives.met, lives.owner_calls, size)


def _as_logged(log: KernelLog, of: Int32s) -> SeriesTable:
    """Return the series of a log that states itself which records belong to one skb."""
    count, none = int(of.max(initial=-1)) + 1, np.zeros(0, np.int32)
    return SeriesTable(
        of=of,
        parent=np.full(count, -1, np.int64),
        tap=np.zeros(count, np.bool_),
        met=RecordTimes(log.records, none, np.zeros(0, np.int64)),
        owner_calls=np.full(len(of), -1, np.int32),
        size=np.bincount(of[of >= 0], minlength=count).astype(np.int32),
    )


def _shown(log: KernelLog, lives: AddressLifetimes) -> tuple[Bools, Bools]:
    """Return two flags for each lifetime: a record shows an IP header; its skb was handed over.

    "Handed over" means that a driver or the receiving stack had the skb, or that it was cut from
    another skb for a driver (a GSO segment).
    """
    records = log.records
    rows = records.footprints if isinstance(records, RecordTable) else records
    has_ip = rows["ip_version"] != 0
    made = np.zeros((2, len(lives.parent) + 1), np.bool_)  # the last stands for "no lifetime"
    met = {p.id: 1 for p in log.probes.values() if p.name in TRANSMIT | RECEIVE_START}
    probes = by_probe(met)
    for some in record_blocks(records):
        kind, event, func = Rows(records, some).columns("kind event func")
        number = records.footprint[some] if isinstance(records, RecordTable) else None
        number = np.arange(some.start, some.stop, dtype=np.int32) if number is None else number
        note_headers(kind, event, func, number, lives.of[some], has_ip, probes, *made)
    return made[0, :-1], made[1, :-1]


def _headed_children(lives: AddressLifetimes, known: Bools) -> Int64s:
    """Return clones with an IP header whose parents have none, sorted by birth."""
    child = np.flatnonzero((lives.parent >= 0) & ~lives.tap)
    child = child[~known[lives.parent[child]] & known[child]]
    return child[np.argsort(lives.birth[child], kind="stable")]


def _roots(lives: AddressLifetimes, wired: Bools) -> Int64s:
    """Return for each address lifetime the lifetime that stands for its series.

    A clone that never reaches a driver (for example one for a raw socket) joins its parent's
    series.
    """
    count = len(lives.parent)
    inner = (lives.parent >= 0) & ~lives.tap & ~wired
    root = np.where(inner, lives.parent, np.arange(count))
    for _ in range(count.bit_length()):  # each step doubles the generations covered
        above = root[root]
        if np.array_equal(above, root):
            return root
        root = above
    return np.where(root[root] == root, root, np.arange(count))  # in garbage, ancestors form loops


def _parents(lives: AddressLifetimes, root: Int64s, rank: Int32s, ordered: Int32s) -> Int64s:
    """Return the parent series of each series; -1 if it has none, or is its own parent."""
    parent = lives.parent[ordered]
    found = np.where(parent >= 0, rank[root[parent]], np.int32(-1)).astype(np.int64)
    return np.where(found == np.arange(len(found)), -1, found)
