# SPDX-License-Identifier: MIT
"""Columns of any type for compiled loops, which take arrays of one type only.

A loop is passed the address and the type of each column, and reads the values through `MEMORY`, an
array of bytes that begins at one address and has no end.  Only Sources makes such addresses.  It
takes them from arrays, which it keeps alive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.compiled import Int, compiled
from ...records.types import Int64s, UInt8s

FIRST = 4096  # address at which MEMORY begins: no array is below it
TYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "f8")
KINDS = {(name[0], int(name[1])): kind for kind, name in enumerate(TYPES)}
I8, REAL = 3, 7
TILE = 4096  # values handled together
KIND, PLACE, SAME, FIELDS = 0, 1, 2, 3  # fields of a place; SAME = the only value is repeated

Values = npt.NDArray[np.generic]


class _Memory:
    def __init__(self) -> None:
        self.__array_interface__: dict[str, Any] = {
            "version": 3, "typestr": "|u1", "data": (FIRST, True), "shape": (1 << 50,)
        }  # fmt: skip


MEMORY: UInt8s = np.asarray(_Memory())


def signed(values: Values) -> Values:
    """Return `values` as SQLite stores them: uint64 as int64 with the same bits, bool as uint8."""
    if values.dtype.kind == "b":
        return values.view(np.uint8)
    return values.view(np.int64) if values.dtype == np.uint64 else values


class Sources:
    """Equally long columns and their places; integers, or floats as the bits of float64."""

    def __init__(self, columns: Sequence[Values]) -> None:
        self.count = len(columns[0])
        self._arrays = [_plain(values) for values in columns]  # keeps their memory alive
        places = [_place(values, self.count) for values in self._arrays]
        self.places: Int64s = np.array(places, np.int64)


class StagedColumns(NamedTuple):
    """The places of named columns, and their bounds."""

    sources: Sources
    number: dict[str, int]  # index of each column in `sources`
    bounds: Int64s  # (columns, 2): lowest and highest value of each


def _plain(values: Values) -> Values:
    """Return a contiguous copy in native byte order if needed; one value if it is repeated."""
    if values.strides == (0,):
        values = values[:1]
    flags, dtype = values.flags, values.dtype
    if dtype.kind == "f":
        return np.require(values, np.float64, ["C", "A"])
    if not (flags.c_contiguous and flags.aligned and dtype.isnative):
        values = np.require(values, dtype.newbyteorder("="), ["C", "A"])
    return signed(values)


def _place(values: Values, count: int) -> tuple[int, int, int]:
    kind, size = KINDS[values.dtype.kind, values.itemsize], values.itemsize
    return kind, (values.__array_interface__["data"][0] - FIRST) // size, len(values) < count


@compiled
def bounds(memory: UInt8s, places: Int64s, column: Int, begin: Int, count: Int) -> tuple[Int, Int]:
    """Return the lowest and the highest of `count` values from row `begin` on.

    `count` is at least 1.
    """
    kind, at = places[column, KIND], np.uint64(places[column, PLACE])
    if places[column, SAME]:
        count = np.int64(1)
    else:
        at += np.uint64(begin)
    if kind == 0:
        return _bounds(memory.view(np.int8), at, count)
    if kind == 1:
        return _bounds(memory.view(np.int16), at, count)
    if kind == 2:
        return _bounds(memory.view(np.int32), at, count)
    if kind == 4:
        return _bounds(memory, at, count)
    if kind == 5:
        return _bounds(memory.view(np.uint16), at, count)
    if kind == 6:
        return _bounds(memory.view(np.uint32), at, count)
    return _bounds(memory.view(np.int64), at, count)


@compiled
def _bounds(window: Values, at: Int, count: Int) -> tuple[Int, Int]:
    low = high = window[at]
    for i in range(np.uint64(count)):
        low, high = min(low, window[at + i]), max(high, window[at + i])
    return np.int64(low), np.int64(high)


@compiled
def stage(memory: UInt8s, places: Int64s, column: Int, begin: Int, count: Int, out: Int64s) -> None:
    """Fill `out` with `count` values from row `begin` on, of a column without SAME."""
    kind, at = places[column, KIND], np.uint64(places[column, PLACE] + begin)
    if kind == 0:
        _copy(memory.view(np.int8), at, count, out)
    elif kind == 1:
        _copy(memory.view(np.int16), at, count, out)
    elif kind == 2:
        _copy(memory.view(np.int32), at, count, out)
    elif kind == 4:
        _copy(memory, at, count, out)
    elif kind == 5:
        _copy(memory.view(np.uint16), at, count, out)
    elif kind == 6:
        _copy(memory.view(np.uint32), at, count, out)
    else:
        _copy(memory.view(np.int64), at, count, out)


@compiled
def _copy(window: Values, at: Int, count: Int, out: Int64s) -> None:
    for i in range(np.uint64(count)):
        out[i] = window[at + i]


@compiled
def narrow(memory: UInt8s, places: Int64s, column: Int, low: Int, count: Int, out: UInt8s) -> None:
    """Fill `out` with the differences of `count` values from `low`, in 1, 2 or 4 bytes each."""
    width, tile = len(out) // count, np.empty(TILE, np.int64)
    if places[column, KIND] == I8:
        _less(memory.view(np.int64), places[column, PLACE], low, np.int64(0), count, width, out)
        return
    for begin in range(0, count, TILE):
        some = min(TILE, count - begin)
        stage(memory, places, column, begin, some, tile)
        _less(tile, np.int64(0), low, begin, some, width, out)


@compiled
def _less(
    values: Int64s, row: Int, low: Int, begin: Int, count: Int, width: Int, out: UInt8s
) -> None:
    at, to = np.uint64(row), np.uint64(begin)
    if width == 1:
        for i in range(np.uint64(count)):
            out[to + i] = values[at + i] - low
    elif width == 2:
        shorts = out.view(np.uint16)
        for i in range(np.uint64(count)):
            shorts[to + i] = values[at + i] - low
    else:
        words = out.view(np.uint32)
        for i in range(np.uint64(count)):
            words[to + i] = values[at + i] - low
