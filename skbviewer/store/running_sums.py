# SPDX-License-Identifier: MIT
"""The running sums of a column, computed only for the chunks that are needed.

Some tables store how many rows of another table belong to each of their rows; the running sums say
where these rows begin.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..records.types import Int64s
from .column_chunks import CHUNK
from .lazy_column import LazyColumn


class RunningSums:
    """Element i is the sum of the first i values of `column`; the last element is the sum of all.

    `chunks` is the result of the column's LazyColumn.chunk_sums(): the sum before each chunk.
    """

    def __init__(self, column: LazyColumn, chunks: Int64s) -> None:
        self._column, self._chunks = column, chunks

    def __len__(self) -> int:
        return len(self._column) + 1

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Int64s:
        """Return all sums; numpy calls this to make an array."""
        sums = np.zeros(len(self), np.int64)
        np.cumsum(np.asarray(self._column), out=sums[1:])
        return np.asarray(sums, dtype)

    def __getitem__(self, rows: slice | npt.NDArray[np.integer]) -> Int64s:
        """Return the sums at `rows`: 0-based numbers, or a slice with step 1.

        Raises IndexError if there is no such element.
        """
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(len(self)))
        if len(rows) and not (int(rows.min()) >= 0 and int(rows.max()) < len(self)):
            raise IndexError(f"there are {len(self)} sums")
        if len(rows) and bool((rows[1:] < rows[:-1]).any()):
            found = np.empty(len(rows), np.int64)
            order = np.argsort(rows, kind="stable")
            found[order] = self[rows[order]]
            return found
        starts = np.arange(len(self._chunks) + 1) * CHUNK
        return self._by_chunk(rows, np.searchsorted(rows, starts), self._of_chunk)

    def last_not_above(self, values: Int64s) -> Int64s:
        """Return for each of `values` the index of the last sum that is not greater.

        The `values` must be sorted, and at least 0.
        """
        bounds = np.r_[np.searchsorted(values, self._chunks[:-1]), len(values)]
        return self._by_chunk(values, bounds, self._last_in_chunk)

    def _by_chunk(
        self,
        values: npt.NDArray[np.integer],
        bounds: npt.NDArray[np.integer],
        make: Callable[[int, npt.NDArray[np.integer]], Int64s],
    ) -> Int64s:
        """Return the joined results of `make`, which is called for each chunk that has values.

        For chunk i, `make` is called as make(i, values[bounds[i] : bounds[i + 1]]).
        """
        found = np.empty(len(values), np.int64)
        for number in np.flatnonzero(np.diff(bounds)).tolist():
            mine = slice(int(bounds[number]), int(bounds[number + 1]))
            found[mine] = make(number, values[mine])
        return found

    def _of_chunk(self, number: int, rows: npt.NDArray[np.integer]) -> Int64s:
        """Return the sums at `rows`, all of which are in the chunk `number`."""
        return np.asarray(self._sums(number)[rows - number * CHUNK], np.int64)

    def _last_in_chunk(self, number: int, values: npt.NDArray[np.integer]) -> Int64s:
        last = np.searchsorted(self._sums(number), values, "right") - 1
        return np.asarray(last + number * CHUNK, np.int64)

    def _sums(self, number: int) -> Int64s:
        """Return the sums of the chunk `number`, and the first sum of the next chunk."""
        values = self._column[number * CHUNK : (number + 1) * CHUNK]
        sums = np.r_[0, np.cumsum(values, dtype=np.int64)]
        return np.asarray(self._chunks[number] + sums, np.int64)
