# SPDX-License-Identifier: MIT
"""Dropped TCP segments that lost nothing: the receiver's TCP had their data, or they have none."""

from __future__ import annotations

import numpy as np

from ...records.protocols import TCP
from ...records.types import Bools, Int64s
from .case import Case
from .drop_events import Drops
from .segment_copies import earlier_copies, seen_packets

FIN, SYN = 0x01, 0x02
RECEIVER = "tcp_"  # begin of the names of TCP's receiving functions
DAMAGED = "CSUM"  # reasons of segments whose header may be wrong, too
MOST_COPIES = 16  # a segment is sent again at most so often (net.ipv4.tcp_retries2 is 15)


def discarded(case: Case, drops: Drops) -> Bools:
    """Return for each drop whether the receiver's TCP dropped a segment, and nothing was lost.

    That is so if the segment has neither data nor SYN nor FIN (after the end of a connection, for
    example), or repeats a segment that was received.  Drops without a captured packet are not
    known to be of this kind.
    """
    by_tcp = np.array(
        [key.place.startswith(RECEIVER) and DAMAGED not in key.reason for key in drops.keys], bool
    )
    found = np.zeros(len(drops.key), np.bool_)
    mine = np.flatnonzero(by_tcp[drops.key] & (drops.packet > 0)) if len(drops.keys) else found
    if not len(mine):
        return found
    found[mine] = _has_no_data(case, drops.packet[mine])
    rest = np.flatnonzero(by_tcp[drops.key] & (drops.packet > 0) & ~found)
    found[rest] = _repeats_received(case, drops, drops.packet[rest])
    return found


def _has_no_data(case: Case, packets: Int64s) -> Bools:
    columns = case.scope.columns
    protocol, flags, payload = (
        np.asarray(columns.take("packet", name, packets - 1), np.int64)
        for name in ("protocol", "tcp_flags", "payload")
    )
    bare = (payload == 0) & (flags >= 0) & (flags & (SYN | FIN) == 0)
    return np.asarray((protocol == TCP) & bare)


def _repeats_received(case: Case, drops: Drops, packets: Int64s) -> Bools:
    """Return whether an earlier copy of each packet was received, and was not dropped."""
    found, copy = np.zeros(len(packets), np.bool_), packets.copy()
    for _ in range(MOST_COPIES):
        asked = np.flatnonzero((copy > 0) & ~found)
        if not len(asked):
            break
        earlier = earlier_copies(case, copy[asked])
        known = earlier > 0
        kept = known & ~np.isin(earlier, drops.packet)
        _, received = seen_packets(case, np.where(known, earlier, 0))
        found[asked] = kept & received
        copy[asked] = earlier
    return found
