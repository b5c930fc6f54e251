# SPDX-License-Identifier: MIT
"""Number, sum and percentiles of many groups of durations at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ...records.types import Int64s
from ..breakdown.group_percentiles import Block, ranked, ranked_blocks, ranked_values


class Spread(NamedTuple):
    """How the durations (ns) in one group are distributed.

    Percentiles are nearest ranks.  For a group without durations, all results are 0.
    """

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
    """Return number, sum, mean, percentiles and maximum of `value` for each of `groups` groups.

    `group` has the group (from 0) of each value.
    """
    return [_spread(*one) for one in ranked(group, value, groups, _ranks)]


def spread(value: Int64s) -> Spread:
    """Return number, sum, mean, percentiles and maximum of all values together."""
    return _spread(*ranked_values(value, _ranks))


def spreads_of_blocks(blocks: Callable[[], Iterator[Block]], groups: int) -> list[Spread]:
    """Return what spreads() returns, for values that come in blocks; see ranked_blocks()."""
    return [_spread(*one) for one in ranked_blocks(blocks, groups, _ranks)]


def _ranks(count: int) -> list[int]:
    return [-(-count * percent // 100) - 1 for percent in PERCENTS]


def _spread(count: int, total: int, values: tuple[int, ...]) -> Spread:
    return Spread(count, total, round(total / count), *values) if count else NOTHING
