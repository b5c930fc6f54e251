# SPDX-License-Identifier: MIT
"""The packets whose time in kernel is known, each with its legs.

A row K<n> of the packet list also counts as a packet, with the id -n, although no capture has it.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...matching import EXACT
from ...records.types import Int64s
from ...store.lazy_column import LazyColumn
from ...store.running_sums import RunningSums
from ...store.whole_columns import Array
from ..row_number_sets import distinct

if TYPE_CHECKING:
    from ..scope import Scope


DENSE = 16  # the whole column is read to find one of so many packets


class Units(NamedTuple):
    """Packets in the order of the packet list; rows K<n> come last, in the order of n.

    `legs` holds indices of legs: legs[at[i] : at[i + 1]] are the legs of packet i, sorted by log
    and begin.  The arrays have any integer type.  Arrays that the session stores are read when they
    are indexed.
    """

    id: Array | LazyColumn
    kernel_ns: Array | LazyColumn
    at: Array | RunningSums
    legs: Array | LazyColumn

    def rows_of(self, ids: Int64s) -> Int64s:
        """Return the indices of the packets `ids` in this table; unknown ids are left out."""
        count = len(self.id)
        if isinstance(self.id, LazyColumn) and len(ids) * DENSE < count:
            return _few_rows(self.id, ids)
        captured = self.captured
        at = np.where(
            ids > 0,
            np.searchsorted(self.id[:captured], ids),
            captured + np.searchsorted(-self.id[captured:].astype(np.int64), -ids),
        )
        return np.asarray(at[self.id[np.minimum(at, count - 1)] == ids] if count else at[:0])

    @property
    def captured(self) -> int:
        """Return the number of packets in captures; rows K<n> follow them."""
        return bisect_left(range(len(self.id)), True, key=lambda row: bool(self.id[row] < 0))

    def times(self, rows: Int64s) -> Int64s:
        """Return the time in kernel (ns) of the packets `rows` (indices)."""
        return self.kernel_ns[rows].astype(np.int64)

    def rows_with_legs(self, places: Int64s) -> Int64s:
        """Return the indices of the packets that have the legs at the indices `places` (rising)."""
        if isinstance(self.at, RunningSums):
            return self.at.last_not_above(places)
        return np.asarray(np.searchsorted(self.at, places, "right") - 1, np.int64)

    def legs_of(self, rows: Int64s) -> tuple[Int64s, Int64s]:
        """Return (legs, at): packet rows[i] has the legs legs[at[i] : at[i + 1]]."""
        if len(rows) and bool(np.all(np.diff(rows) == 1)):
            at = self.at[int(rows[0]) : int(rows[-1]) + 2].astype(np.int64)
            return self.legs[at[0] : at[-1]].astype(np.int64), at - at[0]
        first = self.at[rows].astype(np.int64)
        size = self.at[rows + 1] - first
        at = np.r_[0, np.cumsum(size)]
        place = np.repeat(first - at[:-1], size) + np.arange(at[-1])
        return self.legs[place].astype(np.int64), at


def _few_rows(column: LazyColumn, ids: Int64s) -> Int64s:
    """Return what Units.rows_of() returns, but read only the chunks that contain these ids."""
    rows, values = column.rows_with(distinct(ids))
    order = np.argsort(values, kind="stable")
    place = np.searchsorted(values, ids, sorter=order)
    known = np.flatnonzero(place < len(values))
    found = order[place[known]]
    return np.asarray(rows[found[values[found] == ids[known]]], np.int64)


def units_of(scope: Scope) -> Units:
    """Return all packets whose time in kernel is known, even those that are not chosen.

    Lifetimes without a network identity count as packets only if `scope.has_everything`.  Raises
    Cancelled.
    """
    columns = scope.columns
    matched = np.asarray(columns.array("match", "verdict")) == EXACT
    ids = np.asarray(columns.array("match", "packet"), np.int64)[matched]
    legs = np.asarray(columns.array("match", "leg"), np.int64)[matched] - 1
    kernel = np.asarray(columns.array("packet", "kernel_ns"), np.int64)
    known = kernel[ids - 1] >= 0
    ids, legs = ids[known], legs[known]
    alone, of_alone = _kernel_only(scope)
    group = np.concatenate([ids - 1, len(kernel) + alone])
    legs = np.concatenate([legs, of_alone])
    order = _order(scope, group, legs)
    if order is not None:
        group, legs = group[order], legs[order]
    first = np.flatnonzero(np.r_[True, group[1:] != group[:-1]]) if len(group) else group
    number = group[first]
    captured = int(np.searchsorted(number, len(kernel)))  # rows K<n> follow
    series = scope.of_leg("series")[legs[first[captured:]]] - 1
    own = np.asarray(columns.array("series", "kernel_ns"), np.int64)[series]
    ns = np.concatenate([kernel[number[:captured]], own])
    named = np.concatenate([number[:captured] + 1, len(kernel) - number[captured:]])
    at = np.r_[first, len(legs)]
    return Units(named.astype(np.int32), ns, at.astype(np.int32), legs.astype(np.int32))


def _kernel_only(scope: Scope) -> tuple[Int64s, Int64s]:
    """Return (n, leg) for each leg of each row K<n> whose time in kernel is known."""
    columns = scope.columns
    row = np.asarray(columns.array("series", "kernel_only"), np.int64)
    known = (row > 0) & (np.asarray(columns.array("series", "kernel_ns"), np.int64) >= 0)
    if not scope.has_everything:
        known &= np.asarray(columns.array("series", "identity"), np.int64) >= 0
    of_leg = scope.of_leg("series") - 1
    legs = np.flatnonzero(known[of_leg])
    return row[of_leg[legs]], legs


def _order(scope: Scope, group: Int64s, legs: Int64s) -> Int64s | None:
    """Return indices that sort legs by packet (`group`), log and begin; None if they are sorted.

    The legs of most sessions are sorted, and few packets have several legs.
    """
    source, begin = scope.of_leg("source"), scope.of_leg("begin_ns")
    if np.all(group[1:] >= group[:-1]):
        same = np.flatnonzero(group[1:] == group[:-1])
        before, after = legs[same], legs[same + 1]
        later = source[after] > source[before]
        later |= (source[after] == source[before]) & (begin[after] >= begin[before])
        if later.all():
            return None
    return np.lexsort((begin[legs], source[legs], group))


def chosen_rows(scope: Scope, units: Units) -> Int64s:
    """Return the indices (rising) of the packets and rows K<n> that the scope selects.

    A packet is in a time range if it was captured in this range.  A row K<n> is in a time range if
    one of its legs began in this range.
    """
    if not scope.is_chosen:
        return np.arange(len(units.id))
    packets = units.rows_of(scope.packets)
    captured = units.captured
    legs, at = units.legs_of(np.arange(captured, len(units.id)))
    if not len(legs):
        return packets
    with_leg = np.logical_or.reduceat(scope.legs[legs], at[:-1])
    return np.concatenate([packets, captured + np.flatnonzero(with_leg)])
