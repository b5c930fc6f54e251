# SPDX-License-Identifier: MIT
"""The columns of a session as if some rows of one table were not stored.

The other rows of that table are numbered anew, and only as much of a column is read as is needed.
Some columns may have other values than the stored ones; these are whole arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..records.types import Int64s
from .column_chunks import CHUNK
from .whole_columns import Array, Columns

Replaced = Mapping[tuple[str, str], Array]  # by table and column


class FewerRows(Columns):
    """The columns `stored`, of whose `table` only the 0-based rows `kept` (sorted) are visible.

    `replace` is called when the first of the columns `replaced` (table and column) is needed.  It
    returns all replaced columns; those of `table` have a value for each kept row.
    """

    def __init__(
        self,
        stored: Columns,
        table: str,
        kept: npt.NDArray[np.integer],
        replaced: frozenset[tuple[str, str]],
        replace: Callable[[], Replaced],
    ) -> None:
        super().__init__(stored._engine, stored._budget)
        self._stored, self._table, self._rows = stored, table, kept
        self._names, self._replace = replaced, replace

    @cached_property
    def _replaced(self) -> Replaced:
        return self._replace()

    def _is_stored(self, table: str, column: str) -> bool:
        """Return whether the column is exactly what is stored."""
        return table != self._table and (table, column) not in self._names

    def _other(self, table: str, column: str) -> Array | None:
        """Return the column if it has other values than the stored one, and None otherwise."""
        return self._replaced[table, column] if (table, column) in self._names else None

    def stored_rows(self, table: str, rows: Int64s) -> Int64s:
        """Return for the 0-based `rows` of these columns the 0-based rows in the session file."""
        return self._rows[rows].astype(np.int64) if table == self._table else rows

    def _found(self, table: str, rows: Int64s) -> tuple[Int64s, Int64s]:
        """Return new numbers of the stored `rows` that are kept, and their indices in `rows`."""
        if table != self._table:
            return rows, np.arange(len(rows))
        at = np.searchsorted(self._rows, rows)
        there = np.flatnonzero(at < len(self._rows))
        there = there[self._rows[at[there]] == rows[there]]
        return at[there], there

    def forget(self) -> None:
        """Free all cached arrays: for code that is about to need much memory for a while."""
        super().forget()
        self._stored.forget()

    def length(self, table: str) -> int:
        """Return the number of rows of `table`."""
        return len(self._rows) if table == self._table else self._stored.length(table)

    def bounds(self, table: str, column: str) -> tuple[int, int]:
        """Return two integers between which all values of a column are; 0, -1 if it is empty."""
        other = self._other(table, column)
        if other is None:
            return self._stored.bounds(table, column)
        return int(other.min(initial=0)), int(other.max(initial=-1))

    def array(self, table: str, column: str) -> Array:
        """Return the whole column; it is kept in memory for later calls."""
        if self._is_stored(table, column):
            return self._stored.array(table, column)
        kept = self._get((table, column, -1))
        if kept is not None:
            return kept
        return self._keep((table, column, -1), self.once(table, column))

    def once(self, table: str, column: str) -> Array:
        """Return the whole column without keeping it: for code that reads it once."""
        other = self._other(table, column)
        if other is not None:
            return other
        whole = self._stored.once(table, column)
        return whole[self._rows] if table == self._table else whole

    def pieces(self, table: str, *columns: str) -> Iterator[tuple[int, tuple[Array, ...]]]:
        """Yield (first row, values of each column) for consecutive blocks of rows.

        Nothing is cached.
        """
        if all(self._is_stored(table, column) for column in columns):
            yield from self._stored.pieces(table, *columns)
            return
        for first in range(0, self.length(table), CHUNK):
            yield first, tuple(self.block(table, column, first, CHUNK) for column in columns)

    def part(self, table: str, column: str, first: int, count: int) -> Array:
        """Return `count` values of a column from row `first` on; fewer at the end of the table."""
        return self._span(self._stored.part, table, column, first, count)

    def block(self, table: str, column: str, first: int, count: int) -> Array:
        """Return the values of part() without keeping them: for code that reads a column once."""
        return self._span(self._stored.block, table, column, first, count)

    def _span(
        self,
        read: Callable[[str, str, int, int], Array],
        table: str,
        column: str,
        first: int,
        count: int,
    ) -> Array:
        other = self._other(table, column)
        if other is not None:
            return other[first : first + count]
        if table != self._table:
            return read(table, column, first, count)
        rows = self._rows[first : first + count]
        if not len(rows):
            return read(table, column, 0, 0)
        begin, span = int(rows[0]), int(rows[-1]) - int(rows[0]) + 1
        values = read(table, column, begin, span)
        return values if span == len(rows) else np.asarray(values[rows - begin])

    def take(self, table: str, column: str, rows: npt.NDArray[np.integer]) -> Array:
        """Return the values of a column at the 0-based `rows`, in their order.

        Raises IndexError if there is no such row.
        """
        other = self._other(table, column)
        if other is not None:
            return np.asarray(other[rows])
        return self._stored.take(table, column, self.stored_rows(table, np.asarray(rows)))

    def near(self, table: str, column: str, rows: npt.NDArray[np.integer]) -> Array:
        """Return the values of a column at the 0-based `rows`, which must be sorted."""
        other = self._other(table, column)
        if other is not None:
            return np.asarray(other[rows])
        return self._stored.near(table, column, self.stored_rows(table, np.asarray(rows)))

    def rows_with(
        self, table: str, column: str, values: npt.NDArray[np.integer]
    ) -> tuple[Int64s, Array]:
        """Return the 0-based rows whose value is one of `values`, and these rows' values."""
        other = self._other(table, column)
        if other is not None:
            mine = np.flatnonzero(np.isin(other, values))
            return mine, other[mine]
        stored, found = self._stored.rows_with(table, column, values)
        rows, there = self._found(table, stored)
        return rows, found[there]

    def rows_during(
        self, table: str, begin: str, last: tuple[str, ...], times: tuple[int, int]
    ) -> Int64s:
        """Return sorted 0-based rows: all that are at work between two times, maybe others."""
        return self._found(table, self._stored.rows_during(table, begin, last, times))[0]

    def rows_within(self, table: str, column: str, spans: Sequence[tuple[int, int]]) -> Int64s:
        """Return sorted 0-based rows: all with a value in one of the `spans`, maybe others."""
        return self._found(table, self._stored.rows_within(table, column, spans))[0]
