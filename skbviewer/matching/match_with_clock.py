# SPDX-License-Identifier: MIT
"""Find each packet's lifetime and tap moment with a given clock, or the reason why it has none.

Input: pairs (packet, series) with agreeing identities, the clock fit, and where the capture was
taken.  Output: a Solution.  The steps find facts about the capture (_case), the moments at which
each packet may have been captured (possible_tap_moments.py), the packets that the log may lack
(missing_tap_moments.py, repeated_identities.py), and what all consistent assignments have in common
(packets_to_assign.py, forced_lifetimes.py).  The last step rejects results that the clock cannot
prove (same_traffic.py, packets_near_clock_steps.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import PACKET_DTYPE, ColumnTable, KernelLog, Packets, part
from ..records.types import Bools, Int64s
from .arrays.hash_join import column_hashes, is_repeated, is_shared
from .assignment.forced_lifetimes import Assigned, Problem
from .assignment.packets_to_assign import (
    NO_MOMENT,
    each_alone,
    first_consistent,
    orders_of,
    problem_for,
)
from .candidates.capture_namespaces import in_other_namespaces
from .candidates.cooked_headers import are_of_this_host
from .candidates.lifetimes_without_headers import may_hold
from .candidates.missing_tap_moments import hidden, lacking, lost_undated, without_number
from .candidates.packets_near_clock_steps import contradicted_by_clock
from .candidates.possible_tap_moments import Asked, possible_pairs
from .candidates.repeated_identities import far, in_flow_with_twins, offsets
from .candidates.same_traffic import is_local, sent_once, trusted
from .candidates.tap_moment_conditions import Edges, eligible
from .clock.capture_point_fit import SEVERAL_DEVICES, Located
from .clock.clock_fit import ClockFit, precision_of
from .identity.identity_candidates import Candidates
from .identity.identity_ladder_loops import FRAGMENT
from .kernel_functions import RECEIVE_START, TRANSMIT
from .legs.declared_losses import is_filtered

if TYPE_CHECKING:
    from .match_types import KernelSide

EXACTLY, SEVERAL, LACKING, CROWDED, TOO_LARGE, NO_PAIR = range(6)  # assignment.Assigned.why
UNTRUSTED, DOUBTED = 6, 7  # the clock is not believed; it may have been set near the packet
NO_DEVICE = 8  # the capture agrees with no device, and another packet has the identity

COOKED = ("sll_ifindex", "sll_outgoing")  # packet columns that only cooked captures have
ROUNDED_NS = 1000  # the time of a copy may be rounded down to a multiple of this


class Solution(NamedTuple):
    """The lifetime and the tap moment of each packet, or the reason why it has none.

    By packet: `life` is its series or -1; `moment` is a row of the log's moments or -1; `why` is
    the reason, one of the numbers above.  `edges` are the pairs of packets and moments that are
    still possible.
    """

    life: Int64s
    moment: Int64s
    why: npt.NDArray[np.int8]
    edges: Edges


class _Case(NamedTuple):
    """What capture, clock and log show about each packet.

    `local` is True if the packet was stamped on the log's host, by a clock that the moments
    confirm.  `may_lack` is True if the log lacks records near the packet's time.  `perhaps` is True
    if the log may lack the packet at any time.  `error` is the possible error of the clock at the
    packet's time, ns.  `within` is the greatest distance of a moment from the packet's time, ns.
    `copied` is True if the file has the packet more than once.  `again` is True if the packet
    repeats an earlier packet in the file.
    """

    asked: Asked
    where: Located
    local: Bools
    may_lack: Bools
    perhaps: Bools
    error: Int64s
    within: Int64s
    copied: Bools
    again: Bools

    def edges(self, error: Int64s) -> Edges:
        """Return the pairs that are possible if the clock's error is `error` (ns, by packet)."""
        return possible_pairs(self.asked, error).edges


