# SPDX-License-Identifier: MIT
"""Standard errors of means of values that depend on each other, from sums over blocks of time.

A mean is a ratio: the sum of all values divided by their number.  The error of this ratio is
linearised (Cochran 1977, 6.4), and the variance of the sum of the residuals is estimated from
overlapping windows of blocks.  The estimate has the closed form of the moving block bootstrap
(Kuensch, "The jackknife and the bootstrap for general stationary observations", Ann. Statist. 17,
1989).  The method draws no random numbers, so the same files always have the same results.  It is
not known how far apart in time two calls must be to be independent of each other.  So windows of 1,
2, 4 and 8 blocks are tried, and the largest variance is used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Float64s, Int64s
from .time_blocks import WINDOWS

FEWEST = 6.0  # least number of windows with data from which a mean's error can be estimated


class Errors(NamedTuple):
    """The errors of the means of many items; each array has one element for each item.

    `error` is the relative standard error of the mean (nan: unknown), `freedom` its degrees of
    freedom, and `windows` the number of windows that have data.
    """

    error: Float64s
    freedom: Float64s
    windows: Int64s

    def at_least(self, other: Errors) -> Errors:
        """Return for each item the larger one of two errors: that of `self` and that of `other`."""
        larger = np.nan_to_num(other.error) > self.error
        error = np.where(larger, other.error, self.error)
        return Errors(error, np.where(larger, other.freedom, self.freedom), self.windows)


def relative_errors(value: Float64s, number: Float64s, longest: int) -> Errors:
    """Return the relative error of sum(value) / sum(number) for each item.

    `value` and `number` have a row for each block and a column for each item.  `longest` is the
    number of blocks in the longest window.
    """
    blocks, items = value.shape
    if not (blocks and items):
        nothing = np.full(items, np.nan)
        return Errors(nothing, np.zeros(items), np.zeros(items, np.int64))
    number = np.broadcast_to(number, value.shape)
    total, count = value.sum(axis=0), number.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        residual = (value - total / count * number) / total
    variance = np.max([_variance(residual, size) for size in _sizes(longest)], axis=0)
    in_windows = [
        each.reshape(WINDOWS, blocks // WINDOWS, items).sum(axis=1) for each in (value, number)
    ]
    carried = np.minimum(*(_effective(each) for each in in_windows))
    known = (carried >= FEWEST) & np.isfinite(variance)
    error = np.where(known, np.sqrt(np.where(known, variance, 0.0)), np.nan)
    present = np.count_nonzero(in_windows[0] > 0, axis=0).astype(np.int64)
    return Errors(error, np.where(known, carried - 1, 0.0), present)


def errors_of_groups(value: Float64s, number: Float64s) -> Errors:
    """Return the relative error of sum(value) / sum(number) for each item, from independent groups.

    `value` and `number` have a row for each group.  An error is unknown if fewer than FEWEST groups
    have most of the data: a recording of few flows does not show how much flows differ.
    """
    groups, items = value.shape
    with np.errstate(divide="ignore", invalid="ignore"):
        total = value.sum(axis=0)
        residual = (value - total / number.sum(axis=0) * number) / total
    variance = (residual**2).sum(axis=0) * groups / (groups - 1)
    carried = np.minimum(_effective(value), _effective(number))
    known = (carried >= FEWEST) & np.isfinite(variance)
    error = np.where(known, np.sqrt(np.where(known, variance, 0.0)), np.nan)
    return Errors(error, np.where(known, carried - 1, 0.0), np.zeros(items, np.int64))


def _sizes(longest: int) -> list[int]:
    return [size for size in (1, 2, 4, 8) if size <= longest]


def _variance(residual: Float64s, size: int) -> Float64s:
    """Return the variance of the sum of each column, from overlapping windows of `size` rows."""
    blocks = len(residual)
    sums = np.cumsum(np.concatenate([np.zeros((1, residual.shape[1])), residual]), axis=0)
    windows = sums[size:] - sums[:-size]
    scale = blocks**2 / (size * (blocks - size + 1) * (blocks - size))
    return np.asarray(scale * (windows**2).sum(axis=0))


def _effective(sums: Float64s) -> Float64s:
    """Return Kish's effective number of windows: the square of the sum over the sum of squares."""
    squares = (sums**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = sums.sum(axis=0) ** 2 / squares
    return np.where(squares > 0, found, 0.0)
