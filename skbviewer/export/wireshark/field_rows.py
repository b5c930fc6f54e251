# SPDX-License-Identifier: MIT
"""The calls, legs, drops and addresses that belong to packets, for blocks of packets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...analysis.fields.field_data import ADDRESS, LEG, PACKET, ROW, SERIES, Data, View
from ...records.types import Int64s


class Owned(NamedTuple):
    """Rows of a view by packet: packet i has the rows from bounds[i] to bounds[i + 1] - 1."""

    view: View
    bounds: Int64s


class FieldRows:
    """Finds the rows of each table that belong to given packets, or skb lifetimes, of a session."""

    def __init__(self, data: Data, of: str = PACKET) -> None:
        """Find rows of packets, or of skb lifetimes if `of` is SERIES."""
        self._data, self._of = data, of
        self._sorted: dict[str, tuple[Int64s, Int64s]] = {}  # as _in_order() returns them

    def of(self, packets: Int64s, table: str) -> Owned:
        """Return the rows of `table` (see field_data) that belong to `packets`, numbers from 1.

        For skb lifetimes, these are row numbers of table series.
        """
        if table == ROW:
            return Owned(View(self._data, self._of, packets - 1), np.arange(len(packets) + 1))
        owner, leg = self._legs(packets)
        if table == LEG:
            return _owned(View(self._data, LEG, leg - 1), owner, len(packets))
        if table == ADDRESS:  # they apply to the whole series of their leg
            leg = self._data.columns.take(LEG, "series", leg - 1).astype(np.int64)
            owner, leg = _distinct(owner, leg)
        owner, rows = self._found(table, owner, leg)
        name = self._data.table(table).table
        return _owned(View(self._data, name, rows), owner, len(packets))

    def _legs(self, packets: Int64s) -> tuple[Int64s, Int64s]:
        """Return the legs of packets, and for each leg the position of its packet in `packets`."""
        if self._of == SERIES:
            owner, row = self._found(LEG, np.arange(len(packets)), packets)
            return owner, row + 1
        owner, row = self._found("match", np.arange(len(packets)), packets)
        return owner, self._data.columns.take("match", "leg", row).astype(np.int64)

    def _found(self, table: str, owner: Int64s, key: Int64s) -> tuple[Int64s, Int64s]:
        """Return the rows of `table` whose key is in `key`, and the owner of each row's key."""
        if table not in self._sorted:
            self._sorted[table] = self._in_order(table)
        ends, rows = self._sorted[table]
        key = np.minimum(key, len(ends) - 2)  # the last has no rows
        begin = ends[key]
        count = ends[key + 1] - begin
        ends = np.cumsum(count)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - count, count)
        return np.repeat(owner, count), rows[np.repeat(begin, count) + within]

    def _in_order(self, table: str) -> tuple[Int64s, Int64s]:
        """Return all rows of a table by key: key k has the rows rows[ends[k] : ends[k + 1]]."""
        columns = self._data.columns
        if table == "match":
            keys, rows = columns.array("match", "packet"), np.arange(columns.length("match"))
        elif table == LEG:
            keys, rows = columns.array(LEG, "series"), np.arange(columns.length(LEG))
        else:
            view = self._data.table(table)
            keys = view.column("leg")
            rows = np.arange(view.size) if view.rows is None else view.rows
        if table == ADDRESS:
            keys = columns.take(LEG, "series", np.maximum(keys.astype(np.int64), 1) - 1)
        keys = np.maximum(keys.astype(np.int64), 0)
        ends = np.zeros(int(keys.max(initial=0)) + 3, np.int64)
        np.cumsum(np.bincount(keys, minlength=len(ends) - 1), out=ends[1:])
        if np.all(keys[1:] >= keys[:-1]):
            return ends, rows
        return ends, rows[np.argsort(keys, kind="stable")]


def _distinct(owner: Int64s, key: Int64s) -> tuple[Int64s, Int64s]:
    """Return the pairs of owner and key without repetition, by owner."""
    order = np.lexsort((key, owner))
    owner, key = owner[order], key[order]
    new = np.ones(len(key), np.bool_)
    new[1:] = (owner[1:] != owner[:-1]) | (key[1:] != key[:-1])
    return owner[new], key[new]


def _owned(view: View, owner: Int64s, count: int) -> Owned:
    bounds = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=count), out=bounds[1:])
    return Owned(view, bounds)
