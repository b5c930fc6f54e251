# SPDX-License-Identifier: MIT
"""Find the calls, legs, drops and addresses that belong to packets, block by block."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...analysis.fields.field_source_tables import (
    ADDRESS,
    LEG,
    PACKET,
    ROW,
    SERIES,
    Array,
    Data,
    View,
)
from ...analysis.group_starts import group_bounds
from ...records.types import Int64s


class Owned(NamedTuple):
    """Rows of a view by packet: packet i has the rows from bounds[i] to bounds[i + 1] - 1."""

    view: View
    bounds: Int64s


class FieldRows:
    """Finds the rows of a session's tables that belong to given packets or skb lifetimes."""

    def __init__(self, data: Data, of: str = PACKET) -> None:
        """Find the rows of packets or, if `of` is SERIES, of skb lifetimes."""
        self._data, self._of = data, of
        self._sorted: dict[str, tuple[Int64s, Int64s | None]] = {}  # as _in_order() returns them

    def of(self, packets: Int64s, table: str) -> Owned:
        """Return the rows of `table` (see field_data) that belong to `packets` (numbers from 1).

        For skb lifetimes, `packets` are row numbers of table series.
        """
        if table == ROW:
            return Owned(View(self._data, self._of, packets - 1), np.arange(len(packets) + 1))
        bounds, leg = self._legs(packets)
        if table == LEG:
            return Owned(View(self._data, LEG, leg - 1), bounds)
        if table == ADDRESS:  # they apply to the whole series of their leg
            leg = self._data.columns.take(LEG, "series", leg - 1).astype(np.int64)
            bounds, leg = _distinct(bounds, leg)
        bounds, rows = self._found(table, bounds, leg)
        return Owned(View(self._data, self._data.table(table).table, rows), bounds)

    def _legs(self, packets: Int64s) -> tuple[Int64s, Int64s]:
        """Return bounds and legs: packet i has the legs bounds[i] to bounds[i + 1] - 1."""
        each = np.arange(len(packets) + 1)
        if self._of == SERIES:
            bounds, rows = self._found(LEG, each, packets)
            return bounds, rows + 1
        bounds, rows = self._found("match", each, packets)
        return bounds, self._data.columns.take("match", "leg", rows).astype(np.int64)

    def _found(self, table: str, bounds: Int64s, key: Int64s) -> tuple[Int64s, Int64s]:
        """Return bounds and rows of a table: packet i has rows[bounds[i] : bounds[i + 1]].

        In the arguments, packet i has the keys from bounds[i] to bounds[i + 1].
        """
        if table not in self._sorted:
            self._sorted[table] = self._in_order(table)
        first, rows = self._sorted[table]
        key = np.minimum(key, len(first) - 2)  # the last has no rows
        begin = first[key]
        count = first[key + 1] - begin
        ends = np.zeros(len(key) + 1, np.int64)
        np.cumsum(count, out=ends[1:])
        found = np.repeat(begin - ends[:-1], count)
        found += np.arange(len(found))
        return ends[bounds], found if rows is None else rows[found]

    def _in_order(self, table: str) -> tuple[Int64s, Int64s | None]:
        """Return a table's rows sorted by key: rows[ends[k] : ends[k + 1]] have the key k.

        `rows` is None if key k has exactly the rows from ends[k] to ends[k + 1].
        """
        keys, rows = self._keys(table)
        keys = np.maximum(keys, 0) if keys.min(initial=0) < 0 else keys
        count = int(keys.max(initial=0)) + 2
        ends = group_bounds(keys, count)
        if ends is not None:
            return ends, rows
        ends = np.zeros(count + 1, np.int64)
        np.cumsum(np.bincount(keys, minlength=count), out=ends[1:])
        order = np.argsort(keys, kind="stable")
        return ends, order if rows is None else rows[order]

    def _keys(self, table: str) -> tuple[Array, Int64s | None]:
        """Return the keys of a table's rows, and the numbers of these rows (None: all rows)."""
        columns = self._data.columns
        if table == "match":
            return columns.array("match", "packet"), None
        if table == LEG:
            return columns.array(LEG, "series"), None
        view = self._data.table(table)
        keys = view.column("leg")
        if table == ADDRESS:
            keys = columns.take(LEG, "series", np.maximum(keys.astype(np.int64), 1) - 1)
        return keys, view.rows


def _distinct(bounds: Int64s, key: Int64s) -> tuple[Int64s, Int64s]:
    """Return the distinct keys of each packet, and the bounds of the packets' keys."""
    owner = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    order = np.lexsort((key, owner))
    owner, key = owner[order], key[order]
    new = np.ones(len(key), np.bool_)
    new[1:] = (owner[1:] != owner[:-1]) | (key[1:] != key[:-1])
    ends = np.zeros(len(bounds), np.int64)
    np.cumsum(np.bincount(owner[new], minlength=len(ends) - 1), out=ends[1:])
    return ends, key[new]
