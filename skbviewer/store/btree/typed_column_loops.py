# SPDX-License-Identifier: MIT
"""Read columns of any type by their addresses: loops of typed_columns.py."""

from __future__ import annotations

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


@compiled
def bounds(memory: UInt8s, places: Int64s, column: Int, begin: Int, count: Int) -> tuple[Int, Int]:
    """Return the lowest and the highest of `count` values from row `begin` on (at least one value).

    `column` is a row of `places`, which says where in `memory` the column is (see Sources).
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
    """Fill `out` with `count` values of a column from row `begin` on.

    `column` is a row of `places`, which says where in `memory` the column is (see Sources).
    """
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
    """Fill `out` with the first `count` values of a column, minus `low`.

    A number takes len(out) / count bytes: 1, 2 or 4.  `column` is a row of `places`, which says
    where in `memory` the column is (see Sources).
    """
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
