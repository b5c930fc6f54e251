# SPDX-License-Identifier: MIT
"""Join the packets of one capture to the legs of one KBL.

In: packets, a KBL with its series and legs.  Out: MATCH_DTYPE rows, many to many, and the clock
fit.  Identity decides; the clock, fitted from pairs that identity alone decided, only settles which
of several equal candidates is meant, and only with a clear margin.  What stays open is ambiguous.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import KernelLog, Packets
from .clock import FLOOR_NS, ClockFit, fit
from .identity import RUNGS, Candidates, candidates
from .legs import TAPS, LegTable
from .ordering import dense
from .pairing import Index
from .series import SeriesTable

EXACT, AMBIGUOUS = 0, 1
BY_KEY, BY_TIME, BY_POINTS = 0, len(RUNGS) + 1, len(RUNGS) + 2
CONTESTED = -1  # rung of a packet whose every candidate belongs to another one
SIGMAS = 5
ETH_P_ARP = 0x0806
ARP_WINDOW_NS = 100_000_000  # an ARP packet has no identity: farther than this is another one

MATCH_DTYPE = np.dtype(
    [
        ("packet", "<i8"),
        ("leg", "<i8"),
        ("verdict", "u1"),
        ("rung", "i1"),
        ("confidence", "<f8"),
        ("delta_ns", "<i8"),  # packet - leg's wire_ns, after the clock fit
    ]
)


class Matches(NamedTuple):
    """`rows` has MATCH_DTYPE, sorted by (packet, leg); `clock` is None without a certain pair.

    `sniffer` is the device (netns, ifindex) where the capture seems to have been taken; `contested`
    are the packets that had candidates and lost all of them to others.
    """

    rows: npt.NDArray[np.void]
    clock: ClockFit | None
    sniffer: tuple[int, int] | None
    contested: Index


class _Pairs(NamedTuple):
    packet: Index
    series: Index
    verdict: npt.NDArray[np.uint8]
    rung: npt.NDArray[np.int8]
    confidence: npt.NDArray[np.float64]


def match(packets: Packets, log: KernelLog, series: SeriesTable, legs: LegTable) -> Matches:
    """Match `packets` (one capture) to `legs` (of `log`)."""
    tap = np.flatnonzero(series.tap)
    found = candidates(packets, log.records, series.of, tap)
    sure = _alone(found)
    clock, sniffer, tap_column = _fit(packets, legs, found.packet[sure], found.series[sure])
    legs = _seen_at(legs, tap_column)
    decided = _Pairs(
        found.packet[sure],
        found.series[sure],
        np.zeros(int(sure.sum()), np.uint8),
        found.rung[sure],
        np.ones(int(sure.sum())),
    )
    again = _seen_again(packets, found, legs) & ~sure
    rest = ~sure & ~again
    open_pairs = Candidates(found.packet[rest], found.series[rest], found.rung[rest])
    points = _Pairs(
        found.packet[again],
        found.series[again],
        np.zeros(int(again.sum()), np.uint8),
        np.full(int(again.sum()), BY_POINTS, np.int8),
        np.ones(int(again.sum())),
    )
    parts = [decided, points, _by_time(packets, legs, open_pairs, clock, sniffer)]
    parts.append(_by_time(packets, legs, _arp(packets, legs, tap, clock), clock, sniffer))
    pairs = _Pairs(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    contested = np.setdiff1d(found.packet, pairs.packet)
    return Matches(_rows(packets, legs, pairs, clock), clock, sniffer, contested)


def _alone(found: Candidates) -> npt.NDArray[np.bool_]:
    """Pairs whose packet and series both have no other candidate."""
    per_packet = np.bincount(found.packet, minlength=1)
    per_series = np.bincount(found.series, minlength=1)
    return np.asarray((per_packet[found.packet] == 1) & (per_series[found.series] == 1))


def _seen_again(packets: Packets, found: Candidates, legs: LegTable) -> npt.NDArray[np.bool_]:
    """Pairs of one series with packets that can be nothing else, not more than it has legs.

    A sniffer on several devices (tcpdump -i any) sees one packet on each of them, while it lives:
    sightings farther apart than its life is long are several packets.
    """
    size = int(found.series.max(initial=0)) + 1
    single = np.bincount(found.packet, minlength=1)[found.packet] == 1
    other = np.bincount(found.series[~single], minlength=size) > 0
    sightings = np.bincount(found.series, minlength=size)
    points = np.bincount(legs.rows["series"], minlength=size)[:size]
    times = packets["ts"][found.packet]
    apart = _spread(found.series, times, times, size)
    owner, rows = legs.rows["series"], legs.rows
    of_found = owner < size
    lifetime = _spread(owner[of_found], rows["begin_ns"][of_found], rows["end_ns"][of_found], size)
    possible = ~other & (sightings <= points) & (apart <= lifetime + FLOOR_NS)
    return np.asarray(single & possible[found.series])


def _spread(series: Index, begin: Index, end: Index, size: int) -> Index:
    """Per series the time from its first begin to its last end, 0 where it has none."""
    limit = np.iinfo(np.int64).max
    first, last = np.full(size, limit), np.full(size, -1)
    np.minimum.at(first, series, begin)
    np.maximum.at(last, series, end)
    return np.where(last >= 0, last - np.where(last >= 0, first, 0), 0)


def _fit(
    packets: Packets, legs: LegTable, packet: Index, series: Index
) -> tuple[ClockFit | None, tuple[int, int] | None, str]:
    """The clock fit at the device and tap where it is tightest, of those that saw most packets."""
    pair, leg = _legs_of(legs, series)
    netns, ifindex = legs.rows["netns"][leg], legs.rows["ifindex"][leg]
    place = dense(netns).astype(np.int64) << 32 | dense(ifindex)
    _, at = np.unique(place, return_index=True)
    devices = sorted(zip(netns[at].tolist(), ifindex[at].tolist(), place[at].tolist(), strict=True))
    best: tuple[int, int, int, ClockFit, tuple[int, int]] | None = None
    for device, (number, column) in product(devices, enumerate(TAPS)):
        here = place == device[2]
        clock = fit(packets["ts"][packet[pair[here]]], legs.rows[column][leg[here]])
        if clock is None:
            continue
        rank = (-clock.pairs, clock.residual_ns, number)
        if best is None or rank < best[:3]:
            best = (*rank, clock, device[:2])
    return (best[3], best[4], TAPS[best[2]]) if best else (None, None, TAPS[0])


def _seen_at(legs: LegTable, column: str) -> LegTable:
    """The legs with wire_ns as this capture's tap has it."""
    rows = legs.rows.copy()
    rows["wire_ns"] = rows[column]
    return replace(legs, rows=rows)


