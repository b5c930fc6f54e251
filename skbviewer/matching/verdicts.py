# SPDX-License-Identifier: MIT
"""Give a verdict to each pair of a packet and a lifetime.

Input: pairs (packet, series) with agreeing identities, and the clock fit.  Output: these pairs,
each with verdict, rung, confidence and moment; and the clock.  Exact packets may reduce the
possible error of the clock.  A packet is exact if every consistent assignment of packets to tap
moments gives it the same lifetime (match_with_clock.py).  docs/matching.md states the rule and
its assumptions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import Packets
from ..records.types import Bools, Int64s
from .assignment.packets_to_assign import NO_MOMENT
from .candidates.lifetimes_without_headers import may_hold
from .candidates.missing_tap_moments import lacking
from .candidates.same_traffic import sent_once, trusted
from .candidates.tap_moment_conditions import pairs_in_time
from .clock.capture_point_distances import Place
from .clock.capture_point_fit import Located, far_from_losses, relocate
from .clock.clock_fit import ClockFit, precision_of
from .identity.identity_candidates import Candidates
from .match_rule_numbers import AMBIGUOUS, BY_SEGMENT, BY_TIME, EXACT, LATE, UNSURE, Rung
from .match_with_clock import CROWDED, NO_PAIR, Solution, by_tcp_alone, incomplete, is_alone, solve

if TYPE_CHECKING:
    from .match_types import KernelSide

CONTRADICT = 0.01  # this share of the packets may contradict a clock that is assumed
GROWTH = 1.05  # the clock is fitted again if the number of pairs has grown by this factor
ROUNDS = 3  # most fits of the clock: exact packets bound it further
COARSE_NS = 1000  # coarser stamps do not show at which device they were made

_WHY = np.array(
    [
        BY_TIME,
        BY_TIME,
        Rung.LACKING,
        Rung.TWICE,
        BY_TIME,
        LATE,
        UNSURE,
        Rung.DOUBTED,
        Rung.NO_DEVICE,
    ],
    np.int8,
)


class Decided(NamedTuple):
    """Pairs of a packet and a series, with the columns of MATCH_DTYPE."""

    packet: Int64s
    series: Int64s
    verdict: npt.NDArray[np.uint8]
    rung: npt.NDArray[np.int8]
    confidence: npt.NDArray[np.float64]
    moment: Int64s  # of an exact pair, if only one moment of this host is possible; else NO_MOMENT

    def selected(self, chosen: Bools) -> Decided:
        """Return the pairs that the flags `chosen` select."""
        return Decided._make(column[chosen] for column in self)


def decide(
    packets: Packets,
    kernel: KernelSide,
    found: Candidates,
    clock: ClockFit | None,
    where: Located,
    often: Int64s,
) -> tuple[Decided, ClockFit | None]:
    """Give each pair in `found` a verdict; return the pairs with their verdicts, and the clock.

    `clock` is the clock so far; the returned clock may have a smaller possible error, because of
    exact packets.  `where` says where the capture was taken.  For the packets `often` (row
    numbers), `found` lists only the lifetimes near their time of capture; these packets have
    further candidates.
    """
    if not len(found.packet):
        return all_ambiguous(found, BY_TIME), clock
    if clock is None or precision_of(packets["ts"]) > COARSE_NS:
        return _without_clock(packets, kernel, found), None
    answer = solve(packets, kernel, found, clock, where, often)
    for _ in range(ROUNDS):
        known = np.flatnonzero(answer.life >= 0)
        if len(known) <= GROWTH * clock.pairs and len(where.devices) == 1:
            break
        pairs, here = (known, answer.life[known]), where._replace(clock=clock)
        if lossy := incomplete(kernel.log):
            pairs = far_from_losses(packets["ts"], *pairs, kernel.moments, kernel.losses)
        sharper = relocate(packets["ts"], *pairs, kernel.moments, here, lossy, kernel.share_undated)
        if sharper is None or sharper.clock is None:
            break
        clock, where = sharper.clock, sharper
        answer = solve(packets, kernel, found, clock, where, often)
    if where.assumed and not _confirmed(packets, answer):
        return _without_clock(packets, kernel, found), None
    return _pairs(found, answer), clock


def _confirmed(packets: Packets, answer: Solution) -> bool:
    """Return whether nearly all IP packets were captured at a moment of a packet socket.

    The moments must be at the times of the packets on the assumed clock.
    """
    against = np.isin(answer.why, (CROWDED, NO_PAIR)) & (packets["ip_version"] != 0)
    return int(np.count_nonzero(against)) <= CONTRADICT * int(
        np.count_nonzero(packets["ip_version"])
    )


def all_ambiguous(found: Candidates, rung: int) -> Decided:
    """Return all pairs of `found` as ambiguous; `rung` is the reason."""
    count = len(found.packet)
    verdict, rungs = np.full(count, AMBIGUOUS, np.uint8), np.full(count, rung, np.int8)
    none = np.full(count, NO_MOMENT, np.int64)
    return Decided(found.packet, found.series, verdict, rungs, np.zeros(count), none)


def without_exact(pairs: Decided) -> Decided:
    """Return `pairs` with ambiguous instead of exact verdicts.

    A log of points needs this, because it cannot exclude other lifetimes: it declares neither its
    losses nor when packet sockets got a packet.
    """
    exact = pairs.verdict == EXACT
    undeclared = exact | np.isin(pairs.rung, [Rung.LACKING, Rung.NO_DEVICE])
    return pairs._replace(
        verdict=np.full(len(exact), AMBIGUOUS, np.uint8),
        rung=np.where(undeclared, Rung.BY_POINTS_ONLY, pairs.rung).astype(np.int8),
        confidence=np.zeros(len(exact)),
        moment=np.full(len(exact), NO_MOMENT, np.int64),
    )


def _pairs(found: Candidates, answer: Solution) -> Decided:
    """Return the pairs of `found` that `answer` leaves possible, with their verdicts."""
    packet, series = found.packet, found.series
    exact = answer.life[packet] == series
    settled = answer.life[packet] >= 0
    possible = np.zeros(len(packet), np.bool_)
    possible[answer.edges.pair] = True
    any_possible = np.zeros(len(answer.life), np.bool_)
    any_possible[packet[possible]] = True
    keep = exact | ~settled & (possible | ~any_possible[packet])
    candidates = np.bincount(packet, minlength=len(answer.life))[packet]
    rung = np.where(candidates == 1, found.rung, BY_TIME)
    rung = np.where(exact, rung, _WHY[answer.why][packet]).astype(np.int8)
    verdict = np.where(exact, EXACT, AMBIGUOUS).astype(np.uint8)
    moment = np.where(exact, answer.moment[packet], NO_MOMENT)
    made = Decided(packet, series, verdict, rung, exact.astype(np.float64), moment)
    return made.selected(keep)


def _without_clock(packets: Packets, kernel: KernelSide, found: Candidates) -> Decided:
    """Give verdicts to the pairs of packets that have no time.

    A pair without times is exact only by TCP's sequence numbers.  If the log lost records, no pair
    is exact, because the log may lack the lifetime of any packet.
    """
    alone = is_alone(found)
    exact = by_tcp_alone(packets, found) & (not incomplete(kernel.log))
    rung = np.where(alone, np.where(exact, found.rung, UNSURE), BY_TIME).astype(np.int8)
    verdict = np.where(exact, EXACT, AMBIGUOUS).astype(np.uint8)
    none = np.full(len(alone), NO_MOMENT, np.int64)
    return Decided(found.packet, found.series, verdict, rung, exact.astype(np.float64), none)


def of_segments(
    packets: Packets, kernel: KernelSide, found: Candidates, clock: ClockFit | None, place: Place
) -> Decided:
    """Give verdicts to pairs of a packet and a larger skb of which the packet may be a segment.

    `place` says where the capture was taken.  A pair is exact if the clock allows the packet no
    moment of a different skb, and if no other packet has the same bytes of this skb.
    """
    if not len(found.packet):
        return all_ambiguous(found, BY_TIME)
    if clock is None:
        return _segments_without_clock(packets, kernel, found)
    every = np.arange(len(packets))
    at, error = clock.to_kernel(packets["ts"], every), clock.error(packets["ts"], every)
    here = np.ones(len(kernel.moments), np.bool_)
    edges = pairs_in_time(kernel, found.packet, found.series, at, error, here)
    near = np.zeros(len(found.packet), np.bool_)
    near[edges.pair] = True
    alone = np.bincount(found.packet, weights=near, minlength=1)[found.packet] == 1
    exact = near & alone & ~_same_bytes(packets, found) & (not incomplete(kernel.log))
    exact &= trusted(packets, clock, kernel, edges, 1)[found.packet]
    exact &= ~np.logical_or(*lacking(kernel, place, at, error))[found.packet]
    exact &= ~may_hold(packets, kernel, at, error, here, whole=False)[found.packet]
    verdict = np.where(exact, EXACT, AMBIGUOUS).astype(np.uint8)
    rung = np.where(exact, BY_SEGMENT, np.where(near, BY_TIME, LATE)).astype(np.int8)
    none = np.full(len(near), NO_MOMENT, np.int64)
    made = Decided(found.packet, found.series, verdict, rung, exact.astype(np.float64), none)
    has = np.zeros(len(packets), np.bool_)
    has[found.packet[near]] = True
    return made.selected(near | ~has[found.packet])


def _segments_without_clock(packets: Packets, kernel: KernelSide, found: Candidates) -> Decided:
    """Decide by TCP's sequence numbers alone to which larger skb each packet belongs."""
    exact = np.bincount(found.packet, minlength=1)[found.packet] == 1
    exact &= sent_once(packets)[found.packet]
    exact &= ~_same_bytes(packets, found) & (not incomplete(kernel.log))
    made = all_ambiguous(found, UNSURE)
    return made._replace(
        verdict=np.where(exact, EXACT, AMBIGUOUS).astype(np.uint8),
        rung=np.where(exact, BY_SEGMENT, UNSURE).astype(np.int8),
        confidence=exact.astype(np.float64),
    )


def _same_bytes(packets: Packets, found: Candidates) -> Bools:
    """Return for each pair whether another packet begins at the same byte of the same skb."""
    begins = [found.series, packets["seq"][found.packet], packets["ip_id"][found.packet]]
    if (packets["seq"][found.packet] >= 0).all():
        begins = begins[:2]
    _, back, count = np.unique(
        np.stack(begins, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    return np.asarray(count[back.reshape(-1)] > 1)
