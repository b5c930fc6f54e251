# SPDX-License-Identifier: MIT
"""Find the exact values at given ranks in each of many groups, without sorting all values.

Values are counted in buckets whose width grows with the value.  Only the values of the buckets
that contain a wanted rank are sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ...records.types import Int64s
from .group_percentile_loops import BUCKETS, collect, count_values
from .grouped_sorting import by_group

MOST_COUNTERS = 1 << 23  # of all groups together; with more groups, values are sorted
FEW = 1 << 12  # values that are sorted as well as counted

Block = tuple[Int64s, Int64s]
RanksOf = Callable[[int], list[int]]


class Ranked(NamedTuple):
    """A group: how many values it has, their sum, and the values at the wanted ranks."""

    number: int
    total: int
    at: tuple[int, ...]


NOTHING = Ranked(0, 0, ())


def ranked(group: Int64s, value: Int64s, groups: int, ranks_of: RanksOf) -> list[Ranked]:
    """Return number, sum and values at some ranks for each of `groups` groups, numbered from 0.

    `group` and `value` have an element for each row. ranks_of(n) returns the wanted ranks (from 0)
    in a group of n > 0 values.
    """
    many = len(value) > FEW and groups * BUCKETS <= MOST_COUNTERS
    if not many or int(value.min(initial=0)) < 0:
        return [_of_sorted(one, ranks_of) for one in by_group(group, value, groups)]
    whole = np.array(group, np.int64), np.array(value, np.int64)
    return ranked_blocks(lambda: iter([whole]), groups, ranks_of)


def ranked_values(value: Int64s, ranks_of: RanksOf) -> Ranked:
    """Return number, sum and values at some ranks of one group; see ranked()."""
    if not len(value):
        return NOTHING
    ranks = ranks_of(len(value))
    values = np.partition(value, ranks)[ranks]
    return Ranked(len(value), int(value.sum()), tuple(values.tolist()))


def ranked_blocks(
    blocks: Callable[[], Iterator[Block]], groups: int, ranks_of: RanksOf
) -> list[Ranked]:
    """Return number, sum and values at some ranks of each group, like ranked(), but block by block.

    Each call of `blocks` must yield the same pairs of group and value arrays.  The values are int64
    and not negative.
    """
    counts, total = np.zeros((groups, BUCKETS), np.int64), np.zeros(groups, np.int64)
    for block in blocks():
        count_values(*block, counts, total)
    ends = np.cumsum(counts, axis=1)
    ranks = [ranks_of(int(end[-1])) if end[-1] else [] for end in ends]
    buckets = [np.searchsorted(end, mine, "right") for end, mine in zip(ends, ranks, strict=True)]
    slot = np.full((groups, BUCKETS), -1, np.int64)
    at, sizes = 0, [0]
    for of, found in enumerate(buckets):
        for bucket in np.unique(found).tolist():
            slot[of, bucket] = at
            at += 1
            sizes.append(int(counts[of, bucket]))
    begin = np.cumsum(sizes)
    kept = np.empty(int(begin[-1]), np.int64)
    places = begin[:-1].copy()
    for block in blocks():
        collect(*block, slot, places, kept)
    for first, last in zip(begin[:-1].tolist(), begin[1:].tolist(), strict=True):
        kept[first:last].sort()
    made = []
    for of, (mine, found) in enumerate(zip(ranks, buckets, strict=True)):
        before = ends[of, found] - counts[of, found]
        at_rank = begin[slot[of, found]] + np.array(mine, np.int64) - before
        made.append(Ranked(int(ends[of, -1]), int(total[of]), tuple(kept[at_rank].tolist())))
    return made


def _of_sorted(values: Int64s, ranks_of: RanksOf) -> Ranked:
    if not len(values):
        return NOTHING
    ranks = ranks_of(len(values))
    return Ranked(len(values), int(values.sum()), tuple(values[ranks].tolist()))
