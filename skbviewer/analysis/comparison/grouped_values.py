# SPDX-License-Identifier: MIT
"""Means, percentiles, numbers and shares of many groups of values, with their errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from ...records.compiled import allocation_free
from ...records.types import Bools, Float64s, Int32s, Int64s
from ...records.view_rows import LEG_KINDS
from .block_errors import Errors, relative_errors
from .estimates import Estimates
from .student_t import quantile
from .time_blocks import Blocks

BEYOND = 10  # values that must lie beyond a percentile
RESOLUTION_NS = 0.5  # half of a clock's step
VALUE_BITS = 44  # ns: almost five hours
VALUES = (1 << VALUE_BITS) - 1

_Ranked: TypeAlias = Callable[[Float64s], Float64s]  # from shares of groups to their values


class Grouped(NamedTuple):
    """Values (ns) with group and block of each; there are `names` groups.

    `key` is group << VALUE_BITS | value.  `lossy` is of each group.
    """

    key: Int64s
    block: Int32s
    names: tuple[str, ...]
    blocks: Blocks
    lossy: Bools


def keys_of(group: Int64s, value: Int64s) -> Int64s:
    """Return the keys of values, which are limited to 0 .. VALUES."""
    return np.asarray(group, np.int64) << VALUE_BITS | np.clip(value, 0, VALUES)


def sums(grouped: Grouped) -> tuple[Float64s, Float64s]:
    """Return the sums and the numbers of values by block and group."""
    shape = max(grouped.blocks.number, 1), len(grouped.names)
    total, number = np.zeros(shape), np.zeros(shape)
    _sum(grouped.key, grouped.block, total, number)
    return total, number


@allocation_free
def _sum(key: Int64s, block: Int32s, total: Float64s, number: Float64s) -> None:
    for at in range(len(key)):
        group = key[at] >> VALUE_BITS
        total[block[at], group] += key[at] & VALUES
        number[block[at], group] += 1


def ratios(
    names: tuple[str, ...], value: Float64s, number: Float64s, blocks: Blocks, lossy: Bools
) -> Estimates:
    """Return estimates of sum(value) / sum(number), both by block and item."""
    size = blocks.number
    errors = relative_errors(value[:size], number[:size], blocks.longest)
    number = np.broadcast_to(number, value.shape).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(number > 0, value.sum(axis=0) / number, np.nan)
    counts = number.astype(np.int64)
    return Estimates(names, mean, *errors[:2], counts, errors.windows, lossy, size)


def means(grouped: Grouped) -> Estimates:
    """Return the mean of each group."""
    return ratios(grouped.names, *sums(grouped), grouped.blocks, grouped.lossy)


def percentiles(grouped: Grouped, percents: tuple[int, ...]) -> list[Estimates]:
    """Return these percentiles (nearest rank) of each group.

    The error is that of the share of values up to the percentile, carried over to the values
    (Woodruff, "Confidence intervals for medians and other position measures", JASA 47, 1952).
    """
    ordered = np.sort(grouped.key)
    _, number = sums(grouped)
    count = number.sum(axis=0).astype(np.int64)
    first = np.cumsum(count) - count

    def ranked(part: Float64s) -> Float64s:
        if not len(ordered):
            return np.zeros(len(count))
        rank = np.clip(np.ceil(np.nan_to_num(part) * count - 1e-9).astype(np.int64), 1, None)
        at = np.clip(first + np.minimum(rank, count) - 1, 0, len(ordered) - 1)
        return np.asarray(ordered[at] & VALUES, np.float64)

    shares = [percent / 100 for percent in percents]
    value = np.array([ranked(np.full(len(count), share)) for share in shares])
    below = np.zeros((len(percents), *number.shape))
    _below(grouped.key, grouped.block, value.astype(np.int64), below)
    return [
        _percentile(grouped, share, value[at], below[at], number, ranked)
        for at, share in enumerate(shares)
    ]


@allocation_free
def _below(key: Int64s, block: Int32s, limit: Int64s, below: Float64s) -> None:
    """Count the values up to limit[percentile, group] by percentile, block and group."""
    for at in range(len(key)):
        group = key[at] >> VALUE_BITS
        for number in range(len(limit)):
            if key[at] & VALUES <= limit[number, group]:
                below[number, block[at], group] += 1


def _percentile(
    grouped: Grouped,
    share: float,
    value: Float64s,
    below: Float64s,
    number: Float64s,
    ranked: _Ranked,
) -> Estimates:
    count = number.sum(axis=0).astype(np.int64)
    size = grouped.blocks.number
    errors = relative_errors(below[:size], number[:size], grouped.blocks.longest)
    error = _carried_over(errors, share, below, number, value, ranked)
    error[count * (1 - share) < BEYOND] = np.nan
    value[count == 0] = np.nan
    freedom = np.where(np.isnan(error), 0.0, errors.freedom)
    marks = errors.windows, grouped.lossy, size
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


def passes_of(kind: Int64s, block: Int32s, blocks: Blocks) -> Float64s:
    """Return the number of legs by block and direction, from the kind and block of each leg."""
    nothing, marks = np.zeros(len(kind), np.int64), np.zeros(len(LEG_KINDS), np.bool_)
    return sums(Grouped(keys_of(kind, nothing), block, LEG_KINDS, blocks, marks))[1]


def counts_of(block: Int32s, blocks: Blocks) -> Float64s:
    """Return the number of rows of each block, as a column."""
    found = np.zeros((max(blocks.number, 1), 1))
    _count(block, found[:, 0])
    return found


@allocation_free
def _count(block: Int32s, number: Float64s) -> None:
    for at in range(len(block)):
        number[block[at]] += 1


def added(block: Int32s, value: Int64s, blocks: Blocks) -> Float64s:
    """Return the sum of `value` in each block."""
    found = np.zeros(max(blocks.number, 1))
    _add(block, np.ascontiguousarray(value, np.int64), found)
    return found


@allocation_free
def _add(block: Int32s, value: Int64s, total: Float64s) -> None:
    for at in range(len(block)):
        total[block[at]] += value[at]
