# SPDX-License-Identifier: MIT
"""Column chunks: a second copy of the bulk tables for code that needs whole columns.

A chunk holds up to CHUNK values of one column of one table.  Integers are stored as differences
from the lowest value in the chunk, in the narrowest unsigned type (4 bytes are enough for times of
neighbouring rows).  If all integers of a chunk are equal, no differences are stored.  Floats are
stored as they are; if all floats of a chunk are equal, only one is stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..records.types import Int64s
from .btree.typed_column_loops import Values, narrow
from .btree.typed_columns import MEMORY, Sources, StagedColumns, as_signed

CHUNK = 1 << 16
UNSIGNED_TYPES = {8: "<u1", 16: "<u2", 32: "<u4"}  # by bits


class Chunk(NamedTuple):
    """A row of table `chunk` without its id; `first` is the 0-based row of its first value."""

    table_name: str
    column_name: str
    first: int
    number: int  # of values; stored in the column `count`
    dtype: str  # of the differences in `data`; "" = all are `low`; "<i8", "<f8": plain values
    low: int
    high: int
    data: bytes | memoryview


def pack(table: str, column: str, first: int, values: Values) -> Chunk:
    """Return a chunk with `values` of a column of a table; there must be at least one value.

    `first` is the row number of the first value.
    """
    if values.dtype.kind == "f":
        stored = values[:1] if bool((values == values[0]).all()) else values
        data = stored.astype("<f8").tobytes()
        return Chunk(table, column, first, len(values), "<f8", 0, 0, data)
    values = as_signed(values)
    some = values[:1] if values.strides == (0,) else values
    source = Sources([values])  # keeps the memory of the values alive
    low, high = int(some.min()), int(some.max())
    return _pack((table, column, first), values, (source.places, 0), low, high)


def _pack(
    head: tuple[str, str, int], values: Values, place: tuple[Int64s, int], low: int, high: int
) -> Chunk:
    """Return a chunk of integers from `low` to `high`.

    `place` is (places, column number) of `values` (see Sources).
    """
    count = len(values)
    if low == high:
        return Chunk(*head, count, "", low, high, b"")
    for bits, dtype in UNSIGNED_TYPES.items():
        if high - low < 1 << bits:
            data = np.empty(count * bits // 8, np.uint8)
            narrow(MEMORY, *place, low, count, data)
            return Chunk(*head, count, dtype, low, high, data.data)
    whole = as_signed(values).astype("<i8").tobytes()
    return Chunk(*head, count, "<i8", low, high, whole)


def unpack(dtype: str, low: int, data: bytes, out: Values) -> None:
    """Fill `out` with the values of a chunk: `low` plus each number of type `dtype` in `data`.

    The type of `out` must be wide enough for these values.
    """
    if not dtype:
        out[:] = low
    elif dtype in UNSIGNED_TYPES.values():
        out[:] = np.frombuffer(data, dtype)
        out += out.dtype.type(low)  # type: ignore[misc]  # may wrap around, and wraps back
    else:
        out[:] = np.frombuffer(data, dtype)


class Packer:
    """Cuts the columns of a table into chunks; the columns arrive in parts."""

    def __init__(self, table: str, columns: tuple[str, ...]) -> None:
        self._table = table
        self._columns = columns
        self._first = 0
        self._rest: dict[str, Values] = {}

    def add(
        self, columns: dict[str, Values], staged: StagedColumns | None = None
    ) -> Iterator[Chunk]:
        """Add a part of the columns, and yield the chunks that are full now.

        The values that are left wait for the next part, or for finish().

        `staged` holds the places and the bounds of `columns`, if the caller has them.
        """
        if staged is not None and not self._rest and staged.sources.count == CHUNK:
            yield from self._whole(columns, staged)
            return
        if self._rest:
            columns = {n: np.concatenate([self._rest[n], columns[n]]) for n in self._columns}
        total = len(columns[self._columns[0]])
        whole = total - total % CHUNK
        for name in self._columns:
            for begin in range(0, whole, CHUNK):
                part = columns[name][begin : begin + CHUNK]
                yield pack(self._table, name, self._first + begin, part)
        self._first += whole
        self._rest = {n: columns[n][whole:].copy() for n in self._columns} if whole < total else {}

    def _whole(self, columns: dict[str, Values], staged: StagedColumns) -> Iterator[Chunk]:
        """Yield one chunk for each of the `columns`, whose length must be that of a chunk."""
        for name in self._columns:
            values, number = columns[name], staged.number[name]
            if values.dtype.kind == "f":
                yield pack(self._table, name, self._first, values)
            else:
                low, high = staged.bounds[number].tolist()
                head = self._table, name, self._first
                yield _pack(head, values, (staged.sources.places, number), low, high)
        self._first += CHUNK

    def finish(self) -> Iterator[Chunk]:
        """Yield chunks with the values that are left."""
        for name, values in self._rest.items():
            yield pack(self._table, name, self._first, values)
        self._rest = {}
