# SPDX-License-Identifier: MIT
"""Find the drops that lost their packet.

When the kernel frees leftovers of a packet, it counts a drop, too, but no packet is lost.

A drop lost its packet, except in these cases:

- A socket had already received the packet, or a copy of it.  But if a datagram is dropped because
  its checksum is wrong, it is lost in any case.
- The function that dropped the packet is one of FREED.
- Nobody on the host wants the packet (UNWANTED, packets_for_other_hosts.py), or the receiver
  discards data that it has already (REPEATED, harmless_segment_drops.py).
- The kernel gives no reason, and records were lost between the packet's first leg and the drop, so
  a socket may have received the packet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...records.kbl_layout import KblEvent
from ...records.types import LATEST_NS, Bools, Int64s
from ..fields.field_source_tables import drops_of
from ..words.kernel_log_names import MASK64
from .harmless_segment_drops import discarded
from .packets_for_other_hosts import OTHERS, ROUTED, for_groups, taken_by_others

if TYPE_CHECKING:
    from ..scope import Scope

MASK32 = 0xFFFFFFFF
UNNAMED = "NOT_SPECIFIED"  # also the reason of packets that are freed after a socket received them
# Functions that free no lost data with kfree_skb(): the first one frees the fragments of a packet
# together with the packet, the second one what a program has read.
FREED = frozenset({"skb_release_data", "sctp_recvmsg"})
# Functions that drop a datagram of a socket's queue if its checksum is wrong, which nobody computed
# before (net/ipv4/udp.c).  They free what a program reads in another way.
CHECKSUM_WRONG = frozenset({"__first_packet_length", "first_packet_length", "udp_read_skb"}) | {
    "udp_recvmsg", "udpv6_recvmsg",
}  # fmt: skip
# Functions that drop packets of multicast groups that nobody on the host has joined.
UNWANTED = frozenset({"ip6_mc_input"})
# Reasons for which the receiver discards data that it has already (net/ipv4/tcp_input.c:
# tcp_data_queue() and others).
REPEATED = frozenset({"TCP_OLD_DATA", "TCP_OLD_SEQUENCE", "TCP_RFC7323_PAWS", "DUP_FRAG"})
FULL = frozenset({"SOCKET_RCVBUFF", "SOCKET_BACKLOG", "PROTO_MEM"})  # of a full receive queue
RECEIVER = "tcp_"  # begin of the names of TCP's receiving functions
DAMAGED = "CSUM"  # in reasons of segments whose header may be wrong, too


class Key(NamedTuple):
    """The reason of a drop, and the place in the code where it happened."""

    reason: str
    place: str  # function+offset; "" = unknown

    @property
    def function(self) -> str:
        """Return the function that dropped the packet: `place` without its offset."""
        return self.place.split("+")[0]

    @property
    def is_needless(self) -> bool:
        """Return whether the function or the reason alone shows that nobody misses the packet."""
        return self.function in UNWANTED or self.reason in REPEATED

    @property
    def may_be_for_group(self) -> bool:
        """Return whether the kernel may have dropped a packet because nobody joined its group."""
        return self.reason == UNNAMED and self.function.split(".")[0] in ROUTED

    @property
    def may_be_needless(self) -> bool:
        """Return whether TCP dropped a segment whose data it may already have received."""
        known = self.is_needless or self.reason in FULL or DAMAGED in self.reason
        return self.place.startswith(RECEIVER) and not known


class DropEvents(NamedTuple):
    """Drops in legs: each drop's event (0-based), leg, and time (ns) on the log's clock.

    `key` is the reason and place of each drop, as an index of `keys`.  `lost` says whether the drop
    lost a packet that somebody misses; `needless` says whether it lost a packet that nobody misses.
    """

    event: Int64s
    leg: Int64s
    ts: Int64s
    key: Int64s
    keys: list[Key]
    lost: Bools
    needless: Bools

    def selected(self, which: Bools) -> DropEvents:
        """Return the drops for which `which` is true; `keys` stay as they are."""
        of = self.event[which], self.leg[which], self.ts[which], self.key[which]
        return DropEvents(*of, self.keys, self.lost[which], self.needless[which])


def drop_events(scope: Scope) -> Int64s:
    """Return the rows (0-based) of all events of the session that are drops."""
    return drops_of(scope.columns) if scope.fields is None else scope.fields.drops()


def all_drops(
    scope: Scope, is_meant: Callable[[Int64s, Int64s], Bools] | None = None
) -> DropEvents:
    """Return the drops in all legs, even in legs that are not chosen, in the order of the events.

    `is_meant` chooses drops: it gets the legs and times (ns) of drops, and returns a flag for each
    drop.  None chooses all drops.
    """
    event = drop_events(scope)
    leg = scope.of_event("leg", event) - 1
    event, leg = event[leg >= 0], leg[leg >= 0]
    ts = scope.of_event("ts", event)
    if is_meant is not None:
        meant = is_meant(leg, ts)
        event, leg, ts = event[meant], leg[meant], ts[meant]
    key, keys = _keys(scope, event)
    lost, needless = np.ones(len(event), np.bool_), np.zeros(len(event), np.bool_)
    if len(event):
        first = _first_delivery(scope)
        checked = np.array([one.function in CHECKSUM_WRONG for one in keys])[key]
        freed = np.array([one.function in FREED for one in keys])[key]
        unnamed = np.array([one.reason == UNNAMED for one in keys])[key]
        lost = (checked | (first[leg] > ts)) & ~freed
        lost &= ~(unnamed & _unsure(scope, leg, ts))
        needless = lost & _needless(scope, leg, key, keys, lost, first)
    return DropEvents(event, leg, ts, key, keys, lost & ~needless, needless)


def legs_of_lost_packets(scope: Scope) -> Bools:
    """Return for each leg of the session whether its packet was lost by a drop in the leg."""
    drops = all_drops(scope)
    found = np.zeros(scope.columns.length("leg"), np.bool_)
    found[drops.leg[drops.lost]] = True
    return found


def _keys(scope: Scope, event: Int64s) -> tuple[Int64s, list[Key]]:
    """Return (key, keys): reason and place of each event, as an index of `keys`."""
    if not len(event):
        return np.zeros(0, np.int64), []
    data = scope.of_event("data", event)
    source = scope.of_event("source", event)
    pairs, which = np.unique(np.stack([source, data], axis=1), axis=0, return_inverse=True)
    found: dict[Key, int] = {}
    number = []
    for log, value in pairs.tolist():
        names = scope.kernels[log].names
        key = Key(names.drop_reason(value & MASK32), names.symbol_at_offset((value & MASK64) >> 32))
        number.append(found.setdefault(key, len(found)))
    return np.array(number, np.int64)[which.reshape(-1)], list(found)


def _needless(
    scope: Scope, leg: Int64s, key: Int64s, keys: list[Key], lost: Bools, first: Int64s
) -> Bools:
    """Return for each drop whether nobody misses its packet; `first` is from _first_delivery()."""
    found: Bools = np.array([one.is_needless for one in keys])[key]
    asked = np.flatnonzero(np.array([one.may_be_needless for one in keys])[key] & lost)
    if len(asked):
        dropped = scope.of_leg("drop_reason") >= 0
        found[asked] = discarded(scope, leg[asked], ~dropped | (first < LATEST_NS))
    for test, which in (
        (taken_by_others, [one.reason == OTHERS for one in keys]),
        (for_groups, [one.may_be_for_group for one in keys]),
    ):
        asked = np.flatnonzero(np.array(which)[key])
        if len(asked):
            found[asked] = test(scope, leg[asked])
    return found


def _first_delivery(scope: Scope) -> Int64s:
    """Return for each leg the time (ns) at which a socket first received its packet or a copy.

    The time is LATEST_NS if no socket received the packet or a copy.
    """
    series, columns = scope.of_leg("series"), scope.columns
    queued = np.asarray(columns.array("event", "event")) == int(KblEvent.SOCK_ENQUEUE)
    queued = np.flatnonzero(queued)
    of = scope.of_event("leg", queued) - 1
    queued, of = queued[of >= 0], of[of >= 0]
    first = np.full(int(series.max(initial=0)) + 1, LATEST_NS, np.int64)
    np.minimum.at(first, series[of], scope.of_event("ts", queued))
    parent = np.asarray(columns.array("series", "parent"), np.int64)
    has_parent = np.flatnonzero(parent > 0)
    np.minimum.at(first, parent[has_parent], first[has_parent + 1])  # a raw socket's clone
    return np.asarray(first[series])


def _unsure(scope: Scope, leg: Int64s, ts: Int64s) -> Bools:
    """Return for each drop whether records were lost after the start of the packet's first leg."""
    series = scope.of_leg("series")
    first = np.full(int(series.max(initial=0)) + 1, LATEST_NS, np.int64)
    np.minimum.at(first, series, scope.of_leg("begin_ns"))
    return scope.lost(leg, first[series[leg]], ts)
