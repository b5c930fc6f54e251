# SPDX-License-Identifier: MIT
"""Stored columns of a block of a view's rows, and columns of the rows joined to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ...records.types import INT64_MAX, Bools, Int32s, Int64s
from .. import schema
from ..whole_columns import Columns
from .column_expressions import Join, View, table_of
from .distinct_values import distinct, picked

MAX_SPAN = 1 << 24  # between the lowest and the highest value of a column that is used as it is
MAX_COMBINATIONS = 1 << 15  # combinations of keys that are all searched, whether they occur or not
Array = npt.NDArray[Any]
Small = Mapping[str, Array]  # all columns of a table with few rows


class Tables:
    """The tables of a session: bulk tables are read by column, other tables once as a whole."""

    def __init__(self, columns: Columns, read: Callable[[str], Small]) -> None:
        """Read bulk tables from `columns`; `read` returns a table that has no column chunks."""
        self.columns = columns
        self._read = read
        self._small: dict[str, Small] = {}
        self._keys: dict[Join, JoinKeys] = {}
        self._texts: dict[str, tuple[Int32s, list[str]]] = {}
        self._names: dict[tuple[str, int], dict[Any, str]] = {}

    def small(self, table: str) -> Small:
        """Return a table that has few rows; its integers are int64, its texts objects."""
        if table not in self._small:
            self._small[table] = self._read(table)
        return self._small[table]

    def column(self, name: str) -> Array:
        """Return a whole stored column; `name` is "table.column"."""
        table, _, column = name.partition(".")
        if table in schema.CHUNKED:
            return self.columns.array(table, column)
        return self.small(table)[column]

    def texts(self, name: str) -> tuple[Int32s, list[str]]:
        """Return the text column `name` ("table.column") of a table with few rows.

        The result is a code for each row, and the texts by code, sorted.
        """
        if name not in self._texts:
            table, _, column = name.partition(".")
            rows = self.small(table)[column].tolist()
            words = sorted(set(rows))
            code_of = {word: code for code, word in enumerate(words)}
            self._texts[name] = np.array([code_of[row] for row in rows], np.int32), words
        return self._texts[name]

    def names(self, table: str, key: str, value: str, source: int) -> dict[Any, str]:
        """Return a dict of column `value` by column `key`, for one source of `table`.

        `table` must have few rows.
        """
        if (table, source) not in self._names:
            small = self.small(table)
            mine = np.flatnonzero(small["source"] == source)
            pairs = zip(small[key][mine].tolist(), small[value][mine].tolist(), strict=True)
            self._names[table, source] = dict(pairs)
        return self._names[table, source]

    def keys(self, join: Join) -> JoinKeys:
        """Return the search index of the key columns of the table in `join`."""
        if join not in self._keys:
            columns = [self.column(f"{join.table}.{key}").astype(np.int64) for key, _ in join.keys]
            self._keys[join] = JoinKeys(columns)
        return self._keys[join]


class JoinKeys:
    """Finds the rows of a table by the values of key columns, which together are unique."""

    def __init__(self, columns: list[Int64s]) -> None:
        self._numberings = [_ValueNumbers(column) for column in columns]
        numbers = self._numbers(columns)
        self._rows = np.argsort(numbers, kind="stable")
        self._sorted = numbers[self._rows]

    def rows(self, columns: list[Int64s]) -> Int64s:
        """Return for each combination of key values the 0-based row that has it; -1 if none.

        `columns` has an array of values for each key column; element i of each belongs to
        combination i.
        """
        numbers = self._numbers(columns)
        if not len(self._sorted):
            return np.full(len(numbers), -1, np.int64)
        place = np.minimum(np.searchsorted(self._sorted, numbers), len(self._sorted) - 1)
        return np.where(self._sorted[place] == numbers, self._rows[place], -1)

    def _numbers(self, columns: list[Int64s]) -> Int64s:
        """Return a number for each row's combination of values; the numbers sort like the values.

        The number is -1 if one of the values is certainly not in the table.
        """
        made, outside = np.zeros(len(columns[0]), np.int64), np.zeros(len(columns[0]), np.bool_)
        for column, numbering in zip(columns, self._numberings, strict=True):
            number = numbering.numbers(column)
            outside |= number < 0
            made = made * numbering.count + number
        made[outside] = -1
        return made


class _ValueNumbers:
    """Numbers for the values of a column: if these are close, their distances from the least."""

    def __init__(self, column: Int64s) -> None:
        self._low = int(column.min(initial=INT64_MAX))
        span = int(column.max(initial=self._low)) - self._low + 1
        self._values = np.unique(column) if span > MAX_SPAN else None
        self.count = span if self._values is None else len(self._values)

    def numbers(self, column: Int64s) -> Int64s:
        """Return a number for each value of `column`: 0 to count - 1, or -1.

        -1 means that the column of the constructor does not have the value.  If the values of a
        column are close together, each value in their range has a number, even if the column does
        not have it.
        """
        if self._values is not None:
            found = np.minimum(np.searchsorted(self._values, column), len(self._values) - 1)
            return np.where(self._values[found] == column, found, -1)
        is_inside = (column >= self._low) & (column - self._low < self.count)
        return np.where(is_inside, column - self._low, -1)


class ViewRows:
    """A block of rows of a view's base table: `count` rows from `first` on.

    restrict() may have removed some of these rows.
    """

    def __init__(self, tables: Tables, view: View, first: int, count: int) -> None:
        self._tables, self._view = tables, view
        self._first, self._count = first, count
        self._some: Int64s | None = None
        self._joins = {join.table: join for join in view.joins}
        self._kept: dict[str, Array] = {}
        self._at: dict[str, Int64s] = {}
        self._missing: dict[str, Bools | None] = {}
        self._coded: dict[str, tuple[Int32s, Int64s] | None] = {}
        self._distinct: dict[str, tuple[Int32s, Int64s]] = {}

    def __len__(self) -> int:
        return self._count if self._some is None else len(self._some)

    def restrict(self, some: Bools) -> None:
        """Keep only the rows that `some` marks: one flag for each row that is still there."""
        rows = np.flatnonzero(some)
        self._some = rows if self._some is None else self._some[rows]
        self._kept, self._at, self._distinct, self._missing, self._coded = {}, {}, {}, {}, {}

    def stored(self, name: str) -> Array:
        """Return the values of a stored column for these rows.

        The value is meaningless for a row without a joined row; missing() marks these rows.
        """
        if name not in self._kept:
            self._kept[name] = self._load(name)
        return self._kept[name]

    def _load(self, name: str) -> Array:
        table, _, column = name.partition(".")
        if table != self._view.base:
            whole = self._tables.column(name)
            if not len(whole):
                return np.zeros(len(self), whole.dtype)
            return np.asarray(whole.take(self.rows_of(table), mode="clip"))
        if column == "id":
            made: Array = np.arange(self._first + 1, self._first + self._count + 1)
        elif table == "call" and column == "exit_ns":  # not stored as a chunk
            entry, took = self.stored("call.entry_ns"), self.stored("call.dur_ns")
            left = entry.astype(np.int64) + took
            return np.where(took < 0, -1, left) if took.min(initial=0) < 0 else left
        else:
            made = self._tables.columns.block(table, column, self._first, self._count)
        return made if self._some is None else made[self._some]

    def distinct(self, name: str) -> tuple[Int32s, Int64s]:
        """Return a code for each row's value in column `name`, and the value for each code."""
        if name not in self._distinct:
            self._distinct[name] = distinct(self.stored(name))
        return self._distinct[name]

    def missing(self, name: str) -> Bools | None:
        """Return for each row whether the table of column `name` has no row that is joined to it.

        Returns None if every row has a joined row.
        """
        table = table_of(name)
        if table == self._view.base:
            return None
        if table not in self._missing:
            missing = self.rows_of(table) < 0
            self._missing[table] = missing if missing.any() else None
        return self._missing[table]

    def rows_of(self, table: str) -> Int64s:
        """Return for each row the 0-based row of the joined table `table`, -1 if there is none."""
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
        """Return the joined row of each row, or -1; each distinct combination is searched once."""
        coded = self._coded_rows(join)
        if coded is not None:
            return coded[1].take(coded[0])
        codes, wanted = self._combined([name for _, name in join.keys])
        found = self._tables.keys(join).rows(wanted)
        if codes is not None:
            found = found[codes]
        for _, name in join.keys:
            if (missing := self.missing(name)) is not None:
                found[missing] = -1
        return found

    def picked(self, table: str, values: Int32s) -> Int32s:
        """Return for each row the value of its row in the joined table `table`.

        `values` has a value for each row of `table`, and as its last element the value for rows
        without a joined row.
        """
        coded = self._coded_rows(self._joins[table])
        if coded is None:
            return values.take(self.rows_of(table), mode="wrap")  # at -1 is the last one
        return picked(values.take(coded[1], mode="wrap"), coded[0])

    def _coded_rows(self, join: Join) -> tuple[Int32s, Int64s] | None:
        """Return a code for each row, and the joined row of each code; None if there are no codes.

        There are no codes if a table that contains a key column lacks a row for some rows.
        """
        if join.table not in self._coded:
            made = None
            names = [name for _, name in join.keys]
            if [key for key, _ in join.keys] != ["id"] and not any(map(self._lacks, names)):
                codes, wanted = self._combined(names)
                if codes is not None:
                    made = codes, self._tables.keys(join).rows(wanted)
            self._coded[join.table] = made
        return self._coded[join.table]

    def _lacks(self, name: str) -> bool:
        return self.missing(name) is not None

    def _combined(self, names: list[str]) -> tuple[Int32s | None, list[Int64s]]:
        """Return a code for each row's values in the columns `names`, and the values of each code.

        The codes are None if each row has its own value.
        """
        parts = [self.distinct(name) for name in names]
        if math.prod(len(values) for _, values in parts) > MAX_COMBINATIONS:
            return None, [self.stored(name).astype(np.int64) for name in names]
        codes, wanted = parts[0][0], [parts[0][1]]
        for more, values in parts[1:]:
            codes = codes * np.int32(len(values)) + more
            wanted = [np.repeat(column, len(values)) for column in wanted]
            wanted.append(np.tile(values, len(wanted[0]) // max(len(values), 1)))
        return codes, wanted
