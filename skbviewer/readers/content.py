# SPDX-License-Identifier: MIT
"""A number for what a packet carries behind its IP header, as kmod/kbl_tap.c makes it.

It is of the first 48 bytes there, of an ARP packet of its 28, without what changes on a packet's
way: ports, and checksums but ICMP's.  A packet of which fewer bytes were captured has none, nor has
one with an IPv6 extension header.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..records.compiled import Int, lean
from .transport import SCTP, TCP, UDP, UDPLITE
from .wire import Bytes, Ints

BYTES = 48  # of content, at most
ARP_BYTES = 28
UNKNOWN = -1
NO_HEADER = 0  # the protocol of what has no transport header: a later fragment, ARP
FACTOR = np.uint64(0x9E3779B97F4A7C15)
FOLD, LOW = np.uint64(32), np.uint64(0x7FFFFFFF)
BYTE = tuple(np.uint64(8 * i) for i in range(8))

# What of the first three words (little-endian) counts.
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
WITHOUT_PORTS, WITHOUT_FIRST_TWO = np.uint64(0xFFFFFFFF00000000), np.uint64(0xFFFFFFFFFFFF0000)
UDP_LENGTH = np.uint64(0x0000FFFF00000000)


@lean
def content_of(data: Bytes, at: Int, length: Int, room: Int, protocol: Int) -> np.int64:
    """The number of `length` bytes from `at` on, of which `room` are there; or UNKNOWN."""
    size = min(np.int64(length), np.int64(BYTES))
    if size < 0 or room < size:
        return np.int64(UNKNOWN)
    made = np.uint64(size)
    for i in range((size + 7) // 8):
        begin = np.int64(at) + 8 * i
        value = np.uint64(0)
        for j in range(min(np.int64(8), size - 8 * i)):
            value |= np.uint64(data[begin + j]) << BYTE[j]
        if i < 3:
            value &= _kept(protocol, i, size)
        made = (made ^ value) * FACTOR
        made ^= made >> FOLD
    return np.int64(made & LOW)


@lean
def _kept(protocol: Int, word: Int, size: Int) -> np.uint64:
    """The bits of a word that stay what they are on a packet's way."""
    if protocol in (TCP, SCTP):
        if word == 0 or (protocol == SCTP and word == 1):
            return WITHOUT_PORTS
        return WITHOUT_FIRST_TWO if protocol == TCP and word == 2 and size >= 20 else ALL
    return UDP_LENGTH if word == 0 and protocol in (UDP, UDPLITE) else ALL


@lean
def fill_contents(
    data: Bytes,
    at: Ints,
    length: Ints,
    end: Ints,
    protocol: Ints,
    rows: Ints,
    made: npt.NDArray[np.int32],
) -> None:
    """Into these `rows` of a column; `end` is behind the last captured byte of each packet."""
    for i in range(len(rows)):
        made[rows[i]] = content_of(data, at[i], length[i], end[i] - at[i], protocol[i])
