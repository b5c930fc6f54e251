# SPDX-License-Identifier: MIT
"""Bound the differences between all clocks together, so that no bounds contradict others.

If one clock saw a packet before another clock, this bounds the difference of both clocks from one
side.  The bounds that fall into a short time (a cell) form a graph, whose nodes are the clocks.
The shortest paths in this graph are the tightest bounds that follow from it.  Clocks drift, so the
bounds of a cell also hold in the next cell if they are loosened by the greatest drift
(docs/across-hosts.md).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Int64s
from .clock_bound_loops import FAR, close_bounds, sweep
from .rough_clock_alignment import JUMP_NS, NONE, Scale

CELL_NS = 10_000_000
MEMORY = 1 << 28  # bytes; the cells are longer if their bounds would need more
TRIES = 1000  # most contradictions that are resolved


class Crossings(NamedTuple):
    """Packets that passed sighting `a` before sighting `b`; both are rows of the sightings."""

    a: Int64s
    b: Int64s


class ClockBounds(NamedTuple):
    """The bounds of all clocks, cell by cell.

    `bounds[k, a, b]` is the greatest value (ns) of the error of segment a minus the error of
    segment b at the time `at[k]` of the scale.  True time = time on the scale + error.  `refused`
    marks crossings that contradict others; `cuts` counts the places where a contradiction shows
    that a clock was set.
    """

    scale: Scale
    at: Int64s
    bounds: Int64s
    refused: Bools
    cuts: int

    def transit(self, a: Int64s, b: Int64s) -> tuple[Int64s, Int64s]:
        """Return the least and the greatest time (ns) from each sighting `a` to the sighting `b`.

        Without a lower bound, the first result is below -FAR / 2; without an upper bound, the
        second result is above FAR / 2.
        """
        scale = self.scale
        known = (scale.segment[a] != NONE) & (scale.segment[b] != NONE)
        least, most = np.full(len(a), -FAR), np.full(len(a), FAR)
        if not len(self.at) or not known.any():
            return least, most
        a, b = a[known], b[known]
        one, two = scale.segment[a], scale.segment[b]
        cell = _nearest(self.at, scale.low_ns[a])
        slack = _slack(scale, self.at[cell], a, b)
        there, back = self.bounds[cell, one, two], self.bounds[cell, two, one]
        low = scale.low_ns[b] - scale.high_ns[a] - there - slack
        high = scale.high_ns[b] - scale.low_ns[a] + back + slack
        least[known] = np.where(there >= FAR, -FAR, low)
        most[known] = np.where(back >= FAR, FAR, high)
        return least, most

    def difference(self, a: int, b: int) -> tuple[int, int]:
        """Return the least and the greatest value (ns) of b's clock minus a's clock.

        The difference between the clocks is that at the time of `a`.

        `a` and `b` are rows of sightings.
        """
        scale, rows = self.scale, np.array([a, b])
        one, two = scale.segment[rows]
        if NONE in (one, two) or not len(self.at):
            return -FAR, FAR
        cell = _nearest(self.at, scale.low_ns[rows[:1]])
        slack = int(_slack(scale, self.at[cell], rows[:1], rows[1:])[0])
        apart = int(scale.shift[a] - scale.shift[b])
        most, least = int(self.bounds[cell[0], one, two]), int(self.bounds[cell[0], two, one])
        return (
            -FAR if least >= FAR else apart - least - slack,
            FAR if most >= FAR else apart + most + slack,
        )


def _nearest(at: Int64s, time: Int64s) -> Int64s:
    after = np.minimum(np.searchsorted(at, time), len(at) - 1)
    before = np.maximum(after - 1, 0)
    return np.where(time - at[before] < at[after] - time, before, after)


def _slack(scale: Scale, at: Int64s, a: Int64s, b: Int64s) -> Int64s:
    """Return how much errors may change between the time of a sighting and the time of its cell.

    The conversion to the scale misplaces a sighting by less than JUMP_NS.
    """
    slack = np.ones(len(a), np.float64)
    for row in (a, b):
        away = np.maximum(np.abs(scale.low_ns[row] - at), np.abs(scale.high_ns[row] - at))
        slack += scale.rate[scale.segment[row]] * (away + JUMP_NS)
    return np.ceil(slack).astype(np.int64)


def clock_bounds(scale: Scale, seen: Crossings) -> ClockBounds:
    """Bound the clocks by all crossings; cut clocks or refuse crossings that contradict others."""
    refused = np.zeros(len(seen.a), np.bool_)
    cuts = 0
    for _ in range(TRIES):
        at, own, cell = _cells(scale, seen, refused)
        forward = own.copy()
        bad = sweep(at, scale.rate, 0, len(at), forward) if len(at) else -1
        if bad < 0:
            break
        begin = max(sweep(at, scale.rate, bad, -1, own.copy()), 0)
        some = slice(begin, bad + 1)
        wrong = np.flatnonzero(np.diagonal(forward[bad]) < 0)
        guilty = _guilty(scale, own[some], at[some], wrong) if begin < bad else None
        if guilty is not None:
            scale = _cut(scale, guilty, int(at[begin]), int(at[bad]))
            cuts += 1
        else:
            refused |= _in_contradiction(scale, seen, forward[bad], cell, begin, bad)
    else:
        refused[:] = True
        at, own, _ = _cells(scale, seen, refused)
        return ClockBounds(scale, at, own, refused, cuts)
    if len(at):
        backward = own.copy()
        sweep(at, scale.rate, len(at) - 1, -1, backward)
        np.minimum(forward, backward, out=forward)
        for one in forward:
            close_bounds(one)
    return ClockBounds(scale, at, forward, refused, cuts)


def _cells(scale: Scale, seen: Crossings, refused: Bools) -> tuple[Int64s, Int64s, Int64s]:
    """Return the time of each cell, its bounds, and the cell of each crossing (or NONE)."""
    use = ~refused & (scale.segment[seen.a] != NONE) & (scale.segment[seen.b] != NONE)
    a, b = seen.a[use], seen.b[use]
    time, count = scale.low_ns[a], len(scale.rate)
    span = int(time.max() - time.min()) if len(time) else 0
    width = max(CELL_NS, span * count * count * 8 // MEMORY)
    names, cell = np.unique(time // width, return_inverse=True)
    at = names * width + width // 2
    own = np.full((len(at), count, count), FAR)
    own[:, np.arange(count), np.arange(count)] = 0
    value = scale.high_ns[b] - scale.low_ns[a] + _slack(scale, at[cell], a, b)
    np.minimum.at(own, (cell, scale.segment[a], scale.segment[b]), value)
    cells = np.full(len(use), NONE)
    cells[use] = cell
    return at, own, cells


def _guilty(scale: Scale, own: Int64s, at: Int64s, bad: Int64s) -> int | None:
    """Return the segment in `bad` without which the bounds in these cells agree, or None."""
    for segment in bad:
        if scale.can_be_set[segment]:
            others = own.copy()
            others[:, segment], others[:, :, segment] = FAR, FAR
            if sweep(at, scale.rate, 0, len(at), others) < 0:
                return int(segment)
    return None


def _cut(scale: Scale, segment: int, begin_ns: int, end_ns: int) -> Scale:
    """Cut one segment into two; sightings between them, where the clock was set, get no segment."""
    margin = JUMP_NS
    mine = scale.segment == segment
    parts = scale.segment.copy()
    parts[mine & (scale.low_ns > end_ns + margin)] = len(scale.rate)
    parts[mine & (scale.low_ns >= begin_ns - margin) & (scale.low_ns <= end_ns + margin)] = NONE
    rate, of = np.r_[scale.rate, scale.rate[segment]], np.r_[scale.of, scale.of[segment]]
    return scale._replace(segment=parts, rate=rate, of=of, can_be_set=np.r_[scale.can_be_set, True])


def _in_contradiction(
    scale: Scale, seen: Crossings, bounds: Int64s, cell: Int64s, begin: int, end: int
) -> Bools:
    """Return the crossings in the cells `begin` to `end` whose clocks have contradictory bounds."""
    guilty = np.append(np.diagonal(bounds) < 0, False)
    inside = (cell >= begin) & (cell <= end)
    return np.asarray(
        inside & guilty[scale.segment[seen.a]] & guilty[scale.segment[seen.b]], np.bool_
    )
