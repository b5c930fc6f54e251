# SPDX-License-Identifier: MIT
"""Find the distinct values of long columns without sorting, so that each text is made only once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...records.compiled import compiled
from ...records.types import Int32s, Int64s

MAX_TABLE_RANGE = 1 << 17  # range of values for which a table by value is used
FEWEST = 1 << 10  # slots of the hash table, a power of two


def distinct(values: npt.NDArray[np.integer[Any]]) -> tuple[Int32s, Int64s]:
    """Return a code (int32, from 0) for each value, and the distinct value (int64) of each code."""
    if not len(values):
        return np.zeros(0, np.int32), np.zeros(0, np.int64)
    low, high = int(values.min()), int(values.max())
    if high - low < MAX_TABLE_RANGE:
        return _by_value(np.ascontiguousarray(values, np.int64), low, high)
    whole = np.ascontiguousarray(values, np.int64)
    size = FEWEST
    while True:
        slots, found = np.full(size, -1, np.int32), np.empty(size // 2, np.int64)
        codes = np.empty(len(whole), np.int32)
        count = int(_number(whole, slots, codes, found))
        if count >= 0:
            return codes, found[:count]
        size *= 8


def _by_value(values: Int64s, low: int, high: int) -> tuple[Int32s, Int64s]:
    table, codes = np.full(high - low + 1, -1, np.int32), np.empty(len(values), np.int32)
    found = np.empty(min(len(table), len(values)), np.int64)
    count = int(_number_by_value(values, low, table, codes, found))
    return codes, found[:count]


@compiled
def _number_by_value(values: Int64s, low: int, table: Int32s, codes: Int32s, found: Int64s) -> int:
    """Number values like _number(), but by a table with an element for each value from `low` on.

    The table must be filled with -1.
    """
    count = 0
    for row in range(len(values)):
        place = np.uint64(values[row] - low)
        if table[place] < 0:
            table[place] = count
            found[count] = values[row]
            count += 1
        codes[row] = table[place]
    return count


@compiled
def _number(values: Int64s, slots: Int32s, codes: Int32s, found: Int64s) -> int:
    """Write the distinct values to `found`, and to `codes` the index of each value in `found`.

    `slots` is an empty hash table.  Returns the number of distinct values, or -1 if `found` has no
    room for them.
    """
    mask, count = len(slots) - 1, 0
    for row in range(len(values)):
        value = values[row]
        mixed = value * np.int64(-7046029254386353131)  # 2**64 / golden ratio
        at = (mixed ^ (mixed >> 32)) & mask
        while slots[at] >= 0 and found[slots[at]] != value:
            at = (at + 1) & mask
        if slots[at] < 0:
            if count == len(found):
                return -1
            slots[at] = count
            found[count] = value
            count += 1
        codes[row] = slots[at]
    return count


def picked(values: Int32s, codes: Int32s) -> Int32s:
    """Return values[code] for each code.

    numpy can do this, too, but first converts all codes to int64.

    Each code must be a valid index of `values`.
    """
    out = np.empty(len(codes), np.int32)
    _pick(values, codes, out)
    return out


@compiled
def _pick(values: Int32s, codes: Int32s, out: Int32s) -> None:
    for row in range(len(codes)):
        out[row] = values[np.uint64(codes[row])]


def pairs(
    first: npt.NDArray[np.integer[Any]], second: npt.NDArray[np.integer[Any]]
) -> tuple[Int32s, Int64s, Int64s]:
    """Return a code for each pair (first[i], second[i]), and both values of each code."""
    one, ones = distinct(first)
    two, twos = distinct(second)
    if len(ones) == 1:
        return two, np.repeat(ones, len(twos)), twos
    if len(twos) == 1:
        return one, ones, np.repeat(twos, len(ones))
    codes, both = distinct(one.astype(np.int64) * max(len(twos), 1) + two)
    return codes, ones[both // max(len(twos), 1)], twos[both % max(len(twos), 1)]
