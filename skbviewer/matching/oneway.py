# SPDX-License-Identifier: MIT
"""How long packets were under way between two hosts, as far as two-way traffic bounds it.

In: the matches of one capture with two KBLs.  Out: intervals.  No clock tells the offset between
the hosts; but no packet arrives before it was sent, so each direction bounds it from one side
(Paxson, "On Calibrating Measurements of Packet Transit Times", SIGMETRICS 1998).  One-way traffic
leaves the other side open and gives nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from .decide import AMBIGUOUS, BY_POINTS, BY_TIME, EXACT
from .kinds import Index
from .points import WIRE

if TYPE_CHECKING:
    from .matcher import Matches, Sightable

WINDOWS = 32  # of time, in which the fastest packets of both directions are looked for
MIN_WINDOWS = 8
CLEAR = 4  # a drift is believed if it exceeds the intervals of the windows by this much
MAX_DRIFT = 1e-3


class Trips(NamedTuple):
    """One row a packet that both hosts saw: when one sent it and the other got it, own clocks.

    `onward`: the first host sent it.  `series_a`, `series_b`: its lives in both.
    """

    series_a: Index
    series_b: Index
    a_ns: Index
    b_ns: Index
    onward: npt.NDArray[np.bool_]


class OneWay(NamedTuple):
    """clock b - clock a lies in [low_ns, high_ns] + drift_ppm * 1e-6 * (clock a - origin_ns).

    A packet from a to b took what its clocks differ by less that; `onward` and `back` count the
    packets of both directions.
    """

    origin_ns: int
    low_ns: int
    high_ns: int
    drift_ppm: float
    onward: int
    back: int

    def offset(self, a_ns: Index) -> tuple[Index, Index]:
        """Least and greatest clock b - clock a at times of clock a, ns."""
        drift = np.rint((a_ns - self.origin_ns) * (self.drift_ppm * 1e-6)).astype(np.int64)
        return drift + self.low_ns, drift + self.high_ns

    def took(self, a_ns: Index, b_ns: Index, onward: npt.NDArray[np.bool_]) -> tuple[Index, Index]:
        """Least and greatest time under way of packets, ns; their middle assumes symmetric ways."""
        low, high = self.offset(a_ns)
        there = b_ns - a_ns
        return np.where(onward, there - high, low - there), np.where(
            onward, there - low, high - there
        )


def trips(found_a: Matches, found_b: Matches, a: Sightable, b: Sightable) -> Trips:
    """The packets of a capture that are exact in both KBLs, sent by one and got by the other.

    By what they are alone: what time decided says nothing of time.
    """
    return _both(_series_of(found_a, a, False), _series_of(found_b, b, False), a, b)[1]


def doubted(
    found_a: Matches, found_b: Matches, a: Sightable, b: Sightable, way: OneWay
) -> tuple[Matches, Matches]:
    """The matches without those that time decided and by which a packet arrived before it was sent.

    They become ambiguous; of two such ones of a packet, the one whose clocks fit worse.
    """
    packet, found = _both(_series_of(found_a, a, True), _series_of(found_b, b, True), a, b)
    _, longest = way.took(found.a_ns, found.b_ns, found.onward)
    early = packet[longest < 0]
    if not len(early):
        return found_a, found_b
    worse = _error(found_a) > _error(found_b)
    first, second = (found_a, found_b) if worse else (found_b, found_a)
    first, left = _without(first, early)
    second, _ = _without(second, left)
    return (first, second) if worse else (second, first)


def _error(found: Matches) -> int:
    return max(s.residual_ns for s in found.clock.segments) if found.clock else 0


def _without(found: Matches, packets: Index) -> tuple[Matches, Index]:
    """What time decided of these packets becomes ambiguous; those of which it decided nothing."""
    rows = found.rows.copy()
    mine = (rows["verdict"] == EXACT) & np.isin(rows["rung"], (BY_TIME, BY_POINTS))
    mine &= np.isin(rows["packet"], packets)
    rows["verdict"][mine], rows["rung"][mine], rows["confidence"][mine] = AMBIGUOUS, BY_TIME, 0
    return found._replace(rows=rows), np.setdiff1d(packets, rows["packet"][mine])


def _both(
    one: tuple[Index, Index], other: tuple[Index, Index], a: Sightable, b: Sightable
) -> tuple[Index, Trips]:
    """Packets that have a series in both KBLs, and their trips."""
    packet, at_a, at_b = np.intersect1d(one[0], other[0], return_indices=True)
    series_a, series_b = one[1][at_a], other[1][at_b]
    sent = [_seen(kernel, s, True) for kernel, s in ((a, series_a), (b, series_b))]
    got = [_seen(kernel, s, False) for kernel, s in ((a, series_a), (b, series_b))]
    onward, back = (sent[0] >= 0) & (got[1] >= 0), (sent[1] >= 0) & (got[0] >= 0)
    clear = onward != back  # where both hosts do both, order is not known without the clocks
    a_ns, b_ns = np.where(onward, sent[0], got[0]), np.where(onward, got[1], sent[1])
    rows = (series_a, series_b, a_ns, b_ns, onward)
    return packet[clear], Trips._make(column[clear] for column in rows)


def _series_of(found: Matches, kernel: Sightable, timed: bool) -> tuple[Index, Index]:
    """(packet, series) of exact matches with packets that have one life only.

    Without those that time decided, unless `timed`.
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