def _legs_of(legs: LegTable, series: Index) -> tuple[Index, Index]:
    """For each entry of `series` all its legs: (position in `series`, leg)."""
    owner = legs.rows["series"]
    low, high = np.searchsorted(owner, series), np.searchsorted(owner, series, "right")
    count = high - low
    pair = np.repeat(np.arange(len(series)), count)
    offset = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count)
    return pair, np.repeat(low, count) + offset


def _arp(packets: Packets, legs: LegTable, tap: Index, clock: ClockFit | None) -> Candidates:
    """ARP pairs within the window; without a clock there is nothing to tell them by."""
    none = np.zeros(0, np.int64)
    wire = np.flatnonzero(packets["ethertype"] == ETH_P_ARP)
    rows = legs.rows
    kernel = np.flatnonzero((rows["ethertype"] == ETH_P_ARP) & ~np.isin(rows["series"], tap))
    if clock is None or not len(wire) or not len(kernel):
        return Candidates(none, none, none.astype(np.int8))
    kernel = kernel[np.argsort(rows["wire_ns"][kernel])]
    at = clock.to_kernel(packets["ts"][wire])
    times = rows["wire_ns"][kernel]
    low = np.searchsorted(times, at - ARP_WINDOW_NS)
    count = np.searchsorted(times, at + ARP_WINDOW_NS, "right") - low
    packet = np.repeat(wire, count)
    offset = np.arange(len(packet)) - np.repeat(np.cumsum(count) - count, count)
    series = rows["series"][kernel[np.repeat(low, count) + offset]]
    pairs = np.unique(np.stack([packet, series], axis=1), axis=0)
    return Candidates(pairs[:, 0], pairs[:, 1], np.zeros(len(pairs), np.int8))


