# SPDX-License-Identifier: MIT
"""Which packet was captured at which tap moment, and so which lifetime is its own.

In: pairs (packet, series) whose identities agree, the clock fit.  Out: those pairs with verdict,
rung, confidence and moment.  A packet is exact if every assignment of packets to moments gives it
the same lifetime: each packet has a moment, no moment two packets, the order of the file is that
of the sockets' calls, and no clock within the fit's error contradicts (assignment.py).
docs/matching.md states the rule and what it assumes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import PACKET_DTYPE, KernelLog, Packets, part
from .assignment import Problem
from .clock import ClockFit, precision_of
from .doubts import doubted
from .edges import Edges, between, eligible
from .file_order import NO_MOMENT, each_alone, first_consistent, orders_of, problem_for
from .identity import Candidates
from .keys import hashed, repeated, shared
from .kinds import Index
from .lacking import hidden, lacking
from .ladder import FRAGMENT, Flags
from .nearest import Place
from .options import Asked, options
from .phases import RECEIVE_START, TRANSMIT
from .rules import (
    AMBIGUOUS,
    BY_SEGMENT,
    BY_TIME,
    EXACT,
    LATE,
    UNSURE,
    Rung,
)
from .same_run import is_local, trusted
from .sniffer import SEVERAL_DEVICES, Located, relocate
from .twins import company, far, offsets
from .weak import TCP

if TYPE_CHECKING:
    from .matcher import Sightable

CONTRADICT = 0.01  # of the packets may contradict a clock that is assumed
MORE = 1.05  # pairs than those it was fitted from make another fit of the clock worth while
ROUNDS = 3  # of the clock: what is exact bounds it further
COARSE_NS = 1000  # with stamps coarser than that no clock shows at which device they were made

WIRE_IDENTITY = tuple(name for name in PACKET_DTYPE.names or () if name not in (
    "ts", "caplen", "len", "offset", "interface", "linktype", "eth_src", "eth_dst", "vlan", "ttl",
    "window", "payload"))  # fmt: skip

EXACTLY, SEVERAL, LACKING, CROWDED, TOO_LARGE, NO_PAIR = range(6)  # assignment.Assigned.why
UNTRUSTED, DOUBTED = 6, 7
_WHY = np.array(
    [BY_TIME, BY_TIME, Rung.LACKING, Rung.TWICE, BY_TIME, LATE, UNSURE, Rung.DOUBTED], np.int8
)


class Decided(NamedTuple):
    """Pairs by index; the columns are those of MATCH_DTYPE."""

    packet: Index
    series: Index
    verdict: npt.NDArray[np.uint8]
    rung: npt.NDArray[np.int8]
    confidence: npt.NDArray[np.float64]
    moment: Index  # of an exact pair, where only one of this host is possible; else NO_MOMENT

    def only(self, chosen: Flags) -> Decided:
        """The chosen pairs."""
        return Decided._make(column[chosen] for column in self)


class _Answer(NamedTuple):
    """Per packet what is its lifetime, where it was stamped, why not; pairs that are possible."""

    life: Index
    moment: Index
    why: npt.NDArray[np.int8]
    edges: Edges


def decide(
    packets: Packets,
    kernel: Sightable,
    found: Candidates,
    clock: ClockFit | None,
    where: Located,
    often: Index,
) -> tuple[Decided, ClockFit | None]:
    """Decide all pairs; returns them and the clock, which exact packets may have made surer.

    `often` are packets that have more lifetimes than those at their time.
    """
    if not len(found.packet):
        return undecided(found, BY_TIME), clock
    if clock is None or precision_of(packets["ts"]) > COARSE_NS:
        return _without_clock(packets, kernel, found), None
    answer = _answer(packets, kernel, found, clock, where, often)
    for _ in range(ROUNDS):
        known = np.flatnonzero(answer.life >= 0)
        if len(known) <= MORE * clock.pairs and len(where.devices) == 1:
            break
        pairs, here = (known, answer.life[known]), where._replace(clock=clock)
        lossy = incomplete(kernel.log)
        sharper = relocate(packets["ts"], *pairs, kernel.moments, here, lossy)
        if sharper is None or sharper.clock is None:
            break
        clock, where = sharper.clock, sharper
        answer = _answer(packets, kernel, found, clock, where, often)
    if where.assumed and not _confirmed(packets, answer):
        return _without_clock(packets, kernel, found), None
    return _pairs(found, answer), clock


def _confirmed(packets: Packets, answer: _Answer) -> bool:
    """Whether nearly no packet is at another time than the sockets had it."""
    against = np.isin(answer.why, (CROWDED, NO_PAIR)) & (packets["ip_version"] != 0)
    return int(np.count_nonzero(against)) <= CONTRADICT * int(
        np.count_nonzero(packets["ip_version"])
    )


def undecided(found: Candidates, rung: int) -> Decided:
    """Pairs of which nothing says whether they match."""
    count = len(found.packet)
    verdict, rungs = np.full(count, AMBIGUOUS, np.uint8), np.full(count, rung, np.int8)
    none = np.full(count, NO_MOMENT, np.int64)
    return Decided(found.packet, found.series, verdict, rungs, np.zeros(count), none)


def incomplete(log: KernelLog) -> bool:
    """Whether a log says that it lacks lifetimes: by a filter, by losses, by having no end."""
    lacks = log.lost_records > 0 or bool(log.warnings) or not log.complete
    return lacks or bool(log.meta.get("filter"))


def _answer(
    packets: Packets,
    kernel: Sightable,
    found: Candidates,
    clock: ClockFit,
    where: Located,
    often: Index,
) -> _Answer:
    """What this clock leaves of all assignments."""
    every, precision = np.arange(len(packets)), precision_of(packets["ts"])
    at, error = clock.to_kernel(packets["ts"], every), clock.error(packets["ts"], every) + precision
    local = is_local(clock, precision)[clock.segment_of(every)]
    several = bool(np.isin(packets["linktype"], SEVERAL_DEVICES).all())
    if not several and not where.devices:
        local[:] = False
    if not local.all():  # it may have been taken at any host's device that these packets passed
        where = where._replace(devices=())
    sockets_only = bool(local.all()) and not incomplete(kernel.log)
    here = eligible(kernel, where, sockets_only, several)
    may_lack, perhaps = lacking(kernel, where.place, at, error)
    at_socket = np.asarray(kernel.moments["socket"], np.bool_)
    # A packet in whose time nothing is missing was captured by a call that the log has.
    shown = local & ~may_lack & ~perhaps & (here & at_socket).any() & where.place.at_socket

    asked = Asked(packets, kernel, found, at, here, hidden(kernel), shown, not local.all())

    def pairs(error: Index) -> Edges:
        return options(asked, error).edges

    # What is under way between hosts may wait longer than all those that the clock was fitted from.
    within = np.where(local, error, far(error))
    copied, again = _copies(packets)
    edges, near, unsure = options(asked, within)
    edges = edges.only(~again[edges.packet])
    believed = trusted(packets, clock, kernel, edges, precision)
    may_lack[found.many] = True  # not all of their candidates are listed
    perhaps |= ~local  # what another host captured may never have come here
    if perhaps.any():
        may_lack |= perhaps & company(packets, kernel, error, pairs, often)
    parts = np.where(local.all(), 0, offsets(packets, edges.packet))
    orders = orders_of(packets, where) if local.all() else (None,)

    def problem_of(order: int | None) -> tuple[Index, Problem]:
        return problem_for(kernel, at, within, may_lack, edges, parts, order)

    numbers, problem, made = first_consistent(orders, problem_of)
    if (made.why == CROWDED).any():  # the capture is not of one tap: moments may come twice
        made = each_alone(problem, made)
    why = np.where(believed, made.why, np.where(made.why == NO_PAIR, NO_PAIR, UNTRUSTED))
    life = np.where(believed, made.life, -1)
    if not believed.all():
        own = np.flatnonzero(_by_tcp_alone(packets, found) & ~believed[found.packet])
        own = own[
            ~company(packets, kernel, error, pairs, often)[found.packet[own]]
            & ~may_lack[found.packet[own]]
        ]
        life[found.packet[own]], why[found.packet[own]] = found.series[own], EXACTLY
    life[copied], why[copied] = -1, CROWDED
    # Another host's sniffer was at none of them.
    against = local & (made.why == NO_PAIR) & ~near & ~may_lack & ~again
    against &= packets["ip_version"] != 0
    only = np.bincount(found.packet, minlength=len(packets)) == 1
    only[often] = False
    set_there = doubted(packets, kernel, found, only & (life >= 0), against) & (life >= 0)
    life[set_there], why[set_there] = -1, DOUBTED
    known = believed & local & (life >= 0) & (made.moment >= 0) & ~unsure
    moment = np.where(known, np.append(numbers, NO_MOMENT)[made.moment], NO_MOMENT)
    named = _nameable(kernel) & ~np.append(asked.doubtful, False)
    moment = np.where(named[moment], moment, NO_MOMENT)
    return _Answer(life, moment, why.astype(np.int8), edges.only(made.possible))


def _nameable(kernel: Sightable) -> Flags:
    """Moments of a packet socket's call; in a log without any, those of lifetimes of which the log
    shows every device.  False for NO_MOMENT, the last.
    """
    moments, probes = kernel.moments, kernel.log.probes.values()
    socket = np.asarray(moments["socket"], np.bool_)
    named = socket & (np.asarray(moments["ifindex"]) > 0)
    if not socket.any():
        armed = {p.name for p in probes if p.address and not p.error}
        hidden = ~np.asarray(moments["met"], np.bool_) | (np.asarray(moments["ifindex"]) <= 0)
        series = np.asarray(moments["series"], np.int64)
        named = np.bincount(series, weights=hidden)[series] == 0
        named &= bool(armed & (RECEIVE_START | TRANSMIT))
    return np.append(named, False)


def _copies(packets: Packets) -> tuple[Flags, Flags]:
    """Packets that are in the file more than once, and those that are not its first copy.

    Two passes of a tap have not the same time and the same bytes.
    """
    names = [name for name in PACKET_DTYPE.names or () if name not in ("offset", "interface")]
    some = np.flatnonzero(shared(packets["ts"]))
    rows = hashed(part(packets, name, some) for name in names)
    copied, again = np.zeros((2, len(packets)), np.bool_)
    copied[some], again[some] = shared(rows), repeated(rows)
    return copied, again


def _pairs(found: Candidates, answer: _Answer) -> Decided:
    """The verdict of each pair that is left."""
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
    return made.only(keep)


def _without_clock(packets: Packets, kernel: Sightable, found: Candidates) -> Decided:
    """Packets without a time: exact is what TCP's numbers decide alone.

    Where records are lost, any packet's lifetime may be among them.
    """
    alone = _alone(found)
    exact = _by_tcp_alone(packets, found) & (not incomplete(kernel.log))
    rung = np.where(alone, np.where(exact, found.rung, UNSURE), BY_TIME).astype(np.int8)
    verdict = np.where(exact, EXACT, AMBIGUOUS).astype(np.uint8)
    none = np.full(len(alone), NO_MOMENT, np.int64)
    return Decided(found.packet, found.series, verdict, rung, exact.astype(np.float64), none)


def _alone(found: Candidates) -> Flags:
    """Pairs whose packet has no other series, and whose series has no other packet."""
    alone = np.bincount(found.packet, minlength=1)[found.packet] == 1
    return np.asarray(alone & (np.bincount(found.series, minlength=1)[found.series] == 1))


def _by_tcp_alone(packets: Packets, found: Candidates) -> Flags:
    """Pairs that TCP's sequence numbers decide, which begin at 32 random bits (RFC 9293 3.4.1)."""
    exact = _alone(found) & ~found.vague & (packets["seq"][found.packet] >= 0)
    exact &= packets["protocol"][found.packet] == TCP
    whole = np.maximum(packets["frag_off"][found.packet], 0) & FRAGMENT == 0
    return np.asarray(exact & whole, np.bool_)


