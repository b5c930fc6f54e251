# SPDX-License-Identifier: MIT
"""TCP segments that were sent again or arrived out of order, and what kernels did with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Int64s
from ...store.whole_columns import Array
from ..fields.stream_fields import ACK, SYN
from ..fields.tcp_analysis import analysis_of
from ..fields.tcp_segment_keys import packet_keys, port_number
from ..packet_legs import packets_of_legs
from ..row_number_sets import distinct, flags_of, places_of
from ..streams.tcp_segment_copies import KEY, earlier_copies, exact_matches, seen_packets
from ..streams.tcp_segment_overlaps import copies_of_network, earlier_holders
from .drop_events import drops_of
from .rule_inputs import Case

FATES = ("dropped", "wire", "arrived", "unknown")
# Functions that make a SYN/ACK, or send it first.  The kernel answers a repeated SYN with a new
# one, without calling SENDS_AGAIN (net/ipv4/tcp_output.c: tcp_rtx_synack()).
MAKES_SYN_ACK = ("tcp_make_synack", "ip_build_and_send_pkt", "ip6_xmit")
SENDS_AGAIN = ("__tcp_retransmit_skb", "tcp_retransmit_skb")
MAX_SEGMENTS = 10_000  # most segments that are followed


class Again(NamedTuple):
    """A segment that was sent again: its packet, its first copy, and what happened to that copy.

    `first` is 0 if the first copy was not captured.
    """

    packet: int
    first: int  # -n for row K<n>
    fate: str
    why: str  # of a drop


def flagged(case: Case, name: str) -> Int64s:
    """Return the numbers of chosen packets that tcp.analysis marks with `name`.

    Raises Cancelled.
    """
    data = case.scope.fields
    if data is None:
        return np.zeros(0, np.int64)
    mine = case.packets
    has = analysis_of(data, case.scope.progress).has(name, mine - 1)
    return np.asarray(mine[has], np.int64)


def sent_again(case: Case) -> list[Again]:
    """Return the chosen packets that repeat a segment, and what happened to the first copy.

    If the segment was cut in another way, its first copy is the segment that had its first byte.
    If several captures have an skb, the skb counts once.
    """
    again = repetitions(case)
    chosen = flags_of(case.packets, case.scope.columns.length("packet") + 1)
    packets = again[chosen[again]][:MAX_SEGMENTS]
    if not len(packets):
        return []
    drops = drops_of(case.everything)
    # The receiver has the data of a segment that it discarded as repeated
    lost = ~drops.needless
    dropped = dict(zip(drops.packet[lost].tolist(), drops.key[lost].tolist(), strict=True))
    earlier = earlier_copies(case.scope, packets)
    cut = np.flatnonzero(earlier == 0)  # maybe a part of a segment
    earlier[cut] = earlier_holders(case.scope, packets[cut])
    sent, received = seen_packets(case.scope, np.maximum(earlier, 0))
    found = []
    for at, (packet, one) in enumerate(zip(packets.tolist(), earlier.tolist(), strict=True)):
        why = drops.keys[dropped[one]].reason if one and one in dropped else ""
        fate = "unknown"
        if why:
            fate = "dropped"
        elif one > 0:
            fate = "arrived" if received[at] else "wire" if sent[at] else fate
        found.append(Again(packet, one, fate, why))
    return _each_once(case, found)


def _each_once(case: Case, found: list[Again]) -> list[Again]:
    """Return one repeated segment for each skb, if possible one whose fate is known."""
    matches = exact_matches(case.scope, np.array([one.packet for one in found], np.int64))
    leg = dict(zip(matches.packet[::-1].tolist(), matches.leg[::-1].tolist(), strict=True))
    best: dict[int, Again] = {}
    for one in sorted(found, key=lambda again: again.fate == "unknown"):
        best.setdefault(leg.get(one.packet, -one.packet), one)
    return sorted(best.values())


def repetitions(case: Case) -> Int64s:
    """Return the numbers of the chosen packets that repeat a segment.  Raises Cancelled.

    tcp.analysis takes a late segment, or a segment that the network copied, for a segment that was
    sent again.  If a recorded kernel sent the segment, its calls decide whether the segment was
    sent again.
    """
    found: Int64s = case.cached("repetitions", _repetitions)
    return found


def _repetitions(case: Case) -> Int64s:
    supposed = flagged(case, "retransmission")
    supposed = supposed[~copies_of_network(case.scope, supposed)]
    answers = supposed[tcp_flags(case, supposed) & (SYN | ACK) == SYN | ACK]
    if len(answers) and not set(MAKES_SYN_ACK).isdisjoint(case.scope.function_names):
        answers = np.intersect1d(answers, _handled_by(case, MAKES_SYN_ACK))
    again = same_skbs(case, np.union1d(_handled_by(case, SENDS_AGAIN), answers))
    return np.union1d(supposed[~_sent_once(case, supposed, again)], again)


def _sent_once(case: Case, packets: Int64s, again: Int64s) -> Bools:
    """Return for each of `packets` whether a recorded kernel sent it and it is not in `again`.

    If the functions that send segments again have no probe, all flags are false, because a log
    would not show that a segment was sent again.
    """
    if set(SENDS_AGAIN).isdisjoint(case.scope.function_names):
        return np.zeros(len(packets), np.bool_)
    sent, _ = seen_packets(case.scope, packets)
    return sent & ~np.isin(packets, again)


def same_skbs(case: Case, packets: Int64s) -> Int64s:
    """Return `packets`, together with the packets of other captures that are the same skbs."""
    legs = distinct(exact_matches(case.scope, packets).leg)
    same = packets_of_legs(case.scope.columns, legs)
    return distinct(np.concatenate([packets, same]))


def tcp_flags(case: Case, packets: Int64s) -> Int64s:
    """Return the TCP flags of each of `packets`, which are packet numbers."""
    return np.asarray(case.scope.columns.take("packet", "tcp_flags", packets - 1), np.int64)


def one_of_each_skb(case: Case, packets: Int64s) -> Int64s:
    """Return `packets` (rising), but only the first of those that are the same skb."""
    matches = exact_matches(case.scope, packets)
    order = np.lexsort((matches.packet, matches.leg))
    packet, leg = matches.packet[order], matches.leg[order]
    return np.setdiff1d(packets, packet[1:][leg[1:] == leg[:-1]])


def _handled_by(case: Case, functions: Sequence[str]) -> Int64s:
    """Return the numbers of chosen packets for which a kernel called one of `functions`."""
    calls = case.called(*functions)
    _, rows = case.packets_of(case.leg_of(calls))
    ids = case.made.units.id[case.rows[distinct(rows)]]
    return np.asarray(ids[ids > 0], np.int64)


def overtaken_in_kernel(case: Case, packets: Int64s) -> Bools:
    """Return for each of `packets` whether another one overtook it inside a recorded kernel.

    A packet was overtaken if another packet of the same connection and direction was captured
    earlier, but began its leg later in the same log.
    """
    found, asked = np.zeros(len(packets), np.bool_), packets[:MAX_SEGMENTS]
    packet, leg = exact_matches(case.scope, _of_same_ports(case, asked))
    if not len(packet):
        return found
    columns = case.scope.columns
    keys = [columns.take("packet", name, packet - 1) for name in KEY[:-1]]
    keys.append(case.scope.sources_of(leg))
    over = overtaken_rows(keys, packet, case.of_leg("begin_ns", leg))
    order = np.argsort(packet, kind="stable")  # of several matches the first one counts
    place = places_of(asked, packet[order])
    found[: len(asked)] = (place >= 0) & over[order[place]]
    return found


def _of_same_ports(case: Case, packets: Int64s) -> Int64s:
    """Return all packets that may have the same ports as one of `packets`."""
    columns = case.scope.columns
    own = (columns.take("packet", name, packets - 1) for name in ("sport", "dport"))
    keys = packet_keys(columns, case.scope.fields)
    return keys.with_ports(port_number(*own)) + 1


def overtaken_rows(keys: list[Array], packet: Int64s, begin: Int64s) -> Bools:
    """Return for each row whether a row with equal `keys` and a lower `packet` begins later."""
    count = len(packet)
    order = np.lexsort((packet, *keys))
    changes = np.zeros(count, np.bool_)
    for key in keys:
        changes[1:] |= key[order][1:] != key[order][:-1]
    group = np.cumsum(changes)
    rank = np.searchsorted(np.sort(begin), begin)[order]
    latest = np.maximum.accumulate(group * (count + 1) + rank)  # begins anew with each group
    changes[1:] |= packet[order][1:] != packet[order][:-1]
    before = np.maximum.accumulate(np.where(changes, np.arange(count), 0)) - 1
    found = np.zeros(count, np.bool_)
    known = (before >= 0) & (group[before] == group)
    found[order] = known & (latest[before] > group * (count + 1) + rank)
    return found
