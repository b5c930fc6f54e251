# SPDX-License-Identifier: MIT
"""ICMP, ICMPv6 and neighbour discovery (RFC 792, RFC 4443, RFC 4861)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv6Address

import dpkt

from ..words.icmp_words import ECHO, ERRORS, ICMP_CODES, ICMP_TYPES, ICMPV6_CODES, ICMPV6_TYPES
from .detail_tree_lines import Node, Spec, Step, fields, flag, hexadecimal, name_format
from .link_headers import hardware
from .neighbour_discovery import ADVERTISEMENT, FLAGS, OPTIONS, SOLICITATION

FLAG_WORDS = {"rtr": "Router", "sol": "Solicited", "ovr": "Override"}
LINK_OPTIONS = {1: "Source link-layer address", 2: "Target link-layer address"}
TARGETS = {
    SOLICITATION: "icmpv6.nd.ns.target_address",
    ADVERTISEMENT: "icmpv6.nd.na.target_address",
}


def icmp(data: bytes, at: int, end: int) -> Step:
    """Dissect the ICMP header at byte `at` of the packet `data`, whose payload ends at `end`.

    An error message is followed by the IPv4 header of the packet that caused it.
    """
    kind = data[at]
    title = "Internet Control Message Protocol"
    inner = _head(data, at, "icmp", ICMP_TYPES, ICMP_CODES)
    if kind in ECHO and kind < 128:
        return Step(Node(title, at, 8, (*inner, *_echo(data, at))), "data", at + 8, end)
    if kind in ERRORS:  # the packet that caused the error follows
        return Step(Node(title, at, 8, inner), "ipv4", at + 8, end)
    return Step(Node(title, at, 4, inner), "data", at + 4, end)


def icmpv6(data: bytes, at: int, end: int) -> Step:
    """Dissect the ICMPv6 header at byte `at` of the packet `data`, whose payload ends at `end`.

    An error message is followed by the IPv6 header of the packet that caused it.
    """
    kind = data[at]
    title = "Internet Control Message Protocol v6"
    inner = _head(data, at, "icmpv6", ICMPV6_TYPES, ICMPV6_CODES)
    if kind in ECHO and kind >= 128:
        return Step(Node(title, at, 8, (*inner, *_echo_v6(data, at))), "data", at + 8, end)
    if kind < 128:
        return Step(Node(title, at, 8, inner), "ipv6", at + 8, end)
    if kind in OPTIONS and end - at >= OPTIONS[kind]:
        more = (*_neighbour(data, at), *_options(data, at + OPTIONS[kind], end))
        return Step(Node(title, at, end - at, (*inner, *more)), "data", end, end)
    return Step(Node(title, at, 4, inner), "data", at + 4, end)


def _head(
    data: bytes,
    at: int,
    word: str,
    types: Mapping[int, str],
    codes: Mapping[int, tuple[str, ...]],
) -> tuple[Node, ...]:
    words = dict(enumerate(codes.get(data[at], ())))
    specs = (
        Spec("type", "Type", f"{word}.type", name_format(dict(types))),
        Spec("code", "Code", f"{word}.code", name_format(words)),
        Spec("sum", "Checksum", f"{word}.checksum", hexadecimal(4)),
    )
    return fields(data, at, dpkt.icmp.ICMP, specs)


def _echo(data: bytes, at: int) -> Iterator[Node]:
    """Yield id and sequence number in both byte orders, because some hosts use their own order."""
    for place, label, name in ((4, "Identifier", "icmp.ident"), (6, "Sequence Number", "icmp.seq")):
        for order, word, known in (("big", "BE", name), ("little", "LE", "")):
            raw = data[at + place : at + place + 2]
            value = int.from_bytes(raw, "big" if order == "big" else "little")
            text = f"{label} ({word}): {value} (0x{value:04x})"
            yield Node(text, at + place, 2, (), known, str(value) if known else "")


def _echo_v6(data: bytes, at: int) -> tuple[Node, ...]:
    ident, seq = (int.from_bytes(data[at + n : at + n + 2], "big") for n in (4, 6))
    number = "icmpv6.echo.sequence_number"
    return (
        Node(f"Identifier: 0x{ident:04x}", at + 4, 2, (), "icmpv6.echo.identifier", str(ident)),
        Node(f"Sequence: {seq}", at + 6, 2, (), number, str(seq)),
    )


def _neighbour(data: bytes, at: int) -> Iterator[Node]:
    """Yield the flags and the target address of a neighbour solicitation or advertisement."""
    kind = data[at]
    if kind not in TARGETS:
        return
    if kind == ADVERTISEMENT:
        for bit, name in FLAGS:
            yield Node(f"{FLAG_WORDS[name]}: {flag(bool(data[at + 4] & bit))}", at + 4, 1)
    target = str(IPv6Address(data[at + 8 : at + 24]))
    yield Node(f"Target Address: {target}", at + 8, 16, (), TARGETS[kind], target)


def _options(data: bytes, at: int, end: int) -> Iterator[Node]:
    """Yield the options of a neighbour discovery message.

    The length of an option is in units of 8 bytes.  An option with a length of 0 ends the options.
    """
    while at + 8 <= end and data[at + 1]:
        kind, size = data[at], data[at + 1] * 8
        if kind in LINK_OPTIONS and size == 8:
            address = hardware(int.from_bytes(data[at + 2 : at + 8], "big"))
            text = f"ICMPv6 Option ({LINK_OPTIONS[kind]} : {address})"
        else:
            text = f"ICMPv6 Option (type {kind}, {size} bytes)"
        yield Node(text, at, min(size, end - at))
        at += size
