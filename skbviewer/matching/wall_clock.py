# SPDX-License-Identifier: MIT
"""The wall clock of the log's host as that of a capture, where identity decides no packet alone.

In: candidate pairs, the log's readings of both clocks.  Out: the clock and the devices where nearly
all packets were with a packet socket at their time.  A sniffer stamps packets by the wall clock of
its host (tpacket_get_timestamp() in net/packet/af_packet.c).  A capture whose clock was changed
afterwards, or that is of another run, has packets at times when no socket had any.  Where most
packets were with a socket at other times as well, if all are moved alike, any of these may be true:
the clock is stated to be so far off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..records import UNTIMED, KernelLog, Packets
from .clock import ClockFit, Segment, precision_of
from .edges import between
from .identity import Candidates
from .kinds import Index
from .nearest import Place
from .points import SOCKET, WAIT_NS
from .repeats import near_in_time
from .same_run import ENOUGH, SYNCHRONOUS_NS
from .sniffer import SEVERAL_DEVICES, Located
from .steps import STEP_NS

if TYPE_CHECKING:
    from .matcher import Sightable

NEARLY_ALL = 0.99  # of the packets must have been with a socket at their time
ROUNDING_NS = 1_000  # of both clocks, and between their readings
MOST = 0.9  # of the packets with a socket make another offset possible
NEAR_NS = SYNCHRONOUS_NS  # offsets are tried so far from the wall clock
FARTHEST_NS = 10_000_000  # what decides less than this decides nothing
SAMPLE, ANCHORS, FIRST = 200, 5, 8  # packets that are tried: all, of whose moments, at once
CELL_NS = 20_000  # so exactly offsets are tried


def by_wall_clock(packets: Packets, kernel: Sightable, found: Candidates) -> Located | None:
    """The host's wall clock with the devices that agree with it; None if there is no such."""
    clock = _wall_clock(kernel.log, packets)
    moments = kernel.moments
    sockets = np.asarray(moments["socket"], np.bool_)
    sockets &= np.asarray(moments["before"]) - np.asarray(moments["after"]) < WAIT_NS
    if clock is None or not sockets.any() or packets["ts"][0] == UNTIMED:
        return None
    if np.count_nonzero(packets["ip_version"]) < ENOUGH:
        return None
    found = near_in_time(packets, kernel, found, clock)
    every = np.arange(len(packets))
    at = clock.to_kernel(packets["ts"], every)
    error = clock.error(packets["ts"], every) + precision_of(packets["ts"])
    edges = between(kernel, found.packet, found.series, at, error, sockets)
    wanted = NEARLY_ALL * np.count_nonzero(packets["ip_version"])
    place = Place(None, -1, None, SOCKET)
    if np.isin(packets["linktype"], SEVERAL_DEVICES).all():
        if _packets(edges.packet) < wanted:
            return None
        return _as_sure(Located(clock, place, (), True), packets, moments[sockets])
    rows = moments[edges.moment]
    devices = []
    for one in np.unique(rows[["netns", "ifindex"]]):
        here = (rows["netns"] == one["netns"]) & (rows["ifindex"] == one["ifindex"])
        if _packets(edges.packet[here]) >= wanted:
            devices.append((int(one["netns"]), int(one["ifindex"])))
    if not devices:
        return None
    place = place._replace(netns=devices[0][0], ifindex=devices[0][1])
    some = moments[sockets]
    here = np.isin(some["netns"] << 32 | some["ifindex"], [n << 32 | i for n, i in devices])
    return _as_sure(Located(clock, place, tuple(devices), True), packets, some[here])


def _as_sure(where: Located, packets: Packets, rows: npt.NDArray[np.void]) -> Located | None:
    """The same with a clock that may be off by every offset that these moments leave possible."""
    clock = where.clock
    assert clock is not None
    ip = np.flatnonzero(packets["ip_version"])
    ip = ip[np.linspace(0, len(ip) - 1, min(SAMPLE, len(ip))).astype(np.int64)]
    at = clock.to_kernel(packets["ts"][ip], ip)
    error = clock.segments[0].residual_ns + precision_of(packets["ts"])
    off = max(
        _farthest(int(at[anchor]), at, rows, error)
        for anchor in np.linspace(0, len(at) - 1, ANCHORS).astype(np.int64)
    )
    return where._replace(clock=clock.wider(max(0, off - error))) if off <= FARTHEST_NS else None


def _farthest(anchor: int, at: Index, rows: npt.NDArray[np.void], error: int) -> int:
    """How far off the clock may be if one of these moments is that of the packet at `anchor`, ns.

    Then most of the packets, which are `at` these times by the clock, were with a socket too.
    """
    rows = rows[np.argsort(rows["after"], kind="stable")]
    off, around = _cells(rows["after"] - anchor, rows["before"] - anchor)
    around += error
    near = np.abs(off) - around <= NEAR_NS
    off, around = off[near], around[near]
    latest = np.maximum.accumulate(rows["before"])
    met, asked = np.zeros(len(off), np.int64), 0
    order = np.random.default_rng(1).permutation(len(at))
    for some in np.array_split(order, max(1, len(order) // FIRST)):
        times = at[some] + off[:, np.newaxis]
        begun = np.searchsorted(rows["after"], times + around[:, np.newaxis], "right") - 1
        with_one = (begun >= 0) & (latest[begun] >= times - around[:, np.newaxis])
        met += np.count_nonzero(with_one, axis=1)
        asked += len(some)
        left = met >= MOST * len(at) - (len(at) - asked)
        off, around, met = off[left], around[left], met[left]
    return int((np.abs(off) + around).max(initial=error))


def _cells(low: Index, high: Index) -> tuple[Index, Index]:
    """The middles of equal parts of these spans, at most CELL_NS long, and half the length."""
    parts = np.maximum(-((low - high) // CELL_NS), 1)
    which = np.repeat(np.arange(len(parts)), parts)
    number = np.arange(len(which)) - np.repeat(np.cumsum(parts) - parts, parts)
    length = (high - low) / parts
    middle = low[which] + ((number + 0.5) * length[which]).astype(np.int64)
    return middle, np.ceil(length / 2).astype(np.int64)[which] + 1


def _packets(packet: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
    return len(np.unique(packet))


def _wall_clock(log: KernelLog, packets: Packets) -> ClockFit | None:
    """The clock by the log's readings; None if it was set meanwhile."""
    if not log.clock or not len(packets):
        return None
    ahead = np.array([one.real_ns - one.mono_ns for one in log.clock])
    middle = int(np.median(ahead))
    off = int(np.abs(ahead - middle).max()) + max(one.uncertainty_ns for one in log.clock)
    if off > STEP_NS:
        return None
    error = off + ROUNDING_NS
    begin, origin = int(packets["ts"][0]), log.clock[0].mono_ns
    return ClockFit((Segment(begin, 0, origin, middle, 0.0, error, 0, error),))
