# SPDX-License-Identifier: MIT
"""Bound the transit times of packets between two hosts, by traffic in both directions.

Input: the matches of one capture with two KBLs.  Output: intervals of the offset between the hosts'
clocks.  No clock shows the offset between the hosts.  But no packet arrives before it is sent, so
the packets of each direction bound the offset from one side (Paxson, "On Calibrating Measurements
of Packet Transit Times", SIGMETRICS 1998).  If all packets go in one direction, the offset is
bounded from one side only, and there is no result.  Clocks drift apart steadily: every line with a
slope of at most MAX_DRIFT that no packet contradicts may be right, and the interval covers all of
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ..records.types import Int64s
from .clock.feasible_lines import Points, corridor_between
from .legs.capture_points import WIRE
from .match_rule_numbers import AMBIGUOUS, BY_POINTS, BY_TIME, EXACT

if TYPE_CHECKING:
    from .match_types import KernelSide, Matches

MAX_DRIFT = 1e-3  # two clocks that are slewed apart, each at adjtimex(2)'s limit
STAMP_NS = 1  # a stamp is rounded down to whole ns, so it may be early by this much


class Trips(NamedTuple):
    """Packets that both hosts saw: when one host sent each packet, and when the other got it.

    `a_ns` and `b_ns` are the times at which hosts a and b sent or got the packet, each on the clock
    of its host.  `onward` is True if host a sent the packet.  `series_a` and `series_b` are the
    packet's lifetimes on both hosts.
    """

    series_a: Int64s
    series_b: Int64s
    a_ns: Int64s
    b_ns: Int64s
    onward: npt.NDArray[np.bool_]


class OneWay(NamedTuple):
    """The value of clock b - clock a is from `low_ns` to `high_ns` at the times `at_ns` of clock a.

    Between two of these times, the bounds are straight lines.  Outside these times the bounds
    diverge, because the rate by which clock b is faster is only known to be from `least_ppm` to
    `most_ppm`.  `onward` and `back` count the packets of both directions.
    """

    at_ns: Int64s
    low_ns: Int64s
    high_ns: Int64s
    least_ppm: float
    most_ppm: float
    onward: int
    back: int

    def offset(self, a_ns: Int64s) -> tuple[Int64s, Int64s]:
        """Return the least and the greatest value (ns) of clock b - clock a at the times `a_ns`."""
        at, base = (self.at_ns - self.at_ns[0]).astype(np.float64), int(self.low_ns[0])
        x = (np.asarray(a_ns, np.int64) - self.at_ns[0]).astype(np.float64)
        before, after = np.minimum(x, 0.0), np.maximum(x - at[-1], 0.0)
        low, high = (
            np.interp(x, at, (ends - base).astype(np.float64))
            for ends in (self.low_ns, self.high_ns)
        )
        low += (before * self.most_ppm + after * self.least_ppm) * 1e-6
        high += (before * self.least_ppm + after * self.most_ppm) * 1e-6
        return base + np.floor(low).astype(np.int64), base + np.ceil(high).astype(np.int64)

    def middle(self) -> tuple[int, int, float]:
        """Return a line that no packet contradicts: a time of clock a, the offset then, the slope.

        The offset is clock b - clock a, ns; the slope is in ppm.  The line is the mean of the
        steepest and the flattest line that no packet contradicts.  At and beyond the first and the
        last packet, the line is in the middle of the bounds.
        """
        middle = int(self.low_ns[0]) + int(self.high_ns[0] - self.low_ns[0]) // 2
        return int(self.at_ns[0]), middle, (self.least_ppm + self.most_ppm) / 2

    def transit_times(
        self, a_ns: Int64s, b_ns: Int64s, onward: npt.NDArray[np.bool_]
    ) -> tuple[Int64s, Int64s]:
        """Return the least and the greatest transit time of packets between two hosts, ns.

        By packet: its times `a_ns` and `b_ns` on the hosts' clocks, and whether it went `onward`,
        from a to b.  The middle of the two results is the transit time if both directions take
        equally long.  The greatest transit time is negative if a packet arrived before it was sent.
        """
        low, high = self.offset(a_ns)
        there = b_ns - a_ns
        most = np.where(onward, there - low, high - there)
        least = np.where(onward, there - high, low - there)
        return np.maximum(least, np.minimum(most, 0)), most


def trips(found_a: Matches, found_b: Matches, a: KernelSide, b: KernelSide) -> Trips:
    """Return packets that are exact in both logs, and that one host sent and the other received.

    `found_a` and `found_b` are the matches with the logs `a` and `b`.  Only matches by identity
    count, because a match that time decided proves nothing about time.
    """
    return _both(_series_of(found_a, a, False), _series_of(found_b, b, False), a, b)[1]


def without_early_arrivals(
    found_a: Matches, found_b: Matches, a: KernelSide, b: KernelSide, way: OneWay
) -> tuple[Matches, Matches]:
    """Return the matches; those of packets that would arrive before they were sent are ambiguous.

    `found_a` and `found_b` are the matches with the logs `a` and `b`; `way` bounds the offset of
    their clocks.  Only matches that time decided are changed.  If time decided both matches of a
    packet, only the one with the larger clock error is changed.
    """
    packet, found = _both(_series_of(found_a, a, True), _series_of(found_b, b, True), a, b)
    _, longest = way.transit_times(found.a_ns, found.b_ns, found.onward)
    early = packet[longest < 0]
    if not len(early):
        return found_a, found_b
    worse = _error(found_a) > _error(found_b)
    first, second = (found_a, found_b) if worse else (found_b, found_a)
    first, left = _without(first, early)
    second, _ = _without(second, left)
    return (first, second) if worse else (second, first)


def _error(found: Matches) -> int:
    return max((s.residual_ns for one in found.clocks for s in one.clock.segments), default=0)


def _without(found: Matches, packets: Int64s) -> tuple[Matches, Int64s]:
    """Make matches of the packets `packets` ambiguous if time decided these matches.

    Returns the new matches, and the packets that had no match decided by time.
    """
    rows = found.rows.copy()
    mine = (rows["verdict"] == EXACT) & np.isin(rows["rung"], (BY_TIME, BY_POINTS))
    mine &= np.isin(rows["packet"], packets)
    rows["verdict"][mine], rows["rung"][mine], rows["confidence"][mine] = AMBIGUOUS, BY_TIME, 0
    changed = rows["packet"][mine]
    moments = found.moments[~np.isin(found.moments["packet"], changed)]
    return found._replace(rows=rows, moments=moments), np.setdiff1d(packets, changed)


def _both(
    one: tuple[Int64s, Int64s], other: tuple[Int64s, Int64s], a: KernelSide, b: KernelSide
) -> tuple[Int64s, Trips]:
    """Return the packets that have a series in both KBLs, with their trips.

    `one` are (packet, series) in KBL `a`, and `other` in KBL `b`.
    """
    packet, at_a, at_b = np.intersect1d(one[0], other[0], return_indices=True)
    series_a, series_b = one[1][at_a], other[1][at_b]
    sent = [_seen(kernel, s, True) for kernel, s in ((a, series_a), (b, series_b))]
    got = [_seen(kernel, s, False) for kernel, s in ((a, series_a), (b, series_b))]
    onward, back = (sent[0] >= 0) & (got[1] >= 0), (sent[1] >= 0) & (got[0] >= 0)
    clear = onward != back  # if both did both, the order is unknown
    a_ns, b_ns = np.where(onward, sent[0], got[0]), np.where(onward, got[1], sent[1])
    rows = (series_a, series_b, a_ns, b_ns, onward)
    return packet[clear], Trips._make(column[clear] for column in rows)


def _series_of(found: Matches, kernel: KernelSide, timed: bool) -> tuple[Int64s, Int64s]:
    """Return (packet, series) of the exact matches of packets that have a single lifetime.

    With `timed`, matches that time decided are included.
    """
    sure = found.rows["verdict"] == EXACT
    if not timed:
        sure &= ~np.isin(found.rows["rung"], (BY_TIME, BY_POINTS))
    rows = found.rows[sure]
    packet, first = np.unique(rows["packet"], return_index=True)
    series = kernel.legs.rows["series"]
    owner = series[rows["leg"]]
    single = np.ones(len(packet), np.bool_)
    if len(packet):
        single = np.maximum.reduceat(owner, first) == np.minimum.reduceat(owner, first)
    return packet[single], owner[first][single]


def _seen(kernel: KernelSide, series: Int64s, sends: bool) -> Int64s:
    """Return when each series passed a device: a time on the log's clock (ns), or -1 if unknown.

    With `sends`, the time is that at which the last device sent the packet; otherwise, that at
    which the first device got it.
    """
    points = kernel.points
    points = points.only_rows((points["how"] == WIRE) & (points["sends"] == sends))
    points = points.only_rows(np.lexsort((points["ts"], points["series"])))
    if sends:
        at = np.searchsorted(points["series"], series, "right") - 1
    else:
        at = np.searchsorted(points["series"], series)
    inside = (at >= 0) & (at < len(points))
    at = np.where(inside, at, 0)
    if not len(points):
        return np.full(len(series), -1, np.int64)
    return np.where(inside & (points["series"][at] == series), points["ts"][at], -1)


def all_trips(parts: list[Trips]) -> Trips:
    """Return the trips of all captures; a packet that several captures contain counts once."""
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    pair = np.stack(columns[:2], axis=1)
    first = np.unique(pair, axis=0, return_index=True)[1]
    return Trips._make(column[first] for column in columns)


def clock_bounds(found: Trips) -> OneWay | None:
    """Return the bounds of the offset between two hosts' clocks.

    Returns None if all packets went in one direction.  Also returns None if a clock was set: then
    no steady drift of at most MAX_DRIFT agrees with all packets.
    """
    if not found.onward.any() or found.onward.all():
        return None
    found = Trips._make(column[np.argsort(found.a_ns, kind="stable")] for column in found)
    difference = found.b_ns - found.a_ns
    origin, base = int(found.a_ns[0]), int(difference[0])  # keep float64 exact
    x, y = (found.a_ns - origin).astype(np.float64), (difference - base).astype(np.float64)
    onward, back = found.onward, ~found.onward
    over, under = Points(x[onward], y[onward] + STAMP_NS), Points(x[back], y[back] - STAMP_NS)
    lines = corridor_between(over, under, MAX_DRIFT)
    if lines.torn > 0:
        return None
    at = np.unique(np.rint(lines.knots(0.0, x[-1])))
    low, high = lines.bounds(at)
    bounds = (np.floor(low).astype(np.int64) + base, np.ceil(high).astype(np.int64) + base)
    drift = (float(lines.slope[0]) * 1e6, float(lines.slope[-1]) * 1e6)
    return OneWay(at.astype(np.int64) + origin, *bounds, *drift, int(onward.sum()), int(back.sum()))