def solve(
    packets: Packets,
    kernel: KernelSide,
    found: Candidates,
    clock: ClockFit,
    where: Located,
    often: Int64s,
) -> Solution:
    """Find each packet's lifetime and tap moment with this clock, or the reason why it has none.

    `found` are the candidates, and `where` says where the capture was taken.  The packets `often`
    have so many candidates that `found` has only those near the time of capture.
    """
    case = _with_cooked_headers(_in_one_namespace(_case(packets, kernel, found, clock, where)))
    edges, near, unsure = possible_pairs(case.asked, case.within)
    edges = edges.selected(~case.again[edges.packet])
    believed = trusted(packets, clock, kernel, edges, precision_of(packets["ts"]))
    may_lack = _may_lack(case, often)
    numbers, made = _assigned(case, edges, may_lack)
    life, why = _lifetimes(case, made, believed, may_lack, often)
    passing = _passing(case)
    against = case.local & (made.why == NO_PAIR) & ~near & ~may_lack & ~case.again
    against &= (packets["ip_version"] != 0) & (np.bincount(passing.packet, minlength=len(life)) > 0)
    anchors = _anchors(passing, life, often)
    set_there = contradicted_by_clock(packets, kernel, passing, anchors, against) & (life >= 0)
    life[set_there], why[set_there] = -1, DOUBTED
    why[(why == LACKING) & ~_declared(case)] = NO_DEVICE
    copies = np.isin(life, kernel.perhaps_copies)
    if kernel.log.missed or lost_undated(kernel) or is_filtered(kernel.log):
        copies |= case.perhaps & (life >= 0) & ~_at_a_device(case, edges, life)
    life[copies], why[copies] = -1, LACKING
    known = believed & case.local & (life >= 0) & (made.moment >= 0) & ~unsure
    moment = np.where(known, np.append(numbers, NO_MOMENT)[made.moment], NO_MOMENT)
    named = _nameable(kernel) & ~np.append(case.asked.doubtful, False)
    moment = np.where(named[moment], moment, NO_MOMENT)
    return Solution(life, moment, why.astype(np.int8), edges.selected(made.possible))


def _case(
    packets: Packets, kernel: KernelSide, found: Candidates, clock: ClockFit, where: Located
) -> _Case:
    every, precision = np.arange(len(packets)), precision_of(packets["ts"])
    at, error = clock.to_kernel(packets["ts"], every), clock.error(packets["ts"], every) + precision
    local = is_local(clock, precision)[clock.segment_of(every)]
    several = bool(np.isin(packets["linktype"], SEVERAL_DEVICES).all())
    if not several and not where.devices:
        local[:] = False
    if not local.all():  # the capture may be of any device of any host that these packets passed
        where = where._replace(devices=())
    sockets_only = bool(local.all()) and not incomplete(kernel.log)
    here = eligible(kernel, where, sockets_only, several)
    may_lack, perhaps = lacking(kernel, where.place, at, error)
    if lost_undated(kernel) or (kernel.log.missed and not is_filtered(kernel.log)):
        may_lack |= perhaps & without_number(packets)
    may_lack |= may_hold(packets, kernel, at, error, here, bool(local.all()))
    # If the log lacks nothing around a packet's time, it has the call that captured the packet.
    shown = local & ~may_lack & ~perhaps & where.place.at_socket
    shown &= (here & np.asarray(kernel.moments["socket"], np.bool_)).any()
    asked = Asked(packets, kernel, found, at, here, hidden(kernel), shown, not local.all())
    # Packets between hosts may take longer than any packet to which the clock was fitted.
    within = np.where(local, error, far(error))
    return _Case(asked, where, local, may_lack, perhaps, error, within, *_copies(packets))


def _in_one_namespace(case: _Case) -> _Case:
    """For a capture of all devices, drop moments in namespaces where its socket cannot be.

    If no device agrees with the capture, nothing is dropped: several sockets may have captured it.
    """
    asked = case.asked
    several = bool(np.isin(asked.packets["linktype"], SEVERAL_DEVICES).all())
    if not several or not case.where.devices:
        return case
    complete = ~case.may_lack & ~case.perhaps & (asked.packets["ip_version"] != 0)
    complete[asked.found.many] = False  # not all of their candidates are listed
    edges = case.edges(case.within)
    elsewhere = in_other_namespaces(asked.kernel.moments, edges, complete)
    return case._replace(asked=asked._replace(here=asked.here & ~elsewhere))


