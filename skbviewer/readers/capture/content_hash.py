# SPDX-License-Identifier: MIT
"""A hash of the bytes after a packet's IP header, as kmod/kbl_tap.c computes it.

The hash covers the first 48 of these bytes (for ARP, 28 bytes), except fields that change on the
packet's way: the ports, and all checksums but that of ICMP.  A packet has no hash if fewer bytes
were captured than the hash covers, or if it has an IPv6 extension header.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records.compiled import Int, allocation_free
from ...records.protocols import SCTP, TCP, UDP, UDPLITE
from ...records.types import Int64s, UInt8s

BYTES = 48  # most bytes that are hashed
ARP_BYTES = 28
UNKNOWN = -1
NO_HEADER = 0  # protocol of packets without a transport header: later fragments, ARP
FACTOR = np.uint64(0x9E3779B97F4A7C15)
FOLD, LOW = np.uint64(32), np.uint64(0x7FFFFFFF)
BYTE = tuple(np.uint64(8 * i) for i in range(8))

# Masks: which bits of the first three words (little-endian) are hashed.
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
WITHOUT_PORTS, WITHOUT_FIRST_TWO = np.uint64(0xFFFFFFFF00000000), np.uint64(0xFFFFFFFFFFFF0000)
UDP_LENGTH = np.uint64(0x0000FFFF00000000)


@allocation_free
def content_of(data: UInt8s, at: Int, length: Int, left: Int, protocol: Int) -> np.int64:
    """Return the hash of the bytes of `data` from `at` on: `length` bytes, at most 48.

    `protocol` decides which of these bytes count.  Returns UNKNOWN if fewer bytes were captured;
    `left` is the number of captured bytes.
    """
    size = min(np.int64(length), np.int64(BYTES))
    if size < 0 or left < size:
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


@allocation_free
def _kept(protocol: Int, word: Int, size: Int) -> np.uint64:
    """Return a mask for the bits of a word that do not change on a packet's way."""
    if protocol in (TCP, SCTP):
        if word == 0 or (protocol == SCTP and word == 1):
            return WITHOUT_PORTS
        return WITHOUT_FIRST_TWO if protocol == TCP and word == 2 and size >= 20 else ALL
    return UDP_LENGTH if word == 0 and protocol in (UDP, UDPLITE) else ALL


@allocation_free
def fill_contents(
    data: UInt8s,
    at: Int64s,
    length: Int64s,
    end: Int64s,
    protocol: Int64s,
    rows: Int64s,
    made: npt.NDArray[np.int32],
) -> None:
    """Set made[rows[i]] to the hash of packet i's content; captured bytes end before end[i]."""
    for i in range(len(rows)):
        made[rows[i]] = content_of(data, at[i], length[i], end[i] - at[i], protocol[i])
