# SPDX-License-Identifier: MIT
"""Compute how far off a line through intervals may be.

The sniffer stamped each packet at some moment between two times that the log shows.  So the true
difference from a fitted clock lies in an interval.  Every line that passes all intervals may be the
truth: these lines lie between the convex hulls of the intervals' ends (Moon, Skelly, Towsley:
Estimation and Removal of Clock Skew from Network Delay Measurements, INFOCOM 1999).  A fit must
state as its error how far apart these lines are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.types import Float64s
from .feasible_line_loops import COUNT, OVER, UNDER, Hulls, Lines, find_lines, keep_hull

THIN = 1024  # parts of the time; only the tightest intervals of each part are used
PAIRS_PER_ERROR = 20  # one pair of this many may join two different packets
ROUNDS = 16


class Intervals(NamedTuple):
    """At x (ns) the line must be between low and high (ns); float64, x rises."""

    x: Float64s
    low: Float64s
    high: Float64s


class Points(NamedTuple):
    """At x (ns) a line is at most, or at least, y (ns); float64, x rises."""

    x: Float64s
    y: Float64s


class Corridor(NamedTuple):
    """All lines that pass the intervals.

    `slope` are the slopes at the corners; `low` and `high` are the lowest and the highest value at
    x = 0 of a line with this slope.  `torn` is 0 if a line passes all intervals; otherwise every
    line misses one by at least `torn` ns.
    """

    slope: Float64s
    low: Float64s
    high: Float64s
    torn: float

    def error(self, at: Float64s) -> Float64s:
        """Return the lines' greatest distance from 0 at each x of `at`, ns: a convex function."""
        rise = self.slope[:, None] * at
        above, below = (self.high[:, None] + rise).max(axis=0), (self.low[:, None] + rise).min(0)
        return np.asarray(np.maximum(np.maximum(above, -below), 0.0) + self.torn, np.float64)

    def knots(self, first: float, last: float) -> Float64s:
        """Return each x from `first` to `last` where another line becomes the highest or lowest."""
        step = np.diff(self.slope)
        bends = np.concatenate([-np.diff(self.high) / step, -np.diff(self.low) / step])
        return np.unique(np.r_[first, bends[(bends > first) & (bends < last)], last])

    def bounds(self, at: Float64s) -> tuple[Float64s, Float64s]:
        """Return the lowest and the highest value of all lines at each x of `at`, ns."""
        rise = self.slope[:, None] * at
        return (self.low[:, None] + rise).min(axis=0), (self.high[:, None] + rise).max(axis=0)


def corridor(rows: Intervals, steepest: float) -> Corridor:
    """Return all lines that pass the intervals `rows` with a slope within `steepest` (ns/ns).

    There is at least one.  If no line passes all intervals, one in PAIRS_PER_ERROR may be left out;
    if there is still none, all intervals are widened.
    """
    left, made = len(rows.x) // PAIRS_PER_ERROR, _through(rows, steepest)
    for _ in range(min(left, ROUNDS)):
        if made.lines.torn == 0:
            break
        without = [_through(_but(rows, at), steepest) for at in made.tight]
        best = min(range(len(without)), key=lambda n: without[n].lines.torn)
        rows, made = _but(rows, made.tight[best]), without[best]
    return made.lines


def corridor_between(over: Points, under: Points, steepest: float) -> Corridor:
    """Return the lines below `over` and above `under` with a slope within `steepest` (ns/ns).

    If there is none, `torn` is not 0.
    """
    return _between(over, under, steepest).lines


class _Found(NamedTuple):
    lines: Corridor
    tight: tuple[int, int]  # the upper and the lower point with the least width between them


def _but(rows: Intervals, at: int) -> Intervals:
    return Intervals(*(np.delete(column, at) for column in rows))


def _through(rows: Intervals, steepest: float) -> _Found:
    made = _between(Points(rows.x, rows.high), Points(rows.x, rows.low), steepest)
    lines, tight = made
    if lines.torn > 0:  # the truth is not a line; it may be at the tightest interval's other end
        wide = float(np.max(rows.high[list(tight)] - rows.low[list(tight)]))
        made = made._replace(lines=lines._replace(torn=lines.torn + wide))
    return made


def _between(above: Points, below: Points, steepest: float) -> _Found:
    x, high, over = _hull(above.x, above.y)
    z, low, under = _hull(below.x, -below.y)
    hulls = Hulls(x, high, len(over), z, -low, len(under))
    room = 2 * (len(over) + len(under)) + 4
    lines = Lines(*np.empty((4, room)))
    numbers = np.empty(3, np.int64)
    torn = float(find_lines(hulls, steepest, lines, numbers))
    count = int(numbers[COUNT])
    made = Corridor(lines.slope[:count], lines.bottom[:count], lines.top[:count], torn)
    return _Found(made, (int(over[numbers[OVER]]), int(under[numbers[UNDER]])))


def _hull(x: Float64s, y: Float64s) -> tuple[Float64s, Float64s, npt.NDArray[np.int64]]:
    """Return the corners of the lower convex hull: x, which rises, y and their indices."""
    few = _lowest(x, y)
    x, y = x[few], y[few]
    kept = int(keep_hull(x, y, few))
    return x[:kept], y[:kept], few[:kept]


def _lowest(x: Float64s, y: Float64s) -> npt.NDArray[np.int64]:
    """Return the index of the lowest y in each of THIN parts; all indices if there are few."""
    if len(x) <= 2 * THIN:
        return np.arange(len(x))
    part = ((x - x[0]) * (THIN / (x[-1] - x[0] + 1))).astype(np.int64)
    begin = np.flatnonzero(np.r_[True, part[1:] != part[:-1]])
    least = np.minimum.reduceat(y, begin)
    at = np.flatnonzero(y == np.repeat(least, np.diff(np.append(begin, len(x)))))
    return at[np.unique(part[at], return_index=True)[1]]