def _seen(kernel: Sightable, series: Index, sends: bool) -> Index:
    """When the last device of each series sent it, or the first one got it; -1 if none did."""
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


def joined(parts: list[Trips]) -> Trips:
    """All trips, a packet that several captures saw once."""
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    pair = np.stack(columns[:2], axis=1)
    first = np.unique(pair, axis=0, return_index=True)[1]
    return Trips._make(column[first] for column in columns)


def bound(found: Trips) -> OneWay | None:
    """The bounds of the hosts' clocks; None without packets in both directions.

    None too where packets of both directions contradict each other: a clock was set.
    """
    onward = found.onward
    if not onward.any() or onward.all():
        return None
    origin = int(found.a_ns.min())
    difference = found.b_ns - found.a_ns
    base = int(difference[0])  # keeps float64 exact
    rest = (difference - base).astype(np.float64)
    slope = _drift((found.a_ns - origin).astype(np.float64), rest, onward)
    rest -= slope * (found.a_ns - origin)
    high, low = float(rest[onward].min()), float(rest[~onward].max())
    if low > high:
        return None
    ends = (base + int(np.floor(low)), base + int(np.ceil(high)))
    return OneWay(origin, *ends, slope * 1e6, int(onward.sum()), int((~onward).sum()))


def _drift(
    x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], onward: npt.NDArray[np.bool_]
) -> float:
    """How fast the middle between both directions' fastest packets moves, if it does clearly."""
    window = np.minimum((x / max(float(np.ptp(x)), 1.0) * WINDOWS).astype(np.int64), WINDOWS - 1)
    high, low = np.full(WINDOWS, np.inf), np.full(WINDOWS, -np.inf)
    np.minimum.at(high, window[onward], y[onward])
    np.maximum.at(low, window[~onward], y[~onward])
    both = np.flatnonzero(np.isfinite(high) & np.isfinite(low))
    if len(both) < MIN_WINDOWS:
        return 0.0
    middle = (high[both] + low[both]) / 2
    when = np.bincount(window, x, WINDOWS)[both] / np.bincount(window, minlength=WINDOWS)[both]
    half = len(both) // 2
    slopes = (middle[-half:] - middle[:half]) / (when[-half:] - when[:half])
    slope = float(np.median(slopes))
    width = float(np.median(np.abs(high[both] - low[both])))
    clear = abs(slope) * float(np.ptp(when)) > CLEAR * width and abs(slope) <= MAX_DRIFT
    return slope if clear else 0.0
