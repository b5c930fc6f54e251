# SPDX-License-Identifier: MIT
"""Give distinct values (addresses, contexts) numbers from 0 on, in order of first occurrence.

A loop can then use arrays that have one element for each distinct value.  The numbers are in a hash
table with open addressing and linear probing (Knuth, TAOCP 3, 6.4).  If a loop has filled the
table, the loop stops; the caller then enlarges the table and continues the loop.  The table
therefore stays as small as possible, and fits into the processor's cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...records.compiled import allocation_free
from ...records.types import Int32s, Int64s

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio
HALF = np.uint64(32)
FIRST_SLOTS = 1 << 8

Number = int | np.integer[Any]


class IntIndex:
    """Gives each distinct value a number; the value 0 has none."""

    def __init__(self) -> None:
        # `numbers` holds each number plus one, and 0 in free slots; `used` counts the numbers.
        self.keys, self.numbers = np.zeros(FIRST_SLOTS, np.int64), np.zeros(FIRST_SLOTS, np.int32)
        self.used = np.zeros(1, np.int64)

    @property
    def count(self) -> int:
        """Return how many distinct values have a number."""
        return int(self.used[0])

    @property
    def most(self) -> int:
        """Return how many distinct values the table can hold before grow() is needed."""
        return len(self.keys) // 2

    def numbers_of(self, values: Int64s) -> Int32s:
        """Return each value's number; a new value gets the next number, and the value 0 gets -1."""
        made, done = np.empty(len(values), np.int32), 0
        while (done := int(_fill(values, done, self.keys, self.numbers, self.used, made))) < len(
            values
        ):
            self.grow()
        return made

    def grow(self) -> None:
        """Make room for four times as many values; the values keep their numbers."""
        size, used = 4 * len(self.keys), np.flatnonzero(self.numbers)
        keys = self.keys[used[np.argsort(self.numbers[used])]]
        self.keys, self.numbers = np.zeros(size, np.int64), np.zeros(size, np.int32)
        self.used[0] = 0
        _fill(keys, 0, self.keys, self.numbers, self.used, np.empty(len(keys), np.int32))


def longer(rows: npt.NDArray[Any], size: int, blank: int) -> npt.NDArray[Any]:
    """Return `rows`, extended to at least `size` rows; the new rows are copies of `blank`."""
    if len(rows) >= size:
        return rows
    made = np.empty(max(size, 2 * len(rows)), rows.dtype)
    made[: len(rows)] = rows
    made[len(rows) :] = blank
    return made


@allocation_free
def is_full(keys: Int64s, used: Int64s) -> bool:
    """Return whether the table `keys` may lack space for two more values; it has used[0] now."""
    return bool(2 * (used[0] + 2) > len(keys))


@allocation_free
def number_of(value: Number, keys: Int64s, numbers: Int32s, used: Int64s) -> np.int64:
    """Return the number of `value` (not 0) in an IntIndex's arrays; a new value gets the next."""
    mask = len(keys) - 1
    at = np.int64((np.uint64(value) * MULTIPLIER) >> HALF) & mask
    while numbers[at] != 0 and keys[at] != value:
        at = (at + 1) & mask
    if numbers[at] == 0:
        used[0] += 1
        keys[at], numbers[at] = value, used[0]
    return np.int64(numbers[at]) - 1


@allocation_free
def known_number(value: Number, keys: Int64s, numbers: Int32s) -> np.int64:
    """Return the number of `value` (not 0) in an IntIndex's arrays; -1 if it has none."""
    mask = len(keys) - 1
    at = np.int64((np.uint64(value) * MULTIPLIER) >> HALF) & mask
    while numbers[at] != 0 and keys[at] != value:
        at = (at + 1) & mask
    return np.int64(numbers[at]) - 1


@allocation_free
def _fill(
    values: Int64s, begin: int, keys: Int64s, numbers: Int32s, used: Int64s, made: Int32s
) -> int:
    """Write the numbers of values[begin:] to `made`; return the index at which the loop stopped."""
    for i in range(begin, len(values)):
        if values[i] == 0:
            made[i] = -1
            continue
        if is_full(keys, used):
            return i
        made[i] = number_of(values[i], keys, numbers, used)
    return len(values)


@allocation_free
def execution_of(context: Number, pid: Number, cpu: Number) -> np.int64:
    """Return the number of an execution context; it is never 0.

    Compiled loops use it instead of execution() of records/execution_context.py.
    """
    if context == 0 and pid > 0:
        return np.int64(pid)
    return -((np.int64(context) << 20) + np.int64(cpu) + 1)
