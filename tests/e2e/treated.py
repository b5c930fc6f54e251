# SPDX-License-Identifier: MIT
"""Captures with changed clocks, and the lifetimes to which their packets belong.

The log also has the calls of the packet socket that wrote the capture. The matcher does not use
them, so they are the truth.  A packet belongs to the life that the socket handled at the packet's
time in the untreated capture: one machine's clock stamped both.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skbviewer import readers
from skbviewer.matching import (
    EXACT,
    KernelSide,
    LegTable,
    Matches,
    SeriesTable,
    build_kernel_side,
    build_legs,
    build_series,
    match,
)
from skbviewer.records import Capture, KernelLog, Packets, Silent

SECOND = 1_000_000_000
SOCKETS = ("packet_rcv", "tpacket_rcv", "packet_rcv_spkt")
SAME: tuple[str, ...] = (
    "ip_version",
    "saddr_hi",
    "saddr_lo",
    "daddr_hi",
    "daddr_lo",
    "ip_id",
    "protocol",
)
SAME += ("ethertype", "sport", "dport", "seq", "tcp_flags")
NEAR_NS = 2_000_000_000  # a busy machine may leave a packet in a backlog for as long
NAMELESS_NS = 50_000_000  # of what has no identity (ARP): the nearest of two seconds may be another

Index = npt.NDArray[np.int64]


def _as_it_is(ts: Index) -> Index:
    return ts


def _ahead(ts: Index) -> Index:
    return ts + 2 * SECOND


def _behind(ts: Index) -> Index:
    return ts - 3 * 3600 * SECOND


def _drifting(ts: Index) -> Index:
    return np.asarray(ts + (ts - ts[0]) * 200 // 1_000_000)


def _set(ts: Index) -> Index:
    return np.asarray(ts + np.where(np.arange(len(ts)) < len(ts) // 2, 0, 5 * SECOND))


TREATMENTS: dict[str, Callable[[Index], Index]] = {
    "none": _as_it_is,
    "2 s ahead": _ahead,
    "3 h behind": _behind,
    "200 ppm": _drifting,
    "set by 5 s": _set,
}


def rewrite(pcap: Path, out: Path, treatment: Callable[[Index], Index]) -> Path:
    """Write a copy of a little-endian pcap of nanoseconds with other times; returns its path."""
    data = bytearray(pcap.read_bytes())
    assert data[:4] == bytes.fromhex("4d3cb2a1")
    places, at = [], 24
    while at < len(data):
        places.append(at)
        at += 16 + struct.unpack_from("<I", data, at + 8)[0]
    old = [struct.unpack_from("<II", data, place) for place in places]
    ts = treatment(np.array([second * SECOND + ns for second, ns in old], np.int64))
    for place, when in zip(places, ts.tolist(), strict=True):
        struct.pack_into("<II", data, place, *divmod(when, SECOND))
    out.write_bytes(data)
    return out


class Kernel(NamedTuple):
    """A log and its lifetimes.

    `sockets` are its calls of packet sockets; `missed` more were missed.
    """

    log: KernelLog
    series: SeriesTable
    legs: LegTable
    kernel_side: KernelSide
    epoch_ns: int
    sockets: Index
    missed: int  # hits of their functions that the kernel's probes skipped, by its own count


def follow(kbl: Path) -> Kernel:
    """Read a KBL and make of it what can be matched."""
    log = readers.read(kbl, Silent())
    assert isinstance(log, KernelLog)
    return followed(log)


def followed(log: KernelLog) -> Kernel:
    """Make of a log, already read, what can be matched."""
    series = build_series(log)
    legs = build_legs(log, series)
    probes = [p for p in log.probes.values() if p.name in SOCKETS]
    ids = [p.id for p in probes]
    records = log.records
    calls = (records["kind"] == 1) & np.isin(records["func"], ids) & (series.of >= 0)
    epoch_ns = log.clock[0].real_ns - log.clock[0].mono_ns
    kernel_side = build_kernel_side(log, series, legs)
    missed = sum(p.missed for p in probes)
    return Kernel(log, series, legs, kernel_side, epoch_ns, np.flatnonzero(calls), missed)


def packets_of(pcap: Path) -> Packets:
    """Return the packets of a capture, as the reader returns them."""
    capture = readers.read(pcap, Silent())
    assert isinstance(capture, Capture)
    return capture.packets


def owners(kernel: Kernel, packets: Packets, device: tuple[int, int]) -> Index:
    """Return the series of each packet of an untreated capture on `device`.

    It is -1 if no call shows the packet.
    """
    records, calls = kernel.log.records, kernel.sockets
    place = (records["netns"][calls] == device[0]) & (records["ifindex"][calls] == device[1])
    calls = calls[place]
    rows = records[calls]
    owner = kernel.series.of[calls]
    owner = np.where(kernel.series.tap[owner], kernel.series.parent[owner], owner)
    found = np.full(len(packets), -1, np.int64)
    at = packets["ts"] - kernel.epoch_ns
    low, high = (np.searchsorted(rows["ts"], at + away) for away in (-NEAR_NS, NEAR_NS))
    used: set[int] = set()
    for number, packet in enumerate(packets):
        near = rows[low[number] : high[number]]
        same = np.all([near[name] == packet[name] for name in SAME], axis=0)
        if packet["ip_version"] == 0:
            same = near["ethertype"] == packet["ethertype"]
            same &= np.abs(near["ts"] - at[number]) <= NAMELESS_NS
        mine = [i for i in (np.flatnonzero(same) + low[number]).tolist() if i not in used]
        if mine:
            best = min(mine, key=lambda i: abs(int(rows["ts"][i]) - int(at[number])))
            used.add(best)
            found[number] = owner[best]
    return found


def relatives(series: SeriesTable, owner: int) -> set[int]:
    """Return a series, those from which it was made, and those made from it.

    All of them hold the same packet.
    """
    found: set[int] = set()
    up = owner
    while up >= 0 and up not in found:
        found.add(up)
        up = int(series.parent[up])
    down = [owner]
    while down:
        children = np.flatnonzero(np.isin(series.parent, down)).tolist()
        down = [child for child in children if child not in found]
        found.update(down)
    return found


def wrong(kernel: Kernel, found: Matches, owner: Index) -> list[tuple[int, int, int]]:
    """Return (packet, its series, the matched one) of exact matches with another packet's life."""
    rows = found.rows[found.rows["verdict"] == EXACT]
    pairs = set(zip(rows["packet"].tolist(), kernel.legs.rows["series"][rows["leg"]], strict=True))
    return [
        (packet, int(owner[packet]), int(series))
        for packet, series in sorted(pairs)
        if owner[packet] >= 0 and int(series) not in relatives(kernel.series, int(owner[packet]))
    ]


def matched(packets: Packets, kernel: Kernel) -> Matches:
    """Return the matches of a capture."""
    return match(packets, kernel.kernel_side)
