# SPDX-License-Identifier: MIT
"""Numbers from 0 on for values as they come (addresses, contexts), so that arrays can be by them.

A hash table of open addressing with linear probing (Knuth, TAOCP 3, 6.4).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..records.compiled import compiled

Longs = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio
HALF = np.uint64(32)

Number = int | np.int64


class Numbering:
    """Equal values, but 0, have equal numbers."""

    def __init__(self) -> None:
        self._keys, self._numbers = np.zeros(1 << 8, np.int64), np.zeros(1 << 8, np.int32)
        self.count = 0

    def of(self, values: Longs) -> Small:
        """The number of each value, a new one for a new value, -1 for 0."""
        if 2 * (self.count + len(values)) > len(self._keys):
            self._grow(self.count + len(values))
        made = np.empty(len(values), np.int32)
        self.count = int(_numbers(values, self._keys, self._numbers, self.count, made))
        return made

    def _grow(self, count: int) -> None:
        size = 1 << (4 * count - 1).bit_length()
        used = np.flatnonzero(self._numbers)
        keys = self._keys[used[np.argsort(self._numbers[used])]]
        self._keys, self._numbers = np.zeros(size, np.int64), np.zeros(size, np.int32)
        _numbers(keys, self._keys, self._numbers, 0, np.empty(len(keys), np.int32))


def longer(rows: npt.NDArray[Any], size: int, blank: int) -> npt.NDArray[Any]:
    """At least `size` rows: these, then `blank` ones."""
    if len(rows) >= size:
        return rows
    made = np.empty(max(size, 2 * len(rows)), rows.dtype)
    made[: len(rows)] = rows
    made[len(rows) :] = blank
    return made


@compiled
def _numbers(values: Longs, keys: Longs, numbers: Small, count: int, made: Small) -> int:
    """Fill `made`; `numbers` are one more than they mean, 0 in free places.  The new count.

    There must be a free place behind all that may come.
    """
    mask = len(keys) - 1
    for i in range(len(values)):
        value = values[i]
        if value == 0:
            made[i] = -1
            continue
        at = np.int64((np.uint64(value) * MULTIPLIER) >> HALF) & mask
        while numbers[at] != 0 and keys[at] != value:
            at = (at + 1) & mask
        if numbers[at] == 0:
            count += 1
            keys[at], numbers[at] = value, count
        made[i] = numbers[at] - 1
    return count
