# SPDX-License-Identifier: MIT
"""Sort keys for the rows of the packet list, when the user sorts by a field."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...records.types import INT64_MAX, Bools, Int64s
from .field_definition import Field, Kind, Values
from .field_source_tables import LEG, PACKET, ROW, SERIES, Array, Data, View

Part = tuple[View, Int64s]  # a view, and positions of rows in it


def keys_of(field: Field, parts: Sequence[Part]) -> tuple[Array, Bools]:
    """Return a sort key for each row of all `parts`, in this order, and whether each key is known.

    If a field has several values in a row, the first value is used.  If a row has several calls,
    legs or drops, the smallest value is used; for durations, the largest.
    """
    found = [_keys(field, view, rows) for view, rows in parts]
    if field.kind is Kind.IPV6:
        return _ranked(np.concatenate([keys for keys, _ in found])), _joined(found)
    return np.concatenate([keys for keys, _ in found]), _joined(found)


def _joined(found: list[tuple[Array, Bools]]) -> Bools:
    return np.concatenate([known for _, known in found])


def _keys(field: Field, view: View, rows: Int64s) -> tuple[Array, Bools]:
    if field.table == ROW:
        values = field.make(view)[0]
        return _comparable(field.kind, values)[rows], values.present()[rows]
    values = field.make(view.data.table(field.table))[0]
    largest = field.kind is Kind.DURATION
    keys, known = _carried(view, field.table, _comparable(field.kind, values), values, largest)
    return keys[rows], known[rows]


def _comparable(kind: Kind, values: Values) -> Array:
    """Return numbers that are in the same order as the values."""
    if kind is Kind.STRING:
        texts = np.array([text.lower() for text in values.texts or ()] + [""])
        return np.unique(texts, return_inverse=True)[1][values.low]
    if kind is Kind.IPV6 and values.high is not None:
        return np.stack([_unsigned(values.high), _unsigned(values.low)], axis=1)
    return values.low


def _unsigned(half: Array) -> Array:
    return half.astype(np.int64, copy=False).view(np.uint64)


def _ranked(halves: Array) -> Array:
    order = np.lexsort((halves[:, 1], halves[:, 0]))
    new = np.r_[False, (np.diff(halves[order], axis=0) != 0).any(axis=1)]
    rank = np.empty(len(order), np.int64)
    rank[order] = np.cumsum(new)[: len(order)]
    return rank


def _carried(
    view: View, table: str, keys: Array, values: Values, largest: bool
) -> tuple[Array, Bools]:
    """Return for each row of `view` the smallest (or largest) key of its calls, legs or drops."""
    data, known = view.data, values.present()
    legs = np.arange(len(keys)) if table == LEG else data.table(table).column("leg") - 1
    of_leg, leg_known = _reduced(legs, keys, known & (legs >= 0), data.columns.length(LEG), largest)
    row, leg = _pairs(data, view)
    found = _reduced(row, of_leg[leg], leg_known[leg], view_size(data, view), largest)
    return (found[0], found[1]) if view.rows is None else (found[0][view.rows], found[1][view.rows])


def view_size(data: Data, view: View) -> int:
    """Return the number of rows of the whole table from which `view` takes rows."""
    return data.columns.length(view.table)


def _pairs(data: Data, view: View) -> tuple[Array, Array]:
    """Return (row, leg), both 0-based, for each leg of each row of the view's table."""
    if view.table == PACKET:
        return data.columns.array("match", "packet") - 1, data.columns.array("match", "leg") - 1
    assert view.table == SERIES
    series = data.columns.array(LEG, "series") - 1
    return series, np.arange(len(series))


def _reduced(
    at: Array, keys: Array, known: Bools, count: int, largest: bool
) -> tuple[Array, Bools]:
    """Return each position's smallest (or largest) known key, and whether it has one."""
    pick = np.maximum if largest else np.minimum
    found = np.full(count, -1 if largest else INT64_MAX, np.int64)
    pick.at(found, at[known], keys[known].astype(np.int64))
    there = np.zeros(count, np.bool_)
    there[at[known]] = True
    return found, there
