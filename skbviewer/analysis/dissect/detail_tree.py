# SPDX-License-Identifier: MIT
"""Build the detail tree of a packet from its captured bytes, header by header.

Input: the bytes and their link type.  Output: a Node for each header, the outermost first.  A
header that is truncated or malformed gets a node that says so.  Bytes after the last known header
become the node "Data".
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

import dpkt

from ...readers.capture.header_offsets import network_header
from ...records.header_layout import IP_OFFSET, IPV4_SIZE, TCP_OFFSET, TCP_SIZE, UDP_SIZE
from ...records.protocols import TCP, UDP
from ..words.link_type_names import link_name
from . import icmp, ip_headers, link_headers, transport_headers
from .detail_tree_lines import Node, Step
from .payload_parsers import payload_summary

Dissector = Callable[[bytes, int, int], Step]

LINKTYPES = {1: "ethernet", 0: "null", 108: "null", 101: "raw", 12: "raw", 14: "raw"}
LINKTYPES |= {228: "ipv4", 229: "ipv6", 113: "cooked", 276: "cooked2"}  # tcpdump.org/linktypes
DISSECTORS: dict[str, Dissector] = {
    "ethernet": link_headers.ethernet,
    "vlan": link_headers.vlan,
    "cooked": link_headers.cooked,
    "cooked2": link_headers.cooked2,
    "null": link_headers.null,
    "raw": link_headers.raw,
    "llc": link_headers.llc,
    "arp": link_headers.arp,
    "ipv4": ip_headers.ipv4,
    "ipv6": ip_headers.ipv6,
    "icmp": icmp.icmp,
    "icmpv6": icmp.icmpv6,
    "tcp": transport_headers.tcp,
    "udp": transport_headers.udp,
    **{
        f"ipv6 extension {kind}": cast(Dissector, ip_headers.extension(kind))
        for kind in (*ip_headers.EXTENSIONS, ip_headers.AUTHENTICATION)
    },
}
NEEDED = {"ethernet": 14, "vlan": 4, "cooked": 16, "cooked2": 20, "null": 4, "raw": 1, "llc": 3}
NEEDED |= {"arp": 28, "ipv4": 20, "ipv6": 40, "icmp": 4, "icmpv6": 4, "tcp": 20, "udp": 8}
ETHERNET = 1
_NETWORK = {"ip": "ipv4"}
MOST_HEADERS = 64  # a longer chain is an attack


class Payload(NamedTuple):
    """The captured payload of a TCP (6) or UDP (17) packet."""

    protocol: int
    sport: int
    dport: int
    data: bytes


def dissect(data: bytes, linktype: int, length: int) -> tuple[Node, ...]:
    """Return the headers of a packet as nodes of the detail tree, the outermost first.

    `data` are the captured bytes, which begin with a header of `linktype`.  `length` is the number
    of bytes that the packet had on the wire.
    """
    return tuple(_lines(data, linktype, length))


def payload_of(data: bytes, linktype: int) -> Payload | None:
    """Return the TCP or UDP payload of a packet; None if it has no complete TCP or UDP header.

    `data` are the packet's captured bytes, which begin with a header of `linktype`.
    """
    if linktype == ETHERNET and data[12:14] == b"\x08\x00":
        plain = _plain(data)
        if plain is not None:
            return plain
    walk = _Walk(data, linktype)
    for _ in walk:
        pass
    if not walk.kind.endswith("payload"):
        return None
    return Payload(*walk.ports, data[walk.at : walk.end])


def carried_of(data: bytes, linktype: int) -> bytes | None:
    """Return what follows a packet's IP headers; None if this is TCP, UDP or IPv4's ICMP.

    `data` are the packet's captured bytes, which begin with a header of `linktype`.
    """
    walk = _Walk(data, linktype, "icmpv6")
    for _ in walk:
        pass
    return data[walk.at : walk.end] if walk.kind in ("data", "icmpv6") else None


def tcp_options_of(data: bytes, linktype: int) -> bytes:
    """Return the captured bytes of the options in a TCP header; b"" if there are none.

    `data` are the packet's captured bytes, which begin with a header of `linktype`.
    """
    if linktype == ETHERNET and data[12:15] == b"\x08\x00\x45":
        at = 34
    else:
        walk = _Walk(data, linktype, "tcp")
        for _ in walk:
            pass
        at = walk.at if walk.kind == "tcp" else len(data)
    return (
        data[at + TCP_SIZE : at + (data[at + TCP_OFFSET] >> 4) * 4]
        if at + TCP_SIZE < len(data)
        else b""
    )


def _plain(data: bytes) -> Payload | None:
    """Return what payload_of() returns, but faster, for IPv4 on Ethernet; None if unsure."""
    if len(data) < 42:
        return None
    words, protocol = (data[14] & 15) * 4, data[23]
    total, fragment = struct.unpack_from(">H2xH", data, 16)
    at = 14 + words
    if words < IPV4_SIZE or fragment & IP_OFFSET or protocol not in (TCP, UDP) or total < words:
        return None
    end = min(len(data), 14 + total)
    size = UDP_SIZE
    if protocol == TCP:
        size = (data[at + TCP_OFFSET] >> 4) * 4 if end >= at + TCP_SIZE else 0
    if size < UDP_SIZE or at + size > end:
        return None
    sport, dport, length = struct.unpack_from(">3H", data, at)
    if protocol == UDP and length >= UDP_SIZE:
        end = min(end, at + length)
    return Payload(protocol, sport, dport, data[at + size : end])


class _Walk:
    """Iterates over the headers of a packet, and yields a node for each.

    The walk stops before the first header of the kind `last`.  When the walk stops, the next header
    is of the kind `kind`, and begins at byte `at`.
    """

    def __init__(self, data: bytes, linktype: int, last: str = "") -> None:
        self._data, self._last, self._linktype = data, last, linktype
        self.kind = LINKTYPES.get(linktype, "data")
        self.at, self.end = 0, len(data)
        self.ports = (0, 0, 0)  # protocol, source, destination

    def __iter__(self) -> Iterator[Node]:
        data = self._data
        seen_ip = inner = False
        for _ in range(MOST_HEADERS):
            if self.kind == "data" and not seen_ip:
                yield from self._skip()
            kind, at, end = self.kind, self.at, self.end
            if kind not in DISSECTORS or kind == self._last or at >= end:
                return
            if end - at < NEEDED.get(kind, 8):
                yield self._stop(f"[{kind.upper()} header is cut short]")
                return
            try:
                step = DISSECTORS[kind](data, at, end)
            except (dpkt.Error, struct.error, ValueError, IndexError):
                yield self._stop(f"[Malformed packet: {kind.upper()}]")
                return
            node = _within(step.node, len(data))
            inner |= kind in ("ipv4", "ipv6") and seen_ip  # in a tunnel or an ICMP error
            seen_ip |= kind in ("ipv4", "ipv6")
            yield _unnamed(node) if inner else node
            if kind in ("tcp", "udp"):
                sport, dport = (int.from_bytes(data[at + i : at + i + 2], "big") for i in (0, 2))
                self.ports = (6 if kind == "tcp" else 17, sport, dport)
            self.kind, self.at, self.end = step.following, step.at, min(step.end, len(data))

    def _skip(self) -> Iterator[Node]:
        """Skip headers that have no dissector here, up to the network header."""
        found = network_header(self._data, self._linktype)
        if found is None or found[1] < self.at:
            return
        name, begin, end = found
        what = "Encapsulation" if self.at else link_name(self._linktype)
        if begin > self.at:
            yield Node(f"{what} ({begin - self.at} bytes)", self.at, begin - self.at)
        self.kind, self.at, self.end = _NETWORK.get(name, name), begin, end

    def _stop(self, why: str) -> Node:
        at, self.kind, self.at = self.at, "", self.end
        return Node(why, at, self.end - at)


def _lines(data: bytes, linktype: int, length: int) -> Iterator[Node]:
    walk = _Walk(data, linktype)
    yield from walk
    at, end = walk.at, walk.end
    if walk.kind.endswith("payload"):
        yield from _payload(data, at, end, walk.ports)
    elif at < end:
        yield _data("Trailer" if walk.kind == "trailer" else "Data", at, end)
    if end < len(data) and length == len(data) and at <= end:
        yield _data("Trailer", end, len(data))
    if length > len(data):
        missing = length - len(data)
        yield Node(f"[Packet size limited during capture: {missing} bytes missing]", len(data), 0)


def _within(node: Node, size: int) -> Node:
    """Return the node without the bytes that were not captured; `size` bytes were captured."""
    if node.offset + node.length <= size:
        return node
    kept = tuple(_within(child, size) for child in node.children if child.offset < size)
    return node._replace(length=max(size - node.offset, 0), children=kept)


def _unnamed(node: Node) -> Node:
    """Return the node without filter fields, which always mean the outermost IP header."""
    children = tuple(_unnamed(child) for child in node.children)
    return node._replace(field="", value="", children=children)


def _payload(data: bytes, at: int, end: int, ports: tuple[int, int, int]) -> Iterator[Node]:
    if at >= end:
        return
    summary = payload_summary(*ports, data[at:end])
    if summary is None:
        yield _data("TCP payload" if ports[0] == TCP else "Data", at, end)
        return
    lines = tuple(
        Node(line.text, at + line.offset, min(line.length, end - at - line.offset))
        for line in summary.lines
    )
    yield Node(f"{summary.protocol}: {summary.info}", at, end - at, lines)


def _data(what: str, at: int, end: int) -> Node:
    count = "1 byte" if end - at == 1 else f"{end - at} bytes"
    return Node(f"{what} ({count})", at, end - at)
