# SPDX-License-Identifier: MIT
"""Walk and decode the packet headers of a pcap file: loops of pcap.py."""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free, compiled
from ...records.types import Int64s, UInt8s
from ..numbers_in_bytes import word

# Which of a record's two lengths is the captured one; decided as in libpcap and Wireshark.
FIRST, SECOND, SMALLER = range(3)


@allocation_free
def _lengths(some: UInt8s, at: Int, captured: int, little: bool) -> tuple[np.int64, np.int64]:
    """Return the captured and the original length in the packet header at position `at`."""
    first, second = word(some, at + 8, little), word(some, at + 12, little)
    if captured == SECOND or (captured == SMALLER and first > second):
        return second, first
    return first, second


@compiled
def walk_some(
    some: UInt8s,
    begin: int,
    size: int,
    header: int,
    captured: int,
    limit: int,
    little: bool,
    places: Int64s,
) -> tuple[Int, Int, Int]:
    """Find the packet headers in the bytes `some`; write their file positions into `places`.

    `some` begins at position `begin` of the file, which has `size` bytes.  A packet header has
    `header` bytes; its numbers are little-endian if `little`.  The captured length is at byte
    `captured` of the header, and must be at most `limit`.  Returns the number of positions, the
    position where the walk stopped, and a length.  The length is -1, except if the walk stopped at
    a captured length that is impossible or reaches beyond the end of the file: then it is this
    length.
    """
    at, count = np.int64(0), np.int64(0)
    while at + header <= len(some) and count < len(places):
        caplen, _ = _lengths(some, at, captured, little)
        if caplen > limit or begin + at + header + caplen > size:
            return count, begin + at, caplen
        places[count] = begin + at
        count += 1
        at += header + caplen
    return count, begin + at, np.int64(-1)


@compiled
def fill_headers(
    some: UInt8s,
    begin: int,
    little: bool,
    unit_ns: int,
    header: int,
    captured: int,
    places: Int64s,
    ts: Int64s,
    offset: Int64s,
    caplen: Int64s,
    length: Int64s,
) -> None:
    """Decode the packet headers at the file positions `places`.

    The values are written to `ts` (ns), `offset` (of the packet in the file), `caplen` and
    `length`.

    `some` holds the file's bytes from `begin` on; its numbers are little-endian if `little`.  The
    fraction of a second is in units of `unit_ns`; the captured length is at byte `captured` of a
    header of `header` bytes.
    """
    for i in range(len(places)):
        at = places[i] - begin
        ts[i] = word(some, at, little) * 1_000_000_000 + word(some, at + 4, little) * unit_ns
        caplen[i], length[i] = _lengths(some, at, captured, little)
        offset[i] = places[i] + header
