# SPDX-License-Identifier: MIT
"""Column chunks: the bulk tables once more, by column, for whoever needs whole columns at once.

A chunk holds up to CHUNK values of one column of one table.  Integers are kept as distances from
the chunk's lowest value in the smallest unsigned type (times of neighbouring rows fit in 4 bytes),
nothing at all where all are equal; floats as they are, but once where all are equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .sources import MEMORY, Numbers, Sources, Told, Values, narrow, signed

CHUNK = 1 << 16
SMALL = {8: "<u1", 16: "<u2", 32: "<u4"}  # by bits


class Chunk(NamedTuple):
    """A row of the table `chunk` without its id; `first` is the 0-based row of its first value."""

    table_name: str
    column_name: str
    first: int
    number: int  # of values; the column `count`
    dtype: str  # of the distances in `data`; "" = all values are `low`; "<i8", "<f8": the values
    low: int
    high: int
    data: bytes | memoryview


def pack(table: str, column: str, first: int, values: Values) -> Chunk:
    """`values` (at least one) as a chunk."""
    if values.dtype.kind == "f":
        told = values[:1] if bool((values == values[0]).all()) else values
        data = told.astype("<f8").tobytes()
        return Chunk(table, column, first, len(values), "<f8", 0, 0, data)
    values = signed(values)
    some = values[:1] if values.strides == (0,) else values
    source = Sources([values])  # keeps what lies at its places
    low, high = int(some.min()), int(some.max())
    return _pack((table, column, first), values, (source.places, 0), low, high)


def _pack(
    head: tuple[str, str, int], values: Values, place: tuple[Numbers, int], low: int, high: int
) -> Chunk:
    """A chunk of integers, between `low` and `high`, which lie at `place`: of these the column."""
    count = len(values)
    if low == high:
        return Chunk(*head, count, "", low, high, b"")
    for bits, dtype in SMALL.items():
        if high - low < 1 << bits:
            data = np.empty(count * bits // 8, np.uint8)
            narrow(MEMORY, *place, low, count, data)
            return Chunk(*head, count, dtype, low, high, data.data)
    whole = signed(values).astype("<i8").tobytes()
    return Chunk(*head, count, "<i8", low, high, whole)


def unpack(dtype: str, low: int, data: bytes, out: Values) -> None:
    """Fill `out`, of a type that holds the chunk's values, from a chunk."""
    if not dtype:
        out[:] = low
    elif dtype in SMALL.values():
        out[:] = np.frombuffer(data, dtype)
        out += out.dtype.type(low)  # type: ignore[misc]  # wraps and wraps back
    else:
        out[:] = np.frombuffer(data, dtype)


class Packer:
    """Cuts the columns of one table, that come in parts, into chunks."""

    def __init__(self, table: str, columns: tuple[str, ...]) -> None:
        self._table = table
        self._columns = columns
        self._first = 0
        self._rest: dict[str, Values] = {}

    def add(self, columns: dict[str, Values], told: Told | None = None) -> Iterator[Chunk]:
        """The chunks that are full now; the rest is kept for more or for finish().

        `told` is what is known of `columns`.
        """
        if told is not None and not self._rest and told.sources.count == CHUNK:
            yield from self._whole(columns, told)
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

    def _whole(self, columns: dict[str, Values], told: Told) -> Iterator[Chunk]:
        """Chunks of the `columns` as they are."""
        for name in self._columns:
            values, number = columns[name], told.number[name]
            if values.dtype.kind == "f":
                yield pack(self._table, name, self._first, values)
            else:
                low, high = told.bounds[number].tolist()
                head = self._table, name, self._first
                yield _pack(head, values, (told.sources.places, number), low, high)
        self._first += CHUNK

    def finish(self) -> Iterator[Chunk]:
        """The chunks of what is left."""
        for name, values in self._rest.items():
            yield pack(self._table, name, self._first, values)
        self._rest = {}
