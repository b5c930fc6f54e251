# SPDX-License-Identifier: MIT
"""Fields whose values are bytes in the source files, and searches in the bytes of packets.

Files are read block by block, each time for many packets.  Rows K<n> have no bytes, so they have no
known values.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...readers.capture.header_offsets import Place, header_extents
from ...readers.reopen import open_again
from ...records import Progress, Silent
from ...records import header_layout as header
from ...records.types import Bools, Int64s, UInt8s
from .field_definition import Field, Kind, Make, Values
from .field_source_tables import PACKET, View

BLOCK = 1 << 16
WHAT = "reading packet bytes"
Predicate = Callable[[bytes], bool]


class Block(NamedTuple):
    """Some packets of one file: their rows in the view, the file, and the positions of headers."""

    rows: Int64s
    file: mmap.mmap
    data: UInt8s
    extents: dict[str, Place]


def blocks(view: View, progress: Progress) -> Iterator[Block]:
    """Yield the packets of `view` in blocks; each block is of one file.

    Raises BadInput if a file is gone or its size has changed.
    """
    if view.table != PACKET or not view.size:
        return
    source = view.column("source")
    done = 0
    for row in view.data.sources:
        rows = np.flatnonzero(source == row.id)
        if not len(rows):
            continue
        file = open_again(Path(row.path), row.size)
        data = np.frombuffer(file, np.uint8)
        for begin in range(0, len(rows), BLOCK):
            progress.report(WHAT, done, view.size)
            part = rows[begin : begin + BLOCK]
            done += len(part)
            yield Block(part, file, data, _extents(view, data, part))


def _extents(view: View, data: UInt8s, rows: Int64s) -> dict[str, Place]:
    def of(name: str) -> Int64s:
        return view.column(name)[rows].astype(np.int64)

    return header_extents(data, of("linktype"), of("offset"), of("caplen"), of("len"))


def numbers(view: View, layer: str, begin: int, size: int, progress: Progress) -> Values:
    """Return for each packet the big-endian number in `size` (up to 8) bytes of its header `layer`.

    The number begins at byte `begin` of the header.  If `begin` is negative, it counts back from
    the end of the header's payload.  The number is unknown if the bytes were not captured.  Raises
    BadInput and Cancelled.
    """
    low, known = np.full(view.size, -1, np.int64), np.zeros(view.size, np.bool_)
    for block in blocks(view, progress):
        at, end = block.extents[layer]
        first = (at if begin >= 0 else end) + begin
        fits = (at >= 0) & (first >= at) & (first + size <= end)
        value = np.zeros(int(fits.sum()), np.int64)
        for offset in range(size):
            value = value << 8 | block.data[first[fits] + offset]
        low[block.rows[fits]], known[block.rows[fits]] = value, True
    return Values(low, known)


def lengths(view: View, layer: str, progress: Progress) -> Values:
    """Return the captured length (bytes) of a header and its payload together, for each packet.

    `layer` is the name of the header.
    """
    low = np.full(view.size, -1, np.int64)
    for block in blocks(view, progress):
        at, end = block.extents[layer]
        low[block.rows] = np.where(at >= 0, np.maximum(end - at, 0), -1)
    return Values(low, low >= 0)


def contains_bytes(view: View, layer: str, needle: bytes, progress: Progress) -> Bools:
    """Return for each packet whether the header `layer` or its payload contains `needle`."""
    found = np.zeros(view.size, np.bool_)
    for block in blocks(view, progress):
        at, end = block.extents[layer]
        there = np.flatnonzero((at >= 0) & (end - at >= len(needle)))
        if not len(there):
            continue
        there = there[np.argsort(at[there], kind="stable")]
        begin, stop = at[there], end[there]
        hits = _hits(block.file, needle, int(begin[0]), int(stop.max()))
        owner = np.searchsorted(begin, hits, side="right") - 1
        inside = hits + len(needle) <= stop[owner]
        found[block.rows[there[owner[inside]]]] = True
    return found


def _hits(file: mmap.mmap, needle: bytes, begin: int, end: int) -> Int64s:
    hits = []
    at = file.find(needle, begin, end)
    while at >= 0:
        hits.append(at)
        at = file.find(needle, at + 1, end)
    return np.array(hits, np.int64)


def scan(
    view: View,
    layer: str,
    parts: tuple[tuple[int, int | None], ...] | None,
    predicate: Predicate,
    progress: Progress,
) -> tuple[Bools, Bools]:
    """Return whether each packet's header `layer` fulfils `predicate`, and whether that is known.

    `predicate` gets the bytes of the header and its payload.  If `parts` are given, `predicate`
    gets only these slices (begin, end) of the bytes, joined together.  The result is not known if
    the packet has no header `layer`, or if a slice reaches beyond its bytes.
    """
    fulfilled, known = np.zeros(view.size, np.bool_), np.zeros(view.size, np.bool_)
    for block in blocks(view, progress):
        at, end = block.extents[layer]
        for row, begin, stop in zip(block.rows.tolist(), at.tolist(), end.tolist(), strict=True):
            if begin < 0 or (value := _sliced(block.file[begin:stop], parts)) is None:
                continue
            known[row], fulfilled[row] = True, predicate(value)
    return fulfilled, known


def _sliced(value: bytes, parts: tuple[tuple[int, int | None], ...] | None) -> bytes | None:
    if parts is None:
        return value
    pieces = []
    for begin, end in parts:
        first = begin if begin >= 0 else len(value) + begin
        last = len(value) if end is None else end if end >= 0 else len(value) + end
        if not 0 <= first < last <= len(value):
            return None
        pieces.append(value[first:last])
    return b"".join(pieces)


def progress_of(view: View) -> Progress:
    """Return the Progress to which the reading of packet bytes for `view` is reported.

    The filter for which the bytes are read has set this Progress.
    """
    found: Progress = view.cached("progress", lambda view: Silent())
    return found


def _number(layer: str, begin: int, size: int, shift: int = 0, mask: int = -1) -> Make:
    def make(view: View) -> list[Values]:
        values = numbers(view, layer, begin, size, progress_of(view))
        return [Values(values.low >> shift & mask, values.known)]

    return make


def _times4(layer: str, begin: int, shift: int) -> Make:
    def make(view: View) -> list[Values]:
        values = numbers(view, layer, begin, 1, progress_of(view))
        return [Values((values.low >> shift & 15) * 4, values.known)]

    return make


def _target(kinds: tuple[int, ...]) -> Make:
    """Return a function for Field.make that returns target addresses of neighbour discovery.

    `kinds` are ICMPv6 types.  The address is in solicitations and advertisements (RFC 4861, 4.3 and
    4.4).
    """

    def make(view: View) -> list[Values]:
        high = numbers(view, "icmpv6", header.ND_TARGET, 8, progress_of(view))
        low = numbers(view, "icmpv6", header.ND_TARGET + 8, 8, progress_of(view))
        kind = view.column("sport") >> 8
        return [Values(low.low, low.present() & np.isin(kind, kinds), high.low)]

    return make


def _payload(layer: str) -> Make:
    def make(view: View) -> list[Values]:
        length = lengths(view, layer, progress_of(view)).low
        return [Values(length > 0, length > 0)]

    return make


def _priority(view: View) -> list[Values]:
    values = numbers(view, "eth", header.VLAN_TCI, 1, progress_of(view))
    return [Values(values.low >> 5, values.present() & (view.column("vlan") >= 0))]


_U, _E = Kind.UNSIGNED, Kind.ETHER

BYTE_FIELDS: tuple[Field, ...] = (
    Field("vlan.priority", _U, "Priority of the outermost tag", _priority, bits=3),
    Field("arp.hw.type", _U, "Hardware type, 1 Ethernet",
          _number("arp", header.ARP_HW_TYPE, 2), bits=16),
    Field("arp.src.hw_mac", _E, "Sender's hardware address",
          _number("arp", header.ARP_SENDER_MAC, 6), bits=48),
    Field("arp.dst.hw_mac", _E, "Target's hardware address",
          _number("arp", header.ARP_TARGET_MAC, 6), bits=48),
    Field("ip.hdr_len", _U, "Header length in bytes", _times4("ip", 0, 0), bits=8),
    Field("ip.dsfield", _U, "Differentiated services field",
          _number("ip", header.IPV4_TOS, 1), bits=8),
    Field("ip.dsfield.dscp", _U, "Codepoint", _number("ip", header.IPV4_TOS, 1, 2), bits=6),
    Field("ip.dsfield.ecn", _U, "Congestion notification",
          _number("ip", header.IPV4_TOS, 1, 0, 3), bits=2),
    Field("ip.checksum", _U, "Header checksum", _number("ip", header.IPV4_CHECKSUM, 2), bits=16),
    Field("ipv6.tclass", _U, "Traffic class", _number("ipv6", 0, 2, 4, 255), bits=8),
    Field("ipv6.flow", _U, "Flow label", _number("ipv6", 0, 4, 0, header.FLOW_LABEL), bits=20),
    Field("ipv6.nxt", _U, "IPv6 next header field of the fixed header",
          _number("ipv6", header.IPV6_NEXT, 1), bits=8),
    Field("tcp.hdr_len", _U, "Header length in bytes",
          _times4("tcp", header.TCP_OFFSET, 4), bits=8),
    Field("tcp.checksum", _U, "Checksum", _number("tcp", header.TCP_CHECKSUM, 2), bits=16),
    Field("tcp.urgent_pointer", _U, "Urgent pointer",
          _number("tcp", header.TCP_URGENT, 2), bits=16),
    Field("tcp.payload", Kind.BYTES, "Data", _payload("tcp.payload"), layer="tcp.payload"),
    Field("udp.length", _U, "Length of header and data",
          _number("udp", header.UDP_LEN, 2), bits=16),
    Field("udp.checksum", _U, "Checksum", _number("udp", header.UDP_CHECKSUM, 2), bits=16),
    Field("udp.payload", Kind.BYTES, "Data", _payload("udp.payload"), layer="udp.payload"),
    Field("icmp.checksum", _U, "Checksum", _number("icmp", header.ICMP_CHECKSUM, 2), bits=16),
    Field("icmpv6.checksum", _U, "Checksum", _number("icmpv6", header.ICMP_CHECKSUM, 2), bits=16),
    Field(
        "icmpv6.nd.ns.target_address", Kind.IPV6, "Target address of a solicitation",
        _target((135,)), bits=128,
    ),
    Field(
        "icmpv6.nd.na.target_address", Kind.IPV6, "Target address of an advertisement",
        _target((136,)), bits=128,
    ),
)  # fmt: skip
