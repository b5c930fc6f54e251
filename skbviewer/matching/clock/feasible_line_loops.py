# SPDX-License-Identifier: MIT
"""Find the lines between two sets of points: loops of feasible_lines.py.

A fit tries thousands of small sets, and for each set a dozen array operations would take longer
than the loop.
"""

from __future__ import annotations

from typing import NamedTuple

from ...records.compiled import allocation_free
from ...records.types import Float64s, Int64s

ROUNDING_NS = 1e-3
COUNT, OVER, UNDER = range(3)


class Hulls(NamedTuple):
    """The lower hull of the points above (x, high), and the upper hull of points below (z, low).

    `over` and `under` are the numbers of corners of these hulls.
    """

    x: Float64s
    high: Float64s
    over: int
    z: Float64s
    low: Float64s
    under: int


class Lines(NamedTuple):
    """Slopes in rising order, with the highest and the lowest line of each slope.

    `top` and `bottom` are the values of these lines at x = 0.  `crossing` is scratch space for
    slopes at which a line becomes possible.
    """

    slope: Float64s
    top: Float64s
    bottom: Float64s
    crossing: Float64s


@allocation_free
def keep_hull(x: Float64s, y: Float64s, at: Int64s) -> int:
    """Move the corners of the lower convex hull of (x, y) to the front of the arrays.

    Returns the number of corners.

    The values in `x` must not fall.  `at` holds the points' numbers, and is reordered in the same
    way.
    """
    kept = 0
    for i in range(len(x)):
        if kept and x[i] == x[kept - 1]:
            if y[i] >= y[kept - 1]:
                continue
            kept -= 1
        while kept > 1:
            rise = (y[i] - y[kept - 2]) * (x[kept - 1] - x[kept - 2])
            if (y[kept - 1] - y[kept - 2]) * (x[i] - x[kept - 2]) < rise:
                break
            kept -= 1
        x[kept], y[kept], at[kept] = x[i], y[i], at[i]
        kept += 1
    return kept


@allocation_free
def put_slope(slope: Float64s, count: int, value: float) -> int:
    """Insert `value` into the first `count` elements of `slope` (sorted), if it is missing.

    Returns the new number of slopes.
    """
    place = count
    while place > 0 and slope[place - 1] > value:
        place -= 1
    if place > 0 and slope[place - 1] == value:
        return count
    for i in range(count, place, -1):
        slope[i] = slope[i - 1]
    slope[place] = value
    return count + 1


@allocation_free
def put_edges(
    slope: Float64s, count: int, x: Float64s, y: Float64s, corners: int, steepest: float
) -> int:
    """Insert the slopes of a hull's edges into the first `count` elements of `slope` (sorted).

    The first `corners` points (x, y) are the corners of the hull.  Slopes beyond `steepest`, up or
    down, are left out.  Returns the new number of slopes.
    """
    for i in range(corners - 1):
        edge = (y[i + 1] - y[i]) / (x[i + 1] - x[i])
        if abs(edge) < steepest:
            count = put_slope(slope, count, edge)
    return count


@allocation_free
def lowest(x: Float64s, y: Float64s, corners: int, slope: float) -> int:
    """Return the index of the corner of a hull at which y - slope * x is least.

    The first `corners` points (x, y) are the corners of the hull.  If the value occurs several
    times, the first index is returned.
    """
    best = 0
    for i in range(1, corners):
        if y[i] - slope * x[i] < y[best] - slope * x[best]:
            best = i
    return best


@allocation_free
def highest(x: Float64s, y: Float64s, corners: int, slope: float) -> int:
    """Return the index of the corner of a hull at which y - slope * x is greatest.

    The first `corners` points (x, y) are the corners of the hull.  If the value occurs several
    times, the first index is returned.
    """
    best = 0
    for i in range(1, corners):
        if y[i] - slope * x[i] > y[best] - slope * x[best]:
            best = i
    return best


@allocation_free
def measure(hulls: Hulls, lines: Lines, count: int) -> int:
    """Find the highest and the lowest line between the hulls for each of the first `count` slopes.

    `top` and `bottom` become the values of these lines at x = 0.  Returns the index of the slope
    for which the two lines are furthest apart.
    """
    best = 0
    for k in range(count):
        slope = lines.slope[k]
        one = lowest(hulls.x, hulls.high, hulls.over, slope)
        other = highest(hulls.z, hulls.low, hulls.under, slope)
        lines.top[k] = hulls.high[one] - slope * hulls.x[one]
        lines.bottom[k] = hulls.low[other] - slope * hulls.z[other]
        if lines.top[k] - lines.bottom[k] > lines.top[best] - lines.bottom[best]:
            best = k
    return best


@allocation_free
def find_lines(hulls: Hulls, steepest: float, lines: Lines, numbers: Int64s) -> float:
    """Find the lines below one hull and above the other.

    `lines` gets a row for each slope at which a line passes between the hulls; numbers[COUNT]
    becomes the number of these rows.  The arrays of `lines` need twice as many rows as the hulls
    have corners, and four more.  numbers[OVER] and numbers[UNDER] become the corners at which the
    two hulls are closest to each other.  Returns 0 if a line passes between the hulls, or else by
    how much (ns) each hull must be moved to make room for a line.
    """
    slope, top, bottom = lines.slope, lines.top, lines.bottom
    count = put_slope(slope, put_slope(slope, 0, -steepest), steepest)
    count = put_edges(slope, count, hulls.x, hulls.high, hulls.over, steepest)
    count = put_edges(slope, count, hulls.z, hulls.low, hulls.under, steepest)
    best = measure(hulls, lines, count)
    numbers[OVER] = lowest(hulls.x, hulls.high, hulls.over, slope[best])
    numbers[UNDER] = highest(hulls.z, hulls.low, hulls.under, slope[best])
    torn: float = max(0.0, -(top[best] - bottom[best]) / 2)
    found = 0
    for k in range(count - 1):
        one, other = top[k] - bottom[k] + 2 * torn, top[k + 1] - bottom[k + 1] + 2 * torn
        if (one < 0) != (other < 0):
            part = one / (one - other)
            lines.crossing[found] = slope[k] + part * (slope[k + 1] - slope[k])
            found += 1
    for k in range(found):
        count = put_slope(slope, count, lines.crossing[k])
    measure(hulls, lines, count)
    numbers[COUNT] = keep_passing(lines, count, torn)
    return torn


@allocation_free
def keep_passing(lines: Lines, count: int, torn: float) -> int:
    """Move to the front the slopes at which a line fits between the hulls.

    Only the first `count` slopes are compared.

    Before the comparison, the space between the hulls is widened by `torn` (ns) on each side.  The
    slope with the most space stays even if no line fits there.  Returns the number of slopes at the
    front.
    """
    best, kept = 0, 0
    for k in range(count):
        lines.top[k] += torn
        lines.bottom[k] -= torn
        if lines.top[k] - lines.bottom[k] > lines.top[best] - lines.bottom[best]:
            best = k
    for k in range(count):
        if k == best or lines.top[k] - lines.bottom[k] >= -ROUNDING_NS:
            lines.slope[kept] = lines.slope[k]
            lines.top[kept], lines.bottom[kept] = lines.top[k], lines.bottom[k]
            kept += 1
    return kept
