# SPDX-License-Identifier: MIT
"""Find the place where the capture seems to have been taken, and fit its clock there.

Input: pairs of packets and lifetimes that identity alone decided.  Each packet has a point at the
device where it was captured, and at this device the differences in time vary least.  If a capture
contains packets several times, from several points (tcpdump -i any), the first capture of a packet
is assigned to the lifetime's first point, and so on.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import ColumnTable, Packets
from ...records.types import Bools, Int64s
from ..arrays.medians import median
from ..legs.capture_points import EARLY, SOCKET, WIRE
from ..legs.declared_losses import Table, losses_inside, meets
from ..legs.tap_moments import WAIT_NS
from .capture_point_distances import FAR, Place, devices_of, points_of, reach
from .clock_fit import ClockFit, TimedPairs, fit, precision_of
from .possible_capture_devices import (
    ANY_TIME,
    agreeing_devices,
    fit_bounded,
    fit_like,
    has_bounds,
    passes_all,
    spans,
)

POSSIBLE_SHARE = 0.9  # a place is possible if this share of the packets has a point there
TRIED = 2000  # most pairs that are used to choose the place
SURER = 0.7  # a new fit is taken if it reduces the clock's error to this share
CLOSE, CLOSE_NS = 4, 1000  # a spread of up to CLOSE times the least plus CLOSE_NS is as good
SEVERAL_DEVICES = (113, 276)  # LINKTYPE_LINUX_SLL, _SLL2: tcpdump -i any
NEAR_NS = 10_000_000  # records lost this near to a packet may be its own
# With fewer pairs, the wrong place may by chance be the one where times differ least.
RELIABLE_PAIRS = 12
USED = ("netns", "ifindex", "sends", "how", "ts", "after", "before")  # columns of a point


class _Try(NamedTuple):
    """A possible place of the capture, with the pairs of the packets that have one point there.

    `stamped` is an index of WINDOWS: it says when a stamp is made while an skb passes a device (in
    a socket's call, on arrival, at any time).
    """

    place: Place
    pairs: TimedPairs
    spread: int
    packets: int


class Located(NamedTuple):
    """The clock fit, and where the capture may have been taken.

    `clock` was fitted at `place`; it is None if there is no pair.  `devices` are the devices
    (netns, ifindex) that the packets' times do not contradict; if there are none, any device is
    possible.  `assumed` is True if no pairs suggested this clock.  `stamped` is an index of
    WINDOWS: it says where stamps are made while an skb passes a device.  `at_calls` is True if
    packet sockets at these devices got the packets, and the log shows their calls.
    """

    clock: ClockFit | None
    place: Place
    devices: tuple[tuple[int, int], ...]
    assumed: bool = False
    stamped: int = ANY_TIME
    at_calls: bool = False

    @property
    def at_sockets(self) -> bool:
        """Return whether packet sockets, whose calls the log may show, captured all packets."""
        return self.place.at_socket or self.at_calls


NOWHERE = Located(None, Place(None, -1, None, WIRE), ())


def locate(
    packets: Packets,
    packet: Int64s,
    series: Int64s,
    points: ColumnTable,
    moments: ColumnTable,
    lossy: bool,
    missing: float = 0.0,
) -> Located:
    """Find the place where the capture seems to have been taken, and fit its clock there.

    If a packet has several series, it counts at each place where at least one of the series has a
    point.  `lossy` means that the log may lack the lifetimes of some packets, so that these packets
    are paired with lifetimes of others.  `missing` is the share of hits that the log lacks at
    unknown times: if these hits may be the reason why a device is contradicted, no clock is
    returned.
    """
    captured = packets["ts"]
    count = int(np.count_nonzero(np.bincount(packet, minlength=1)))
    some = packet % max(1, count // TRIED) == 0
    owner = points.stored("series")
    few, point = points_of(owner, series[some])
    tries = _tries(captured, packet[some][few], points[point])
    if not tries:
        return NOWHERE
    agreed = agreeing_devices(captured, packet[some], series[some], moments, lossy, missing=missing)
    devices = agreed.clocks
    if agreed.unsure:
        return NOWHERE
    tries = [one for one in tries if one.place[:2] in devices] or tries
    most = POSSIBLE_SHARE * max(one.packets for one in tries)
    tries = [one for one in tries if one.packets >= most]
    tightest = min(one.spread for one in tries)
    tries = [one for one in tries if one.spread <= CLOSE * tightest + CLOSE_NS]
    sniffed = {one.place[:2] for one in tries if one.place.how == SOCKET}
    tries = [one for one in tries if one.place[:2] in sniffed] or tries
    best = min(tries, key=lambda one: (one.spread, one.place.how))
    del point, few, owner
    clock = _at_place(captured, packet, series, points, best.place)
    if devices and not (clock and passes_all(clock, precision_of(captured))):
        clock = _at_devices(captured, packet, series, moments, tuple(devices)) or clock
    if clock is not None:
        if clock.pairs < RELIABLE_PAIRS:
            others = [other for one in tries if (other := fit(one.pairs, captured))]
            clock = clock.wider(max(_apart(clock, other, captured) for other in others))
        clock = _that_holds(clock, best.place, devices, captured)
    return Located(clock, best.place, tuple(devices), False, agreed.stamped, agreed.at_calls)


def _at_place(
    captured: Int64s, packet: Int64s, series: Int64s, points: ColumnTable, place: Place
) -> ClockFit | None:
    """Fit the clock to the packets that have one point at the place."""
    here = np.flatnonzero(place.holds(points))
    here = here[has_bounds({name: points.part(name, here) for name in ("after", "before")})]
    pair, point = points_of(points.stored("series")[here], series)
    packet, here = packet[pair], here[point]
    del pair, point, series
    single = _once(packet)
    packet, here = packet[single], here[single]
    times = (points.part(name, here) for name in ("ts", "after", "before"))
    return fit(TimedPairs(packet, *times), captured)


def _that_holds(
    clock: ClockFit, place: Place, devices: dict[tuple[int, int], ClockFit], captured: Int64s
) -> ClockFit:
    """Increase the clock's error until it covers the clocks of all these devices."""
    others = [one for device, one in devices.items() if device != place[:2] or len(devices) > 1]
    return clock.wider(max((_apart(clock, one, captured) for one in others), default=0))


def relocate(
    captured: Int64s,
    packet: Int64s,
    series: Int64s,
    moments: ColumnTable,
    where: Located,
    lossy: bool,
    missing: float = 0.0,
) -> Located | None:
    """Exclude devices, or reduce the clock's error, by further packets whose series are known.

    `captured` are the times of all packets; `packet` and `series` are the known pairs.  `lossy`
    means that the log lacks records, and `missing` is the share of hits that it lacks at unknown
    times.  Returns None if the further packets change neither the devices nor the clock's error.
    The clock keeps its segments, because the match of a packet does not show where a clock was set.
    """
    some = np.flatnonzero(packet % max(1, len(packet) // TRIED) == 0)
    agreed = agreeing_devices(
        captured, packet[some], series[some], moments, lossy, where.devices, where.clock, missing
    )
    devices = tuple(one for one in where.devices if one in agreed.clocks)
    if where.devices and not devices:
        return where._replace(devices=())
    seen = where._replace(
        stamped=min(agreed.stamped, where.stamped), at_calls=bool(devices) and agreed.at_calls
    )
    sharper = seen if seen != where else None
    where = seen
    clock = where.clock
    made = _at_devices(captured, packet, series, moments, devices, clock)
    if made is None or clock is None:
        return sharper
    if len(devices) == len(where.devices) and not _is_surer(made, clock, captured):
        return sharper
    if len(devices) > 1:
        return where._replace(devices=devices) if devices != where.devices else sharper
    (device,) = devices
    place = where.place._replace(netns=device[0], ifindex=device[1])
    return where._replace(clock=made, place=place, devices=devices)


def _at_devices(
    captured: Int64s,
    packet: Int64s,
    series: Int64s,
    moments: ColumnTable,
    devices: tuple[tuple[int, int], ...],
    old: ClockFit | None = None,
) -> ClockFit | None:
    """Fit the clock to the moments of packets at these devices."""
    pair, at = points_of(moments.stored("series"), series)
    rows, packet = moments[at], packet[pair]
    here = np.zeros(len(rows), np.bool_)
    for device in devices:
        here |= (rows["netns"] == device[0]) & (rows["ifindex"] == device[1])
    here &= rows["met"] & has_bounds(rows)
    rows, packet = rows[here], packet[here]
    _, begin, end = spans(packet, rows["begin"], rows["end"])
    packet, after, before = spans(packet, rows["after"], rows["before"])
    pairs = TimedPairs(packet, begin + (end - begin) // 2, after, before)
    return fit_like(pairs, captured, old)


def _is_surer(made: ClockFit, clock: ClockFit, captured: Int64s) -> bool:
    every = np.arange(len(captured))
    before, after = clock.error(captured, every), made.error(captured, every)
    if int(after.max(initial=0)) > int(before.max(initial=0)):
        return False
    return float(after.mean()) <= SURER * float(before.mean())


def _once(packet: Int64s) -> Bools:
    """Return for each element of `packet` whether its packet number occurs only once."""
    return np.asarray(np.bincount(packet, minlength=1)[packet] == 1)


def _apart(clock: ClockFit, other: ClockFit, captured: Int64s) -> int:
    """Return the greatest possible distance between the clocks `clock` and `other`, ns."""
    every = np.arange(len(captured))
    here, there = clock.to_kernel(captured, every), other.to_kernel(captured, every)
    more = other.error(captured, every) - clock.error(captured, every)
    return max(0, int((np.abs(there - here) + more).max()))


def _tries(captured: Int64s, packet: Int64s, rows: npt.NDArray[np.void]) -> list[_Try]:
    tries = []
    bounded = has_bounds(rows)
    packet, rows = packet[bounded], rows[bounded]
    columns = {name: np.ascontiguousarray(rows[name]) for name in USED}
    known: dict[bytes, int] = {}
    for place in _places(rows):
        here = np.flatnonzero(place.holds(columns))
        own = here[_once(packet[here])]
        if not len(own):
            continue
        times = (columns[name][own] for name in ("ts", "after", "before"))
        pairs = TimedPairs(packet[own], *times)
        count = int(np.count_nonzero(np.bincount(packet[here])))
        which = own.tobytes()  # both directions have the points of one if the other has none
        if which not in known:
            clock = fit(pairs, captured, bounded=False)
            assert clock is not None  # there are pairs
            known[which] = max(segment.spread_ns for segment in clock.segments)
        tries.append(_Try(place, pairs, known[which], count))
    return tries


def everywhere(
    packets: Packets, packet: Int64s, series: Int64s, moments: ColumnTable, losses: Table
) -> Located:
    """Fit the clock of a capture of all devices: each packet was stamped at one of its moments.

    `packet` and `series` are pairs that identity alone decides.  Packets near lost records are
    ignored, because the log may lack their moments.
    """
    after, before = _spans_of(series, moments)
    known = (after <= before) & (before - after < WAIT_NS)
    known &= ~_is_near(losses, after, before)
    packet, series = packet[known], series[known]
    clock = fit_bounded(packets["ts"], packet, after[known], before[known])
    how = SOCKET if moments["socket"].any() else WIRE
    return Located(clock, Place(None, -1, None, how), ())


def far_from_losses(
    captured: Int64s, packet: Int64s, series: Int64s, moments: ColumnTable, losses: Table
) -> tuple[Int64s, Int64s]:
    """Return the pairs (packet, series) whose packet and series are both far in time from losses.

    Near a loss, the log may lack a packet's own lifetime, so that the packet is paired with another
    packet's lifetime.  `captured` are the times of all packets, ns.  If fewer than half of the
    pairs remain, all pairs are returned.
    """
    after, before = _spans_of(series, moments)
    timed = after <= before
    if not timed.any():
        return packet, series
    usual = round(median((captured[packet] - before)[timed].astype(np.float64)))
    at = captured[packet] - usual
    far = ~_is_near(losses, after, before) & ~_is_near(losses, at, at)
    if 2 * np.count_nonzero(far) < len(far):
        return packet, series
    return packet[far], series[far]


def _spans_of(series: Int64s, moments: ColumnTable) -> tuple[Int64s, Int64s]:
    """Return the start of the first moment and the end of the last one (ns) of each of `series`.

    For a lifetime without moments, the begin is later than the end.
    """
    size = max(int(moments["series"].max(initial=-1)), int(series.max(initial=-1))) + 1
    after, before = np.full(size, FAR), np.full(size, -FAR)
    np.minimum.at(after, moments["series"], moments["after"])
    np.maximum.at(before, moments["series"], moments["before"])
    return after[series], before[series]


def _is_near(losses: Table, after: Int64s, before: Int64s) -> Bools:
    """Return for each span (`after` to `before`) whether records were lost within NEAR_NS of it."""
    known = after <= before
    near = np.zeros(len(after), np.bool_)
    low, high = after[known] - NEAR_NS, before[known] + NEAR_NS
    near[known] = meets(losses_inside(losses), low, high)
    return near


def is_at_point(
    packets: Packets, packet: Int64s, series: Int64s, points: ColumnTable, clock: ClockFit
) -> Bools:
    """Return for each pair whether this clock puts the packet at a point of its series.

    The pairs are `packet` (indices of `packets`) and `series`.  The time between a packet and its
    point may be as large as the clock's error.
    """
    captured, every = packets["ts"][packet], np.ones(len(packet), np.bool_)
    at = clock.to_kernel(captured, packet)
    away = reach(at, series, points, np.ones(len(points), np.bool_), every, ~every).distance
    return np.asarray(away <= clock.error(captured, packet))


def _places(rows: npt.NDArray[np.void]) -> list[Place]:
    return [
        Place(*device, sends, how)
        for device, how, sends in product(devices_of(rows), (SOCKET, WIRE, EARLY), (None, 1, 0))
    ]
