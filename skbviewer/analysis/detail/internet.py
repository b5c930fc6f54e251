# SPDX-License-Identifier: MIT
"""IPv4, IPv6 and its extension headers, ICMP, ICMPv6."""

from __future__ import annotations

from ipaddress import IPv6Address

import dpkt

from ..icmp_words import ECHO, ERRORS, ICMP_TYPES, ICMPV6_TYPES
from ..info import NAMES
from .link import dotted
from .node import Node, Spec, Step, fields, flag, hexadecimal, named

NEXT = {1: "icmp", 6: "tcp", 17: "udp", 58: "icmpv6", 4: "ipv4", 41: "ipv6"}
EXTENSIONS = {0: "Hop-by-Hop Options", 43: "Routing", 44: "Fragment", 60: "Destination Options"}
AUTHENTICATION = 51  # its length counts 4 bytes, not 8 (RFC 4302)
PROTOCOL = named(NAMES | {0: "Hop-by-Hop", 43: "Routing", 44: "Fragment", 59: "No next header"})
ICMP_KIND = named(ICMP_TYPES)
ICMPV6_KIND = named(ICMPV6_TYPES)


def ipv4(data: bytes, at: int, end: int) -> Step:
    header = (data[at] & 15) * 4
    total = int.from_bytes(data[at + 2 : at + 4], "big")
    inner = fields(data, at, dpkt.ip.IP, _IPV4)
    if header > 20:
        inner = (*inner, Node(f"Options: {header - 20} bytes", at + 20, header - 20))
    text = f"Internet Protocol Version 4, Src: {_value(inner, 'ip.src')}, "
    node = Node(text + f"Dst: {_value(inner, 'ip.dst')}", at, header, inner)
    fragment = int.from_bytes(data[at + 6 : at + 8], "big") & 0x1FFF
    following = NEXT.get(data[at + 9], "data") if not fragment else "data"
    stop = min(end, at + total) if total >= header else end  # 0: told by the card (TSO)
    return Step(node, following, at + max(header, 20), stop)


_IPV4 = (
    Spec("_v_hl", "Version", "ip.version", str, 0xF0),
    Spec("_v_hl", "Header length", "ip.hdr_len", lambda words: f"{words * 4} bytes", 0x0F),
    Spec("tos", "Differentiated Services", "ip.dsfield", hexadecimal(2)),
    Spec("len", "Total length", "ip.len"),
    Spec("id", "Identification", "ip.id", lambda value: f"0x{value:04x} ({value})"),
    Spec("_flags_offset", "Don't fragment", "ip.flags.df", flag, 0x4000),
    Spec("_flags_offset", "More fragments", "ip.flags.mf", flag, 0x2000),
    Spec("_flags_offset", "Fragment offset", "ip.frag_offset", lambda n: str(n * 8), 0x1FFF),
    Spec("ttl", "Time to live", "ip.ttl"),
    Spec("p", "Protocol", "ip.proto", PROTOCOL),
    Spec("sum", "Header checksum", "ip.checksum", hexadecimal(4)),
    Spec("src", "Source address", "ip.src", dotted),
    Spec("dst", "Destination address", "ip.dst", dotted),
)


def ipv6(data: bytes, at: int, end: int) -> Step:
    inner = fields(data, at, dpkt.ip6.IP6, _IPV6)
    text = f"Internet Protocol Version 6, Src: {_value(inner, 'ipv6.src')}, "
    node = Node(text + f"Dst: {_value(inner, 'ipv6.dst')}", at, 40, inner)
    length = int.from_bytes(data[at + 4 : at + 6], "big")
    stop = min(end, at + 40 + length) if length else end
    return Step(node, _after(data[at + 6]), at + 40, stop)


_IPV6 = (
    Spec("_v_fc_flow", "Version", "", str, 0xF0000000),
    Spec("_v_fc_flow", "Traffic class", "ipv6.tclass", hexadecimal(2), 0x0FF00000),
    Spec("_v_fc_flow", "Flow label", "ipv6.flow", hexadecimal(5), 0x000FFFFF),
    Spec("plen", "Payload length", "ipv6.plen"),
    Spec("nxt", "Next header", "ipv6.nxt", PROTOCOL),
    Spec("hlim", "Hop limit", "ipv6.hlim"),
    Spec("src", "Source address", "ipv6.src", lambda value: str(IPv6Address(value))),
    Spec("dst", "Destination address", "ipv6.dst", lambda value: str(IPv6Address(value))),
)


def _after(next_header: int) -> str:
    if next_header in EXTENSIONS or next_header == AUTHENTICATION:
        return f"ipv6 extension {next_header}"
    return NEXT.get(next_header, "data")


def extension(kind: int) -> object:
    """The step for the IPv6 extension header of a next-header number (RFC 8200)."""

    def step(data: bytes, at: int, end: int) -> Step:
        size = (data[at + 1] + 2) * 4 if kind == AUTHENTICATION else (data[at + 1] + 1) * 8
        inner = [Node(f"Next header: {PROTOCOL(data[at])}", at, 1)]
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


def icmp(data: bytes, at: int, end: int) -> Step:
    return _icmp(data, at, end, ("Internet Control Message Protocol", "icmp", ICMP_KIND))


def icmpv6(data: bytes, at: int, end: int) -> Step:
    return _icmp(data, at, end, ("Internet Control Message Protocol v6", "icmpv6", ICMPV6_KIND))


def _icmp(data: bytes, at: int, end: int, words: tuple[str, str, object]) -> Step:
    title, word, kind_text = words
    specs = (
        Spec("type", "Type", f"{word}.type", kind_text),  # type: ignore[arg-type]
        Spec("code", "Code", f"{word}.code"),
        Spec("sum", "Checksum", f"{word}.checksum", hexadecimal(4)),
    )
    inner = list(fields(data, at, dpkt.icmp.ICMP, specs))
    kind, size, following = data[at], 4, "data"
    if kind in ECHO and (word == "icmp") == (kind < 128):
        for place, label, name in ((4, "Identifier", "ident"), (6, "Sequence number", "seq")):
            value = int.from_bytes(data[at + place : at + place + 2], "big")
            field = "icmpv6.echo.sequence_number" if (word, name) == ("icmpv6", "seq") else ""
            field = field or ("icmpv6.echo.identifier" if word == "icmpv6" else f"icmp.{name}")
            inner.append(
                Node(f"{label}: {value} (0x{value:04x})", at + place, 2, (), field, str(value))
            )
        size = 8
    elif (word == "icmp" and kind in ERRORS) or (word == "icmpv6" and kind < 128):
        size, following = 8, "ipv4" if word == "icmp" else "ipv6"  # the packet it complains about
    return Step(Node(title, at, size, tuple(inner)), following, at + size, end)


def _value(nodes: tuple[Node, ...], field: str) -> str:
    return next(node.value for node in nodes if node.field == field)