def _with_cooked_headers(case: _Case) -> _Case:
    """For a capture of all devices, use device and direction in its headers if they are certain.

    They are used only if the log lacks nothing, and shows the calls of packet sockets.
    """
    asked, kernel = case.asked, case.asked.kernel
    packets = asked.packets
    several = bool(np.isin(packets["linktype"], SEVERAL_DEVICES).all())
    lacks = incomplete(kernel.log) or kernel.log.missed or lost_undated(kernel)
    if not several or not case.local.all() or not case.where.at_sockets or lacks:
        return case
    complete = ~case.may_lack & ~case.perhaps & (packets["ip_version"] != 0)
    complete[asked.found.many] = False  # not all of their candidates are listed
    if not are_of_this_host(packets, kernel.moments, case.edges(case.within), complete):
        return case
    copied, again = _copies(packets, COOKED)
    return case._replace(asked=asked._replace(cooked=True), copied=copied, again=again)


def _may_lack(case: _Case, often: Int64s) -> Bools:
    """Return for each packet whether the log may lack its moment."""
    packets, kernel, found = case.asked.packets, case.asked.kernel, case.asked.found
    may_lack = case.may_lack.copy()
    may_lack[found.many] = True  # not all of their candidates are listed
    perhaps = case.perhaps | ~case.local  # another host's packet may never have come here
    if perhaps.any():
        may_lack |= perhaps & in_flow_with_twins(packets, kernel, case.error, case.edges, often)
    return may_lack


def _declared(case: _Case) -> Bools:
    """Return for each packet whether the log itself gives a reason why it may lack the moment.

    For packets without such a reason, _may_lack() is True only because the capture may be of
    another host.
    """
    declared = case.may_lack | case.perhaps
    declared[case.asked.found.many] = True
    return declared


def _assigned(case: _Case, edges: Edges, may_lack: Bools) -> tuple[Int64s, Assigned]:
    """Return the moments that packets may have, and the result of the assignment."""
    packets, local = case.asked.packets, bool(case.local.all())
    parts = np.zeros(len(edges.packet), np.int64) if local else offsets(packets, edges.packet)
    orders = orders_of(packets, case.where) if local else (None,)

    def problem_of(order: int | None) -> tuple[Int64s, Problem]:
        kernel, at = case.asked.kernel, case.asked.at
        return problem_for(kernel, at, case.within, may_lack, edges, parts, order)

    numbers, problem, made = first_consistent(orders, problem_of)
    if (made.why == CROWDED).any():  # the capture is not of one tap: moments may be used twice
        made = each_alone(problem, made)
    return numbers, made


def _lifetimes(
    case: _Case, made: Assigned, believed: Bools, may_lack: Bools, often: Int64s
) -> tuple[Int64s, Int64s]:
    """Return the lifetime of each packet, and the reason if it has none.

    For packets whose clock is not `believed`, only TCP's sequence numbers decide.
    """
    packets, kernel, found = case.asked.packets, case.asked.kernel, case.asked.found
    why = np.where(believed, made.why, np.where(made.why == NO_PAIR, NO_PAIR, UNTRUSTED))
    life = np.where(believed, made.life, -1)
    if not believed.all():
        twins = in_flow_with_twins(packets, kernel, case.error, case.edges, often)
        own = by_tcp_alone(packets, found) & ~(believed | twins | may_lack)[found.packet]
        life[found.packet[own]], why[found.packet[own]] = found.series[own], EXACTLY
    life[case.copied], why[case.copied] = -1, CROWDED
    return life, np.asarray(why, np.int64)


def _at_a_device(case: _Case, edges: Edges, life: Int64s) -> Bools:
    """Return for each packet whether its lifetime has a possible tap moment at a known device.

    Without a known device, the lifetime may be that of another skb with equal bytes: for example a
    bridge's clone that went to another port, while the log lacks all calls of the captured skb.
    """
    moments = case.asked.kernel.moments
    shown = ~_at_no_device(moments)[edges.moment]
    shown &= case.asked.found.series[edges.pair] == life[edges.packet]
    made = np.zeros(len(life), np.bool_)
    made[edges.packet[shown]] = True
    return made


