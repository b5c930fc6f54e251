# SPDX-License-Identifier: MIT
"""Decide whether a capture shows the traffic that a log recorded.

A capture that was taken in another run or boot, or on another host, may hold the same addresses and
identifications as the log.  So a clock that only some pairs suggest is believed only for one of
three reasons.  First: the clock places the time stamps within the tap moments of the log, each of
which lasts some microseconds.  Second: the clock is nearly the wall clock of the log's host, and no
packet was captured before this host sent it, or after it arrived here.  Third: TCP's sequence
numbers, 32 random bits each (RFC 9293 3.4.1), agree in segments that were sent only once.  A
segment was sent only once if it has an identification, which TCP renews when it sends a segment
again, or if its sender soon has the acknowledgement (segments_sent_once.py).

If only a few pairs agree with the wall clock, this may be chance.  A clock that few pairs suggest
is rejected if the log shows no lifetime for most packets of the capture, although it lacks nothing.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

from ...records import ClockTriple, Packets
from ...records.protocols import TCP
from ...records.types import Bools, Int64s
from ..clock.capture_point_fit import Located
from ..clock.clock_fit import MAX_DRIFT_PPM, ClockFit, Segment
from ..clock.clock_steps import STEP_NS
from ..clock.feasible_lines import Intervals, corridor
from ..identity.identity_candidates import Candidates
from .gso_candidates import segments
from .missing_tap_moments import lacking
from .segments_sent_once import acknowledged
from .tap_moment_conditions import Edges, by_packet

TRUSTED_PACKETS = 8  # packets with stamps between their moments that make a clock believable
FEWER_PACKETS = 5  # the same, if another part of the capture is believed
# TCP segments with agreeing numbers, or packets that agree with the wall clock.
AGREEING_PACKETS = 3
ENOUGH_PAIRS = 5  # chosen: a foreign capture had 1 that agreed with the wall clock by chance
CHANCE = 4000  # chance orders both directions in at most one of this many captures of other runs
OPEN_NS = 1e12  # stands for no bound on this side of a line
SLEWED_NS = 1_000_000  # the wall clock drifts between two readings
SYNCHRONOUS_NS = 1_000_000_000  # hosts that keep the time by NTP differ by less

if TYPE_CHECKING:
    from ..match_types import KernelSide


def trusted(
    packets: Packets, clock: ClockFit, kernel: KernelSide, edges: Edges, precision: int
) -> Bools:
    """Return for each packet whether the clock can be trusted in the packet's segment of the clock.

    `edges` are the pairs of packets and moments that the clock allows; `precision` is the precision
    (ns) of the packets' times.
    """
    segment = clock.segment_of(np.arange(len(packets)))
    paired, readings = np.zeros(len(packets), np.bool_), kernel.log.clock
    paired[edges.packet] = True
    each = [
        _is_trusted(one, packets, paired & (segment == number), precision)
        or (
            _by_wall_clock(one, readings)
            and (_is_local(one, precision) or _on_the_way(packets, clock, kernel, edges, number))
        )
        for number, one in enumerate(clock.segments)
    ]
    if any(each):  # the same capture continued after its clock was set
        local = is_local(clock, precision).tolist()
        each = [
            known or (here and (one.pairs >= FEWER_PACKETS or not one.pairs))
            for known, here, one in zip(each, local, clock.segments, strict=True)
        ]
    return np.asarray(np.array(each)[segment], np.bool_)


def is_local(clock: ClockFit, precision: int) -> Bools:
    """Return for each segment of the clock whether its stamps lie within tap moments of this host.

    `precision` is the precision (ns) of the capture's time stamps.
    """
    return np.array([_is_local(one, precision) for one in clock.segments])


def _is_local(segment: Segment, precision: int) -> bool:
    return segment.torn_ns < max(precision, 1)


def _numbers_agree(packets: Packets, paired: Bools) -> bool:
    """Return whether enough `paired` packets are TCP segments that were sent only once."""
    once = paired & sent_once(packets)
    if np.count_nonzero(once) >= AGREEING_PACKETS:
        return True
    return int(np.count_nonzero(once | acknowledged(packets, paired))) >= AGREEING_PACKETS


def sent_once(packets: Packets) -> Bools:
    """Return for each packet whether its identification shows that it is a TCP segment sent once.

    When TCP sends a segment again, it gives the segment a new identification.  So the same bytes
    with the same number were sent only once.  Without an identification (IPv6, IPv4 id 0), the same
    bytes may have been sent once more when the log was not recorded.
    """
    numbered = np.asarray(packets["ip_id"] > 0) | np.asarray(packets["frag_id"] > 0)
    return np.asarray(numbered & (packets["protocol"] == TCP) & (packets["seq"] >= 0), np.bool_)


def _is_trusted(segment: Segment, packets: Packets, paired: Bools, precision: int) -> bool:
    """Return whether many stamps of `segment` lie within their moments, or TCP's numbers agree.

    `paired` marks the packets of the clock segment that may have been captured at a moment.
    """
    if _is_scattered(segment):
        return False
    here = _is_local(segment, precision) and segment.pairs >= TRUSTED_PACKETS
    return here or _numbers_agree(packets, paired)


def _is_scattered(segment: Segment) -> bool:
    return segment.pairs > 1 and segment.spread_ns > STEP_NS


def _on_the_way(
    packets: Packets, clock: ClockFit, kernel: KernelSide, edges: Edges, number: int
) -> bool:
    """Return whether a steady clock explains the order in which packets left and reached this host.

    With a steady clock, every packet is captured after this host sent it, or before it arrived
    here.  There must be so many packets of both directions that their agreement is not chance.
    Only packets count whose possible moments all belong to one lifetime and have one direction.
    """
    mine = edges.selected(clock.segment_of(edges.packet) == number)
    sends, series = (
        np.asarray(kernel.moments[name], np.int64)[mine.moment] for name in ("sends", "series")
    )
    way, life = (by_packet(mine, of, len(packets)) for of in (sends, series))
    known = np.flatnonzero((life[0] == life[1]) & (way[0] == way[1]))
    after, before = (
        by_packet(mine, np.asarray(kernel.moments[name], np.int64)[mine.moment], len(packets))
        for name in ("after", "before")
    )
    known = known[np.argsort(packets["ts"][known], kind="stable")]
    at = clock.to_kernel(packets["ts"][known], known)
    sent = way[0][known] == 1
    lines = _lines(at, sent, after[0][known], before[1][known])
    here = int(np.count_nonzero(sent))
    return comb(len(known), min(here, len(known) - here, TRUSTED_PACKETS)) >= CHANCE and lines


def is_of_another_run(
    packets: Packets, kernel: KernelSide, found: Candidates, where: Located
) -> bool:
    """Return whether few pairs suggested the clock, and the log lacks most packets' identities.

    `found` are the candidates of the packets at any time; `where` contains the clock.  Counts only
    packets that were captured when the log lacked no records.
    """
    clock = where.clock
    if clock is None or clock.pairs >= ENOUGH_PAIRS:
        return False
    every = np.arange(len(packets))
    at, error = clock.to_kernel(packets["ts"], every), clock.error(packets["ts"], every)
    shown = np.asarray(packets["ip_version"] != 0)
    shown &= ~np.logical_or(*lacking(kernel, where.place, at, error))
    has = np.zeros(len(packets), np.bool_)
    has[found.packet] = True
    if 2 * np.count_nonzero(shown & has) < np.count_nonzero(shown):
        has[segments(packets, kernel, np.flatnonzero(shown & ~has)).packet] = True
    return bool(2 * np.count_nonzero(shown & has) < np.count_nonzero(shown))


def _lines(at: Int64s, sent: Bools, after: Int64s, before: Int64s) -> bool:
    """Return whether a line passes above all arrivals and below all departures.

    The times `at` must be sorted.
    """
    if not len(at):
        return False
    low = np.where(sent, -OPEN_NS, (at - before).astype(np.float64))
    high = np.where(sent, (at - after).astype(np.float64), OPEN_NS)
    rows = Intervals((at - at[0]).astype(np.float64), low, high)
    return corridor(rows, MAX_DRIFT_PPM * 1e-6).torn == 0


def _by_wall_clock(segment: Segment, readings: tuple[ClockTriple, ...]) -> bool:
    """Return whether the capture's clock is as near to the log's wall clock as hosts' clocks are.

    If only a few packets have matched, which may be chance, the clocks must be equal within their
    errors.
    """
    return not _is_scattered(segment) and any(
        abs(segment.offset_ns - (one.real_ns - one.mono_ns))
        <= (SYNCHRONOUS_NS if segment.pairs >= TRUSTED_PACKETS else segment.residual_ns + SLEWED_NS)
        for one in readings
    )
