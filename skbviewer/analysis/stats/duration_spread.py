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


def spreads(group: Int64s, value: Int64s, groups: int) -> list[Spread]:
    """The spread of `value` in each group 0 .. groups - 1; both arrays are equally long."""
    order = np.lexsort((value, group))
    value = np.asarray(value, np.int64)[order]
    count = np.bincount(group, minlength=groups)
    first = np.cumsum(count) - count
    total = np.zeros(groups, np.int64)
    np.add.at(total, group[order], value)
    return [
        _spread(int(count[g]), int(total[g]), value[first[g] : first[g] + count[g]])
        for g in range(groups)
    ]


def _spread(count: int, total: int, sorted_values: Int64s) -> Spread:
    if not count:
        return NOTHING
    ranks = [int(sorted_values[-(-count * percent // 100) - 1]) for percent in PERCENTS]
    return Spread(count, total, round(total / count), *ranks)
