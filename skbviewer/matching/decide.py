# SPDX-License-Identifier: MIT
"""Which of the candidate pairs are matches.

In: candidate pairs, the clock fit.  Out: pairs with verdict, rung and confidence.  A pair without a
rival is exact if its identity numbers packets, or if the packet's time lies within the life; no
pair is exact whose time the clock contradicts.  Among rivals the mutually nearest are exact if the
runners-up are clearly farther.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import PACKET_DTYPE, KernelLog, Packets, room_of
from .clock import ClockFit
from .identity import Candidates
from .keys import hashed, hashed_rows
from .kinds import Index
from .ladder import FRAGMENT, Flags
from .nearest import FAR, Place, Reach, beside, nearest, reach
from .nonip import crowded
from .rules import AMBIGUOUS, BY_POINTS, BY_TIME, EXACT, LATE, UNSURE

if TYPE_CHECKING:
    from .matcher import Sightable

SIGMAS = 5
SLACK_NS = 10_000  # a life's records may begin and end this much late
SHARP, SHARP_NS = 2, 2_000  # sigmas, ns: where nothing but time tells and lives may be missing
LATE_NS = 20_000_000  # and a packet whose identity numbers it may be seen this much later,
LATE_SIGMAS = 100  # or this many
SEVERAL_DEVICES = (113, 276)  # LINKTYPE_LINUX_SLL, _SLL2: tcpdump -i any

WIRE_IDENTITY = tuple(name for name in PACKET_DTYPE.names or () if name not in (
    "ts", "caplen", "len", "offset", "interface", "linktype", "eth_src", "eth_dst", "vlan", "ttl",
    "window", "payload"))  # fmt: skip


class Decided(NamedTuple):
    """Pairs by index; the columns are those of MATCH_DTYPE."""

    packet: Index
    series: Index
    verdict: npt.NDArray[np.uint8]
    rung: npt.NDArray[np.int8]
    confidence: npt.NDArray[np.float64]

    def only(self, chosen: Flags) -> Decided:
        """The chosen pairs."""
        return Decided._make(column[chosen] for column in self)


class _Times(NamedTuple):
    """Per pair: spread, how far the packet is from its nearest point and from the life, ns."""

    sigma: Index
    point: Index
    distance: Index
    outside: Index
    slack: Index  # how much of that is no contradiction
    agreed: Flags
    error: Index  # of the clock then; 0 where it is not asked
    reach: Index  # a nearest point that is farther is none
    chance: Flags  # that its identity is the same may be by chance
    numbered: Flags  # a whole packet's own number; not asked where error is not


def decide(
    packets: Packets,
    kernel: Sightable,
    found: Candidates,
    clock: ClockFit | None,
    place: Place,
    here: Flags,
    rung: int | None = None,
) -> Decided:
    """Decide all pairs; `rung` is told instead of theirs.

    `here` are the points where a packet that was seen at `place` may have been stamped.
    """
    if not len(found.packet):
        return _without_clock(found, np.zeros(0, np.uint64))
    looks = hashed_rows(packets, WIRE_IDENTITY)
    looks[packets["ip_version"] == 0] = 0  # no log tells what they say
    room_of(packets).forget()
    if rung is not None:
        found = found._replace(rung=np.full(len(found.packet), rung, np.int8))
    if clock is None:
        return _without_clock(found, looks)
    wide = place.netns is None or bool(np.isin(packets["linktype"], SEVERAL_DEVICES).all())
    parts: list[Decided] = []
    while True:  # what is decided leaves fewer candidates to the others
        alone = _alone(found, looks)
        times = _times(packets, kernel, found, clock, here, found.strong | wide, alone)
        times = times if wide else times._replace(point=_passes(kernel, times.point))
        made, keep = _round(found, times, looks, alone)
        sure = made.verdict == EXACT
        parts.append(made.only(sure))
        found = found.only(keep & ~sure)
        if not sure.any() or not len(found.packet):
            parts.append(made.only(keep & ~sure))
            return Decided._make(np.concatenate(columns) for columns in zip(*parts, strict=True))
        found = found._replace(rung=np.full(len(found.packet), BY_TIME, np.int8))


def _passes(kernel: Sightable, point: Index) -> Index:
    """The way of a leg in or out, instead of its points: at one place it is seen once so."""
    made, known = point.copy(), np.flatnonzero(point >= 0)
    leg, sends = (kernel.points.part(name, point[known]) for name in ("leg", "sends"))
    made[known] = 2 * leg.astype(np.int64) + sends
    return made


def _without_clock(found: Candidates, looks: npt.NDArray[np.uint64]) -> Decided:
    """Only what identity alone decides is exact."""
    alone = _alone(found, looks)
    exact = alone & found.strong
    told = np.where(alone, np.where(exact, found.rung, UNSURE), BY_TIME).astype(np.int8)
    verdict = np.where(exact, EXACT, AMBIGUOUS).astype(np.uint8)
    return Decided(found.packet, found.series, verdict, told, exact.astype(np.float64))


def _round(
    found: Candidates, times: _Times, looks: npt.NDArray[np.uint64], alone: Flags
) -> tuple[Decided, Flags]:
    """All pairs decided, and which of them are not another's by now."""
    exact, told = _in_time(found, times, alone, found.rung)
    chosen, margin = np.zeros(len(alone), np.bool_), np.zeros(len(alone), np.float64)
    chosen[~alone], margin[~alone] = _nearest(found, times, looks, np.flatnonzero(~alone))
    near = ~alone & chosen & (margin >= 1) & times.agreed
    # Where the packet was at none of the places in time, how far it is from them tells nothing.
    near &= (times.outside <= times.slack) & (times.distance <= times.reach)
    shares = np.bincount(found.series[near], minlength=int(found.series.max()) + 1) > 1
    told[~alone] = BY_TIME
    told[near & shares[found.series]] = BY_POINTS
    confidence = np.where(near, np.minimum(1.0, margin / 2), exact.astype(np.float64))
    verdict = np.where(exact | near, EXACT, AMBIGUOUS).astype(np.uint8)
    made = Decided(found.packet, found.series, verdict, told, confidence)
    return made, _rivals_gone(found, times, looks, exact | near)


