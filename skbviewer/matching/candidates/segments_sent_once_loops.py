# SPDX-License-Identifier: MIT
"""Follow the acknowledgements of connections: the loop of segments_sent_once.py."""

from __future__ import annotations

from ...records.compiled import allocation_free
from ...records.types import Bools, Int64s

HALF, WHOLE = 1 << 31, 1 << 32


@allocation_free
def beyond(one: int, other: int) -> int:
    """Return how far sequence number `one` is above `other`, modulo 2^32 (RFC 9293, 3.4)."""
    return (one - other + HALF) % WHOLE - HALF


@allocation_free
def find_acknowledged(
    connection: Int64s,
    sender: Bools,
    ts: Int64s,
    seq: Int64s,
    length: Int64s,
    ack: Int64s,
    soon: int,
    once: Bools,
) -> None:
    """Set once[i] to True if the sender shows within `soon` ns that it has the ACK for segment i.

    Rows are sorted by connection, then by time (`ts`, ns).  `sender` is True for the packets of one
    of the two endpoints.  `seq` is the sequence number, `ack` the acknowledgment number (-1 without
    the flag ACK), and `length` counts data bytes, SYN and FIN.
    """
    peer_at = own_at = 0
    known = -1
    for way in (False, True):  # the end whose segments are examined
        for i in range(len(ts)):
            if i == 0 or connection[i] != connection[i - 1]:
                peer_at = own_at = i
                known = -1
            if sender[i] != way or ack[i] < 0:
                continue
            # What the peer had acknowledged in the segments that this packet acknowledges.
            while peer_at < i:
                j = peer_at
                if sender[j] != way and length[j] > 0:
                    if beyond(seq[j] + length[j], ack[i]) > 0:
                        break
                    if ack[j] >= 0 and (known < 0 or beyond(ack[j], known) > 0):
                        known = ack[j]
                peer_at += 1
            while known >= 0 and own_at < i:
                j = own_at
                if sender[j] == way and length[j] > 0:
                    if beyond(seq[j] + length[j], known) > 0:
                        break
                    once[j] = ts[i] - ts[j] <= soon
                own_at += 1
