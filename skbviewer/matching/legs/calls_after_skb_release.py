# SPDX-License-Identifier: MIT
"""Find calls that seem to belong to a lifetime, but came after the release of its skb.

Input: the records of one KBL with their series.  Output: a flag for each record that is asked for.
The kernel's kfree_skb() and consume_skb() fire their tracepoints when the last reference is gone
(net/core/skbuff.c).  Then the memory is freed, and the next skb may get its address.  If the probes
missed both the free and the birth of the next skb, the calls of the next skb seem to belong to the
first lifetime.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records import Records, part
from ...records.kernel_events import BIRTHS, Trait, numbers_with
from ...records.types import LATEST_NS, Int64s
from ..arrays.record_column_blocks import rows_where
from ..lifetimes.skb_lifetimes import SeriesTable
from ..record_kinds import EVENT, is_among
from .leg_cutting import LegTable

RELEASES = numbers_with(Trait.RELEASE)


def after_release(records: Records, series: SeriesTable, asked: Int64s) -> npt.NDArray[np.bool_]:
    """Return for each record of `asked` whether its lifetime's skb was released before it.

    The result is False if a birth at the same address followed the release.
    """
    last = last_life_events(records, series, asked, (*RELEASES, *BIRTHS))
    known = last >= 0
    made = np.zeros(len(asked), np.bool_)
    event = part(records, "event", last[known])
    made[known] = np.isin(event, RELEASES) & (series.of[last[known]] == series.of[asked[known]])
    return made


def until_release(records: Records, series: SeriesTable, legs: LegTable, others: Int64s) -> Int64s:
    """Return for each leg the time after which no sniffer can stamp its skb, ns.

    If the log shows the release of the skb, the result is the time of the release, because
    functions that had the skb may return much later.  If the log does not show the release, the
    result is the end of the leg.  `others` are legs with calls of another skb after the release;
    for these legs, the result is always the end of the leg.
    """
    rows = legs.rows
    released = _released_ns(records, series)[rows["series"]]
    released[others[others >= 0]] = LATEST_NS
    until = np.minimum(rows["end_ns"], released)
    return np.asarray(np.maximum(until, rows["begin_ns"]), np.int64)


def _released_ns(records: Records, series: SeriesTable) -> Int64s:
    """Return for each series when its skb was last released; LATEST_NS if this is not recorded."""

    def wanted(some: slice) -> npt.NDArray[np.bool_]:
        event = is_among(part(records, "event", some), RELEASES)
        return np.asarray(event & (part(records, "kind", some) == EVENT))

    events = rows_where(records, wanted)
    owner = series.of[events]
    events, owner = events[owner >= 0], owner[owner >= 0]
    made = np.full(len(series.parent), -1, np.int64)
    np.maximum.at(made, owner, np.asarray(part(records, "ts", events), np.int64))
    return np.where(made < 0, LATEST_NS, made)


def last_life_events(
    records: Records, series: SeriesTable, asked: Int64s, numbers: tuple[int, ...]
) -> Int64s:
    """Return for each record of `asked` the last earlier event at the address of its skb, or -1.

    The events are row numbers of `records`.  `numbers` are the kinds of events that count.  The
    birth of a clone counts as an event at the address of the clone.  An skb exists from the entry
    of the function that made it, so its birth counts from that entry on.
    """

    def wanted(some: slice) -> npt.NDArray[np.bool_]:
        event = is_among(part(records, "event", some), numbers)
        return np.asarray(event & (part(records, "kind", some) == EVENT))

    events = rows_where(records, wanted)
    child = np.isin(part(records, "event", events), numbers_with(Trait.CHILD))
    skb = np.where(child, part(records, "data", events), part(records, "skb", events))
    when = series.met[first_records(records, series, events)]
    last = _last_before((skb, when), (part(records, "skb", asked), series.met[asked]))
    return np.append(events, -1)[last]


def first_records(records: Records, series: SeriesTable, events: Int64s) -> Int64s:
    """Return the record from which on each of `events` (row numbers) is in effect.

    A birth is in effect from the entry of the function that made the skb on; any other event, from
    the event's own record on.
    """
    entry = series.owner_calls[events].astype(np.int64)
    is_birth = np.isin(part(records, "event", events), BIRTHS) & (entry >= 0)
    return np.where(is_birth, entry, events)


def _last_before(events: tuple[Int64s, Int64s], asked: tuple[Int64s, Int64s]) -> Int64s:
    """Return for each of `asked` the last event at its address before its time, or -1.

    `asked` and `events` are both (addresses, times in ns).  The result is an index of `events`.
    """
    count = len(events[0])
    address, when = (np.concatenate(both) for both in zip(events, asked, strict=True))
    is_asked = np.arange(len(address)) >= count
    order = np.lexsort((~is_asked, when, address))  # an event of the same time does not count
    at = np.where(is_asked[order], -1, np.arange(len(order)))
    before = np.maximum.accumulate(at) if len(at) else at
    mine = np.flatnonzero(is_asked[order])
    last = before[mine]
    same = last >= 0
    same[same] = address[order[last[same]]] == address[order[mine[same]]]
    made = np.full(len(asked[0]), -1, np.int64)
    made[order[mine] - count] = np.where(same, order[np.maximum(last, 0)], -1)
    return made
