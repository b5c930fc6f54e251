# SPDX-License-Identifier: MIT
"""Join rows of two tables by the values of many columns.

Rows are found by a 64-bit hash of their columns.  Rows with equal hashes are a pair only if their
columns are equal, too, so a collision of hashes costs time but never yields a wrong pair.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ...records import ColumnTable, part
from ...records.types import Int32s, Int64s
from .array_blocks import blocks, fits
from .hash_join_loops import (
    MULTIPLIER,
    SHIFT,
    Hash,
    ask_partners,
    collect_keys,
    find_keys,
    pair_up,
    share_keys,
)

Rows = ColumnTable | npt.NDArray[np.void]


def column_hashes(columns: Iterable[npt.NDArray[np.generic]]) -> Hash:
    """Return one hash for each row; `columns` are the integer columns of the rows."""
    listed = list(columns)
    made = np.zeros(len(listed[0]) if listed else 0, np.uint64)
    for rows in blocks(len(made)):
        block = made[rows]
        for column in listed:
            block ^= column[rows].astype(np.int64).view(np.uint64)
            block *= MULTIPLIER
            block ^= block >> SHIFT
    return made


def hashed_rows(rows: Rows, columns: Iterable[str]) -> Hash:
    """Return one hash of the named columns for each row."""
    made, names = np.empty(len(rows), np.uint64), list(columns)
    for some in blocks(len(rows)):
        made[some] = column_hashes(part(rows, name, some) for name in names)
    return made


def is_repeated(keys: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """Return for each element of `keys` whether an earlier one is equal; fast if this is rare."""
    made = np.zeros(len(keys), np.bool_)
    if not (several := is_shared(keys)).any():
        return made
    some = np.flatnonzero(several)
    made[some] = True
    made[some[np.unique(keys[some], return_index=True)[1]]] = False
    return made


def is_shared(keys: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """Return for each key whether it occurs more than once."""
    ranked = np.sort(keys)
    again = ranked[1:][ranked[1:] == ranked[:-1]]
    return np.isin(keys, again) if len(again) else np.zeros(len(keys), np.bool_)


def join(left: Hash, right: Hash, limit: int = 0) -> tuple[Int64s, Int64s, npt.NDArray[np.bool_]]:
    """Return pairs (index in `left`, index in `right`) of equal hashes, and a flag by left row.

    many[i] means that row i of `left` has more than `limit` partners in `right` (0: no limit).  A
    row for which `many` is True is in no pair.  Pairs are sorted by the index in `left`, then by
    that in `right`.
    """
    most = limit or len(right)
    slots = slots_for(len(right))
    after, count = np.empty((2, len(right)), np.int32)
    collect_keys(right, slots, after, count)
    first, many = np.empty(len(left), np.int32), np.zeros(len(left), np.bool_)
    total = int(ask_partners(left, right, slots, count, most, first, many))
    i, j = np.empty((2, total), np.int64)
    pair_up(first, many, after, i, j)
    return i, j, many


def slots_for(count: int) -> Int32s:
    """Return an empty table (value_numbering.py) for indices of `count` keys; -1 = free slot."""
    return np.full(1 << (4 * count).bit_length(), -1, np.int32)


def is_in(asked: Hash, few: Hash) -> npt.NDArray[np.bool_]:
    """Return for each key of `asked` whether it is in `few`."""
    slots, found = slots_for(len(few)), np.empty(len(asked), np.bool_)
    collect_keys(few, slots, *np.empty((2, len(few)), np.int32))
    find_keys(asked, few, slots, found)
    return found


def key_counts(keys: Hash) -> Int32s:
    """Return for each element of `keys` how often its value occurs in `keys`."""
    first, count = np.empty(len(keys), np.int32), np.zeros(len(keys), np.int32)
    share_keys(keys, slots_for(len(keys)), first, count)
    return count[first]


def runs(owner: npt.NDArray[np.integer], asked: Int64s) -> tuple[Int64s, Int64s]:
    """Return for each number of `asked` its first index in `owner`, and how often it occurs.

    `owner` is sorted.  Neither `owner` nor `asked` contains negative numbers.
    """
    size = max(int(owner.max(initial=-1)), int(asked.max(initial=-1))) + 1
    count = np.bincount(owner, minlength=size)
    begin = np.cumsum(count) - count
    return begin[asked], count[asked]


def spread(low: Int64s, count: Int64s, order: Int64s) -> tuple[Int64s, Int64s]:
    """Return count[i] pairs for each i: (i, order[low[i]]), (i, order[low[i] + 1]), and so on."""
    left = np.repeat(np.arange(len(count)), count)
    offset = np.arange(len(left)) - np.repeat(np.cumsum(count) - count, count)
    return left, order[np.repeat(low, count) + offset]


def by_pair(first: Int64s, second: Int64s) -> Int64s:
    """Return the indices that sort the pairs (first[i], second[i]); equal ones keep their order."""
    span = int(second.max(initial=0)) + 1
    if int(first.min(initial=0)) < 0 or int(second.min(initial=0)) < 0:
        return np.lexsort((second, first))
    if not fits(int(first.max(initial=0)) + 1, span):
        return np.lexsort((second, first))
    return np.argsort(first * span + second, kind="stable")  # mostly sorted already


def by_group(group: npt.NDArray[np.integer], value: Int64s) -> Int64s:
    """Return the indices that sort rows by group, then by value; equal rows keep their order.

    The sort is fast if the groups are nearly sorted, and if the values in nearly all groups are
    sorted.  No group may be negative.
    """
    order = np.argsort(group, kind="stable")
    a, b = group[order], value[order]
    swapped = (a[1:] == a[:-1]) & (b[1:] < b[:-1])
    if swapped.any():
        unsorted = np.zeros(int(a[-1]) + 1, np.bool_)
        unsorted[a[1:][swapped]] = True
        some = np.flatnonzero(unsorted[a])
        order[some] = order[some][np.lexsort((b[some], a[some]))]
    return np.asarray(order, np.int64)


def distinct(first: Int64s, second: Int64s) -> Int64s:
    """Return indices that select each distinct pair (first[i], second[i]) once, sorted by pair.

    If a pair occurs several times, its first index is returned.
    """
    order = by_pair(first, second)
    a, b = first[order], second[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
    return np.asarray(order[new], np.int64)


def numbers_without(numbers: Int64s, others: Int64s) -> Int64s:
    """Return the values of `numbers` that are not in `others`, sorted and each once.

    Neither `numbers` nor `others` may contain negative numbers.
    """
    left = np.zeros(max(int(numbers.max(initial=-1)), int(others.max(initial=-1))) + 1, np.bool_)
    left[numbers] = True
    left[others] = False
    return np.flatnonzero(left)
