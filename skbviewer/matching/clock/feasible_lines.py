# SPDX-License-Identifier: MIT
"""Compute the possible error of a line that passes through intervals.

The sniffer stamped each packet at some moment between two times that the log shows.  So the true
difference of the two clocks lies in an interval for each packet.  Every line that passes through
all intervals may be the true line: these lines lie between the convex hulls of the intervals' ends
(Moon, Skelly, Towsley: Estimation and Removal of Clock Skew from Network Delay Measurements,
INFOCOM 1999).  The error of a fit must therefore cover all these lines.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Float64s, Int64s
from .feasible_line_loops import COUNT, Lines
from .outlier_free_line_loops import NONE, Work, lines_between, lines_through_most

PAIRS_PER_ERROR = 20  # one pair of this many may join two different packets
ROUNDS = 16


class Intervals(NamedTuple):
    """Intervals: at x (ns), the line must be between low and high (ns); float64, x rises."""

    x: Float64s
    low: Float64s
    high: Float64s


class Points(NamedTuple):
    """Points that a line must not be above, or must not be below: (x, y), ns; float64, x rises."""

    x: Float64s
    y: Float64s


class Corridor(NamedTuple):
    """All lines that pass through the intervals.

    `slope` are the slopes at which the set of lines has corners; `low` and `high` are the least and
    the greatest value at x = 0 of a line with that slope.  `torn` is 0 if a line passes through all
    intervals; otherwise every line misses some interval by at least `torn` ns.
    """

    slope: Float64s
    low: Float64s
    high: Float64s
    torn: float

    def error(self, at: Float64s) -> Float64s:
        """Return the greatest distance of any line from 0 at each x of `at`, ns; it is convex."""
        rise = self.slope[:, None] * at
        above, below = (self.high[:, None] + rise).max(axis=0), (self.low[:, None] + rise).min(0)
        return np.asarray(np.maximum(np.maximum(above, -below), 0.0) + self.torn, np.float64)

    def knots(self, first: float, last: float) -> Float64s:
        """Return each x from `first` to `last` at which the highest or the lowest line changes."""
        step = np.diff(self.slope)
        bends = np.concatenate([-np.diff(self.high) / step, -np.diff(self.low) / step])
        return np.unique(np.r_[first, bends[(bends > first) & (bends < last)], last])

    def bounds(self, at: Float64s) -> tuple[Float64s, Float64s]:
        """Return the least and the greatest value of any line at each x of `at`, ns."""
        rise = self.slope[:, None] * at
        return (self.low[:, None] + rise).min(axis=0), (self.high[:, None] + rise).max(axis=0)


def corridor(rows: Intervals, steepest: float) -> Corridor:
    """Return all lines through the intervals `rows` whose slope is from -`steepest` to `steepest`.

    If no line passes through all intervals, one in PAIRS_PER_ERROR intervals may be left out.  If
    there is still no line, all intervals are widened until a line fits.
    """
    removable = min(len(rows.x) // PAIRS_PER_ERROR, ROUNDS)
    work, numbers = _work(len(rows.x), len(rows.x)), np.empty(3, np.int64)
    x, low, high = (np.array(column, np.float64) for column in rows)
    torn = lines_through_most(x, high, low, removable, steepest, work, numbers)
    return _corridor(work, numbers, torn)


def corridor_between(over: Points, under: Points, steepest: float) -> Corridor:
    """Return the lines below `over` and above `under` that are at most `steepest` (up or down).

    If no line passes between `under` and `over`, `torn` is not 0.
    """
    work, numbers = _work(len(over.x), len(under.x)), np.empty(3, np.int64)
    torn = lines_between(over.x, over.y, under.x, under.y, NONE, steepest, work, numbers)
    return _corridor(work, numbers, torn)


def _work(over: int, under: int) -> Work:
    (x, high), (z, low) = np.empty((2, over)), np.empty((2, under))
    corners = np.empty(over, np.int64), np.empty(under, np.int64)
    lines = Lines(*np.empty((4, 2 * (over + under) + 4)))
    return Work(x, high, corners[0], z, low, corners[1], lines)


def _corridor(work: Work, numbers: Int64s, torn: float) -> Corridor:
    count = int(numbers[COUNT])
    lines = work.lines
    return Corridor(lines.slope[:count], lines.bottom[:count], lines.top[:count], float(torn))
