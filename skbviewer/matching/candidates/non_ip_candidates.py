# SPDX-License-Identifier: MIT
"""Find candidates for packets without an IP header: by EtherType and time.

Without a clock, or if their header was not captured, packets with the same EtherType cannot be
distinguished.  Such packets have a few lifetimes as candidates, none of which is certain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...records import Packets
from ...records.types import Bools, Int64s
from ..arrays.hash_join import distinct, spread
from ..clock.capture_point_distances import FAR
from ..clock.clock_fit import ClockFit
from ..identity.identity_candidates import Candidates
from ..match_rule_numbers import BY_TIME
from ..record_kinds import IP

if TYPE_CHECKING:
    from ..match_types import KernelSide

WINDOW_NS = 100_000_000  # a lifetime farther away than this is another packet's
CANDIDATES = 64  # most candidates on each side of a packet; others cannot be the nearest
MAX_CANDIDATES = 2  # most candidates on each side of a packet without an identity


def by_ethertype(packets: Packets, kernel: KernelSide, clock: ClockFit | None) -> Candidates:
    """Return pairs of packets and series that have the same EtherType, except that of IP.

    The leg of the series must begin at most WINDOW_NS before or after the packet's time; without
    `clock`, there are no pairs.
    """
    rows, tap = kernel.legs.rows, kernel.series.tap
    wire = np.flatnonzero(_nameless(packets) & ~np.isin(packets["ethertype"], IP))
    of_ip = np.isin(rows["ethertype"], (0, *IP))
    legs = np.flatnonzero(~of_ip & ~tap[rows["series"]])
    if clock is None or not len(wire) or not len(legs):
        return _candidates(wire[:0], wire[:0])
    at = clock.to_kernel(packets["ts"][wire], wire)
    packet, leg = _within(at, packets["ethertype"][wire], rows[legs], WINDOW_NS, CANDIDATES)
    return _candidates(wire[packet], rows["series"][legs[leg]])


def unidentified(packets: Packets, kernel: KernelSide, clock: ClockFit | None) -> Candidates:
    """Pair packets without an identity with at most MAX_CANDIDATES lifetimes of their EtherType.

    With `clock`, these are the lifetimes nearest in time to the packet.
    """
    rows, tap = kernel.legs.rows, kernel.series.tap
    nameless = _nameless(packets)
    if clock is not None:
        nameless &= np.isin(packets["ethertype"], IP)
    wire, legs = np.flatnonzero(nameless), np.flatnonzero(~tap[rows["series"]])
    if not len(wire):
        return _candidates(wire, wire)
    ts = packets["ts"][wire]
    at, window = (ts, FAR) if clock is None else (clock.to_kernel(ts, wire), WINDOW_NS)
    packet, leg = _within(at, packets["ethertype"][wire], rows[legs], window, MAX_CANDIDATES)
    return _candidates(wire[packet], rows["series"][legs[leg]])


def _nameless(packets: Packets) -> Bools:
    """Return for each packet whether its EtherType is all that is known about it."""
    return np.asarray((packets["ip_version"] == 0) & (packets["ethertype"] > 0))


def _candidates(packet: Int64s, series: Int64s) -> Candidates:
    pairs = distinct(packet, series)
    packet, series = packet[pairs], series[pairs]
    no = np.zeros(len(packet), np.bool_)
    return Candidates(packet, series, np.full(len(packet), BY_TIME, np.int8), no, packet[:0], no)


def crowded(packets: Packets, asked: Int64s, within: Int64s) -> Bools:
    """Return for each packet of `asked` whether another packet may be confused with it.

    The other packet has no IP header, has the same EtherType, and was captured at most `within` ns
    before or after it.  `within` has a time for each packet of `asked`: the possible error of the
    clock.
    """
    every = np.flatnonzero(packets["ip_version"] == 0)
    every = every[np.lexsort((packets["ts"][every], packets["ethertype"][every]))]
    ts, kind = packets["ts"][every], packets["ethertype"][every]
    gap = np.full(len(every) + 1, FAR)
    gap[1:-1] = np.where(kind[1:] == kind[:-1], ts[1:] - ts[:-1], FAR)
    nearest = np.full(len(packets), FAR)
    nearest[every] = np.minimum(gap[:-1], gap[1:])
    return np.asarray(nearest[asked] <= within)


def _within(
    at: Int64s, ethertype: Int64s, legs: npt.NDArray[np.void], window: int | np.int64, most: int
) -> tuple[Int64s, Int64s]:
    """Return pairs of a packet and a leg with equal EtherType, at most `window` ns apart.

    A packet has at most `most` pairs with earlier legs, and as many with later legs.
    """
    found: list[tuple[Int64s, Int64s]] = []
    for kind in np.unique(ethertype):
        wire = np.flatnonzero(ethertype == kind)
        mine = np.flatnonzero(legs["ethertype"] == kind)
        mine = mine[np.argsort(legs["wire_ns"][mine], kind="stable")]
        times = legs["wire_ns"][mine]
        middle = np.searchsorted(times, at[wire])
        high = np.minimum(len(times), middle + most)
        low = np.maximum(0, middle - most)
        if window != FAR:
            low = np.maximum(np.searchsorted(times, at[wire] - window), low)
            high = np.minimum(np.searchsorted(times, at[wire] + window, "right"), high)
        pair, leg = spread(low, high - low, mine)
        found.append((wire[pair], leg))
    return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])