def of_segments(
    packets: Packets, kernel: Sightable, found: Candidates, clock: ClockFit | None, place: Place
) -> Decided:
    """Decide pairs of packets with larger skbs that they may be a part of.

    Exact is the only skb whose moments the clock does not contradict, and of whose bytes no other
    packet has the same.
    """
    if not len(found.packet):
        return undecided(found, BY_TIME)
    if clock is None:
        return _segments_without_clock(packets, kernel, found)
    every = np.arange(len(packets))
    at, error = clock.to_kernel(packets["ts"], every), clock.error(packets["ts"], every)
    here = np.ones(len(kernel.moments), np.bool_)
    edges = between(kernel, found.packet, found.series, at, error, here)
    near = np.zeros(len(found.packet), np.bool_)
    near[edges.pair] = True
    alone = np.bincount(found.packet, weights=near, minlength=1)[found.packet] == 1
    exact = near & alone & ~_same_bytes(packets, found) & (not incomplete(kernel.log))
    exact &= trusted(packets, clock, kernel, edges, 1)[found.packet]
    exact &= ~np.logical_or(*lacking(kernel, place, at, error))[found.packet]
    verdict = np.where(exact, EXACT, AMBIGUOUS).astype(np.uint8)
    rung = np.where(exact, BY_SEGMENT, np.where(near, BY_TIME, LATE)).astype(np.int8)
    none = np.full(len(near), NO_MOMENT, np.int64)
    made = Decided(found.packet, found.series, verdict, rung, exact.astype(np.float64), none)
    has = np.zeros(len(packets), np.bool_)
    has[found.packet[near]] = True
    return made.only(near | ~has[found.packet])


def _segments_without_clock(packets: Packets, kernel: Sightable, found: Candidates) -> Decided:
    """Only TCP's numbers say of what larger skb a packet is a part."""
    exact = np.bincount(found.packet, minlength=1)[found.packet] == 1
    exact &= (packets["protocol"][found.packet] == TCP) & (packets["seq"][found.packet] >= 0)
    exact &= ~_same_bytes(packets, found) & (not incomplete(kernel.log))
    made = undecided(found, UNSURE)
    return made._replace(
        verdict=np.where(exact, EXACT, AMBIGUOUS).astype(np.uint8),
        rung=np.where(exact, BY_SEGMENT, UNSURE).astype(np.int8),
        confidence=exact.astype(np.float64),
    )


def _same_bytes(packets: Packets, found: Candidates) -> Flags:
    """Pairs of whose skb another packet has a part that begins alike."""
    begins = [found.series, packets["seq"][found.packet], packets["ip_id"][found.packet]]
    if (packets["seq"][found.packet] >= 0).all():
        begins = begins[:2]
    _, back, count = np.unique(
        np.stack(begins, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    return np.asarray(count[back.reshape(-1)] > 1)
