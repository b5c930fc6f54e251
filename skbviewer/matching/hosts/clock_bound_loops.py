# SPDX-License-Identifier: MIT
"""Find shortest paths over the bounds between clocks: loops of clock_bounds.py.

`bounds[a, b]` is the greatest value of (error of clock a - error of clock b), ns.  If a - b is at
most 3 and b - c at most 4, then a - c is at most 7: the tightest bounds that follow are shortest
paths.  If the path from a clock back to itself is shorter than 0, the bounds contradict each other.
"""

from __future__ import annotations

from ...records.compiled import allocation_free
from ...records.types import Float64s, Int64s

FAR = 1 << 60  # no bound


@allocation_free
def close_bounds(bounds: Int64s) -> int:
    """Tighten the bounds (n, n) as far as all of them together allow (Floyd, Warshall).

    Returns how many clocks are on a path back to themselves that is shorter than 0.
    """
    count = bounds.shape[0]
    for middle in range(count):
        for a in range(count):
            first = bounds[a, middle]
            if first >= FAR:
                continue
            for b in range(count):
                second = bounds[middle, b]
                if second < FAR and first + second < bounds[a, b]:
                    bounds[a, b] = first + second
    bad = 0
    for a in range(count):
        if bounds[a, a] < 0:
            bad += 1
    return bad


@allocation_free
def carry(before: Int64s, gap: int, rate: Float64s, bounds: Int64s) -> None:
    """Tighten `bounds` by the bounds `before` of a cell that is `gap` ns away.

    The error of a clock changes by at most `rate` (ns/ns).
    """
    count = bounds.shape[0]
    for a in range(count):
        for b in range(count):
            if a != b and before[a, b] < FAR:
                moved = before[a, b] + int((rate[a] + rate[b]) * gap) + 1
                bounds[a, b] = min(bounds[a, b], moved)


@allocation_free
def sweep(at: Int64s, rate: Float64s, start: int, stop: int, out: Int64s) -> int:
    """Tighten out[k] by the bounds of all cells from out[start] to out[k], for each k up to `stop`.

    `out` has the shape (cells, n, n); `at` is the time of each cell.  Goes through the cells
    backwards if `stop` < `start`.  Returns the first cell whose bounds contradict each other, or
    -1.
    """
    step = 1 if stop > start else -1
    cell = start
    while cell != stop:
        if cell != start:
            carry(out[cell - step], abs(at[cell] - at[cell - step]), rate, out[cell])
        if close_bounds(out[cell]) > 0:
            return cell
        cell += step
    return -1
