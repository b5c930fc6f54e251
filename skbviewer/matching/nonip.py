# SPDX-License-Identifier: MIT
"""Candidates for packets without an IP header: by EtherType and time, and of ARP by what it asks.

Without a clock there is nothing to tell them by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..records import Packets
from .clock import ClockFit
from .identity import Candidates
from .keys import distinct, spread
from .kinds import IP, Index
from .ladder import Flags
from .nearest import FAR

if TYPE_CHECKING:
    from .matcher import Sightable

WINDOW_NS = 100_000_000  # farther than this is another one
CANDIDATES = 64  # of one packet, on either side: those farther cannot be the nearest


def by_ethertype(packets: Packets, kernel: Sightable, clock: ClockFit | None) -> Candidates:
    """Pairs of packets and series of the same EtherType within the window."""
    rows, tap = kernel.legs.rows, kernel.series.tap
    wire = np.flatnonzero((packets["ip_version"] == 0) & (packets["ethertype"] > 0))
    of_ip = np.isin(rows["ethertype"], (0, *IP))
    legs = np.flatnonzero(~of_ip & ~tap[rows["series"]])
    none = np.zeros(0, np.int64)
    no = none.astype(np.bool_)
    nothing = Candidates(none, none, none.astype(np.int8), no, none, no)
    if clock is None or not len(wire) or not len(legs):
        return nothing
    at = clock.to_kernel(packets["ts"][wire], wire)
    packet, leg = _within(at, packets["ethertype"][wire], rows[legs])
    packet, series = wire[packet], rows["series"][legs[leg]]
    pairs = distinct(packet, series)
    packet, series = packet[pairs], series[pairs]
    count = len(packet)
    no = np.zeros(count, np.bool_)
    return Candidates(packet, series, np.zeros(count, np.int8), no, none, no)


def crowded(packets: Packets, asked: Index, within: Index) -> Flags:
    """Which of `asked` have another packet without IP, of the same EtherType, so near in time (ns).

    If the clock is off by as much, they are mistaken for it.
    """
    every = np.flatnonzero(packets["ip_version"] == 0)
    every = every[np.lexsort((packets["ts"][every], packets["ethertype"][every]))]
    ts, kind = packets["ts"][every], packets["ethertype"][every]
    gap = np.full(len(every) + 1, FAR)
    gap[1:-1] = np.where(kind[1:] == kind[:-1], ts[1:] - ts[:-1], FAR)
    nearest = np.full(len(packets), FAR)
    nearest[every] = np.minimum(gap[:-1], gap[1:])
    return np.asarray(nearest[asked] <= within)


def _within(at: Index, ethertype: Index, legs: npt.NDArray[np.void]) -> tuple[Index, Index]:
    """Pairs of equal EtherType, near in time."""
    found: list[tuple[Index, Index]] = []
    for kind in np.unique(ethertype):
        wire = np.flatnonzero(ethertype == kind)
        mine = np.flatnonzero(legs["ethertype"] == kind)
        mine = mine[np.argsort(legs["wire_ns"][mine], kind="stable")]
        times = legs["wire_ns"][mine]
        middle = np.searchsorted(times, at[wire])
        low = np.maximum(np.searchsorted(times, at[wire] - WINDOW_NS), middle - CANDIDATES)
        high = np.searchsorted(times, at[wire] + WINDOW_NS, "right")
        high = np.minimum(high, middle + CANDIDATES)
        pair, leg = spread(low, high - low, mine)
        found.append((wire[pair], leg))
    return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])
