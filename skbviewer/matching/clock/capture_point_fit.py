# SPDX-License-Identifier: MIT
"""Fit the clock at the place where the capture seems to have been taken.

In: pairs that identity alone decided.  Every sighting has a point at the sniffer's device, and the
times differ least there.  Where packets were seen at several points of their way (tcpdump -i any),
the first sighting belongs to the first point, and so on.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import ColumnTable, Packets
from ...records.types import Bools, Int64s
from ..legs.capture_points import EARLY, SOCKET, WAIT_NS, WIRE
from ..legs.declared_losses import Table, inside, meets
from .clock_fit import ClockFit, TimedPairs, fit, precision_of
from .point_distances import FAR, Place, points_of, reach

TIMED = ("series", "after", "before", "begin", "end", "sends", "arrived")  # columns of a moment
Timed = npt.NDArray[np.void] | Mapping[str, npt.NDArray[Any]]

CAME_NS = 200_000  # from its arrival to its stamp of arrival
LEAST = 0.3  # of the packets must have a point at a device where the capture may be taken
MOST = 0.9  # of the packets must have a point at the place
TRIED = 2000  # pairs looked at to choose the place
SURER = 0.7  # of the clock's error is worth another look
CLOSE, CLOSE_NS = 4, 1000  # a place is no worse than another with a CLOSE-fold spread or this
SEVERAL_DEVICES = (113, 276)  # LINKTYPE_LINUX_SLL, _SLL2: tcpdump -i any
CALLED, CAME, ANY_TIME = range(3)  # where stamps are made: in a socket's call, on arrival
NEIGHBOURS = 9  # packets of a lossy log whose median is right
USUAL_NS, SCATTERED = 1_000_000, 20  # so far from it a packet is, or so many usual distances
NEAR_NS = 10_000_000  # so near to a packet lost records may be its own
SURELY = 8  # packets show where in a pass the stamps are made
FEW = 12  # pairs whose times may differ least at the wrong place by chance


class _Try(NamedTuple):
    """A place, its pairs, how they scatter (ns), and how many packets have a point there."""

    place: Place
    pairs: TimedPairs
    spread: int
    packets: int


class Located(NamedTuple):
    """The clock fit (None without any pair), the place it was made at, and where the capture may
    have been taken: devices (netns, ifindex), none of which the packets' times contradict.

    No device: anywhere.  `assumed`: the clock is not one that pairs suggest.  `stamped` is where in
    a pass packets get their times there: one of WINDOWS.
    """

    clock: ClockFit | None
    place: Place
    devices: tuple[tuple[int, int], ...]
    assumed: bool = False
    stamped: int = ANY_TIME


class _Agreed(NamedTuple):
    """Devices that agree with the stamps of packets, each with a clock; where these are made."""

    clocks: dict[tuple[int, int], ClockFit]
    stamped: int


def locate(
    packets: Packets,
    packet: Int64s,
    series: Int64s,
    points: ColumnTable,
    moments: ColumnTable,
    lossy: bool,
) -> Located:
    """Fit the clock at the place where the capture seems to have been taken.

    A packet may have several series: at a place it counts if one of them has a point there.  Of
    packets of a log that is `lossy` some may have lost their lifetime and found another one's.
    """
    captured = packets["ts"]
    count = int(np.count_nonzero(np.bincount(packet, minlength=1)))
    some = packet % max(1, count // TRIED) == 0
    owner = points.stored("series")
    few, point = points_of(owner, series[some])
    tries = _tries(captured, packet[some][few], points[point])
    if not tries:
        return Located(None, Place(None, -1, None, WIRE), ())
    agreed = _devices(captured, packet[some], series[some], moments, lossy)
    devices = agreed.clocks
    most = MOST * max(one.packets for one in tries)
    tries = [one for one in tries if one.packets >= most]
    tightest = min(one.spread for one in tries)
    tries = [one for one in tries if one.spread <= CLOSE * tightest + CLOSE_NS]
    sniffed = {one.place[:2] for one in tries if one.place.how == SOCKET}
    tries = [one for one in tries if one.place[:2] in devices] or tries
    tries = [one for one in tries if one.place[:2] in sniffed] or tries
    best = min(tries, key=lambda one: (one.spread, one.place.how))
    del point, few, owner
    clock = _at_place(captured, packet, series, points, best.place)
    if devices and not (clock and _passes_all(clock, precision_of(captured))):
        clock = _at_devices(captured, packet, series, moments, tuple(devices)) or clock
    if clock is not None:
        if clock.pairs < FEW:
            others = [other for one in tries if (other := fit(one.pairs, captured))]
            clock = clock.wider(max(_apart(clock, other, captured) for other in others))
        clock = _that_holds(clock, best.place, devices, captured)
    return Located(clock, best.place, tuple(devices), stamped=agreed.stamped)


def _at_place(
    captured: Int64s, packet: Int64s, series: Int64s, points: ColumnTable, place: Place
) -> ClockFit | None:
    """The fit of packets that have one point at the place."""
    here = np.flatnonzero(place.holds(points))
    here = here[_bounds({name: points.part(name, here) for name in ("after", "before")})]
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
    """The clock, so much wider that it holds those of all devices where it may have been fitted."""
    others = [one for device, one in devices.items() if device != place[:2] or len(devices) > 1]
    return clock.wider(max((_apart(clock, one, captured) for one in others), default=0))


def _devices(
    captured: Int64s,
    packet: Int64s,
    series: Int64s,
    moments: ColumnTable,
    lossy: bool,
    among: tuple[tuple[int, int], ...] = (),
) -> _Agreed:
    """The devices whose packet sockets' calls agree with the stamps of all these packets.

    Calls of packet sockets last some microseconds, and a stamp is made inside, or when the skb
    came to the device.  So at a wrong device some of many packets were stamped outside.  Where no
    device agrees so sharply, all those are left whose skbs had come by then.  An skb that passed a
    device several times was stamped at any of them.
    """
    pair, at = points_of(moments.stored("series"), series)
    packet, rows = packet[pair], moments[at]
    shown = rows["socket"] if rows["socket"].any() else rows["met"]
    shown &= _bounds(rows)
    packet, rows = packet[shown], rows[shown]
    tries = []
    for place in np.unique(rows[["netns", "ifindex"]]):
        here = (rows["netns"] == place["netns"]) & (rows["ifindex"] == place["ifindex"])
        device = int(place["netns"]), int(place["ifindex"])
        if among and device not in among:
            continue
        if lossy:
            here[here] = _near_the_others(captured, packet[here], rows[here])
        tries.append((device, len(np.unique(packet[here])), packet[here], rows[here]))
    enough = LEAST * max((one[1] for one in tries), default=0)
    tries = [one for one in tries if one[1] >= enough]
    sharp = [
        {one[0] for one in tries if _agreeing(captured, one[2], *windows(one[3]))}
        for windows in WINDOWS[:ANY_TIME]
    ]
    found = {one[0]: _agreeing(captured, one[2], *_any_time(one[3])) for one in tries}
    mixed = {one[0] for one in tries if _mixed(captured, one[2], one[3], found[one[0]])}
    wanted = set.union(mixed, *sharp) or set(found)
    clocks = {device: clock for device, clock in found.items() if clock and device in wanted}
    surely = min((clock.pairs for clock in clocks.values()), default=0) >= SURELY
    how = (n for n, some in enumerate(sharp) if surely and some >= set(clocks))
    return _Agreed(clocks, next(how, ANY_TIME))


def _near_the_others(captured: Int64s, packet: Int64s, rows: npt.NDArray[np.void]) -> Bools:
    """Packets whose distance from a moment is about that of those before and after them."""
    if len(packet) < NEIGHBOURS:
        return np.ones(len(packet), np.bool_)
    order = np.argsort(packet, kind="stable")
    away = captured[packet[order]] - rows["before"][order]
    padded = np.pad(away, NEIGHBOURS // 2, mode="edge")
    usual = np.median(np.lib.stride_tricks.sliding_window_view(padded, NEIGHBOURS), axis=1)
    off = np.abs(away - usual)
    near = np.ones(len(packet), np.bool_)
    near[order] = off <= max(USUAL_NS, SCATTERED * float(np.median(off)))
    return near


def _called(rows: Timed) -> tuple[Int64s, Int64s]:
    """When the sockets were called, ns."""
    return rows["begin"], rows["end"]


def _came(rows: Timed) -> tuple[Int64s, Int64s]:
    """When the skbs came to the device: where any socket of the host wants stamps of arrival."""
    soon = np.minimum(rows["after"] + CAME_NS, rows["end"])
    return rows["after"], np.where((rows["sends"] == 0) & rows["arrived"], soon, rows["end"])


def _any_time(rows: Timed) -> tuple[Int64s, Int64s]:
    return rows["after"], rows["before"]


WINDOWS = (_called, _came, _any_time)


def _agreeing(captured: Int64s, packet: Int64s, begin: Int64s, end: Int64s) -> ClockFit | None:
    """A clock that stamps the packets between these times; None if there is none."""
    clock = _bounded(captured, packet, begin, end)
    precision = precision_of(captured)
    return clock if clock is not None and _passes_all(clock, precision) else None


def _mixed(
    captured: Int64s, packet: Int64s, rows: npt.NDArray[np.void], clock: ClockFit | None
) -> bool:
    """Whether each packet was stamped in a call or on arrival: what makes sockets of the host want
    stamps of arrival may begin and end meanwhile, as ping does.
    """
    if clock is None:
        return False
    at = clock.to_kernel(captured[packet], packet)
    error = clock.error(captured[packet], packet)
    either = np.zeros(len(captured), np.bool_)
    for windows in WINDOWS[:ANY_TIME]:
        begin, end = windows(rows)
        either[packet[(at + error >= begin) & (at - error <= end)]] = True
    return bool(either[packet].all())


def _bounded(captured: Int64s, packet: Int64s, begin: Int64s, end: Int64s) -> ClockFit | None:
    """The fit of packets each of which was stamped between the earliest and the latest of these."""
    packet, low, high = _spans(packet, begin, end)
    return fit(TimedPairs(packet, low + (high - low) // 2, low, high), captured)


def _spans(packet: Int64s, begin: Int64s, end: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Each packet once, from its earliest `begin` to its latest `end`."""
    packet, which = np.unique(packet, return_inverse=True)
    low = np.full(len(packet), np.iinfo(np.int64).max)
    high = np.full(len(packet), np.iinfo(np.int64).min)
    np.minimum.at(low, which.reshape(-1), begin)
    np.maximum.at(high, which.reshape(-1), end)
    return packet, low, high


