# SPDX-License-Identifier: MIT
"""Headers of IPv4 and IPv6, and the extension headers of IPv6."""

from __future__ import annotations

from ipaddress import IPv6Address

import dpkt

from ...records.header_layout import IP_OFFSET
from ...records.protocols import ICMP, ICMPV6, TCP, UDP
from ..words.packet_info import NAMES
from .detail_tree_lines import Node, Spec, Step, fields, flag, hexadecimal, name_format
from .link_headers import dotted

NEXT = {ICMP: "icmp", TCP: "tcp", UDP: "udp", ICMPV6: "icmpv6", 4: "ipv4", 41: "ipv6"}
EXTENSIONS = {0: "Hop-by-Hop Options", 43: "Routing", 44: "Fragment", 60: "Destination Options"}
AUTHENTICATION = 51  # its length is in units of 4 bytes, not 8 (RFC 4302)
PROTOCOL = name_format(
    NAMES | {0: "Hop-by-Hop", 43: "Routing", 44: "Fragment", 59: "No next header"}
)


def ipv4(data: bytes, at: int, end: int) -> Step:
    """Dissect the IPv4 header at byte `at` of the packet `data`, which ends at `end`.

    The payload ends where the header says, but at most at `end`.  Every fragment but the first has
    only data, without a transport header.
    """
    header = (data[at] & 15) * 4
    total = int.from_bytes(data[at + 2 : at + 4], "big")
    inner = tuple(
        _services(node, data[at + 1], "ip.dsfield") if node.field == "ip.dsfield" else node
        for node in fields(data, at, dpkt.ip.IP, _IPV4)
    )
    if header > 20:
        inner = (*inner, Node(f"Options: {header - 20} bytes", at + 20, header - 20))
    text = f"Internet Protocol Version 4, Src: {_value(inner, 'ip.src')}, "
    node = Node(text + f"Dst: {_value(inner, 'ip.dst')}", at, header, inner)
    fragment = int.from_bytes(data[at + 6 : at + 8], "big") & IP_OFFSET
    following = NEXT.get(data[at + 9], "data") if not fragment else "data"
    stop = min(end, at + total) if total >= header else end  # 0: the network card sets it (TSO)
    return Step(node, following, at + max(header, 20), stop)


def _services(node: Node, value: int, field: str) -> Node:
    """Add the lines of the DS field: codepoint (RFC 2474, 2597, 3246, 5865) and ECN (RFC 3168)."""
    point, notified = value >> 2, value & 3
    name, ecn = CODEPOINTS.get(point, f"Unknown ({point})"), NOTIFICATIONS[notified]
    inner = tuple(
        Node(text, node.offset, node.length, (), field and f"{field}.{part}", str(number))
        for text, part, number in (
            (f"Codepoint: {name} ({point})", "dscp", point),
            (f"Explicit Congestion Notification: {ecn} ({notified})", "ecn", notified),
        )
    )
    return node._replace(text=f"{node.text} (DSCP: {name}, ECN: {ecn})", children=inner)


CODEPOINTS = {level << 3: f"CS{level}" for level in range(8)} | {46: "EF PHB", 44: "VOICE-ADMIT"}
CODEPOINTS |= {
    level << 3 | drop << 1: f"AF{level}{drop}" for level in (1, 2, 3, 4) for drop in (1, 2, 3)
}
NOTIFICATIONS = ("Not-ECT", "ECT(1)", "ECT(0)", "CE")
_IPV4 = (
    Spec("_v_hl", "Version", "ip.version", str, 0xF0),
    Spec("_v_hl", "Header Length", "ip.hdr_len", lambda words: f"{words * 4} bytes", 0x0F),
    Spec("tos", "Differentiated Services Field", "ip.dsfield", hexadecimal(2)),
    Spec("len", "Total Length", "ip.len"),
    Spec("id", "Identification", "ip.id", lambda value: f"0x{value:04x} ({value})"),
    Spec("_flags_offset", "Don't fragment", "ip.flags.df", flag, 0x4000),
    Spec("_flags_offset", "More fragments", "ip.flags.mf", flag, 0x2000),
    Spec("_flags_offset", "Fragment Offset", "ip.frag_offset", lambda n: str(n * 8), IP_OFFSET),
    Spec("ttl", "Time to Live", "ip.ttl"),
    Spec("p", "Protocol", "ip.proto", PROTOCOL),
    Spec("sum", "Header Checksum", "ip.checksum", hexadecimal(4)),
    Spec("src", "Source Address", "ip.src", dotted),
    Spec("dst", "Destination Address", "ip.dst", dotted),
)