def _alone(found: Candidates, looks: npt.NDArray[np.uint64]) -> Flags:
    """Pairs whose packet has no other series, and whose series no other packet that looks alike."""
    alone = np.bincount(found.packet, minlength=1)[found.packet] == 1
    shared = np.flatnonzero(np.bincount(found.series, minlength=1)[found.series] > 1)
    key = hashed([found.series[shared], looks[found.packet[shared]]])
    _, back, count = np.unique(key, return_inverse=True, return_counts=True)
    alone[shared] &= count[back.reshape(-1)] == 1
    return np.asarray(alone)


def _times(
    packets: Packets,
    kernel: Sightable,
    found: Candidates,
    clock: ClockFit,
    here: Flags,
    anywhere: Flags,
    alone: Flags,
) -> _Times:
    captured = packets["ts"][found.packet]
    at = clock.to_kernel(captured, found.packet)
    begin, end = lifetimes(kernel, int(found.series.max(initial=-1)) + 1)
    outside = np.maximum(begin[found.series] - at, at - end[found.series])
    blind = packets["ip_version"][found.packet] == 0
    open_ = np.flatnonzero(~alone | blind)
    error = np.zeros(len(at), np.int64)
    error[open_] = clock.error(captured[open_], found.packet[open_])
    numbered = found.strong & ~found.vague
    numbered[open_] &= np.maximum(packets["frag_off"][found.packet[open_]], 0) & FRAGMENT == 0
    # How near a packet is to a point matters only where something is to be decided by it.
    asked = np.flatnonzero(~alone | (outside > 0) | blind)
    near = Reach(-2 - found.series, np.zeros(len(at), np.int64))
    some = reach(at[asked], found.series[asked], kernel.points, here, anywhere[asked], blind[asked])
    near.point[asked], near.distance[asked] = some
    sigma = clock.sigma(found.packet)
    outside = np.maximum(np.minimum(outside, near.distance), 0)
    slack = np.maximum(SLACK_NS, SIGMAS * sigma)
    agreed = clock.agreed(found.packet)
    known = np.flatnonzero(blind & (near.point >= 0))  # time alone: it must have been somewhere
    agreed[known] &= kernel.points.part("met", near.point[known])
    if incomplete(kernel.log):
        # What time alone tells may be another's, whose life is missing; a life may be several,
        # whose ends are missing.
        outside = np.where(blind, near.distance, outside)
        slack = np.where(blind, np.clip(SHARP * sigma, SHARP_NS, SLACK_NS), slack)
        weak = np.flatnonzero(~blind & ~found.strong)
        outside[weak] = beside(
            at[weak], found.series[weak], kernel.points, here, anywhere[weak], blind[weak]
        )
        agreed[blind] &= ~crowded(packets, found.packet[blind], (error + slack)[blind])
    far = np.maximum(np.maximum(SLACK_NS, SIGMAS * sigma), error)
    chance = _by_chance(packets, found.packet, clock)
    return _Times(
        sigma, near.point, near.distance, outside, slack, agreed, error, far, chance, numbered
    )


