# SPDX-License-Identifier: MIT
"""The drops of chosen packets that lost data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...matching import EXACT
from ...records.kbl_layout import KblEvent
from ...records.types import LATEST_NS, Bools, Int64s
from ..words.kernel_names import MASK64
from .case import Case

MASK32 = 0xFFFFFFFF
FULL = frozenset({"SOCKET_RCVBUFF", "SOCKET_BACKLOG", "PROTO_MEM"})  # of a full receive queue
UNNAMED = "NOT_SPECIFIED"  # also the reason of packets that are freed after a socket received them
# Functions that free no lost data with kfree_skb(): the first one frees the fragments of a packet
# together with the packet, the second one what a program has read.
FREED = frozenset({"skb_release_data", "sctp_recvmsg"})
# Functions that drop a datagram of a socket's queue if its checksum is wrong, which nobody computed
# before (net/ipv4/udp.c).  They free what a program reads in another way.
CHECKSUM_WRONG = frozenset({"__first_packet_length", "first_packet_length", "udp_read_skb"}) | {
    "udp_recvmsg", "udpv6_recvmsg",
}  # fmt: skip


class Key(NamedTuple):
    """The reason and the place of drops."""

    reason: str
    place: str


class Drops(NamedTuple):
    """Drops as recorded: the 0-based event, its time on the log's clock, and its packet (0: none).

    `key` is the reason and place of the drop, an index of `keys`.
    """

    event: Int64s
    ts: Int64s
    packet: Int64s
    key: Int64s
    keys: list[Key]

    def positions(self, key: Key) -> Int64s:
        """Return the indices, in this table, of the drops with the reason and place `key`."""
        return np.flatnonzero(self.key == self.keys.index(key))

    def rows(self, which: Int64s) -> Int64s:
        """Return the packets (n, or -n for row K<n>) of the drops at the indices `which`.

        Unknown packets are left out.
        """
        found = self.packet[which]
        return np.asarray(found[found != 0], np.int64)


def drops_of(case: Case) -> Drops:
    """Return the drops of the chosen packets, found once (see _drops())."""
    found: Drops = case.cached("drops", _drops)
    return found


def _drops(case: Case) -> Drops:
    """Return the drops of the chosen packets, most frequent reason and place first.

    Left out are packets that a socket had received before (unless their checksum is wrong) or, if
    the reason is not named, may have received while records were lost; and drops in the functions
    FREED.
    """
    scope = case.scope
    event = np.flatnonzero(case.event("event") == int(KblEvent.DROP))
    if not len(event):
        return Drops(event, event, event, event, [])
    leg = np.asarray(case.event("leg"), np.int64)[event] - 1
    event, leg = event[leg >= 0], leg[leg >= 0]
    ts = np.asarray(case.event("ts"), np.int64)[event]
    meant = case.is_chosen(leg, ts)
    event, leg, ts = event[meant], leg[meant], ts[meant]
    data = scope.of_event("data", event)
    source = np.asarray(case.event("source"), np.int64)[event]
    delivered, unsure = _delivered(case, leg, ts), _unsure(case, leg, ts)
    found: dict[Key, list[Int64s]] = {}
    for number, value in np.unique(np.stack([source, data], axis=1), axis=0).tolist():
        names = scope.kernels[number].names
        key = Key(names.drop_reason(value & MASK32), names.symbol_at_offset((value & MASK64) >> 32))
        mine = np.flatnonzero((source == number) & (data == value))
        function = key.place.split("+")[0]
        if function not in CHECKSUM_WRONG:
            mine = mine[~delivered[mine]]
        if key.reason == UNNAMED:
            mine = mine[~unsure[mine]]
        if function not in FREED and len(mine):
            found.setdefault(key, []).append(mine)
    keys = sorted(found, key=lambda one: (-sum(map(len, found[one])), one))
    which = np.full(len(event), -1, np.int64)
    for at, key in enumerate(keys):
        which[np.concatenate(found[key])] = at
    kept = which >= 0
    return Drops(event[kept], ts[kept], _packets(case)[leg[kept]], which[kept], keys)


def _delivered(case: Case, leg: Int64s, ts: Int64s) -> Bools:
    """Return for each drop whether a socket had received the packet, or a copy, before."""
    series = np.asarray(case.scope.of_leg("series"))
    queued = np.flatnonzero(case.event("event") == int(KblEvent.SOCK_ENQUEUE))
    of = np.asarray(case.event("leg"), np.int64)[queued] - 1
    queued, of = queued[of >= 0], of[of >= 0]
    first = np.full(int(series.max(initial=0)) + 1, LATEST_NS, np.int64)
    np.minimum.at(first, series[of], np.asarray(case.event("ts"), np.int64)[queued])
    parent = np.asarray(case.scope.columns.array("series", "parent"), np.int64)
    has_parent = np.flatnonzero(parent > 0)
    np.minimum.at(first, parent[has_parent], first[has_parent + 1])  # a raw socket's clone
    return np.asarray(first[series[leg]] <= ts)


def _unsure(case: Case, leg: Int64s, ts: Int64s) -> Bools:
    """Return for each drop whether records were lost between the packet's begin and the drop."""
    series = np.asarray(case.scope.of_leg("series"))
    first = np.full(int(series.max(initial=0)) + 1, LATEST_NS, np.int64)
    np.minimum.at(first, series, case.scope.of_leg("begin_ns"))
    return case.scope.lost(leg, first[series[leg]], ts)


def _packets(case: Case) -> Int64s:
    """Return for each leg a packet that matches it exactly; -n for its row K<n>; 0 if none."""
    columns, legs = case.scope.columns, len(case.made.legs.kind)
    row = np.asarray(columns.array("series", "kernel_only"), np.int64)
    series = np.asarray(case.scope.of_leg("series")) - 1
    found = -np.maximum(row[series], 0) if legs else np.zeros(0, np.int64)
    exact = np.flatnonzero(np.asarray(columns.array("match", "verdict")) == EXACT)[::-1]
    leg = np.asarray(columns.array("match", "leg"), np.int64)[exact] - 1
    found[leg] = np.asarray(columns.array("match", "packet"), np.int64)[exact]
    return found
