# SPDX-License-Identifier: MIT
"""A column of a session that is indexed like an array; only the needed chunks are read.

LazyColumn is for tables with a row for each packet, if only a few of tens of millions of rows are
wanted.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import numpy.typing as npt

from ..records.types import Int64s
from .whole_columns import SHORT, Array, Columns


class LazyColumn:
    """Column `name` of `table`; the arrays that indexing returns are read-only."""

    def __init__(self, columns: Columns, table: str, name: str) -> None:
        self._columns, self._table, self._name = columns, table, name

    def __len__(self) -> int:
        return self._columns.length(self._table)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Return the whole column; numpy calls this to make an array."""
        whole = np.asarray(self._columns.array(self._table, self._name), dtype)
        return whole.copy() if copy else whole

    @overload
    def __getitem__(self, rows: int) -> np.integer[Any]: ...

    @overload
    def __getitem__(self, rows: slice | npt.NDArray[np.integer[Any]]) -> Array: ...

    def __getitem__(
        self, rows: int | slice | npt.NDArray[np.integer[Any]]
    ) -> np.integer[Any] | Array:
        """Return the values of `rows`: 0-based row numbers, or a slice with step 1.

        Raises IndexError if there is no such row.
        """
        if isinstance(rows, np.ndarray):
            return self._columns.take(self._table, self._name, rows)
        if not isinstance(rows, slice):
            if not 0 <= rows < len(self):
                raise IndexError(f"{self._table}.{self._name} has no row {rows}")
            found: np.integer[Any] = self._columns.part(self._table, self._name, int(rows), 1)[0]
            return found
        first, end, _ = rows.indices(len(self))
        number = max(end - first, 0)
        read = self._columns.part if number <= SHORT else self._columns.block  # part() keeps it
        return read(self._table, self._name, first, number)

    def rows_with(self, values: Int64s) -> tuple[Int64s, Array]:
        """Return the 0-based rows that have one of `values`, and the values of these rows.

        The `values` must be sorted.
        """
        return self._columns.rows_with(self._table, self._name, values)

    def chunk_sums(self) -> Int64s:
        """Return the sum of all values before each chunk, and the sum of the whole column.

        This reads the whole column.
        """
        pieces = self._columns.pieces(self._table, self._name)
        sums = [int(values.sum(dtype=np.int64)) for _, (values,) in pieces]
        return np.cumsum(np.array([0, *sums], np.int64))
