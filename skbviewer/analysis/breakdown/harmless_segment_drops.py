# SPDX-License-Identifier: MIT
"""Dropped TCP segments that lost no data: the receiver had the data, or the segment had none."""

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
    """Return for each of the 0-based `legs` whether the dropped TCP segment was of no use.

    A segment is of no use if it repeats a segment that was received, or if it has neither data nor
    SYN nor FIN (after the end of a connection, for example).  A segment without a captured packet
    never counts as useless.  `arrived` has a flag for each leg of the session: the kernel did not
    drop the leg's packet, or dropped it only after a socket had received it.
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
    """Return for each packet whether the kernel received and kept an earlier copy of it."""
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
    """Return for each packet whether it was dropped before a socket received it."""
    matches = exact_matches(scope, packets)
    return np.isin(packets, distinct(matches.packet[~arrived[matches.leg]]))
