# SPDX-License-Identifier: MIT
"""Dropped TCP segments that lost nothing: the receiver's TCP had their data, or they have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...records.protocols import TCP
from ...records.types import Bools, Int64s
from ..packet_legs import first_packets
from ..row_number_sets import distinct
from ..streams.tcp_segment_copies import earlier_copies, exact_matches, seen_packets

if TYPE_CHECKING:
    from ..scope import Scope

FIN, SYN = 0x01, 0x02
MOST_COPIES = 16  # a segment is sent again at most so often (net.ipv4.tcp_retries2 is 15)


def discarded(scope: Scope, legs: Int64s, arrived: Bools) -> Bools:
    """Return for each of the 0-based `legs` whether the segment that TCP dropped in it had no use.

    That is so if the segment has neither data nor SYN nor FIN (after the end of a connection, for
    example), or repeats a segment that was received.  Segments without a captured packet are not
    known to be of this kind.  `arrived` says of each leg of the session that the kernel did not
    drop its packet, or only after a socket had received it.
    """
    packets = first_packets(scope.columns, legs)
    found = np.zeros(len(legs), np.bool_)
    mine = np.flatnonzero(packets > 0)
    found[mine] = _has_no_data(scope, packets[mine])
    rest = mine[~found[mine]]
    found[rest] = _repeats_received(scope, packets[rest], arrived)
    return found


def _has_no_data(scope: Scope, packets: Int64s) -> Bools:
    protocol, flags, payload = (
        np.asarray(scope.columns.take("packet", name, packets - 1), np.int64)
        for name in ("protocol", "tcp_flags", "payload")
    )
    bare = (payload == 0) & (flags >= 0) & (flags & (SYN | FIN) == 0)
    return np.asarray((protocol == TCP) & bare)


def _repeats_received(scope: Scope, packets: Int64s, arrived: Bools) -> Bools:
    """Return whether an earlier copy of each packet was received, and was not dropped."""
    found, copy = np.zeros(len(packets), np.bool_), packets.copy()
    for _ in range(MOST_COPIES):
        asked = np.flatnonzero((copy > 0) & ~found)
        if not len(asked):
            break
        earlier = earlier_copies(scope, copy[asked])
        captured = np.maximum(earlier, 0)
        _, received = seen_packets(scope, captured)
        found[asked] = (earlier > 0) & received & ~_dropped(scope, captured, arrived)
        copy[asked] = earlier
    return found


def _dropped(scope: Scope, packets: Int64s, arrived: Bools) -> Bools:
    """Return for each packet whether it did not arrive in one of the legs that match it exactly."""
    matches = exact_matches(scope, packets)
    return np.isin(packets, distinct(matches.packet[~arrived[matches.leg]]))
