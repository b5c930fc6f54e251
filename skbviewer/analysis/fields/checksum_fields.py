# SPDX-License-Identifier: MIT
"""Verify the Internet checksums (RFC 1071) of captured packets.

Checksums of truncated packets and of fragments cannot be verified.  On the sending host, checksums
may be captured before the network card fills them in.  So correct packets may have the status Bad
on the host that sends them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ...records.protocols import ICMP, ICMPV6, TCP, UDP
from ...records.types import Bools, Int64s
from .control_protocol_fields import subview
from .field_definition import Field, Kind, Values
from .field_source_tables import PACKET, View
from .packet_byte_fields import Block, blocks, progress_of
from .packet_fields import is_icmp, is_icmpv6, is_ip, is_tcp, is_udp

WORDS = ("Bad", "Good", "Unverified", "Not present")  # Wireshark's proto_checksum_vals
BAD, GOOD, UNVERIFIED, NOT_PRESENT = range(4)
FRAGMENT = 0x3FFF  # bits of frag_off: offset and More Fragments
Status = Callable[[View, Block, Int64s], Iterator[int]]  # (view, block, rows of the block in view)


def _status(where: Callable[[View], Bools], of: Status) -> Callable[[View], list[Values]]:
    def make(view: View) -> list[Values]:
        low = np.full(view.size, -1, np.int64)
        rows = np.flatnonzero(where(view)) if view.table == PACKET else np.zeros(0, np.int64)
        inner = subview(view, rows)
        for block in blocks(inner, progress_of(view)) if len(rows) else ():
            found = of(inner, block, block.rows)
            low[rows[block.rows]] = np.fromiter(found, np.int64, len(block.rows))
        return [Values(low, low >= 0, texts=WORDS)]

    return make


def right(data: bytes, pseudo: int = 0) -> bool:
    """Return whether a checksum is right: the sum of `data` and `pseudo` must be 0xffff.

    The sum is that of RFC 1071, over 16-bit words.
    """
    whole = int.from_bytes(data + b"\0" if len(data) & 1 else data, "big")
    return (whole + pseudo) % 0xFFFF == 0 and whole > 0


def _header(view: View, block: Block, rows: Int64s) -> Iterator[int]:
    for at, end in zip(*(place.tolist() for place in block.extents["ip"]), strict=True):
        size = (int(block.data[at]) & 15) * 4 if at >= 0 else 0
        if size < 20 or at + size > end:
            yield UNVERIFIED
        else:
            yield GOOD if right(block.file[at : at + size]) else BAD


def _transport(layer: str, protocol: int, pseudo: bool) -> Status:
    def status(view: View, block: Block, rows: Int64s) -> Iterator[int]:
        sums = _pseudo(view, rows, protocol) if pseudo else np.zeros(len(rows), np.int64)
        begin, end = block.extents[layer]
        size = _sizes(view, block, rows, begin)
        whole = (size > 0) & (begin >= 0) & (begin + size <= end)
        parts = np.maximum(view.column("frag_off")[rows].astype(np.int64), 0)  # maybe 1 byte wide
        whole &= parts & FRAGMENT == 0
        checked = zip(begin.tolist(), size.tolist(), sums.tolist(), whole.tolist(), strict=True)
        for at, count, more, good in checked:
            yield _one(block.file[at : at + count], more + pseudo * count, layer) if good else 2

    return status


def _one(data: bytes, pseudo: int, layer: str) -> int:
    if layer == "udp" and data[6:8] == b"\0\0":
        return NOT_PRESENT
    return GOOD if right(data, pseudo) else BAD


def _sizes(view: View, block: Block, rows: Int64s, begin: Int64s) -> Int64s:
    """Return for each packet the size (bytes) of transport header and payload, by its IP length."""
    at = np.maximum(block.extents["ip"][0], block.extents["ipv6"][0])
    total = view.column("tot_len")[rows].astype(np.int64)
    return np.where((total > 0) & (at >= 0), at + total - begin, 0)


def _pseudo(view: View, rows: Int64s, protocol: int) -> Int64s:
    """Return the sum of each pseudo header without its length (RFC 9293, 3.1; RFC 8200, 8.1)."""
    total = np.full(len(rows), protocol, np.int64)
    for name in ("saddr_lo", "saddr_hi", "daddr_lo", "daddr_hi"):
        value = view.column(name)[rows].astype(np.int64)
        for shift in (0, 16, 32, 48):
            total += value >> shift & 0xFFFF
    return total


def _field(layer: str, where: Callable[[View], Bools], of: Status) -> Field:
    name, text = f"{layer}.checksum.status", "Whether the checksum is correct"
    return Field(name, Kind.STRING, text, _status(where, of), words=WORDS)


CHECKSUM_FIELDS: tuple[Field, ...] = (
    _field("ip", is_ip, _header),
    _field("tcp", is_tcp, _transport("tcp", TCP, True)),
    _field("udp", is_udp, _transport("udp", UDP, True)),
    _field("icmp", is_icmp, _transport("icmp", ICMP, False)),
    _field("icmpv6", is_icmpv6, _transport("icmpv6", ICMPV6, True)),
)
