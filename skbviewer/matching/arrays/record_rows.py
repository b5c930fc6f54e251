# SPDX-License-Identifier: MIT
"""Some records as compiled loops take them: columns of always the same types, one behind the other.

A table's own columns are as narrow as their values, and perhaps those of a file that is mapped.
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
from .int_index import execution_of


def passing(records: Records, count: int | None = None, backwards: bool = False) -> Iterator[slice]:
    """blocks() of all records, or of `count` rows made of them; memory behind them is given up."""
    scratch, every = scratch_of(records), list(blocks(len(records) if count is None else count))
    for some in reversed(every) if backwards else every:
        scratch.passed()
        yield some


def found(records: Records, wanted: Callable[[slice], Bools]) -> Int64s:
    """The records of which `wanted` is true, which looks at some at a time."""
    parts = [np.flatnonzero(wanted(some)) + some.start for some in passing(records)]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def whole(records: Records, name: str, dtype: str) -> npt.NDArray[Any]:
    """A column of all records, contiguous and writable: no copy where readers make this type."""
    column = records.stored(name) if isinstance(records, RecordTable) else records[name]
    return np.require(column, np.dtype(dtype), ["C", "W"])


class Rows:
    """Records one behind the other, block by block."""

    def __init__(self, records: Records, rows: slice) -> None:
        self._records, self._rows = records, rows
        self.first, self.end = rows.start, rows.stop

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """A column of RECORD_DTYPE's type, contiguous and writable."""
        made = part(self._records, name, self._rows)
        return np.require(made, RECORD_DTYPE[name], ["C", "W"])

    def columns(self, names: str) -> Any:
        """Columns named in one string."""
        return [self[name] for name in names.split()]

    def contexts(self) -> Int64s:
        """Of each record a number that is equal within one execution context, never 0."""
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
