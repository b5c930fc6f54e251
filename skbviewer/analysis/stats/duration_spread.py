# SPDX-License-Identifier: MIT
"""Count, total and percentiles of many groups of durations at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Int64s


class Spread(NamedTuple):
    """One group of durations, ns.  Percentiles are nearest-rank; all are 0 for an empty group."""

    number: int
    total_ns: int
    mean_ns: int
    p50_ns: int
    p95_ns: int
    p99_ns: int
    max_ns: int


NOTHING = Spread(0, 0, 0, 0, 0, 0, 0)
PERCENTS = (50, 95, 99, 100)
BITS = 63  # of a positive int64


def spreads(group: Int64s, value: Int64s, groups: int) -> list[Spread]:
    """Return the spread of `value` in each group 0 .. groups - 1; arrays are equally long."""
    return [_spread(values) for values in by_group(group, value, groups)]


def by_group(group: Int64s, value: Int64s, groups: int) -> list[Int64s]:
    """Return the values of each group 0 .. groups - 1, sorted; both arrays are equally long.

    A group and a value are sorted as one number if they fit, which takes a fifth of the time.
    """
    group, value = np.asarray(group, np.int64), np.asarray(value, np.int64)
    bits = int(value.max(initial=0)).bit_length()
    if value.min(initial=0) >= 0 and bits + groups.bit_length() < BITS:
        value = np.sort((group << bits) | value) & ((1 << bits) - 1)
    else:
        value = value[np.lexsort((value, group))]
    ends = np.cumsum(np.bincount(group, minlength=groups))
    return np.split(value, ends[:-1]) if groups else []


def _spread(sorted_values: Int64s) -> Spread:
    count = len(sorted_values)
    if not count:
        return NOTHING
    total = int(sorted_values.sum())
    ranks = [int(sorted_values[-(-count * percent // 100) - 1]) for percent in PERCENTS]
    return Spread(count, total, round(total / count), *ranks)
