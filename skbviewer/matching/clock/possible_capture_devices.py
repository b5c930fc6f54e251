# SPDX-License-Identifier: MIT
"""Find the devices at which a capture may have been taken.

Input: pairs of packets and lifetimes, and the moments at which these lifetimes passed each device.
Output: a clock for each device whose packet sockets' calls agree with the stamps of the packets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import ColumnTable
from ...records.types import EARLIEST_NS, LATEST_NS, Bools, Int64s
from ..arrays.medians import median
from ..legs.tap_moments import WAIT_NS
from .capture_point_distances import FAR, devices_of, points_of
from .clock_fit import ClockFit, TimedPairs, fit, precision_of, refit
from .excluded_devices import is_excluded

TIMED = ("series", "after", "before", "begin", "end", "sends", "arrived")  # columns of a moment
Timed = npt.NDArray[np.void] | Mapping[str, npt.NDArray[Any]]
Device = tuple[int, int]  # netns, ifindex

CAME_NS = 200_000  # longest time from an skb's arrival to its stamp of arrival
TRIED_SHARE = 0.3  # a device is tried if this share of the packets has a point there
CALLED, CAME, ANY_TIME = range(3)  # where stamps are made: in a socket's call, on arrival
# Shares of a device's packets.  A CPU may stop for long between the arrival of an skb and its
# stamp; where records are lost, a packet may be paired with another packet's lifetime.
NEARLY_ALL, MOST = 0.99, 0.8
NEIGHBOURS = 9  # the median of this many packets of a lossy log is right
USUAL_NS, SCATTERED = 1_000_000, 20  # greatest distance from that median: ns, usual distances
MIN_STAMPS = 8  # with this many packets, it is certain where in a pass the stamps are made


class Agreed(NamedTuple):
    """The devices that agree with the stamps of packets, each with a clock.

    `stamped` is an index of WINDOWS: it says when a stamp is made while an skb passes the device
    (in a socket's call, on arrival, at any time).  `at_calls` is True if nearly all packets were
    stamped in calls at the device, or when their skbs arrived there.  `unsure` is True if another
    device may be the right one: the stamps contradict it, but the log may lack the records that
    would agree with the stamps.
    """

    clocks: dict[Device, ClockFit]
    stamped: int
    at_calls: bool
    unsure: bool = False


def agreeing_devices(
    captured: Int64s,
    packet: Int64s,
    series: Int64s,
    moments: ColumnTable,
    lossy: bool,
    among: tuple[Device, ...] = (),
    old: ClockFit | None = None,
    missing: float = 0.0,
) -> Agreed:
    """Return the devices whose packet sockets' calls agree with the stamps of all these packets.

    `captured` are the times of all packets; `packet` (indices of `captured`) and `series` are the
    pairs that are compared.  If `among` is not empty, no other devices are tried.  If `old` is
    given, the clocks have its segments.

    A call of a packet socket lasts some microseconds.  A packet is stamped in the call, or when its
    skb arrives at the device.  So at a device where the capture was not taken, some of many packets
    were stamped outside the calls.  If stamps were made outside the calls at every device, the
    result has all devices at which the skbs had arrived when they were stamped.  If an skb passed a
    device several times, it may have been stamped each time.

    If the log is `lossy`, a pair counts only if packet and moment are as far apart in time as in
    neighbouring pairs.  `missing` is the share (0 to 1) of hits that the log lacks at unknown
    times: if it is not 0, a device is returned only if all others are surely excluded.

    No device is returned if nearly all packets passed a device that agrees with no clock, and fewer
    packets passed the agreeing devices.  A packet may count as one that passed a device even if the
    log does not show when.  No device is returned either if nearly all packets passed some device
    at unknown times, because no stamp can contradict that device.
    """
    pair, at = points_of(moments.stored("series"), series)
    packet, rows = packet[pair], moments[at]
    shown = rows["socket"] if rows["socket"].any() else rows["met"]
    packet, rows = packet[shown], rows[shown]
    tries, passed, bounded = [], {}, has_bounds(rows)
    for device in devices_of(rows):
        here = (rows["netns"] == device[0]) & (rows["ifindex"] == device[1])
        if among and device not in among:
            continue
        passed[device] = len(np.unique(packet[here]))
        here &= bounded
        if lossy:
            here[here] = _near_the_others(captured, packet[here], rows[here])
        tries.append((device, len(np.unique(packet[here])), packet[here], rows[here]))
    most = max((one[1] for one in tries), default=0)
    tries = [one for one in tries if one[1] >= TRIED_SHARE * most]
    untried = [passed[device] for device in set(passed) - {one[0] for one in tries}]
    sharp = [
        {one[0] for one in tries if _agreeing(captured, one[2], *windows(one[3]), old)}
        for windows in WINDOWS[:ANY_TIME]
    ]
    found = {one[0]: _agreeing(captured, one[2], *_any_time(one[3]), old) for one in tries}
    share = {one[0]: _share_at_calls(captured, one[2], one[3], found[one[0]]) for one in tries}
    wanted = set.union({one for one in found if share[one] == 1}, *sharp)
    wanted = wanted | _as_likely(found, share, wanted) if wanted else set(found)
    clocks = {device: clock for device, clock in found.items() if clock and device in wanted}
    nearly_all = MOST * max(passed.values(), default=0)
    if max((passed[one] for one in clocks), default=0) < nearly_all or (
        max(untried, default=0) >= nearly_all
    ):
        clocks = {}
    others = [one for one in tries if one[0] not in clocks] if clocks and missing else []
    unsure = not all(_is_excluded(captured, one[2], one[3], missing) for one in others)
    clocks = {} if unsure else clocks
    at_calls = min((share[device] for device in clocks), default=0) >= NEARLY_ALL
    surely = min((clock.pairs for clock in clocks.values()), default=0) >= MIN_STAMPS
    how = (n for n, some in enumerate(sharp) if surely and some >= set(clocks))
    return Agreed(clocks, next(how, ANY_TIME), at_calls, unsure)


def _is_excluded(
    captured: Int64s, packet: Int64s, rows: npt.NDArray[np.void], missing: float
) -> bool:
    """Return whether the stamps exclude a device, although the log lacks records."""
    packet, low, high = spans(packet, *_any_time(rows))
    precision = precision_of(captured)
    return is_excluded(captured[packet], low - precision, high + precision, missing)


def _near_the_others(captured: Int64s, packet: Int64s, rows: npt.NDArray[np.void]) -> Bools:
    """Return for each pair whether packet and moment are as far apart as in neighbouring pairs.

    Neighbouring pairs are those of the packets before and after the packet in the capture.
    """
    if len(packet) < NEIGHBOURS:
        return np.ones(len(packet), np.bool_)
    order = np.argsort(packet, kind="stable")
    away = captured[packet[order]] - rows["before"][order]
    padded = np.pad(away, NEIGHBOURS // 2, mode="edge")
    usual = np.median(np.lib.stride_tricks.sliding_window_view(padded, NEIGHBOURS), axis=1)
    off = np.abs(away - usual)
    near = np.ones(len(packet), np.bool_)
    near[order] = off <= max(USUAL_NS, SCATTERED * median(off))
    return near


def _called(rows: Timed) -> tuple[Int64s, Int64s]:
    """Return when the socket's call began and returned (ns), for stamps made in the call."""
    return rows["begin"], rows["end"]


def _came(rows: Timed) -> tuple[Int64s, Int64s]:
    """Return the times (first, last) at which each skb may be stamped on arrival, ns.

    Skbs are stamped on arrival while any socket of the host asks for it; an skb that does not
    arrive is stamped in the call.
    """
    soon = np.minimum(rows["after"] + CAME_NS, rows["end"])
    return rows["after"], np.where((rows["sends"] == 0) & rows["arrived"], soon, rows["end"])


def _any_time(rows: Timed) -> tuple[Int64s, Int64s]:
    return rows["after"], rows["before"]


WINDOWS = (_called, _came, _any_time)


def _agreeing(
    captured: Int64s, packet: Int64s, begin: Int64s, end: Int64s, old: ClockFit | None
) -> ClockFit | None:
    """Return a clock that puts each stamp between `begin` and `end` of its packet, or else None.

    fit_bounded() describes the arrays.  If `old` is given, the clock has its segments.
    """
    clock = fit_bounded(captured, packet, begin, end, old)
    precision = precision_of(captured)
    return clock if clock is not None and passes_all(clock, precision) else None


def _as_likely(
    found: dict[Device, ClockFit | None], share: dict[Device, float], wanted: set[Device]
) -> set[Device]:
    """Return the devices in `wanted`, and others at which the capture may as well have been taken.

    All stamps agree with the devices in `wanted`.

    A device that is not in `wanted` is returned if the stamps of nearly all packets agree with it.
    It is also returned if the stamps of most packets agree and its clock is as exact as the most
    exact clock of the devices in `wanted`.
    """
    residual = {
        one: max(s.residual_ns for s in clock.segments) for one, clock in found.items() if clock
    }
    sharpest = min(residual.get(one, FAR) for one in wanted)
    return {
        one
        for one, error in residual.items()
        if share[one] >= NEARLY_ALL or (share[one] >= MOST and error <= sharpest)
    }


def _share_at_calls(
    captured: Int64s, packet: Int64s, rows: npt.NDArray[np.void], clock: ClockFit | None
) -> float:
    """Return the share (0 to 1) of packets that were stamped in a call or on arrival.

    By pair: `packet` is an index of `captured`, and `rows` has the moment.  A capture may have
    stamps of both kinds (in the call, on arrival): while a program such as ping runs, the host
    stamps packets on arrival.
    """
    if clock is None:
        return 0.0
    at = clock.to_kernel(captured[packet], packet)
    error = clock.error(captured[packet], packet)
    either = np.zeros(len(captured), np.bool_)
    for windows in WINDOWS[:ANY_TIME]:
        begin, end = windows(rows)
        either[packet[(at + error >= begin) & (at - error <= end)]] = True
    return float(np.count_nonzero(either) / len(np.unique(packet)))


def fit_bounded(
    captured: Int64s, packet: Int64s, begin: Int64s, end: Int64s, old: ClockFit | None = None
) -> ClockFit | None:
    """Fit a clock to packets and the times between which they were stamped; None if nothing fits.

    By pair: `packet` is an index of `captured`, which has the times of all packets of the capture
    (ns); `begin` and `end` are times of the log (ns).  A packet that is in several pairs was
    stamped between the earliest `begin` and the latest `end` of these pairs.  If `old` is given,
    the result has the segments of this clock.
    """
    packet, low, high = spans(packet, begin, end)
    return fit_like(TimedPairs(packet, low + (high - low) // 2, low, high), captured, old)


def fit_like(pairs: TimedPairs, captured: Int64s, old: ClockFit | None) -> ClockFit | None:
    """Fit a clock to `pairs`, with the segments of the clock `old` if it is given.

    `captured` are the times of all packets, ns.
    """
    return refit(old, pairs, captured) if old and len(pairs.packet) else fit(pairs, captured)


def spans(packet: Int64s, begin: Int64s, end: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Return each packet once, with the earliest `begin` and the latest `end` of its pairs."""
    packet, which = np.unique(packet, return_inverse=True)
    low = np.full(len(packet), LATEST_NS)
    high = np.full(len(packet), EARLIEST_NS)
    np.minimum.at(low, which.reshape(-1), begin)
    np.maximum.at(high, which.reshape(-1), end)
    return packet, low, high


def passes_all(clock: ClockFit, precision: int) -> bool:
    """Return whether the clock puts the stamps of all its pairs between their bounds.

    `precision` is the precision of the stamps, ns.
    """
    return all(segment.torn_ns < max(precision, 1) for segment in clock.segments)


def has_bounds(rows: Timed) -> Bools:
    """Return for each point or moment whether the time of a stamp there has close bounds.

    The bounds are close if the log shows when the leg of the point or moment began.
    """
    return np.asarray(rows["before"] - rows["after"] < WAIT_NS, np.bool_)