def _passes_all(clock: ClockFit, precision: int) -> bool:
    return all(segment.torn_ns < max(precision, 1) for segment in clock.segments)


def relocate(
    captured: Int64s,
    packet: Int64s,
    series: Int64s,
    moments: ColumnTable,
    where: Located,
    lossy: bool,
) -> Located | None:
    """Exclude devices, or make the clock surer, with more packets whose series are known.

    None where these packets tell no more.  The clock has the same segments: no packet's match
    says where the clock was set.
    """
    some = np.flatnonzero(packet % max(1, len(packet) // TRIED) == 0)
    agreed = _devices(captured, packet[some], series[some], moments, lossy, where.devices)
    devices = tuple(one for one in where.devices if one in agreed.clocks)
    if where.devices and not devices:
        return where._replace(devices=())
    sharper = where._replace(stamped=agreed.stamped) if agreed.stamped < where.stamped else None
    where = sharper or where
    made, clock = _at_devices(captured, packet, series, moments, devices), where.clock
    if made is None or clock is None or len(made.segments) != len(clock.segments):
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
) -> ClockFit | None:
    """The fit of packets at their moments at these devices."""
    pair, at = points_of(moments.stored("series"), series)
    rows, packet = moments[at], packet[pair]
    here = np.zeros(len(rows), np.bool_)
    for device in devices:
        here |= (rows["netns"] == device[0]) & (rows["ifindex"] == device[1])
    here &= rows["met"] & _bounds(rows)
    rows, packet = rows[here], packet[here]
    _, begin, end = _spans(packet, rows["begin"], rows["end"])
    packet, after, before = _spans(packet, rows["after"], rows["before"])
    return fit(TimedPairs(packet, begin + (end - begin) // 2, after, before), captured)


def _is_surer(made: ClockFit, clock: ClockFit, captured: Int64s) -> bool:
    every = np.arange(len(captured))
    before, after = clock.error(captured, every), made.error(captured, every)
    if int(after.max(initial=0)) > int(before.max(initial=0)):
        return False
    return float(after.mean()) <= SURER * float(before.mean())


def _bounds(rows: Timed) -> Bools:
    """Points or moments that say when a packet was stamped: not of legs whose begin may be lost."""
    return np.asarray(rows["before"] - rows["after"] < WAIT_NS, np.bool_)


def _once(packet: Int64s) -> Bools:
    """Which of these packets come once."""
    return np.asarray(np.bincount(packet, minlength=1)[packet] == 1)


def _apart(clock: ClockFit, other: ClockFit, captured: Int64s) -> int:
    """How far the other clock may be from where this one may be, ns."""
    every = np.arange(len(captured))
    here, there = clock.to_kernel(captured, every), other.to_kernel(captured, every)
    more = other.error(captured, every) - clock.error(captured, every)
    return max(0, int((np.abs(there - here) + more).max()))


def _tries(captured: Int64s, packet: Int64s, rows: npt.NDArray[np.void]) -> list[_Try]:
    tries = []
    for place in _places(rows):
        here = place.holds(rows) & _bounds(rows)
        here[here] = _once(packet[here])
        own = rows[here]
        pairs = TimedPairs(packet[here], own["ts"], own["after"], own["before"])
        clock = fit(pairs, captured, bounded=False)
        if clock is not None:
            spread = max(segment.spread_ns for segment in clock.segments)
            tries.append(_Try(place, pairs, spread, len(np.unique(packet[here]))))
    return tries


def everywhere(
    packets: Packets, packet: Int64s, series: Int64s, moments: ColumnTable, losses: Table
) -> Located:
    """The fit of packets of a capture of all devices: each was stamped at one of its moments.

    Not of those near which records are lost: the moment may be among them.
    """
    size = max(int(moments["series"].max(initial=-1)), int(series.max(initial=-1))) + 1
    after, before = np.full(size, FAR), np.full(size, -FAR)
    np.minimum.at(after, moments["series"], moments["after"])
    np.maximum.at(before, moments["series"], moments["before"])
    dated = inside(losses)
    known = (after[series] <= before[series]) & (before[series] - after[series] < WAIT_NS)
    known &= ~meets(dated, after[series] - NEAR_NS, before[series] + NEAR_NS)
    packet, series = packet[known], series[known]
    clock = _bounded(packets["ts"], packet, after[series], before[series])
    how = SOCKET if moments["socket"].any() else WIRE
    return Located(clock, Place(None, -1, None, how), ())


def agreeing(
    packets: Packets, packet: Int64s, series: Int64s, points: ColumnTable, clock: ClockFit
) -> Bools:
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