def _passing(case: _Case) -> Candidates:
    """Return the candidates whose lifetime was at a place of the capture, at any time."""
    kernel, found = case.asked.kernel, case.asked.found
    here = np.zeros(len(kernel.series.parent), np.bool_)
    here[np.asarray(kernel.moments["series"])[case.asked.here]] = True
    return found.only(here[found.series])


def _anchors(found: Candidates, life: Int64s, often: Int64s) -> Bools:
    """Return for each packet whether it has one candidate, and was captured at a moment of it."""
    only = np.bincount(found.packet, minlength=len(life)) == 1
    only[often] = False
    return np.asarray(only & (life >= 0))


def _nameable(kernel: KernelSide) -> Bools:
    """Return for each moment whether a match may name it as the place of capture.

    A match may name a moment if the moment belongs to a call of a packet socket.  If the log has no
    calls of packet sockets, a match may name a moment if the log shows all devices of the moment's
    lifetime.  The result has one more element at its end, for NO_MOMENT, which is False.
    """
    moments, probes = kernel.moments, kernel.log.probes.values()
    socket = np.asarray(moments["socket"], np.bool_)
    named = socket & (np.asarray(moments["ifindex"]) > 0)
    if not socket.any():
        armed = {p.name for p in probes if p.address and not p.error}
        series = np.asarray(moments["series"], np.int64)
        named = np.bincount(series, weights=_at_no_device(moments))[series] == 0
        named &= bool(armed & (RECEIVE_START | TRANSMIT))
    return np.append(named, False)


def _at_no_device(moments: ColumnTable) -> Bools:
    """Return for each moment whether its device is unknown, or is shown by no call."""
    return ~np.asarray(moments["met"], np.bool_) | (np.asarray(moments["ifindex"]) <= 0)


def _copies(packets: Packets, also: tuple[str, ...] = ()) -> tuple[Bools, Bools]:
    """Return two flags for each packet: the file has it several times; it is not the first copy.

    Copies have the same time, the same bytes, and the same values in the columns `also`.  If one
    packet passes a tap twice, the two captured packets differ in time.  If the file was merged from
    captures with times in us and in ns, the time of one copy may be rounded down to us.
    """
    other = ("offset", "interface", "ts", *COOKED)
    names = [*(name for name in PACKET_DTYPE.names or () if name not in other), *also]
    rounded = packets["ts"] - packets["ts"] % ROUNDED_NS
    some = np.flatnonzero(is_shared(rounded))
    ts, rounded = packets["ts"][some], rounded[some]
    rows = column_hashes([rounded, *(part(packets, name, some) for name in names)])
    exactly = ~np.isin(rows, rows[ts == rounded])  # no copy was rounded
    rows = column_hashes([rows, np.where(exactly, ts, rounded)])
    copied, again = np.zeros((2, len(packets)), np.bool_)
    copied[some], again[some] = is_shared(rows), is_repeated(rows)
    return copied, again


def incomplete(log: KernelLog) -> bool:
    """Return whether a log declares that it lacks lifetimes: by a filter, losses or damage."""
    lacks = log.lost_records > 0 or bool(log.warnings) or not log.complete
    return lacks or is_filtered(log)


def is_alone(found: Candidates) -> Bools:
    """Return for each pair whether neither its packet nor its series is in another pair."""
    alone = np.bincount(found.packet, minlength=1)[found.packet] == 1
    return np.asarray(alone & (np.bincount(found.series, minlength=1)[found.series] == 1))


def by_tcp_alone(packets: Packets, found: Candidates) -> Bools:
    """Return for each pair whether TCP's sequence numbers decide it alone.

    `found` are the candidates of `packets`.  A connection's sequence numbers start at 32 random
    bits (RFC 9293, 3.4.1).  Sequence numbers cannot distinguish a segment from the same segment
    when it is sent again.
    """
    exact = is_alone(found) & ~found.vague & sent_once(packets)[found.packet]
    whole = np.maximum(packets["frag_off"][found.packet], 0) & FRAGMENT == 0
    return np.asarray(exact & whole, np.bool_)