def ipv6(data: bytes, at: int, end: int) -> Step:
    """Dissect the IPv6 header at byte `at` of the packet `data`, which ends at `end`.

    The payload ends where the header says, but at most at `end`.
    """
    tclass = int.from_bytes(data[at : at + 2], "big") >> 4 & 0xFF
    inner = tuple(
        _services(node, tclass, "") if node.field == "ipv6.tclass" else node
        for node in fields(data, at, dpkt.ip6.IP6, _IPV6)
    )
    text = f"Internet Protocol Version 6, Src: {_value(inner, 'ipv6.src')}, "
    node = Node(text + f"Dst: {_value(inner, 'ipv6.dst')}", at, 40, inner)
    length = int.from_bytes(data[at + 4 : at + 6], "big")
    stop = min(end, at + 40 + length) if length else end
    return Step(node, _after(data[at + 6]), at + 40, stop)


_IPV6 = (
    Spec("_v_fc_flow", "Version", "", str, 0xF0000000),
    Spec("_v_fc_flow", "Traffic Class", "ipv6.tclass", hexadecimal(2), 0x0FF00000),
    Spec("_v_fc_flow", "Flow Label", "ipv6.flow", hexadecimal(5), 0x000FFFFF),
    Spec("plen", "Payload Length", "ipv6.plen"),
    Spec("nxt", "Next Header", "ipv6.nxt", PROTOCOL),
    Spec("hlim", "Hop Limit", "ipv6.hlim"),
    Spec("src", "Source Address", "ipv6.src", lambda value: str(IPv6Address(value))),
    Spec("dst", "Destination Address", "ipv6.dst", lambda value: str(IPv6Address(value))),
)


def _after(next_header: int) -> str:
    if next_header in EXTENSIONS or next_header == AUTHENTICATION:
        return f"ipv6 extension {next_header}"
    return NEXT.get(next_header, "data")


def extension(kind: int) -> object:
    """Return a function that dissects the IPv6 extension header number `kind` (RFC 8200)."""

    def step(data: bytes, at: int, end: int) -> Step:
        size = (data[at + 1] + 2) * 4 if kind == AUTHENTICATION else (data[at + 1] + 1) * 8
        label = "Next header" if kind == 44 else "Next Header"  # Wireshark's spelling
        inner = [Node(f"{label}: {PROTOCOL(data[at])}", at, 1)]
        following = _after(data[at])
        if kind == 44:
            size = 8
            offset = int.from_bytes(data[at + 2 : at + 4], "big")
            ident = int.from_bytes(data[at + 4 : at + 8], "big")
            inner.append(Node(f"Offset: {offset & 0xFFF8}", at + 2, 2))
            inner.append(Node(f"More fragments: {flag(offset & 1)}", at + 2, 2))
            inner.append(Node(f"Identification: 0x{ident:08x}", at + 4, 4))
            following = "data" if offset & 0xFFF8 else following
        name = EXTENSIONS.get(kind, "Authentication")
        return Step(Node(f"IPv6 {name} header", at, size, tuple(inner)), following, at + size, end)

    return step


def _value(nodes: tuple[Node, ...], field: str) -> str:
    return next(node.value for node in nodes if node.field == field)
