# SPDX-License-Identifier: MIT
"""Convert the times of all clocks roughly to one scale, and find where a clock was set.

Packets that are unique in two recordings show how far apart the clocks are, within the transit
times.  Then clock_bounds.py finds the exact bounds.  A clock was set where the distance between two
clocks jumps, or where the time in a capture goes back.  Each place where a clock was set begins a
new segment, and each segment counts as a clock of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Float64s, Int64s
from .packet_sightings import Sightings

RATE = 5e-4  # most by which a clock is fast or slow: adjtimex(2)'s limit
JUMP_NS = 20_000_000  # a distance that changes by more shows that a clock was set
BACK_NS = 1_000_000  # packets of a capture may be out of order by this much
AROUND = 8  # packets before and after a jump whose median distance is compared
DRIFTED_NS = JUMP_NS // 4  # a segment with less drift gets no slope
NONE = -1  # segment of a sighting that lies where a clock was set, or of an unaligned clock


class Scale(NamedTuple):
    """The common scale: the times `low_ns` to `high_ns` of each sighting, and its `segment`.

    `segment` is NONE for sightings at which the clock was being set.

    `shift` is the time on the scale minus the time on the sighting's clock.
    By segment: `rate` is the greatest rate at which its error changes, in ns/ns; `of` is its clock;
    `can_be_set` says whether somebody may set that clock.
    """

    low_ns: Int64s
    high_ns: Int64s
    shift: Int64s
    segment: Int64s
    rate: Float64s
    of: Int64s
    can_be_set: Bools


class _Links(NamedTuple):
    """Pairs of sightings (rows) of the same unique packet, listed in both directions."""

    row: Int64s
    other: Int64s
    clock: Int64s
    other_clock: Int64s


class _Line(NamedTuple):
    """Time on the scale = time + offset + slope * (time - origin)."""

    origin: int
    offset: int
    slope: float

    def shift(self, time: Int64s) -> Int64s:
        """Return for each of the times `time` how far (ns) the scale is ahead of the clock."""
        rise = np.rint((time - self.origin) * self.slope)
        return np.asarray(self.offset + rise.astype(np.int64), np.int64)


def align(found: Sightings, a: Int64s, b: Int64s, steady: Bools) -> Scale:
    """Convert the sightings to one scale; `a` and `b` are rows of sightings of the same packets."""
    count = len(found.clock)
    clocks = found.clock
    links = _Links(
        np.r_[a, b], np.r_[b, a], np.r_[clocks[a], clocks[b]], np.r_[clocks[b], clocks[a]]
    )
    shift, segment = np.zeros(count, np.int64), np.full(count, NONE)
    rates: list[float] = []
    owners: list[int] = []
    by_clock = np.argsort(clocks, kind="stable")
    ends = np.searchsorted(clocks[by_clock], np.arange(len(steady) + 1))
    for clock in _order(links, steady):
        rows = by_clock[ends[clock] : ends[clock + 1]]
        rows = rows[np.lexsort((found.low_ns[rows], found.position[rows]))]
        mine = (links.clock == clock) & (segment[links.other] != NONE)
        known = np.zeros(count, np.int64)
        linked = links.row[mine]
        known[linked] = found.low_ns[links.other[mine]] + shift[links.other[mine]]
        is_known = np.zeros(count, np.bool_)
        is_known[linked] = True
        for part in _segments(found, rows, known, is_known, bool(steady[clock])):
            line = _line(found.low_ns[part], known[part], is_known[part])
            shift[part] = line.shift(found.low_ns[part])
            segment[part] = len(rates)
            rates.append(RATE + abs(line.slope))
            owners.append(clock)
    of = np.array(owners, np.int64)
    times = found.low_ns + shift, found.high_ns + shift
    return Scale(*times, shift, segment, np.array(rates, np.float64), of, ~steady[of])


def _order(links: _Links, steady: Bools) -> list[int]:
    """Return the clocks with links: first a steady clock, then clocks linked to earlier ones."""
    count = len(steady)
    shared = np.zeros((count, count), np.int64)
    np.add.at(shared, (links.clock, links.other_clock), 1)
    made: list[int] = []
    left = set(np.flatnonzero(shared.sum(axis=1)).tolist())
    while left:
        nearest = max(left, key=lambda each: (int(shared[each, made].sum()), -each))
        if not made or not shared[nearest, made].sum():  # a group of clocks of its own
            nearest = max(left, key=lambda each: (bool(steady[each]), int(shared[each].sum())))
        made.append(nearest)
        left.remove(nearest)
    return made


def _segments(
    found: Sightings, rows: Int64s, known: Int64s, is_known: Bools, is_steady: bool
) -> list[Int64s]:
    """Return the rows of each segment of a clock, in which it was not set.

    The rows `rows` are in file order.
    """
    if is_steady or not len(rows):
        return [rows] if len(rows) else []
    time = found.low_ns[rows]
    parts = np.split(rows, np.flatnonzero(np.diff(time) < -BACK_NS) + 1)
    made: list[Int64s] = []
    for part in parts:
        at = np.flatnonzero(is_known[part])
        distance = known[part[at]] - found.low_ns[part[at]]
        begin = 0
        for first, last in _jumps(distance):
            made.append(part[begin : at[first]])
            begin = int(at[last]) + 1
        made.append(part[begin:])
    return [part for part in made if is_known[part].any() or len(parts) == 1 == len(made)]


def _jumps(distance: Int64s) -> list[tuple[int, int]]:
    """Return for each jump two packets (first, last) between which the clock was set.

    The two packets of a jump, and all packets between them, belong to no segment.
    """
    if len(distance) < 2:
        return []
    padded = np.pad(distance, AROUND, mode="edge")
    medians = np.median(np.lib.stride_tricks.sliding_window_view(padded, AROUND), axis=1)
    count = len(distance)
    jumps = np.abs(medians[AROUND : AROUND + count] - medians[:count]) > JUMP_NS
    index = np.flatnonzero(jumps)
    groups = np.split(index, np.flatnonzero(np.diff(index) > 2 * AROUND) + 1)
    return [
        (max(int(group[0]) - AROUND, 0), min(int(group[-1]) + AROUND, count - 1))
        for group in groups
        if len(group)
    ]


def _line(time: Int64s, known: Int64s, is_known: Bools) -> _Line:
    """Return a line that is close to the known times of a segment."""
    own = time[is_known]
    if not len(own):
        return _Line(int(time[0]), 0, 0.0)
    distance, origin = known[is_known] - own, int(own[0])
    quarter = max(len(own) // 4, 1)
    rise = float(np.median(distance[-quarter:]) - np.median(distance[:quarter]))
    run = float(np.median(own[-quarter:] - origin) - np.median(own[:quarter] - origin))
    slope = float(np.clip(rise / run, -2 * RATE, 2 * RATE)) if run > 0 else 0.0
    slope = slope if abs(rise) > DRIFTED_NS else 0.0
    level = distance - np.rint((own - origin) * slope).astype(np.int64)
    return _Line(origin, int(np.median(level)), slope)
