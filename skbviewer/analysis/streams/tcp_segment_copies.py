# SPDX-License-Identifier: MIT
"""Copies of TCP segments in captures, and which packets recorded kernels sent or received."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ...matching import RX
from ...records.protocols import TCP
from ...records.types import Bools, Int64s
from .. import packet_legs
from ..fields.tcp_segment_keys import (
    kernel_only_keys,
    packet_keys,
    port_number,
    sequence_number,
)
from ..parallel_blocks import each_made
from ..row_number_sets import distinct, flags_of
from ..scope import Scope

KEY = ("ip_version", "saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo", "sport", "dport", "seq")
LAST_BITS = 0xFFFFFF  # of a sequence number
MOST_CAPTURES = 16  # that have the same skb
BLOCK = 1 << 18  # packets or skb lifetimes that are read together


class Matches(NamedTuple):
    """Exact matches: numbers of packets, and for each the 0-based leg."""

    packet: Int64s
    leg: Int64s


def earlier_copies(scope: Scope, packets: Int64s) -> Int64s:
    """Return the nearest earlier packet that has the same addresses, ports and sequence number.

    A packet of another capture that is the same skb does not count as a copy.  If the result is -n,
    it is row K<n>, which no capture has.  If the result is 0, there is no earlier packet.
    """
    columns = scope.columns
    count = columns.length("packet")
    wanted = np.asarray(columns.take("packet", "seq", packets - 1), np.int64)
    own = (columns.take("packet", name, packets - 1) for name in ("sport", "dport"))
    key = port_number(*own), sequence_number(wanted)
    mine, lives = (
        _with_sequence(scope, table, wanted, keys(columns, scope.fields).like(*key))
        for table, keys in (("packet", packet_keys), ("series", kernel_only_keys))
    )

    def both(name: str) -> Int64s:
        parts = (columns.take(*of, at) for of, at in (
            (("packet", name), mine), (("series", name), lives)
        ))  # fmt: skip
        return np.concatenate([part.astype(np.int64) for part in parts])

    keys = [both(name) for name in KEY]
    payload = np.asarray(columns.take("packet", "payload", mine), np.int64)
    length = np.r_[payload, np.full(len(lives), -1, np.int64)]
    row = np.asarray(columns.take("series", "kernel_only", lives), np.int64)
    number = np.r_[mine + 1, -row]
    at = np.r_[mine, _place_in_time(scope, lives)]
    order = np.lexsort((at, *keys))
    same = np.all([key[order][1:] == key[order][:-1] for key in keys], axis=0)
    earlier, later = number[order][:-1], number[order][1:]
    same &= (length[order][1:] == length[order][:-1]) | (earlier < 0)
    before = np.zeros(count + 1, np.int64)
    use = same & (later > 0)
    before[later[use]] = earlier[use]
    return _without_same_skb(scope, packets, before)


def _without_same_skb(scope: Scope, packets: Int64s, before: Int64s) -> Int64s:
    """Return for each packet the nearest earlier copy that is a different skb.

    `before` has the nearest earlier copy of each packet.
    """
    found = before[packets]
    for _ in range(MOST_CAPTURES):
        same = np.flatnonzero(is_same_skb(scope, packets, found))
        if not len(same):
            return found
        found[same] = before[found[same]]
    return np.where(is_same_skb(scope, packets, found), 0, found)


def is_same_skb(scope: Scope, packets: Int64s, others: Int64s) -> Bools:
    """Return for each of `packets` whether the packet at its index in `others` is the same skb.

    Both packets must match an skb lifetime exactly.  The result is False if the element of `others`
    is not the number of a packet.
    """
    found = exact_matches(scope, np.r_[packets, others[others > 0]])
    packet, first = np.unique(found.packet, return_index=True)
    series = np.asarray(scope.columns.take("leg", "series", found.leg[first]), np.int64)
    known = np.isin(packets, packet) & np.isin(others, packet)
    own, other = (np.searchsorted(packet, numbers[known]) for numbers in (packets, others))
    known[known] = series[own] == series[other]
    return known


def _with_sequence(scope: Scope, table: str, wanted: Int64s, among: Int64s) -> Int64s:
    """Return the TCP segments of `table` (0-based rows) whose sequence number is in `wanted`.

    Only the rows `among` (rising) are searched.  Comparing the last bits of sequence numbers
    excludes most segments, which is faster than a search.
    """
    columns, last_bits = scope.columns, flags_of(wanted & LAST_BITS, LAST_BITS + 1)

    def search(at: int) -> Int64s:
        rows = among[at : at + BLOCK]
        seq = columns.near(table, "seq", rows).astype(np.int64)
        near = np.flatnonzero(last_bits[seq & LAST_BITS])
        return np.asarray(rows[near[np.isin(seq[near], wanted)]], np.int64)

    blocks = range(0, len(among), BLOCK)
    rows = np.concatenate([np.zeros(0, np.int64), *each_made(search, blocks)])
    return np.asarray(rows[columns.take(table, "protocol", rows) == TCP], np.int64)


def _place_in_time(scope: Scope, lives: Int64s) -> Int64s:
    """Return for each skb lifetime how many packets were captured before it began, minus 0.5."""
    columns = scope.columns
    if not len(lives):
        return np.zeros(0, np.int64)
    begin, source = (
        np.asarray(columns.take("series", name, lives), np.int64) for name in ("begin_ns", "source")
    )
    blocks = range(0, columns.length("packet"), BLOCK)
    times = each_made(partial(_session_times, scope), blocks)
    ts = np.concatenate([np.zeros(0, np.int64), *times])
    order = ts if np.all(ts[1:] >= ts[:-1]) else np.sort(ts)
    found = np.zeros(len(lives))
    for one in np.flatnonzero(np.bincount(source)).tolist():
        mine = np.flatnonzero(source == one)
        found[mine] = np.searchsorted(order, scope.clock.to_session(one, begin[mine])) - 0.5
    return found  # type: ignore[return-value]


def _session_times(scope: Scope, first: int) -> Int64s:
    """Return the session times (ns) of the BLOCK packets from row `first` (0-based) on."""
    ts, of = (
        scope.columns.block("packet", name, first, BLOCK).astype(np.int64)
        for name in ("ts", "source")
    )
    sources = np.flatnonzero(np.bincount(of)).tolist()
    if len(sources) == 1:
        return scope.clock.to_session(sources[0], ts)
    for one in sources:
        ts[of == one] = scope.clock.to_session(one, ts[of == one])
    return ts


def exact_matches(scope: Scope, packets: Int64s) -> Matches:
    """Return all exact matches of `packets`, sorted by the rows of the matches."""
    return Matches(*packet_legs.exact_matches(scope.columns, distinct(packets)))


def seen_packets(scope: Scope, packets: Int64s) -> tuple[Bools, Bools]:
    """Return for each of `packets` whether a recorded kernel sent it, and whether one received it.

    A 0 in `packets` is no packet, so it was neither sent nor received.
    """
    found, asked = exact_matches(scope, packets), distinct(packets)
    is_received = scope.columns.take("leg", "kind", found.leg) == RX
    sent, received = np.zeros((2, len(asked)), np.bool_)
    place = np.searchsorted(asked, found.packet)
    received[place[is_received]] = True
    sent[place[~is_received]] = True
    mine = np.searchsorted(asked, packets)
    return sent[mine], received[mine]