def _by_chance(packets: Packets, packet: Index, clock: ClockFit) -> Flags:
    """Packets that only 16 bits tell from others of their flow, where some pairs must be wrong.

    In a capture of another run with random identifications some are as good as certain to come
    again, and then all that is known of the clock comes from these.
    """
    made = clock.torn(packet)
    rows = np.flatnonzero(made)
    made[rows] = packets["seq"][packet[rows]] < 0
    return made


def incomplete(log: KernelLog) -> bool:
    """Whether a log says that it lacks packet lives: by a filter, by losses."""
    return log.lost_records > 0 or bool(log.meta.get("filter")) or bool(log.warnings)


def lifetimes(kernel: Sightable, size: int) -> tuple[Index, Index]:
    """Begin and end of each series in the stack, ns; FAR and 0 where it has no leg."""
    legs = kernel.legs.rows
    owner = legs.stored("series")
    owner = owner[: np.searchsorted(owner, size)]  # sorted
    begin, end = np.full(size, FAR), np.zeros(size, np.int64)
    first = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]][: len(owner)])
    if len(first):
        some, last = owner[first], np.maximum(legs["end_ns"], legs["wire_ns"])[: len(owner)]
        begin[some] = np.minimum.reduceat(legs["begin_ns"][: len(owner)], first)
        end[some] = np.maximum(np.maximum.reduceat(last, first), 0)
    room_of(legs).forget()
    return begin, end


def _in_time(
    found: Candidates, times: _Times, alone: Flags, told: npt.NDArray[np.int8]
) -> tuple[Flags, npt.NDArray[np.int8]]:
    """Which pairs without rivals are exact, and the rungs of all."""
    late = np.maximum(LATE_NS, LATE_SIGMAS * times.sigma)
    exact = alone & np.where(
        found.strong,
        ~times.chance & (~times.agreed | (times.outside <= late)),
        times.agreed & (times.outside <= times.slack),
    )
    told = told.copy()
    told[alone & ~exact] = np.where(times.agreed, LATE, UNSURE)[alone & ~exact]
    return exact, told


def _nearest(
    found: Candidates, times: _Times, looks: npt.NDArray[np.uint64], pairs: Index
) -> tuple[Flags, npt.NDArray[np.float64]]:
    """Which of these pairs are nearest to each other, and how far runners-up are: 1 is enough.

    A number comes once in a while: lives that show it near in time are of one packet (copies, a
    forwarded one), and packets with it near one life are that, seen again.  So a spread is enough;
    not for a fragment, which is also in the life of the whole.
    """
    packet, distance = found.packet[pairs], times.distance[pairs]
    near, margin = nearest(packet, found.series[pairs], distance)
    key = hashed([times.point[pairs], looks[packet]]).view(np.int64)
    chosen, back = nearest(key, packet, distance)
    clear = SIGMAS * times.sigma[pairs] + np.where(times.numbered[pairs], 0, times.error[pairs])
    return near & chosen, np.minimum(margin, back) / clear


def _among(few: npt.NDArray[np.uint64], many: npt.NDArray[np.uint64]) -> Flags:
    """Which of a few hashes are among many, without sorting these."""
    asked = np.unique(few)
    if not len(asked):
        return np.zeros(0, np.bool_)
    like = np.zeros(1 << 16, np.bool_)  # hashes: most of the many are like none of the few
    like[asked >> np.uint64(48)] = True
    many = many[like[many >> np.uint64(48)]]
    at = np.minimum(np.searchsorted(asked, many), len(asked) - 1)
    found = np.zeros(len(asked), np.bool_)
    found[at[asked[at] == many]] = True
    return np.asarray(found[np.searchsorted(asked, few)])


def _rivals_gone(
    found: Candidates, times: _Times, looks: npt.NDArray[np.uint64], exact: Flags
) -> Flags:
    """Pairs to keep: the exact ones, and those whose packet no exact one has, nor their point.

    A packet whose identity is numbered may have been seen again at the same point.
    """
    rest = np.flatnonzero(~exact)  # few: what is exact stays anyway
    if not len(rest):
        return exact
    key = hashed([times.point, looks[found.packet]])
    taken = np.zeros(len(key), np.bool_)
    packets = np.zeros(int(found.packet.max(initial=-1)) + 1, np.bool_)
    packets[found.packet[exact]] = True
    other = _among(key[rest], key[exact]) & ~found.strong[rest]  # a number comes once: seen again
    taken[rest] = packets[found.packet[rest]] | other
    return exact | ~taken
