# SPDX-License-Identifier: MIT
"""Means, percentiles, numbers and shares of values in many groups, with their errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from ...records.compiled import Int, allocation_free
from ...records.types import Bools, Float64s, Int32s, Int64s
from .block_standard_errors import Errors, errors_of_groups, relative_errors
from .estimates import Estimates
from .leg_directions import WORDS
from .student_t import quantile
from .time_blocks import BLOCK, GROUP_BITS, Blocks

BEYOND = 10  # least number of values beyond a percentile
RESOLUTION_NS = 0.5  # half of a clock's step
VALUE_BITS = 44  # ns: almost five hours
VALUES = (1 << VALUE_BITS) - 1

_Ranked: TypeAlias = Callable[[Float64s], Float64s]  # from shares of groups to their values


class Grouped(NamedTuple):
    """Values (ns), each with its group and block; the groups are named by `names`.

    `key` is group << VALUE_BITS | value.  `lossy` says for each group whether lost records may have
    changed it.
    """

    key: Int64s
    block: Int32s
    names: tuple[str, ...]
    blocks: Blocks
    lossy: Bools


def keys_of(group: Int64s, value: Int64s) -> Int64s:
    """Return int64 keys that each hold a group and a value, for Grouped.key.

    Values below 0 become 0, and values above VALUES become VALUES.
    """
    return np.asarray(group, np.int64) << VALUE_BITS | np.clip(value, 0, VALUES)


def sums(grouped: Grouped) -> tuple[Float64s, Float64s]:
    """Return two arrays (row of Blocks, group): the sums of the values, and how many there are."""
    shape = grouped.blocks.rows, len(grouped.names)
    total, number = np.zeros(shape), np.zeros(shape)
    _sum(grouped.key, grouped.block, np.int64(grouped.blocks.first_group), total, number)
    return total, number


@allocation_free
def _sum(key: Int64s, block: Int32s, first: Int, total: Float64s, number: Float64s) -> None:
    for at in range(len(key)):
        group, value = key[at] >> VALUE_BITS, key[at] & VALUES
        for row in (block[at] & BLOCK, first + (block[at] >> GROUP_BITS)):
            total[row, group] += value
            number[row, group] += 1


def ratios(
    names: tuple[str, ...], value: Float64s, number: Float64s, blocks: Blocks, lossy: Bools
) -> Estimates:
    """Return estimates of sum(value) / sum(number) for each item in `names`.

    `value` and `number` have a row for each row of `blocks`, and a column for each item.  `lossy`
    marks items for which records may have been lost.
    """
    errors = _errors(value, number, blocks)
    number = np.broadcast_to(number, value.shape)[: blocks.first_group].sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(number > 0, value[: blocks.first_group].sum(axis=0) / number, np.nan)
    counts = number.astype(np.int64)
    return Estimates(names, mean, *errors[:2], counts, errors.windows, lossy, blocks.number)


def _errors(value: Float64s, number: Float64s, blocks: Blocks) -> Errors:
    """Return the larger error of each item: from blocks of time, or from groups of flows."""
    number = np.broadcast_to(number, value.shape)
    size, first = blocks.number, blocks.first_group
    by_time = relative_errors(value[:size], number[:size], blocks.longest)
    return by_time.at_least(errors_of_groups(value[first:], number[first:]))


def means(grouped: Grouped) -> Estimates:
    """Return estimates of the mean of each group."""
    return ratios(grouped.names, *sums(grouped), grouped.blocks, grouped.lossy)


def percentiles(grouped: Grouped, percents: tuple[int, ...]) -> list[Estimates]:
    """Return, for each of `percents`, estimates of this percentile (nearest rank) of each group.

    The error is computed for the share of values up to the percentile, and then converted into an
    error of the percentile (Woodruff, "Confidence intervals for medians and other position
    measures", JASA 47, 1952).
    """
    ordered = np.sort(grouped.key)
    _, number = sums(grouped)
    count = number[: grouped.blocks.first_group].sum(axis=0).astype(np.int64)
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
    groups = np.int64(grouped.blocks.first_group)
    _below(grouped.key, grouped.block, groups, value.astype(np.int64), below)
    return [
        _percentile(grouped, share, value[at], below[at], number, ranked)
        for at, share in enumerate(shares)
    ]


@allocation_free
def _below(key: Int64s, block: Int32s, first: Int, limit: Int64s, below: Float64s) -> None:
    """Set below[percentile, row, group] to the number of values up to limit[percentile, group]."""
    for at in range(len(key)):
        group = key[at] >> VALUE_BITS
        for number in range(len(limit)):
            if key[at] & VALUES <= limit[number, group]:
                below[number, block[at] & BLOCK, group] += 1
                below[number, first + (block[at] >> GROUP_BITS), group] += 1


def _percentile(
    grouped: Grouped,
    share: float,
    value: Float64s,
    below: Float64s,
    number: Float64s,
    ranked: _Ranked,
) -> Estimates:
    first = grouped.blocks.first_group
    count = number[:first].sum(axis=0).astype(np.int64)
    errors = _errors(below, number, grouped.blocks)
    below, number = below[:first], number[:first]
    error = _carried_over(errors, share, below, number, value, ranked)
    error[count * (1 - share) < BEYOND] = np.nan
    value[count == 0] = np.nan
    freedom = np.where(np.isnan(error), 0.0, errors.freedom)
    marks = errors.windows, grouped.lossy, grouped.blocks.number
    return Estimates(grouped.names, value, error, freedom, count, *marks)


def _carried_over(
    errors: Errors,
    share: float,
    below: Float64s,
    number: Float64s,
    value: Float64s,
    ranked: _Ranked,
) -> Float64s:
    """Return the errors of the natural logarithms of percentiles.

    The errors of percentiles are computed from `errors`, the errors of the shares of values up to
    the percentiles.
    """
    t = quantile(errors.freedom)
    with np.errstate(divide="ignore", invalid="ignore"):
        reached = below.sum(axis=0) / number.sum(axis=0)
        half = t * errors.error * reached
        inside = (share + half < 1) & (share - half > 0)
        up, down = np.log(ranked(share + half) / value), np.log(value / ranked(share - half))
        error = np.hypot(np.maximum(up, down) / t, RESOLUTION_NS / value)
    return np.where(inside & (value > 0) & np.isfinite(error), error, np.nan)


def passes_of(direction: Int64s, block: Int32s, blocks: Blocks) -> Float64s:
    """Return the number of legs as an array (row of `blocks`, direction).

    `direction` is the direction of each leg, an index of leg_directions.WORDS.  `block` is the
    leg's block and group, coded as in Blocks.of_leg.
    """
    nothing, marks = np.zeros(len(direction), np.int64), np.zeros(len(WORDS), np.bool_)
    return sums(Grouped(keys_of(direction, nothing), block, WORDS, blocks, marks))[1]


def counts_of(block: Int32s, blocks: Blocks) -> Float64s:
    """Return how many elements are in each block and each group, as a column with blocks.rows rows.

    `block` is the block and group of each element, coded as in Blocks.of_leg.
    """
    found = np.zeros(blocks.rows)
    _count(block, np.int64(blocks.first_group), found)
    return found.reshape(-1, 1)


@allocation_free
def _count(block: Int32s, first: Int, number: Float64s) -> None:
    for at in range(len(block)):
        number[block[at] & BLOCK] += 1
        number[first + (block[at] >> GROUP_BITS)] += 1


def block_sums(block: Int32s, value: Int64s, blocks: Blocks) -> Float64s:
    """Return the sum of `value` in each block of time, then in each group of flows.

    The result has blocks.rows elements.  `block` is the block and group of each element of `value`,
    coded as in Blocks.of_leg.
    """
    found = np.zeros(blocks.rows)
    _add(block, np.array(value, np.int64), np.int64(blocks.first_group), found)
    return found


@allocation_free
def _add(block: Int32s, value: Int64s, first: Int, total: Float64s) -> None:
    for at in range(len(block)):
        total[block[at] & BLOCK] += value[at]
        total[first + (block[at] >> GROUP_BITS)] += value[at]
