# SPDX-License-Identifier: MIT
"""Give compiled loops the columns of records block by block, always with the same types.

The columns of a record table are as narrow as their values allow, and may be mapped from a file.
Without this module, a loop would be compiled again for each such type.
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
    """Yield slices that cover all records, or the `count` rows of arrays made from them, in order.

    With `backwards`, the last slice comes first.  Before each slice, the memory of earlier blocks
    is released.
    """
    scratch, every = scratch_of(records), list(blocks(len(records) if count is None else count))
    for some in reversed(every) if backwards else every:
        scratch.passed()
        yield some


def rows_where(records: Records, wanted: Callable[[slice], Bools]) -> Int64s:
    """Return the row numbers of records for which `wanted` is true.

    `wanted` gets a slice of records, block by block, and returns a flag for each.
    """
    parts = [np.flatnonzero(wanted(some)) + some.start for some in record_blocks(records)]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def whole(records: Records, name: str, dtype: str) -> npt.NDArray[Any]:
    """Return column `name` of all records as `dtype`, contiguous and writable.

    The result is a copy only if the stored column does not have these properties.
    """
    column = records.stored(name) if isinstance(records, RecordTable) else records[name]
    return np.require(column, np.dtype(dtype), ["C", "W"])


class Rows:
    """The records of one block."""

    def __init__(self, records: Records, rows: slice) -> None:
        self._records, self._rows = records, rows
        self.first, self.end = rows.start, rows.stop

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return a column with the type it has in RECORD_DTYPE, contiguous and writable."""
        made = part(self._records, name, self._rows)
        return np.require(made, RECORD_DTYPE[name], ["C", "W"])

    def columns(self, names: str) -> Any:
        """Return the columns of this block whose names are in `names`, separated by spaces."""
        return [self[name] for name in names.split()]

    def contexts(self) -> Int64s:
        """Return for each record a number of its execution context, never 0."""
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
