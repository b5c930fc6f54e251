# SPDX-License-Identifier: MIT
"""The distinct values of a long column that has few of them, such as a column of functions.

Input: integers in any order.  Output: each value once, sorted.  The values are kept in a hash table
in the processor's cache; sorting ten million records would take four times as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...records.compiled import allocation_free
from ...records.types import Int64s

FIRST_SLOTS = 1 << 12  # slots of the first table
BLOCK = 1 << 16
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio (Knuth, TAOCP 6.4)
UPPER = np.uint64(32)  # shift to the bits of a product that depend on every bit of the value


def distinct(values: npt.NDArray[np.integer[Any]]) -> Int64s:
    """Return the sorted distinct values, as np.unique(values) does, but as int64."""
    seen, taken, used = (
        np.zeros(FIRST_SLOTS, np.int64),
        np.zeros(FIRST_SLOTS, np.bool_),
        np.zeros(1, np.int64),
    )
    for begin in range(0, len(values), BLOCK):
        some, done = values[begin : begin + BLOCK].astype(np.int64), 0
        while (done := int(_note(some, done, seen, taken, used))) < len(some):
            known, more = seen[taken], 2 * len(seen)
            seen, taken, used[0] = np.zeros(more, np.int64), np.zeros(more, np.bool_), 0
            _note(known, 0, seen, taken, used)
    return np.sort(seen[taken])


@allocation_free
def _note(
    values: Int64s, begin: int, seen: Int64s, taken: npt.NDArray[np.bool_], used: Int64s
) -> int:
    """Add the values from index `begin` on to the hash table.

    Returns the index at which the table was full, or else the number of values.
    """
    mask = len(seen) - 1
    for i in range(begin, len(values)):
        if 2 * used[0] >= len(seen):
            return i
        at = np.int64(np.uint64(values[i]) * MULTIPLIER >> UPPER) & mask
        while taken[at] and seen[at] != values[i]:
            at = (at + 1) & mask
        if not taken[at]:
            taken[at], seen[at] = True, values[i]
            used[0] += 1
    return len(values)
