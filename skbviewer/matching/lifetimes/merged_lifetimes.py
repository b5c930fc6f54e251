# SPDX-License-Identifier: MIT
"""Find lifetimes whose packets were merged into the skb of another lifetime.

Input: a KBL and its series.  Output: pairs of series (merged, into).  GRO merges packets
(skb_gro_receive()), and so does a socket's queue (tcp_try_coalesce()).  When fragments are
reassembled, the fragment that arrives last takes the content of the first fragment (skb_morph() in
ip_frag_reasm()).  Each merge is recorded by an event that has the address of the other skb.  The
skb at the recorded address belongs to the last series at this address.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records import KernelLog, part
from ...records.compiled import allocation_free
from ...records.kernel_events import FREE, MORPH, Trait, numbers_with
from ...records.types import Int32s, Int64s, UInt8s
from ..arrays.hash_join import distinct
from ..arrays.record_column_blocks import Rows, record_blocks, rows_where
from ..arrays.value_numbering import IntIndex, known_number
from ..record_kinds import EVENT, is_among
from .skb_lifetimes import SeriesTable

MERGES = (*numbers_with(Trait.MERGED), MORPH)


class Merges(NamedTuple):
    """Pairs of series, sorted by `series`, each pair once: `series` was merged into `into`."""

    series: Int64s
    into: Int64s


def merges(log: KernelLog, series: SeriesTable) -> Merges:
    """Return all recorded merges of two skb lifetimes that are in `series`, the series of `log`."""
    records = log.records

    def is_merge(some: slice) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        kind, event = part(records, "kind", some), part(records, "event", some)
        return np.asarray((kind == EVENT) & is_among(event, MERGES))

    index = rows_where(records, is_merge)
    other = _others(log, series, index, np.asarray(part(records, "data", index), np.int64))
    own = series.of[index].astype(np.int64)
    moved = part(records, "event", index) == MORPH  # recorded for the skb that took the content
    merged, into = np.where(moved, other, own), np.where(moved, own, other)
    known = (merged >= 0) & (into >= 0) & (merged != into)
    merged, into = merged[known], into[known]
    pairs = distinct(merged, into)
    return Merges(merged[pairs], into[pairs])


def _others(log: KernelLog, series: SeriesTable, index: Int64s, address: Int64s) -> Int64s:
    """Return the series at each address when its record of `index` was written; -1 if unknown."""
    made = np.full(len(index), -1, np.int64)
    if not len(index):
        return made
    addresses = IntIndex()
    number, done = addresses.numbers_of(np.ascontiguousarray(address)), 0
    last = np.full(addresses.count, -1, np.int32)
    for some in record_blocks(log.records):
        rows = Rows(log.records, some)
        kind, event, skb = rows.columns("kind event skb")
        until = int(np.searchsorted(index, some.stop))
        _follow(
            some.start, kind, event, skb, series.of[some], addresses.keys, addresses.numbers, last,
            index[done:until], number[done:until], made[done:until],
        )  # fmt: skip
        done = until
    return made


@allocation_free
def _follow(
    first: int,
    kind: UInt8s,
    event: UInt8s,
    skb: Int64s,
    of: Int32s,
    keys: Int64s,
    numbers: Int32s,
    last: Int32s,
    index: Int64s,
    asked: Int32s,
    made: Int64s,
) -> None:
    """Set made[i] to the last series at address asked[i] before record index[i], or -1.

    `last` holds the last series at each address before the block, which begins at record `first`.
    """
    at = 0
    for i in range(len(kind)):
        place = known_number(skb[i], keys, numbers) if skb[i] != 0 and of[i] >= 0 else np.int64(-1)
        if place >= 0:
            last[place] = of[i]
        if at < len(index) and index[at] == first + i:
            made[at] = last[asked[at]] if asked[at] >= 0 else -1
            at += 1
        if place >= 0 and kind[i] == EVENT and event[i] == FREE:
            last[place] = -1
