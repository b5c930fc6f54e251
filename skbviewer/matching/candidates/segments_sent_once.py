# SPDX-License-Identifier: MIT
"""Find TCP segments that were sent only once, because their sender soon got the acknowledgement.

Input: the packets of a capture, and a flag for each packet that the log may have.  Output: the
segments that were sent only once.

A TCP segment without an identification (IPv6, IPv4 identification 0) has the same bytes each time
it is sent.  So the capture may show the first sending and the log a later one, a time D apart.  Two
different sendings are excluded if capture and log share three packets: the segment, a segment of
the peer that acknowledges it, and a packet of the sender that acknowledges the peer's segment.  The
third packet shows that the sender has the acknowledgement of the segment, so it does not send the
segment again.  The time D between two sendings is therefore less than the time from the first to
the third packet.  TCP waits longer than D before it sends a segment again (RFC 6298, 2.4: a second;
TCP_RTO_MIN of Linux: 200 ms).
"""

from __future__ import annotations

import numpy as np

from ...records import UNTIMED, Packets
from ...records.protocols import TCP
from ...records.types import Bools, Int64s
from ..identity.identity_ladder_loops import FRAGMENT
from .segments_sent_once_loops import find_acknowledged

SOON_NS = 200_000_000  # TCP_RTO_MIN of Linux (include/net/tcp.h)
SYN, ACK, FIN = 0x02, 0x10, 0x01  # RFC 9293, 3.1

_ENDPOINTS = ("saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo", "sport", "dport")


def acknowledged(packets: Packets, paired: Bools) -> Bools:
    """Return for each packet whether it is a segment sent only once, as it was soon acknowledged.

    `paired` marks packets that the log may have, according to one clock for all packets.  Other
    packets are ignored.
    """
    once = np.zeros(len(packets), np.bool_)
    rows = np.flatnonzero(paired & _is_whole(packets))
    some = packets[rows]
    connection, sender = _connections(some)
    order = np.lexsort((some["ts"], connection))
    rows, some = rows[order], some[order]
    flags = some["tcp_flags"].astype(np.int64)
    length = some["payload"].astype(np.int64) + (flags & SYN != 0) + (flags & FIN != 0)
    ack = np.where(flags & ACK, some["ack"], -1)
    found = np.zeros(len(rows), np.bool_)
    find_acknowledged(
        connection[order], sender[order], some["ts"].astype(np.int64), some["seq"].astype(np.int64),
        length, ack, SOON_NS, found,
    )  # fmt: skip
    once[rows] = found
    return once


def _is_whole(packets: Packets) -> Bools:
    """Return for each packet whether it has a time and all header fields that this module needs."""
    tcp = (packets["protocol"] == TCP) & (packets["ts"] != UNTIMED) & (packets["payload"] >= 0)
    header = (packets["seq"] >= 0) & (packets["ack"] >= 0) & (packets["tcp_flags"] >= 0)
    fragment = np.maximum(packets["frag_off"], 0) & FRAGMENT != 0
    return np.asarray(tcp & header & ~fragment & (packets["frag_id"] < 0), np.bool_)


def _connections(packets: Packets) -> tuple[Int64s, Bools]:
    """Return the number of each packet's connection, and a flag for the end that sent it."""
    ends = np.stack([packets[name].astype(np.int64) for name in _ENDPOINTS], axis=1)
    back = ends[:, [2, 3, 0, 1, 5, 4]]
    unequal = ends != back
    first = unequal.argmax(axis=1)[:, None]
    sender = np.take_along_axis(ends < back, first, axis=1)[:, 0]
    rows = np.where(sender[:, None], ends, back)
    number = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    return number.astype(np.int64), np.asarray(sender, np.bool_)
