# SPDX-License-Identifier: MIT
"""Fit the clock at the place where the capture seems to have been taken.

In: pairs that identity alone decided.  Every sighting has a point at the sniffer's device, and the
times differ least there.  Where packets were seen at several points of their way (tcpdump -i any),
the first sighting belongs to the first point, and so on.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import ColumnTable, Packets
from .clock import ClockFit, Pairs, fit
from .kinds import Index
from .ladder import Flags
from .nearest import Place, points_of, reach
from .points import EARLY, SOCKET, WIRE

MOST = 0.9  # of the packets must have a point at the place
TRIED = 2000  # pairs looked at to choose the place
CLOSE, CLOSE_NS = 4, 1000  # a place is no worse than another with a CLOSE-fold spread or this
FEW = 12  # pairs whose times may differ least at the wrong place by chance


class _Try(NamedTuple):
    """A place, its fit, and how many packets have a point there."""

    place: Place
    clock: ClockFit
    packets: int

    @property
    def spread(self) -> int:
        return max(segment.spread_ns for segment in self.clock.segments)


def locate(
    packets: Packets, packet: Index, series: Index, points: ColumnTable
) -> tuple[ClockFit | None, Place]:
    """The clock fit and the place; without any pair None and everywhere.

    A packet may have several series: at a place it counts if one of them has a point there.
    """
    captured = packets["ts"]
    some = packet % max(1, len(np.unique(packet)) // TRIED) == 0
    owner = points.stored("series")
    few, point = points_of(owner, series[some])
    tries = _tries(captured, packet[some][few], points[point])
    if not tries:
        return None, Place(None, -1, None, WIRE)
    most = MOST * max(one.packets for one in tries)
    tries = [one for one in tries if one.packets >= most]
    tightest = min(one.spread for one in tries)
    tries = [one for one in tries if one.spread <= CLOSE * tightest + CLOSE_NS]
    sniffed = {one.place[:2] for one in tries if one.place.how == SOCKET}
    tries = [one for one in tries if one.place[:2] in sniffed] or tries
    best = min(tries, key=lambda one: (one.spread, one.place.how))
    here = np.flatnonzero(best.place.holds(points))
    pair, point = points_of(owner[here], series)
    packet, here = packet[pair], here[point]
    del pair, point, few, owner, series
    single = _once(packet)
    packet, here = packet[single], here[single]
    times = (points.part(name, here) for name in ("ts", "after", "before"))
    clock = fit(Pairs(packet, *times), captured)
    if clock is not None and clock.pairs < FEW:
        clock = clock.wider(max(_apart(clock, one.clock, captured) for one in tries))
    return clock, best.place


def refit(known: Pairs, captured: Index, clock: ClockFit, sharper: float) -> ClockFit | None:
    """The clock of these pairs, if its error is at most `sharper` of that of `clock`.

    It must have the same segments: no packet's match tells where the clock was set.
    """
    made = fit(known, captured)
    if made is None or len(made.segments) != len(clock.segments):
        return None
    every = np.arange(len(captured))
    before, after = clock.error(captured, every), made.error(captured, every)
    worst, mean = int(after.max(initial=0)), float(after.mean())
    if mean > sharper * float(before.mean()) or worst > int(before.max(initial=0)):
        return None
    return made


def _once(packet: Index) -> Flags:
    """Which of these packets come once."""
    return np.asarray(np.bincount(packet, minlength=1)[packet] == 1)


def _apart(clock: ClockFit, other: ClockFit, captured: Index) -> int:
    """How far the other clock may be from where this one may be, ns."""
    every = np.arange(len(captured))
    here, there = clock.to_kernel(captured, every), other.to_kernel(captured, every)
    more = other.error(captured, every) - clock.error(captured, every)
    return max(0, int((np.abs(there - here) + more).max()))


def _tries(captured: Index, packet: Index, rows: npt.NDArray[np.void]) -> list[_Try]:
    tries = []
    for place in _places(rows):
        here = place.holds(rows)
        here[here] = _once(packet[here])
        clock = _fit(captured, packet[here], rows[here])
        if clock is not None:
            tries.append(_Try(place, clock, len(np.unique(packet[here]))))
    return tries


def everywhere(
    packets: Packets, packet: Index, series: Index, points: ColumnTable
) -> tuple[ClockFit | None, Place]:
    """The fit of sightings at several points, where each life has as many points as sightings."""
    for how in (SOCKET, WIRE, EARLY):
        place = Place(None, -1, None, how)
        mine = np.flatnonzero(place.holds(points))
        mine = mine[np.lexsort((points["ts"][mine], points["series"][mine]))]
        order = np.lexsort((packet, series))
        seen = np.bincount(series, minlength=1)
        has = np.bincount(points["series"][mine], minlength=len(seen))[: len(seen)]
        equal = (seen == has) & (seen > 0)
        order = order[equal[series[order]]]
        size = max(len(equal), int(points["series"].max(initial=-1)) + 1)
        wanted = np.zeros(size, np.bool_)
        wanted[: len(equal)] = equal
        mine = mine[wanted[points["series"][mine]]]
        if len(order):
            return _fit(packets["ts"], packet[order], points[mine]), place
    return None, Place(None, -1, None, WIRE)


def agreeing(
    packets: Packets, packet: Index, series: Index, points: ColumnTable, clock: ClockFit
) -> Flags:
    """Which pairs were, by a clock as far as it is sure, at a point of theirs."""
    captured, every = packets["ts"][packet], np.ones(len(packet), np.bool_)
    at = clock.to_kernel(captured, packet)
    away = reach(at, series, points, np.ones(len(points), np.bool_), every, ~every).distance
    return np.asarray(away <= clock.error(captured, packet))


def _places(rows: npt.NDArray[np.void]) -> list[Place]:
    devices = np.unique(rows[["netns", "ifindex"]])
    return [
        Place(int(device["netns"]), int(device["ifindex"]), sends, how)
        for device, how, sends in product(devices, (SOCKET, WIRE, EARLY), (None, 1, 0))
    ]


def _fit(captured: Index, packet: Index, rows: npt.NDArray[np.void]) -> ClockFit | None:
    return fit(Pairs(packet, rows["ts"], rows["after"], rows["before"]), captured)
