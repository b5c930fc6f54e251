# SPDX-License-Identifier: MIT
"""Whether a capture is of the very traffic that a log recorded.

A capture of another run, boot or host may hold the same addresses and identifications.  So a clock
that some pairs suggest is believed only for a reason: it is the wall clock of the log's host, or
nearly; or it stamps many packets between the moments that the log shows, each some microseconds
long; or TCP's sequence numbers, 32 random bits each (RFC 9293 3.4.1), came again.
"""

from __future__ import annotations

import numpy as np

from ..records import ClockTriple, Packets
from .clock import ClockFit, Segment
from .edges import Edges
from .ladder import Flags
from .steps import STEP_NS
from .weak import TCP

ENOUGH = 8  # packets whose stamps lie between their moments
GOES_ON = 5  # the same, where another part of the capture is believed
SOME = 3  # TCP segments, or packets by the wall clock
SLEWED_NS = 1_000_000  # the wall clock drifts between two readings
SYNCHRONOUS_NS = 1_000_000_000  # hosts that keep the time by NTP differ by less


def trusted(
    packets: Packets,
    clock: ClockFit,
    readings: tuple[ClockTriple, ...],
    edges: Edges,
    precision: int,
) -> Flags:
    """Which packets are of a segment of the clock that is believed.

    `edges` are the pairs in time; `precision` (ns) is that of the packets' times.
    """
    segment = clock.segment_of(np.arange(len(packets)))
    tcp = _tcp_packets(packets, edges)
    each = [
        _is_trusted(one, readings, int(np.count_nonzero(tcp[segment == number])), precision)
        for number, one in enumerate(clock.segments)
    ]
    if any(each):  # the same capture went on after its clock was set
        local = is_local(clock, precision).tolist()
        each = [
            known or (here and one.pairs >= GOES_ON)
            for known, here, one in zip(each, local, clock.segments, strict=True)
        ]
    return np.asarray(np.array(each)[segment], np.bool_)


def is_local(clock: ClockFit, precision: int) -> Flags:
    """Per segment whether the stamps were made at the moments the log shows: on this host."""
    return np.array([one.torn_ns < max(precision, 1) for one in clock.segments])


def _tcp_packets(packets: Packets, edges: Edges) -> Flags:
    """TCP packets with a sequence number that may have been captured at a moment."""
    made = np.zeros(len(packets), np.bool_)
    made[edges.packet] = True
    return np.asarray(made & (packets["protocol"] == TCP) & (packets["seq"] >= 0))


def _is_trusted(
    segment: Segment, readings: tuple[ClockTriple, ...], tcp: int, precision: int
) -> bool:
    if segment.pairs > 1 and segment.spread_ns > STEP_NS:
        return False
    if tcp >= SOME:
        return True
    local = segment.torn_ns < max(precision, 1)
    return (local and segment.pairs >= ENOUGH) or _by_wall_clock(segment, readings)


def _by_wall_clock(segment: Segment, readings: tuple[ClockTriple, ...]) -> bool:
    """Whether the capture's clock is the log's wall clock: of many packets as hosts keep it.

    Few packets may agree with it by chance as far as that.
    """
    return any(
        abs(segment.offset_ns - (one.real_ns - one.mono_ns))
        <= (SYNCHRONOUS_NS if segment.pairs >= ENOUGH else segment.residual_ns + SLEWED_NS)
        for one in readings
    )
