# SPDX-License-Identifier: MIT
"""Join rows of two tables by the values of many columns, without comparing many columns to sort.

Rows are sorted by a 64-bit hash of their columns; pairs of equal hash are compared on the columns
themselves, so a collision of hashes costs time and never a wrong pair.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .kinds import Index
from .ordering import blocks, by_number, fits

Hash = npt.NDArray[np.uint64]


class Rows(Protocol):
    """A table that gives its columns by name: a structured array, a dict of columns."""

    def __getitem__(self, name: str, /) -> npt.NDArray[Any]: ...


Chosen = tuple[Rows, Index]  # rows of a table, and which of them

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio (Knuth, TAOCP 6.4)
_SHIFT = np.uint64(29)


def hashed(columns: Iterable[npt.NDArray[np.generic]]) -> Hash:
    """One hash a row of columns of integers."""
    listed = list(columns)
    made = np.zeros(len(listed[0]) if listed else 0, np.uint64)
    for rows in blocks(len(made)):
        block = made[rows]
        for column in listed:
            block ^= column[rows].astype(np.int64).view(np.uint64)
            block *= _MULTIPLIER
            block ^= block >> _SHIFT
    return made


def hashed_rows(rows: Rows, columns: Iterable[str]) -> Hash:
    """One hash for the named columns of each row."""
    return hashed(rows[name] for name in columns)


def join(left: Hash, right: Hash, limit: int = 0) -> tuple[Index, Index, npt.NDArray[np.bool_]]:
    """Index pairs of equal hashes, and which of `left` have more partners than `limit` (0: none).

    Those that have more are in no pair.
    """
    order, asking = by_hash(right), by_hash(left)
    ranked, asked = right[order], left[asking]  # what is asked in order is found in the cache
    low, count = np.empty(len(left), np.int64), np.empty(len(left), np.int64)
    begin = np.searchsorted(ranked, asked)
    low[asking], count[asking] = begin, _equal(ranked, asked, begin)
    many = count > limit if limit else np.zeros(len(left), np.bool_)
    count = np.where(many, 0, count)
    return *spread(low, count, order), many


def _equal(ranked: Hash, asked: Hash, begin: Index) -> Index:
    """How many of `ranked`, from `begin` on, are what is asked."""
    if not len(ranked):
        return np.zeros(len(asked), np.int64)
    new = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    size = np.zeros(len(ranked), np.int64)  # of the run that begins there
    size[new] = np.diff(new, append=len(ranked))
    at = np.minimum(begin, len(ranked) - 1)
    return np.where(ranked[at] == asked, size[at], 0)


def by_hash(values: Hash) -> Index:
    """As np.argsort(values, kind="stable"): by the upper half, which leaves little to sort."""
    order = by_number((values >> np.uint64(32)).astype(np.int64))
    return np.asarray(order[np.argsort(values[order], kind="stable")])


def runs(owner: npt.NDArray[np.integer], asked: Index) -> tuple[Index, Index]:
    """Where numbers from 0 on stand in `owner`, which is sorted: (first place, how many)."""
    size = max(int(owner.max(initial=-1)), int(asked.max(initial=-1))) + 1
    count = np.bincount(owner, minlength=size)
    begin = np.cumsum(count) - count
    return begin[asked], count[asked]


def spread(low: Index, count: Index, order: Index) -> tuple[Index, Index]:
    """(i, order[low[i]]), (i, order[low[i] + 1]), ...: count[i] pairs for each i."""
    left = np.repeat(np.arange(len(count)), count)
    offset = np.arange(len(left)) - np.repeat(np.cumsum(count) - count, count)
    return left, order[np.repeat(low, count) + offset]


def equal_rows(left: Chosen, right: Chosen, columns: Iterable[str]) -> npt.NDArray[np.bool_]:
    """Which of the chosen rows have equal values in all these columns."""
    (wire, i), (kernel, j) = left, right
    same = np.ones(len(i), np.bool_)
    for name in columns:
        same &= wire[name][i] == kernel[name][j]
    return same


def by_pair(first: Index, second: Index) -> Index:
    """The stable order of pairs of numbers."""
    span = int(second.max(initial=0)) + 1
    if int(first.min(initial=0)) < 0 or int(second.min(initial=0)) < 0:
        return np.lexsort((second, first))
    if not fits(int(first.max(initial=0)) + 1, span):
        return np.lexsort((second, first))
    return np.argsort(first * span + second, kind="stable")  # mostly nearly in order


def distinct(first: Index, second: Index) -> Index:
    """Positions of the first occurrence of each pair of numbers, sorted by pair."""
    order = by_pair(first, second)
    a, b = first[order], second[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
    return np.asarray(order[new], np.int64)


def without(numbers: Index, others: Index) -> Index:
    """The numbers (none below 0) that are not among `others`, each once, sorted."""
    left = np.zeros(max(int(numbers.max(initial=-1)), int(others.max(initial=-1))) + 1, np.bool_)
    left[numbers] = True
    left[others] = False
    return np.flatnonzero(left)
