# SPDX-License-Identifier: MIT
"""Give compiled loops the columns of records block by block, always with the same types.

The columns of a record table are as narrow as their values allow, and may be mapped from a file.
Without this module, a loop would be compiled again for each type of column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ...records import RECORD_DTYPE, Records, RecordTable, part, scratch_of
from ...records.compiled import allocation_free
from ...records.types import Bools, Int64s
from .array_blocks import blocks
from .value_numbering import execution_of


def record_blocks(
    records: Records, count: int | None = None, backwards: bool = False
) -> Iterator[slice]:
    """Yield slices that cover all records in order, or 0 to `count` if `count` is given.

    With `backwards`, the last slice comes first.  Before a slice is yielded, the memory of earlier
    slices may be released.
    """
    scratch, every = scratch_of(records), list(blocks(len(records) if count is None else count))
    for some in reversed(every) if backwards else every:
        scratch.passed()
        yield some


def rows_where(records: Records, wanted: Callable[[slice], Bools]) -> Int64s:
    """Return the row numbers of records for which `wanted` is true.

    `wanted` is called with slices of records, and returns a flag for each record of the slice.
    """
    parts = [np.flatnonzero(wanted(some)) + some.start for some in record_blocks(records)]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def whole(records: Records, name: str, dtype: str) -> npt.NDArray[Any]:
    """Return column `name` of all records as one contiguous, writable array of the type `dtype`.

    The array is a copy only if the stored column has another type, is not contiguous, or is
    read-only.
    """
    column = records.stored(name) if isinstance(records, RecordTable) else records[name]
    return np.require(column, np.dtype(dtype), ["C", "W"])


class Rows:
    """The records of one block."""

    def __init__(self, records: Records, rows: slice) -> None:
        self._records, self._rows = records, rows
        self.first, self.end = rows.start, rows.stop

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return column `name` as a contiguous, writable array of its type in RECORD_DTYPE."""
        made = part(self._records, name, self._rows)
        return np.require(made, RECORD_DTYPE[name], ["C", "W"])

    def columns(self, names: str) -> Any:
        """Return the columns of this block that `names` lists, separated by spaces ("pid cpu")."""
        return [self[name] for name in names.split()]

    def contexts(self) -> Int64s:
        """Return the number of each record's execution context; it is never 0."""
        made = np.empty(self.end - self.first, np.int64)
        context, pid, cpu = self.columns("context pid cpu")
        _executions(context, pid, cpu, made)
        return made


@allocation_free
def _executions(
    context: npt.NDArray[np.uint8], pid: Int64s, cpu: npt.NDArray[np.int32], made: Int64s
) -> None:
    for i in range(len(made)):
        made[i] = execution_of(context[i], pid[i], cpu[i])
