# SPDX-License-Identifier: MIT
"""Use the log's wall clock as the capture's clock if identity alone decides no packet.

Input: candidate pairs, and the log's readings of its own and of the wall clock.  Output: the clock,
and the devices at whose packet sockets it places nearly all packets.  A sniffer stamps packets with
the wall clock of its host (tpacket_get_timestamp() in net/packet/af_packet.c).  If a capture's
clock was changed afterwards, or the capture is of another run, some packets were captured at times
at which no socket had a packet.  But the packets may also fit the sockets' moments if the times of
all packets are shifted equally.  Any shift that fits may be the right one, so the error of the
clock includes all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...records import UNTIMED, KernelLog, Packets
from ...records.types import Bools, Int64s
from ..clock.capture_point_distances import Place
from ..clock.capture_point_fit import SEVERAL_DEVICES, Located
from ..clock.clock_fit import ClockFit, Segment, precision_of
from ..clock.clock_steps import STEP_NS
from ..identity.identity_candidates import Candidates
from ..legs.capture_points import SOCKET
from .lifetimes_without_headers import may_hold
from .missing_tap_moments import lacking
from .same_traffic import SYNCHRONOUS_NS, TRUSTED_PACKETS
from .tap_moment_conditions import Edges, agreeing_contents, agreeing_headers, pairs_in_time
from .time_window_candidates import near_in_time

if TYPE_CHECKING:
    from ..match_types import KernelSide

NEARLY_ALL = 0.99  # this share of the packets must have been at a socket at their time
ROUNDING_NS = 1_000  # both clocks are rounded, and they are not read at the same time
SHARE_AT_SOCKET = 0.9  # an offset is possible if this share of the packets is then at a socket
NEAR_NS = SYNCHRONOUS_NS  # farthest offset from the wall clock that is tried
FARTHEST_NS = 10_000_000  # a clock that may be farther off than this is not used
SAMPLE, PAIRS = 200, 20_000_000  # most packets that are tried; most pairs of these with moments


def by_wall_clock(packets: Packets, kernel: KernelSide, found: Candidates) -> Located | None:
    """Return the wall clock of the log's host, and the devices at which it fits the capture.

    `found` are the candidates of the packets.  Returns None if the clock fits at no device.
    """
    clock = _wall_clock(kernel.log, packets)
    moments = kernel.moments
    sockets = np.asarray(moments["socket"], np.bool_)
    if clock is None or not sockets.any() or packets["ts"][0] == UNTIMED:
        return None
    found = near_in_time(packets, kernel, found, clock)
    number = np.arange(len(packets))
    at = clock.to_kernel(packets["ts"], number)
    error = clock.error(packets["ts"], number) + precision_of(packets["ts"])
    edges = pairs_in_time(kernel, found.packet, found.series, at, error, sockets)
    place = Place(None, -1, None, SOCKET)
    shown = (packets["ip_version"] != 0) & ~lacking(kernel, place, at, error)[0]
    every = np.ones(len(moments), np.bool_)
    shown &= ~may_hold(packets, kernel, at, error, every, whole=False)
    if np.count_nonzero(shown) < TRUSTED_PACKETS:
        return None
    edges, wanted = edges.selected(shown[edges.packet]), NEARLY_ALL * np.count_nonzero(shown)
    if np.isin(packets["linktype"], SEVERAL_DEVICES).all():
        if _packets(edges.packet) < wanted:
            return None
        return _as_sure(
            Located(clock, place, (), True), packets, kernel, shown, np.flatnonzero(sockets)
        )
    rows = moments[edges.moment]
    devices = []
    for one in np.unique(rows[["netns", "ifindex"]]):
        here = (rows["netns"] == one["netns"]) & (rows["ifindex"] == one["ifindex"])
        if _packets(edges.packet[here]) >= wanted:
            devices.append((int(one["netns"]), int(one["ifindex"])))
    if not devices:
        return None
    place = place._replace(netns=devices[0][0], ifindex=devices[0][1])
    some = np.asarray(moments["netns"], np.int64) << 31 | moments["ifindex"]
    here = np.flatnonzero(sockets & np.isin(some, [n << 31 | i for n, i in devices]))
    return _as_sure(Located(clock, place, tuple(devices), True), packets, kernel, shown, here)


def _as_sure(
    where: Located, packets: Packets, kernel: KernelSide, shown: Bools, here: Int64s
) -> Located | None:
    """Increase the clock's error until it includes every offset that these moments allow.

    `shown` marks packets whose moment the log has; `here` are the moments (row numbers).  Returns
    None if the error becomes too large.
    """
    clock = where.clock
    assert clock is not None
    some = np.flatnonzero(shown)
    some = some[np.linspace(0, len(some) - 1, min(SAMPLE, len(some))).astype(np.int64)]
    if len(some) * len(here) > PAIRS:
        return None
    packet, moment = np.repeat(some, len(here)), np.tile(here, len(some))
    at = clock.to_kernel(packets["ts"], np.arange(len(packets)))
    error = clock.segments[0].residual_ns + precision_of(packets["ts"])
    edges = Edges(packet, moment, np.zeros(len(packet), np.int64))
    near = np.abs(kernel.moments["begin"][moment] - at[packet]) <= NEAR_NS
    edges = agreeing_headers(packets, kernel, edges.selected(near), False)
    edges = agreeing_contents(packets, kernel, edges)
    rows = kernel.moments[edges.moment]
    off = _farthest(
        edges.packet,
        rows["after"] - at[edges.packet] - error,
        rows["before"] - at[edges.packet] + error,
        SHARE_AT_SOCKET * len(some),
    )
    return where._replace(clock=clock.wider(max(0, off - error))) if off <= FARTHEST_NS else None


def _farthest(packet: Int64s, low: Int64s, high: Int64s, wanted: float) -> int:
    """Return the offset farthest from 0 at which `wanted` or more packets fit one of their moments.

    A packet fits the moment of its pair if the clock is off by `low` to `high` ns.
    """
    order = np.lexsort((low, packet))
    packet, low, high = packet[order], low[order], high[order]
    beyond = np.int64(4 * NEAR_NS)  # sets the spans of one packet apart from those of the next
    ends = np.maximum.accumulate(np.clip(high, -NEAR_NS, NEAR_NS) + packet * beyond)
    begins = np.clip(low, -NEAR_NS, NEAR_NS) + packet * beyond
    new = np.flatnonzero(np.r_[True, begins[1:] > ends[:-1]][: len(begins)])
    last = np.append(new[1:], len(begins))[: len(new)] - 1
    begins, ends = begins[new] - packet[new] * beyond, ends[last] - packet[new] * beyond
    when = np.concatenate([begins, ends])
    step = np.repeat([1, -1], len(new))
    order = np.lexsort((-step, when))
    enough = np.cumsum(step[order]) >= wanted
    when = when[order]
    possible = np.abs(np.concatenate([when[enough], when[1:][enough[:-1]]]))
    return int(possible.max(initial=-1)) if enough.any() else NEAR_NS


def _packets(packet: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
    return len(np.unique(packet))


def _wall_clock(log: KernelLog, packets: Packets) -> ClockFit | None:
    """Return the clock that the log's readings give, or None if it was set during the recording."""
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
