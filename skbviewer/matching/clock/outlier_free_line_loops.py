# SPDX-License-Identifier: MIT
"""Find the lines through most intervals, without a few outliers: loops of feasible_lines.py.

A fit tries thousands of small sets of intervals, in each of which one interval is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.compiled import Int, allocation_free
from ...records.types import Float64s, Int64s
from .feasible_line_loops import OVER, UNDER, Hulls, Lines, find_lines, keep_hull

THIN = 1024  # parts of the time; only the tightest intervals of each part are used
NONE = -1  # no point is left out


class Work(NamedTuple):
    """Scratch arrays: the corners of the hull above (x, high) and of the hull below (z, low).

    `over` and `under` are the corners' indices among all points.
    """

    x: Float64s
    high: Float64s
    over: Int64s
    z: Float64s
    low: Float64s
    under: Int64s
    lines: Lines


@allocation_free
def put_hull(
    x: Float64s, y: Float64s, sign: float, out: Int, hull: tuple[Float64s, Float64s, Int64s]
) -> int:
    """Find the corners of the lower convex hull of (x, sign * y), and return their number.

    Writes x, sign * y and the index of each corner to the three arrays of `hull`.  The values in
    `x` must be sorted.  The point with the index `out` is left out; if `out` is NONE, no point is.
    If there are many points, x is divided into THIN parts, and only the lowest point in each part
    is used (the first of several).
    """
    to_x, to_y, to_at = hull
    first, last, count = np.int64(0), np.int64(len(x) - 1), np.int64(len(x))
    if out >= 0:
        count -= 1
        if out == first:
            first += 1
        if out == last:
            last -= 1
    few = count <= 2 * THIN
    scale = 0.0 if few else THIN / (x[last] - x[first] + 1)
    part, used = np.int64(-1), np.int64(0)
    for i in range(first, last + 1):
        if i == out:
            continue
        value, own = sign * y[i], np.int64((x[i] - x[first]) * scale)
        if few or own != part:
            used += 1
        elif value >= to_y[used - 1]:
            continue
        part = own
        to_x[used - 1], to_y[used - 1], to_at[used - 1] = x[i], value, i
    kept: int = keep_hull(to_x[:used], to_y[:used], to_at[:used])
    return kept


@allocation_free
def lines_between(
    x: Float64s,
    high: Float64s,
    z: Float64s,
    low: Float64s,
    out: Int,
    steepest: float,
    work: Work,
    numbers: Int64s,
) -> float:
    """Find the lines below the points (x, high) and above the points (z, low).

    The points with the index `out` are left out; if `out` is NONE, no points are.  Sets
    `work.lines` and `numbers` like find_lines(), except that numbers[OVER] and numbers[UNDER] are
    indices of points.  Returns 0 if a line passes between the points, or else by how much (ns) the
    points must be moved apart.
    """
    over = put_hull(x, high, 1.0, out, (work.x, work.high, work.over))
    under = put_hull(z, low, -1.0, out, (work.z, work.low, work.under))
    for i in range(under):
        work.low[i] = -work.low[i]
    hulls = Hulls(work.x, work.high, over, work.z, work.low, under)
    torn: float = find_lines(hulls, steepest, work.lines, numbers)
    numbers[OVER], numbers[UNDER] = work.over[numbers[OVER]], work.under[numbers[UNDER]]
    return torn


@allocation_free
def remove(values: Float64s, count: Int, at: Int) -> None:
    """Remove the value at index `at` from the first `count` values, and move up the later ones."""
    for i in range(at, count - 1):
        values[i] = values[i + 1]


@allocation_free
def lines_through_most(
    x: Float64s,
    high: Float64s,
    low: Float64s,
    removable: int,
    steepest: float,
    work: Work,
    numbers: Int64s,
) -> float:
    """Find the lines that pass between `low` and `high` at each x, after removing outliers.

    Removes at most `removable` intervals that no line fits.  Each step tries to remove one of the
    two intervals that leave the least space for a line.  Of these two intervals, a step removes the
    one without which the remaining intervals must be widened less.  The loop also changes the
    arrays `x`, `high` and `low`.  Sets `work.lines` and `numbers` like lines_between().  Returns by
    how much (ns) the remaining intervals must be widened; if this is not 0, the result also
    includes the width of the larger of the two tightest intervals.
    """
    count = np.int64(len(x))
    torn, least = 0.0, 0.0
    one, other, best = np.int64(NONE), np.int64(NONE), np.int64(NONE)
    for step in range(removable + 1):
        for attempt in range(3):
            out = np.int64(NONE) if attempt == 0 else (one if attempt == 1 else other)
            own_x, tops, bottoms = x[:count], high[:count], low[:count]
            torn = lines_between(own_x, tops, own_x, bottoms, out, steepest, work, numbers)
            a, b = numbers[OVER], numbers[UNDER]
            if torn > 0:  # the truth is not a line; it may be at the other end of the tightest
                torn += max(high[a] - low[a], high[b] - low[b])
            if attempt == 0:
                if torn == 0 or step == removable:
                    return torn
                one, other = a, b
            elif attempt == 1 or torn < least:
                least, best = torn, out
        remove(x, count, best)
        remove(high, count, best)
        remove(low, count, best)
        count -= 1
    return torn
