# SPDX-License-Identifier: MIT
"""The running sums of a column, found chunk by chunk.

A table that stores how many rows of another table belong to each of its rows says so where they
begin.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..records.types import Int64s
from .column_chunks import CHUNK
from .lazy_column import LazyColumn


class RunningSums:
    """Element i is the sum of the first i values of `column`; the last element is that of all.

    `chunks` are its LazyColumn.chunk_sums(): the sum before each chunk.
    """

    def __init__(self, column: LazyColumn, chunks: Int64s) -> None:
        self._column, self._chunks = column, chunks

    def __len__(self) -> int:
        return len(self._column) + 1

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Int64s:
        """Return all sums, as numpy asks for them."""
        return np.array(self[: len(self)], dtype)

    def __getitem__(self, rows: slice | npt.NDArray[np.integer]) -> Int64s:
        """Return the sums at `rows`: 0-based numbers, or a slice whose step is 1."""
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(len(self)))
        found = np.empty(len(rows), np.int64)
        if len(rows) and bool((rows[1:] < rows[:-1]).any()):
            order = np.argsort(rows, kind="stable")
            found[order] = self[rows[order]]
            return found
        bounds = np.searchsorted(rows, np.arange(len(self._chunks) + 1) * CHUNK)
        for number in np.flatnonzero(np.diff(bounds)).tolist():
            mine = slice(int(bounds[number]), int(bounds[number + 1]))
            found[mine] = self._of_chunk(number, rows[mine])
        return found

    def _of_chunk(self, number: int, rows: npt.NDArray[np.integer]) -> Int64s:
        """Return the sums at `rows`, all of the chunk `number`."""
        values = self._column[number * CHUNK : (number + 1) * CHUNK]
        before = np.r_[0, np.cumsum(values, dtype=np.int64)]
        return np.asarray(self._chunks[number] + before[rows - number * CHUNK], np.int64)
