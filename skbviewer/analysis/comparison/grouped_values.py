# SPDX-License-Identifier: MIT
"""Means, percentiles, numbers and shares of many groups of values, with their errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from ...records.types import Bools, Float64s, Int64s
from .block_errors import Errors, relative_errors
from .estimates import Estimates
from .student_t import quantile

BEYOND = 10  # values that must lie beyond a percentile
RESOLUTION_NS = 0.5  # half of a clock's step
VALUE_BITS = 44  # ns: almost five hours

_Ranked: TypeAlias = Callable[[Float64s], Float64s]  # from shares of groups to their values


class Grouped(NamedTuple):
    """Values (ns, >= 0) with group and block of each; there are `names` groups and `blocks`.

    `lossy` is of each group.  `longest` is the number of blocks of a window.
    """

    group: Int64s
    value: Int64s
    block: Int64s
    names: tuple[str, ...]
    blocks: int
    longest: int
    lossy: Bools

    def summed(self, weight: Int64s | Bools | None = None) -> Float64s:
        """Return the sum of `weight` (default: the number) by block and group."""
        return by_block(self.block, self.group, self.blocks, len(self.names), weight)


def by_block(
    block: Int64s, group: Int64s, blocks: int, groups: int, weight: Int64s | Bools | None = None
) -> Float64s:
    """Return the sum of `weight` (default: the number of rows) for each block and group."""
    size = max(blocks, 1) * groups
    found = np.bincount(block * groups + group, weight, size)
    return found.reshape(max(blocks, 1), groups).astype(np.float64)


def ratios(
    names: tuple[str, ...],
    value: Float64s,
    number: Float64s,
    grouped: tuple[int, int],
    lossy: Bools,
) -> Estimates:
    """Return estimates of sum(value) / sum(number), both by block and item.

    `grouped` is (blocks, longest) as in Grouped.
    """
    blocks, longest = grouped
    errors = relative_errors(value[:blocks], number[:blocks], longest)
    number = np.broadcast_to(number, value.shape).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(number > 0, value.sum(axis=0) / number, np.nan)
    counts = number.astype(np.int64)
    return Estimates(names, mean, *errors[:2], counts, errors.windows, lossy, blocks)


def means(grouped: Grouped) -> Estimates:
    """Return the mean of each group."""
    value, number = grouped.summed(grouped.value), grouped.summed()
    size = grouped.blocks, grouped.longest
    return ratios(grouped.names, value, number, size, grouped.lossy)


def percentiles(grouped: Grouped, percents: tuple[int, ...]) -> list[Estimates]:
    """Return these percentiles (nearest rank) of each group.

    The error is that of the share of values up to the percentile, carried over to the values
    (Woodruff, "Confidence intervals for medians and other position measures", JASA 47, 1952).
    """
    mask = (1 << VALUE_BITS) - 1
    ordered = np.sort(grouped.group << VALUE_BITS | np.minimum(grouped.value, mask)) & mask
    number = grouped.summed()
    count = number.sum(axis=0).astype(np.int64)
    first = np.cumsum(count) - count
    return [_percentile(grouped, percent / 100, ordered, first, number) for percent in percents]


def _percentile(
    grouped: Grouped, share: float, ordered: Int64s, first: Int64s, number: Float64s
) -> Estimates:
    count = number.sum(axis=0).astype(np.int64)

    def ranked(part: Float64s) -> Float64s:
        rank = np.clip(np.ceil(np.nan_to_num(part) * count - 1e-9).astype(np.int64), 1, None)
        at = np.minimum(first + np.minimum(rank, count) - 1, len(ordered) - 1)
        return ordered[np.maximum(at, 0)].astype(np.float64) if len(ordered) else part * 0.0

    value = ranked(np.full(len(count), share))
    below = grouped.summed(grouped.value <= value[grouped.group])
    errors = relative_errors(below[: grouped.blocks], number[: grouped.blocks], grouped.longest)
    error = _carried_over(errors, share, below, number, value, ranked)
    error[count * (1 - share) < BEYOND] = np.nan
    value[count == 0] = np.nan
    freedom = np.where(np.isnan(error), 0.0, errors.freedom)
    marks = errors.windows, grouped.lossy, grouped.blocks
    return Estimates(grouped.names, value, error, freedom, count, *marks)


def _carried_over(
    errors: Errors,
    share: float,
    below: Float64s,
    number: Float64s,
    value: Float64s,
    ranked: _Ranked,
) -> Float64s:
    """Return the errors of the logarithms of percentiles, from those of the shares below them."""
    t = quantile(errors.freedom)
    with np.errstate(divide="ignore", invalid="ignore"):
        reached = below.sum(axis=0) / number.sum(axis=0)
        half = t * errors.error * reached
        inside = (share + half < 1) & (share - half > 0)
        up, down = np.log(ranked(share + half) / value), np.log(value / ranked(share - half))
        error = np.hypot(np.maximum(up, down) / t, RESOLUTION_NS / value)
    return np.where(inside & (value > 0) & np.isfinite(error), error, np.nan)
