# SPDX-License-Identifier: MIT
"""Number distinct values by their hashes, in a hash table that a compiled loop fills.

A hash has 64 bits and depends on a key that differs in each process, so nobody can make a file with
many equal hashes.
"""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from ...records.types import Int32s, Int64s
from .numbers_by_hash_loops import UInt64s, mix_column, move_hashes, number_hashes, span_hash

FIRST_SIZE = 1 << 12
AT_ONCE = 1 << 12  # hashes, all of which may be new: the table must have space for them
# Two odd factors and a start value.
SECRET = np.frombuffer(os.urandom(24), np.uint64) | np.uint64(1)


class HashedNumbers:
    """Numbers distinct hashes from 0 on, in order of first occurrence; the hash 0 gets none."""

    def __init__(self) -> None:
        self.count = 0
        self._hashes = np.zeros(FIRST_SIZE, np.uint64)
        self._numbers = np.zeros(FIRST_SIZE, np.int32)

    def of(self, hashes: UInt64s) -> tuple[Int32s, Int64s]:
        """Return the number of each hash (-1 for the hash 0), and the row of each new hash."""
        made, new = np.empty(len(hashes), np.int32), []
        some = np.ascontiguousarray(hashes)
        for begin in range(0, len(some), AT_ONCE):
            part = slice(begin, begin + AT_ONCE)
            new.append(self._of(some[part], made[part]) + begin)
        return made, np.concatenate(new) if new else np.zeros(0, np.int64)

    def _of(self, some: UInt64s, made: Int32s) -> Int64s:
        """Fill `made` with the numbers of the hashes `some`; return the rows of new hashes."""
        while 2 * (self.count + len(some)) > len(self._hashes):
            self._grow()
        new, before = np.empty(len(some), np.int64), self.count
        table = self._hashes, self._numbers
        self.count = int(number_hashes(some, *table, before, made, new))
        return new[: self.count - before]

    def _grow(self) -> None:
        size = 4 * len(self._hashes)
        hashes, numbers = np.zeros(size, np.uint64), np.zeros(size, np.int32)
        move_hashes(self._hashes, self._numbers, hashes, numbers)
        self._hashes, self._numbers = hashes, numbers


def hash_of(raw: bytes) -> int:
    """Return the hash of one text; span_hash() computes the same."""
    return int(span_hash(np.frombuffer(raw or b"\0", np.uint8).copy(), 0, len(raw), SECRET))


def hashes_of_columns(*columns: npt.NDArray[np.integer]) -> UInt64s:
    """Return a hash of the numbers in each row; it is never 0."""
    made = np.full(len(columns[0]), SECRET[2], np.uint64)
    for column in columns:
        mix_column(np.ascontiguousarray(column, np.int64), SECRET, made)
    return made | np.uint64(1)
