# SPDX-License-Identifier: MIT
"""Dropped packets that were not meant for the host that dropped them.

A switch that does not know where a host is sends packets to all ports, so other hosts get copies,
too.  No packet is lost if another recorded host took its copy.  A host also gets packets of
multicast groups that nobody on it has joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...matching import RX
from ...records.types import INT64_MAX, Bools, Int64s

if TYPE_CHECKING:
    from ..scope import Scope

OTHERS = "OTHERHOST"  # the reason of packets to another host's hardware address
# Functions that drop an IPv4 packet without a reason if nobody has joined its group, because the
# search for a route fails (net/ipv4/route.c: ip_route_input_noref()).
ROUTED = ("ip_rcv_finish_core", "ip_rcv_finish")
GROUPS, GROUP_BITS = 0xE, 28  # 224.0.0.0/4
MOST_COPIES = 8  # a copy of a copy of ... of a packet


def for_groups(scope: Scope, legs: Int64s) -> Bools:
    """Return for each of the 0-based `legs` whether its packet went to an IPv4 multicast group."""
    series = scope.of_leg("series")[legs] - 1
    version, low = (
        np.asarray(scope.columns.take("series", name, series), np.int64)
        for name in ("ip_version", "daddr_lo")
    )
    return np.asarray((version == 4) & ((low & 0xFFFFFFFF) >> GROUP_BITS == GROUPS), np.bool_)


def taken_by_others(scope: Scope, legs: Int64s) -> Bools:
    """Return for each of `legs` whether another network namespace took a copy of its packet.

    `legs` (0-based) are legs in which the packet was dropped for the reason OTHERS.  If a namespace
    dropped its own copy for the reason OTHERS, it does not count as having taken a copy, even if
    the leg of its copy is not in `legs`.  A namespace whose number is unknown does not count as
    another namespace.
    """
    series, netns = scope.of_leg("series"), scope.of_leg("netns")
    received = np.flatnonzero(scope.of_leg("kind") == RX)
    first = _originals(scope, series[received])
    reason = scope.of_leg("drop_reason")
    refused = np.isin(reason, reason[legs][reason[legs] >= 0])
    received = received[~refused[received] & (netns[received] > 0)]
    family, host = first[series[received]], netns[received]
    count = len(first)
    low, high = np.full(count, INT64_MAX), np.full(count, -1, np.int64)
    np.minimum.at(low, family, host)
    np.maximum.at(high, family, host)
    mine, own = first[series[legs]], netns[legs]
    other = (high[mine] >= 0) & ((low[mine] != own) | (high[mine] != own))
    return np.asarray(other & (own > 0), np.bool_)


def _originals(scope: Scope, received: Int64s) -> Int64s:
    """Return for each skb lifetime (from 1) the lifetime from which its packet was copied.

    If a packet is a copy of a copy, the result is the lifetime of the first original.  Only copies
    of lifetimes in `received` count here, because TCP makes a copy of an skb each time it sends the
    skb.
    """
    parent = np.r_[0, np.asarray(scope.columns.array("series", "parent"), np.int64)]
    arrives = np.zeros(len(parent), np.bool_)
    arrives[received] = True
    first = np.arange(len(parent))
    parent = np.where(arrives[np.maximum(parent, 0)] & (parent > 0), parent, first)
    for _ in range(MOST_COPIES):
        first = parent[first]
    return first
