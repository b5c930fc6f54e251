# SPDX-License-Identifier: MIT
"""The wall clock of the log's host as that of a capture, where identity decides no packet alone.

In: candidate pairs, the log's readings of both clocks.  Out: the clock and the devices where nearly
all packets were with a packet socket at their time.  A sniffer stamps packets by the wall clock of
its host (tpacket_get_timestamp() in net/packet/af_packet.c).  A capture whose clock was changed
afterwards, or that is of another run, has packets at times when no socket had any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..records import UNTIMED, KernelLog, Packets
from .clock import ClockFit, Segment, precision_of
from .edges import between
from .identity import Candidates
from .nearest import Place
from .points import SOCKET
from .repeats import near_in_time
from .sniffer import SEVERAL_DEVICES, Located
from .steps import STEP_NS

if TYPE_CHECKING:
    from .matcher import Sightable

NEARLY_ALL = 0.99  # of the packets must have been with a socket at their time
ROUNDING_NS = 1_000  # of both clocks, and between their readings


def by_wall_clock(packets: Packets, kernel: Sightable, found: Candidates) -> Located | None:
    """The host's wall clock with the devices that agree with it; None if there is no such."""
    clock = _wall_clock(kernel.log, packets)
    moments = kernel.moments
    sockets = np.asarray(moments["socket"], np.bool_)
    if clock is None or not sockets.any() or packets["ts"][0] == UNTIMED:
        return None
    found = near_in_time(packets, kernel, found, clock)
    every = np.arange(len(packets))
    at = clock.to_kernel(packets["ts"], every)
    error = clock.error(packets["ts"], every) + precision_of(packets["ts"])
    edges = between(kernel, found.packet, found.series, at, error, sockets)
    wanted = NEARLY_ALL * np.count_nonzero(packets["ip_version"])
    place = Place(None, -1, None, SOCKET)
    if np.isin(packets["linktype"], SEVERAL_DEVICES).all():
        return Located(clock, place, (), True) if _packets(edges.packet) >= wanted else None
    rows = moments[edges.moment]
    devices = []
    for one in np.unique(rows[["netns", "ifindex"]]):
        here = (rows["netns"] == one["netns"]) & (rows["ifindex"] == one["ifindex"])
        if _packets(edges.packet[here]) >= wanted:
            devices.append((int(one["netns"]), int(one["ifindex"])))
    if not devices:
        return None
    place = place._replace(netns=devices[0][0], ifindex=devices[0][1])
    return Located(clock, place, tuple(devices), True)


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
