# SPDX-License-Identifier: MIT
"""A hash table that maps hashes to numbers: loops of numbers_by_hash.py."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records.compiled import Int, allocation_free
from ...records.types import Int32s, Int64s, UInt8s
from .event_shape_loops import word_at

UInt64s = npt.NDArray[np.uint64]


@allocation_free
def combined_hash(hashed: np.uint64, word: np.uint64, secret: UInt64s) -> np.uint64:
    """Return a hash of a hash and a number; `secret` makes it unpredictable."""
    hashed = (hashed ^ word) * secret[0]
    hashed ^= hashed >> np.uint64(32)
    hashed *= secret[1]
    return hashed ^ (hashed >> np.uint64(29))


@allocation_free
def mix_column(column: Int64s, secret: UInt64s, made: UInt64s) -> None:
    """Combine each hash in `made` with the number in its row of `column`, in place.

    `secret` holds the factors of combined_hash().
    """
    for i in range(len(column)):
        made[i] = combined_hash(made[i], np.uint64(column[i]), secret)


@allocation_free
def span_hash(text: UInt8s, begin: Int, stop: Int, secret: UInt64s) -> np.uint64:
    """Return a hash of text[begin:stop]; it is never 0."""
    at, end = np.int64(begin), np.int64(stop)
    hashed = combined_hash(secret[2], np.uint64(end - at), secret)
    while at + 8 <= end:
        hashed = combined_hash(hashed, word_at(text, at), secret)
        at += 8
    word = np.uint64(0)
    while at < end:
        word = (word << np.uint64(8)) | np.uint64(text[at])
        at += 1
    return combined_hash(hashed, word, secret) | np.uint64(1)


@allocation_free
def _slot(hashed: np.uint64, hashes: UInt64s) -> Int:
    """Return the slot that holds a hash, or the free slot where it would be inserted."""
    mask = np.int64(len(hashes) - 1)
    at = np.int64(hashed >> np.uint64(8)) & mask
    while hashes[at] != 0 and hashes[at] != hashed:
        at = (at + 1) & mask
    return at


@allocation_free
def number_hashes(
    some: UInt64s, hashes: UInt64s, numbers: Int32s, count: Int, made: Int32s, new: Int64s
) -> Int:
    """Write the number of each hash of `some` into `made`; new hashes get the next numbers.

    `hashes` and `numbers` are the hash table, which has `count` hashes before the call.  `new` gets
    the row of each new hash in `some`.  Returns how many hashes the table has after the call.
    """
    first = np.int64(count)
    total = np.int64(count)
    for row in range(len(some)):
        if some[row] == 0:
            made[row] = -1
            continue
        if row > 0 and some[row] == some[row - 1]:  # mostly, points of one packet are together
            made[row] = made[row - 1]
            continue
        at = _slot(some[row], hashes)
        if hashes[at] == 0:
            hashes[at], numbers[at] = some[row], total
            new[total - first] = row
            total += 1
        made[row] = numbers[at]
    return total


@allocation_free
def move_hashes(hashes: UInt64s, numbers: Int32s, to: UInt64s, of: Int32s) -> None:
    """Insert `hashes` and their `numbers` into a larger, empty table: `to` and `of`."""
    for i in range(len(hashes)):
        if hashes[i] != 0:
            at = _slot(hashes[i], to)
            to[at], of[at] = hashes[i], numbers[i]
