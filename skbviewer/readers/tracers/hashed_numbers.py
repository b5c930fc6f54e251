# SPDX-License-Identifier: MIT
"""Number equal values by their hash: a table that grows, filled by a compiled loop.

A hash has 64 bits and a key that differs in each process, so no file can be made to collide.
"""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from ...records.compiled import Int, allocation_free
from ...records.types import Int32s, Int64s, UInt8s
from .event_shapes import word_at

UInt64s = npt.NDArray[np.uint64]

FIRST_SIZE = 1 << 12
# Two odd factors and a begin.
SECRET = np.frombuffer(os.urandom(24), np.uint64) | np.uint64(1)


class HashedNumbers:
    """Numbers different hashes from 0, in the order in which they come first; 0 has none."""

    def __init__(self) -> None:
        self.count = 0
        self._hashes = np.zeros(FIRST_SIZE, np.uint64)
        self._numbers = np.zeros(FIRST_SIZE, np.int32)

    def of(self, hashes: UInt64s) -> tuple[Int32s, Int64s]:
        """The number of each hash (-1: the hash is 0), and where the new ones stand."""
        while 2 * (self.count + len(hashes)) > len(self._hashes):
            self._grow()
        made, new = np.empty(len(hashes), np.int32), np.empty(len(hashes), np.int64)
        some = np.ascontiguousarray(hashes)
        before, self.count = (
            self.count,
            int(_number(some, self._hashes, self._numbers, self.count, made, new)),
        )
        return made, new[: self.count - before].copy()

    def _grow(self) -> None:
        size = 4 * len(self._hashes)
        hashes, numbers = np.zeros(size, np.uint64), np.zeros(size, np.int32)
        _move(self._hashes, self._numbers, hashes, numbers)
        self._hashes, self._numbers = hashes, numbers


def hash_of(raw: bytes) -> int:
    """The hash of one text, as span_hash() has it."""
    return int(span_hash(np.frombuffer(raw or b"\0", np.uint8).copy(), 0, len(raw), SECRET))


def hashes_of_columns(*columns: npt.NDArray[np.integer]) -> UInt64s:
    """A hash of the numbers in each row."""
    made = np.full(len(columns[0]), SECRET[2], np.uint64)
    for column in columns:
        _mix(np.ascontiguousarray(column, np.int64), SECRET, made)
    return made | np.uint64(1)


@allocation_free
def stirred(hashed: np.uint64, word: np.uint64, secret: UInt64s) -> np.uint64:
    hashed = (hashed ^ word) * secret[0]
    hashed ^= hashed >> np.uint64(32)
    hashed *= secret[1]
    return hashed ^ (hashed >> np.uint64(29))


@allocation_free
def _mix(column: Int64s, secret: UInt64s, made: UInt64s) -> None:
    for i in range(len(column)):
        made[i] = stirred(made[i], np.uint64(column[i]), secret)


@allocation_free
def span_hash(text: UInt8s, begin: Int, stop: Int, secret: UInt64s) -> np.uint64:
    """The hash of text[begin:stop]; never 0."""
    at, end = np.int64(begin), np.int64(stop)
    hashed = stirred(secret[2], np.uint64(end - at), secret)
    while at + 8 <= end:
        hashed = stirred(hashed, word_at(text, at), secret)
        at += 8
    word = np.uint64(0)
    while at < end:
        word = (word << np.uint64(8)) | np.uint64(text[at])
        at += 1
    return stirred(hashed, word, secret) | np.uint64(1)


@allocation_free
def _slot(hashed: np.uint64, hashes: UInt64s) -> Int:
    """Where a hash stands in the table, or where it is to be put."""
    mask = np.int64(len(hashes) - 1)
    at = np.int64(hashed >> np.uint64(8)) & mask
    while hashes[at] != 0 and hashes[at] != hashed:
        at = (at + 1) & mask
    return at


@allocation_free
def _number(
    some: UInt64s, hashes: UInt64s, numbers: Int32s, count: Int, made: Int32s, new: Int64s
) -> Int:
    """Fill `made`; `new` gets the rows of hashes that are not in the table.  Returns its size."""
    first = np.int64(count)
    total = np.int64(count)
    for row in range(len(some)):
        if some[row] == 0:
            made[row] = -1
            continue
        at = _slot(some[row], hashes)
        if hashes[at] == 0:
            hashes[at], numbers[at] = some[row], total
            new[total - first] = row
            total += 1
        made[row] = numbers[at]
    return total


@allocation_free
def _move(hashes: UInt64s, numbers: Int32s, to: UInt64s, of: Int32s) -> None:
    for i in range(len(hashes)):
        if hashes[i] != 0:
            at = _slot(hashes[i], to)
            to[at], of[at] = hashes[i], numbers[i]
