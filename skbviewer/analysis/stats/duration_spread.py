# SPDX-License-Identifier: MIT
"""Count, total and percentiles of many groups of durations at once."""

from __future__ import annotations

from typing import NamedTuple

from ...records.types import Int64s
from ..breakdown.grouped_sorting import by_group


class Spread(NamedTuple):
    """One group of durations, ns.  Percentiles are nearest-rank; an empty group has only zeros."""

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
    """Return sum, mean, percentiles and maximum of `value` in each of `groups` groups.

    `group` and `value` are equally long.
    """
    return [_spread(values) for values in by_group(group, value, groups)]


def _spread(sorted_values: Int64s) -> Spread:
    count = len(sorted_values)
    if not count:
        return NOTHING
    total = int(sorted_values.sum())
    ranks = [int(sorted_values[-(-count * percent // 100) - 1]) for percent in PERCENTS]
    return Spread(count, total, round(total / count), *ranks)
