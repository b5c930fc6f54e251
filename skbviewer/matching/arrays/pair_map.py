# SPDX-License-Identifier: MIT
"""Map pairs of numbers to a value, in a hash table like the one in value_numbering.py.

A cell of the table is (used, first, second, value), so a look-up reads a single place in memory.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records.compiled import allocation_free
from ...records.types import Int64s
from .value_numbering import HALF, MULTIPLIER, Number

USED, FIRST, SECOND, VALUE = range(4)
FIRST_SLOTS = 1 << 11

Cells = npt.NDArray[np.int64]


class PairMap:
    """A hash table of pairs and values: `cells`, shape (slots, 4), of which used[0] are in use."""

    def __init__(self) -> None:
        self.cells, self.used = np.zeros((FIRST_SLOTS, 4), np.int64), np.zeros(1, np.int64)

    def grow(self, since: int | None = None) -> None:
        """Enlarge the table; if `since` is given, drop pairs whose first number is below it."""
        left = self.cells[self.cells[:, USED] != 0]
        if since is not None:
            left = left[left[:, FIRST] >= since]
        size = max(FIRST_SLOTS, 1 << (4 * len(left)).bit_length())
        self.cells, self.used[0] = np.zeros((size, 4), np.int64), len(left)
        _refill(left, self.cells)


@allocation_free
def has_no_room(cells: Cells, used: Int64s) -> bool:
    """Return whether the table `cells`, which has used[0] pairs, may lack space for a new pair."""
    return bool(2 * (used[0] + 1) > len(cells))


@allocation_free
def cell_of(first: Number, second: Number, cells: Cells) -> np.int64:
    """Return the cell of the pair (first, second), or the free cell in which put() can store it."""
    mask = len(cells) - 1
    at = np.int64((np.uint64(first * 512 + second) * MULTIPLIER) >> HALF) & mask
    while cells[at, USED] != 0 and (cells[at, FIRST] != first or cells[at, SECOND] != second):
        at = (at + 1) & mask
    return at


@allocation_free
def put(
    at: Number, first: Number, second: Number, value: Number, cells: Cells, used: Int64s
) -> None:
    """Set the value of the pair (first, second) in the cell `at`, which cell_of() has returned.

    used[0], the number of occupied cells, grows by 1 if the cell was free.
    """
    used[0] += 1 - cells[at, USED]
    cells[at, USED], cells[at, VALUE] = 1, value
    cells[at, FIRST], cells[at, SECOND] = first, second


@allocation_free
def _refill(left: Cells, cells: Cells) -> None:
    for i in range(len(left)):
        at = cell_of(left[i, FIRST], left[i, SECOND], cells)
        for field in range(4):
            cells[at, field] = left[i, field]
