# SPDX-License-Identifier: MIT
"""Stored columns for some rows of a view, with those of the rows that are joined to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ...records.types import Bools, Int32s, Int64s
from .. import schema
from ..whole_columns import Columns
from .distinct_values import distinct
from .expressions import Join, View, table_of

FEW = 1 << 15  # combinations of keys that are all searched, whether they occur or not
Array = npt.NDArray[Any]
Small = Mapping[str, Array]  # all columns of a table with few rows


class Tables:
    """The tables of one session: bulk tables by column, others read once as a whole."""

    def __init__(self, columns: Columns, read: Callable[[str], Small]) -> None:
        """`read` returns a table that has no column chunks."""
        self.columns = columns
        self._read = read
        self._small: dict[str, Small] = {}
        self._sorted: dict[Join, tuple[Int64s, Int64s]] = {}
        self._texts: dict[str, tuple[Int32s, list[str]]] = {}
        self._names: dict[tuple[str, int], dict[Any, str]] = {}

    def small(self, table: str) -> Small:
        """A table that has few rows; integers are int64, texts objects."""
        if table not in self._small:
            self._small[table] = self._read(table)
        return self._small[table]

    def column(self, name: str) -> Array:
        """A whole column, of a bulk table or a small one."""
        table, _, column = name.partition(".")
        if table in schema.CHUNKED:
            return self.columns.array(table, column)
        return self.small(table)[column]

    def texts(self, name: str) -> tuple[Int32s, list[str]]:
        """A text column of a small table: a code for each row, and the texts by code."""
        if name not in self._texts:
            table, _, column = name.partition(".")
            rows = self.small(table)[column].tolist()
            words = sorted(set(rows))
            place = {word: code for code, word in enumerate(words)}
            self._texts[name] = np.array([place[row] for row in rows], np.int32), words
        return self._texts[name]

    def names(self, table: str, key: str, value: str, source: int) -> dict[Any, str]:
        """Texts of a small table by another column, for one source."""
        if (table, source) not in self._names:
            small = self.small(table)
            mine = np.flatnonzero(small["source"] == source)
            pairs = zip(small[key][mine].tolist(), small[value][mine].tolist(), strict=True)
            self._names[table, source] = dict(pairs)
        return self._names[table, source]

    def order(self, join: Join) -> tuple[Int64s, Int64s]:
        """Keys of the joined table in ascending order, and its rows in that order."""
        if join not in self._sorted:
            names = [f"{join.table}.{key}" for key, _ in join.keys]
            keys = joined_keys([self.column(name).astype(np.int64) for name in names])
            rows = np.argsort(keys, kind="stable")
            self._sorted[join] = keys[rows], rows
        return self._sorted[join]


def joined_keys(keys: list[Int64s]) -> Int64s:
    """A hash of each row's keys.  Rows with equal hashes are compared by their keys later."""
    made = keys[0].copy()
    for key in keys[1:]:
        made = (made ^ (made >> 31)) * np.int64(-7046029254386353131) + key  # wraps around
    return made


class ViewRows:
    """Some rows of a view's base table: `count` from `first` on, or those of them in `some`."""

    def __init__(self, tables: Tables, view: View, first: int, count: int) -> None:
        self._tables, self._view = tables, view
        self._first, self._count = first, count
        self._some: Int64s | None = None
        self._joins = {join.table: join for join in view.joins}
        self._kept: dict[str, Array] = {}
        self._at: dict[str, Int64s] = {}
        self._distinct: dict[str, tuple[Int32s, Int64s]] = {}

    def __len__(self) -> int:
        return self._count if self._some is None else len(self._some)

    def keep(self, some: Bools) -> None:
        """Leave out the rows that are not in `some`."""
        rows = np.flatnonzero(some)
        self._some = rows if self._some is None else self._some[rows]
        self._kept, self._at, self._distinct = {}, {}, {}

    def stored(self, name: str) -> Array:
        """The values of a stored column; see missing() for rows without a joined row."""
        if name not in self._kept:
            self._kept[name] = self._load(name)
        return self._kept[name]

    def _load(self, name: str) -> Array:
        table, _, column = name.partition(".")
        if table != self._view.base:
            whole = self._tables.column(name)
            if not len(whole):
                return np.zeros(len(self), whole.dtype)
            return np.asarray(whole[np.maximum(self.rows_of(table), 0)])
        if column == "id":
            made: Array = np.arange(self._first + 1, self._first + self._count + 1)
        elif table == "call" and column == "exit_ns":  # not stored as a chunk
            entry, took = self.stored("call.entry_ns"), self.stored("call.dur_ns")
            return np.where(took < 0, -1, entry.astype(np.int64) + took)
        else:
            made = self._tables.columns.part(table, column, self._first, self._count)
        return made if self._some is None else made[self._some]

    def distinct(self, name: str) -> tuple[Int32s, Int64s]:
        """Codes and distinct values of a stored column; see distinct()."""
        if name not in self._distinct:
            self._distinct[name] = distinct(self.stored(name))
        return self._distinct[name]

    def missing(self, name: str) -> Bools | None:
        """Which rows have no row of the column's table; None if all have one."""
        table = table_of(name)
        if table == self._view.base:
            return None
        missing = self.rows_of(table) < 0
        return missing if missing.any() else None

    def rows_of(self, table: str) -> Int64s:
        """Rows (from 0) of a joined table, -1 where there is none."""
        if table not in self._at:
            join = self._joins[table]
            by_id = [key for key, _ in join.keys] == ["id"]
            self._at[table] = self._by_id(join) if by_id else self._by_keys(join)
        return self._at[table]

    def _by_id(self, join: Join) -> Int64s:
        ids = self.stored(join.keys[0][1])
        rows = ids.astype(np.int64) - 1
        missing = self.missing(join.keys[0][1])
        return np.maximum(rows, -1) if missing is None else np.where(missing, -1, rows)

    def _by_keys(self, join: Join) -> Int64s:
        """Search each distinct combination of keys once."""
        keys, rows = self._tables.order(join)
        if not len(keys):
            return np.full(len(self), -1, np.int64)
        codes, wanted = self._combined([name for _, name in join.keys])
        hashes = joined_keys(wanted)
        place = np.minimum(np.searchsorted(keys, hashes), len(keys) - 1)
        found = np.where(keys[place] == hashes, rows[place], -1)
        for (key, _), values in zip(join.keys, wanted, strict=True):  # hashes may be equal
            there = self._tables.column(f"{join.table}.{key}")
            found[there[np.maximum(found, 0)] != values] = -1
        found = found[codes]
        for _, name in join.keys:
            if (missing := self.missing(name)) is not None:
                found[missing] = -1
        return found

    def _combined(self, names: list[str]) -> tuple[Int32s | Int64s, list[Int64s]]:
        """A code for each row's values of some columns, and the values by code."""
        parts = [self.distinct(name) for name in names]
        if math.prod(len(values) for _, values in parts) > FEW:
            made = [self.stored(name).astype(np.int64) for name in names]
            return np.arange(len(self)), made
        codes, wanted = parts[0][0], [parts[0][1]]
        for more, values in parts[1:]:
            codes = codes * np.int32(len(values)) + more
            wanted = [np.repeat(column, len(values)) for column in wanted]
            wanted.append(np.tile(values, len(wanted[0]) // max(len(values), 1)))
        return codes, wanted
