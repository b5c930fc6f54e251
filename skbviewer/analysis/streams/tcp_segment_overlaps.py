# SPDX-License-Identifier: MIT
"""Find TCP segments that contain bytes of an earlier segment, but are not copies of it.

If segments are too large for a path, a kernel cuts their bytes in another way before it sends them
again.  The network may also copy a packet.
"""

from __future__ import annotations

import numpy as np

from ...records.protocols import TCP
from ...records.types import Bools, Int64s
from ..fields.tcp_segment_keys import SegmentKeys, packet_keys, port_number, sequence_number
from ..row_number_sets import flags_of
from ..scope import Scope
from .tcp_segment_copies import KEY, is_same_skb

SAME_PACKET = ("ip_id", "payload", "protocol", "tcp_flags", "ack", "source")
STEPS = 32  # most segments, in the order of their sequence numbers, that are searched for each
BEFORE = 1 << 18  # packets before each that are searched: a whole recording would take too long


def earlier_holders(scope: Scope, packets: Int64s) -> Int64s:
    """Return for each segment in `packets` an earlier segment that has its first byte; 0 if none.

    The earlier segment has the same addresses and ports, is not the same skb, and is one of the
    BEFORE packets before this segment.  If several earlier segments qualify, the one with the
    nearest sequence number is returned; among equally near ones, the latest.  If sequence numbers
    wrap around to 0, the earlier segment is not found.
    """
    columns = scope.columns
    ports = (columns.take("packet", name, packets - 1) for name in ("sport", "dport"))
    rows = _keys_near(scope, packets).with_ports(port_number(*ports))
    payload = np.asarray(columns.take("packet", "payload", rows), np.int64)
    tcp = columns.take("packet", "protocol", rows) == TCP
    rows, payload = (column[tcp & (payload > 0)] for column in (rows, payload))
    keys = [np.asarray(columns.take("packet", name, rows), np.int64) for name in KEY]
    order = np.lexsort((rows, keys[-1], *keys[:-1]))
    rows, payload = rows[order], payload[order]
    keys = [key[order] for key in keys]
    at = np.zeros(columns.length("packet"), np.int64)
    at[rows] = np.arange(len(rows))
    asked = np.flatnonzero(flags_of(rows, columns.length("packet"))[packets - 1])
    found = np.zeros(len(packets), np.int64)
    for step in range(1, STEPS + 1):
        asked = asked[(found[asked] == 0) & (at[packets[asked] - 1] >= step)]
        if not len(asked):
            break
        mine = at[packets[asked] - 1]
        ago = rows[mine] - rows[mine - step]
        holds = _holds(keys, payload, mine - step, mine) & (ago > 0) & (ago <= BEFORE)
        later, earlier = asked[holds], rows[mine - step][holds] + 1
        other = ~is_same_skb(scope, packets[later], earlier)
        found[later[other]] = earlier[other]
    return found


def _holds(keys: list[Int64s], payload: Int64s, first: Int64s, later: Int64s) -> Bools:
    """Return whether segment `first` has the first byte of segment `later` of the same stream."""
    same = np.all([key[first] == key[later] for key in keys[:-1]], axis=0)
    end = keys[-1][first] + payload[first]
    return np.asarray(same & (end > keys[-1][later]), np.bool_)


def copies_of_network(scope: Scope, packets: Int64s) -> Bools:
    """Return for each of `packets` whether its capture has an earlier copy of this IPv4 packet.

    A copy has the same addresses, ports, sequence number, length and identification.  At most
    BEFORE packets are between a packet and its copy.  If TCP sends a segment again, the new packet
    has another identification.  Packets whose identification is 0 never count as copies.
    """
    columns = scope.columns
    names = ("sport", "dport", "seq")
    sport, dport, seq = (columns.take("packet", name, packets - 1) for name in names)
    near = _keys_near(scope, packets)
    rows = near.like(port_number(sport, dport), sequence_number(seq))
    rows = rows[np.asarray(columns.take("packet", "ip_id", rows), np.int64) > 0]
    keys = [columns.take("packet", name, rows) for name in (*KEY, *SAME_PACKET)]
    order = np.lexsort((rows, *keys))
    again = np.zeros(columns.length("packet"), np.bool_)
    same = np.all([key[order][1:] == key[order][:-1] for key in keys], axis=0)
    same &= np.diff(rows[order]) <= BEFORE
    again[rows[order][1:][same]] = True
    return np.asarray(again[packets - 1], np.bool_)


def _keys_near(scope: Scope, packets: Int64s) -> SegmentKeys:
    """Return the keys of rows that include the BEFORE rows before each of `packets`."""
    keys = packet_keys(scope.columns, scope.fields)
    if not len(packets):
        return keys.between(0, 0)
    return keys.between(max(int(packets.min()) - 1 - BEFORE, 0), int(packets.max()))
