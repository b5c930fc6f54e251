# SPDX-License-Identifier: MIT
"""Hash tables of 64-bit keys: loops of hash_join.py."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records.compiled import allocation_free
from ...records.types import Int32s, Int64s

Hash = npt.NDArray[np.uint64]

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio (Knuth, TAOCP 6.4)
SHIFT = np.uint64(29)


@allocation_free
def place(key: np.uint64, keys: Hash, slots: Int32s) -> np.int64:
    """Return the slot that holds `key`, or the free slot where it would be inserted.

    `slots` is the hash table: indices of `keys`, -1 = free.
    """
    mask = len(slots) - 1
    at = np.int64(key >> SHIFT) & mask
    while slots[at] >= 0 and keys[slots[at]] != key:
        at = (at + 1) & mask
    return np.int64(at)


@allocation_free
def collect_keys(keys: Hash, slots: Int32s, after: Int32s, count: Int32s) -> None:
    """Fill the empty hash table `slots` with one index of each distinct key, and list equal keys.

    The indices of equal keys form a list: after[i] is the next index of the key (-1 = none), and
    count[i] is the length of the list from i on.
    """
    for i in range(len(keys) - 1, -1, -1):
        at = place(keys[i], keys, slots)
        after[i] = slots[at]
        count[i] = 1 if slots[at] < 0 else count[slots[at]] + 1
        slots[at] = i


@allocation_free
def ask_partners(
    asked: Hash,
    keys: Hash,
    slots: Int32s,
    count: Int32s,
    most: int,
    first: Int32s,
    many: npt.NDArray[np.bool_],
) -> int:
    """Find the first index in `keys` of each key of `asked`, and return the number of all pairs.

    For each i, first[i] becomes the first index of asked[i] in `keys` (-1 = none), and many[i]
    becomes True if `keys` contains asked[i] more than `most` times.  The result does not count keys
    for which many[i] is True.  The caller has filled `slots` and `count` by collect_keys():
    count[j] is how often `keys` contains the key whose first index is j.
    """
    total = 0
    for i in range(len(asked)):
        first[i] = slots[place(asked[i], keys, slots)]
        if first[i] >= 0:
            many[i] = count[first[i]] > most
            total += 0 if many[i] else count[first[i]]
    return total


@allocation_free
def pair_up(
    first: Int32s, many: npt.NDArray[np.bool_], after: Int32s, left: Int64s, right: Int64s
) -> None:
    """Write the index pairs of equal keys to `left` and `right`, except for keys that `many` marks.

    first[i] is the first partner of row i, and after[j] the next partner after partner j; -1 means
    that there is none.
    """
    to = 0
    for i in range(len(first)):
        at = np.int32(-1) if many[i] else first[i]
        while at >= 0:
            left[to], right[to] = i, at
            at = after[at]
            to += 1


@allocation_free
def find_keys(asked: Hash, few: Hash, slots: Int32s, found: npt.NDArray[np.bool_]) -> None:
    """Set found[i] to True if asked[i] is in `few`; `slots` is the hash table of `few`."""
    for i in range(len(asked)):
        found[i] = slots[place(asked[i], few, slots)] >= 0


@allocation_free
def share_keys(keys: Hash, slots: Int32s, first: Int32s, count: Int32s) -> None:
    """Find for each row the first row with an equal key, and count the rows with that key.

    first[i] becomes the first row with the key of row i, and count[first[i]] the number of rows
    with that key.  `slots` is an empty hash table for `keys`.
    """
    for i in range(len(keys)):
        at = place(keys[i], keys, slots)
        if slots[at] < 0:
            slots[at] = i
        first[i] = slots[at]
        count[first[i]] += 1