def _by_time(
    packets: Packets,
    legs: LegTable,
    found: Candidates,
    clock: ClockFit | None,
    sniffer: tuple[int, int] | None,
) -> _Pairs:
    """Decide among equal candidates: mutually nearest, and the runner-up clearly farther."""
    count = len(found.packet)
    verdict = np.full(count, AMBIGUOUS, np.uint8)
    confidence = np.zeros(count)
    if clock is None or not count:
        return _Pairs(found.packet, found.series, verdict, found.rung, confidence)
    distance = _distance(packets, legs, found, clock, sniffer)
    near, margin = _nearest(found.packet, found.series, distance)
    chosen, back = _nearest(found.series, found.packet, distance)
    margin = np.minimum(margin, back)
    sigma = max(clock.residual_ns, FLOOR_NS)
    exact = near & chosen & (margin >= SIGMAS * sigma)
    verdict[exact] = EXACT
    confidence[exact] = np.minimum(1.0, margin[exact] / (2 * SIGMAS * sigma))
    rival = np.isin(found.packet, found.packet[exact]) | np.isin(found.series, found.series[exact])
    keep = exact | ~rival
    rung = np.full(int(keep.sum()), BY_TIME, np.int8)
    return _Pairs(found.packet[keep], found.series[keep], verdict[keep], rung, confidence[keep])


def _distance(
    packets: Packets,
    legs: LegTable,
    found: Candidates,
    clock: ClockFit,
    sniffer: tuple[int, int] | None,
) -> npt.NDArray[np.int64]:
    """|packet - series| in ns at the sniffer's device, else at the nearest leg."""
    pair, leg = _legs_of(legs, found.series)
    at = clock.to_kernel(packets["ts"][found.packet])
    away = np.abs(at[pair] - legs.rows["wire_ns"][leg])
    if sniffer is not None:
        rows = legs.rows[leg]
        here = (rows["netns"] == sniffer[0]) & (rows["ifindex"] == sniffer[1])
        has_here = np.bincount(pair[here], minlength=len(found.packet)) > 0
        away = np.where(here | ~has_here[pair], away, np.iinfo(np.int64).max)
    distance = np.full(len(found.packet), np.iinfo(np.int64).max)
    np.minimum.at(distance, pair, away)
    return distance


def _nearest(
    owner: Index, other: Index, distance: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Which pairs are their owner's nearest, and how much farther the owner's next one is."""
    order = np.lexsort((other, distance, owner))
    ranked = owner[order]
    first = np.r_[True, ranked[1:] != ranked[:-1]]
    has_next = np.r_[~first[1:], False]
    following = np.r_[distance[order][1:], 0]
    gap = np.where(has_next, following - distance[order], np.iinfo(np.int64).max)
    near = np.zeros(len(owner), np.bool_)
    margin = np.zeros(len(owner), np.int64)
    near[order], margin[order] = first, gap
    return near, margin


def _rows(
    packets: Packets, legs: LegTable, pairs: _Pairs, clock: ClockFit | None
) -> npt.NDArray[np.void]:
    pair, leg = _legs_of(legs, pairs.series)
    rows = np.zeros(len(pair), MATCH_DTYPE)
    rows["packet"], rows["leg"] = pairs.packet[pair], leg
    for column in ("verdict", "rung", "confidence"):
        rows[column] = getattr(pairs, column)[pair]
    if clock is not None and len(pair):
        at = clock.to_kernel(packets["ts"][rows["packet"]])
        rows["delta_ns"] = at - legs.rows["wire_ns"][leg]
    return rows[np.lexsort((rows["leg"], rows["packet"]))]
