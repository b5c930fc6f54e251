# SPDX-License-Identifier: MIT
"""Headers of TCP, with options, and of UDP."""

from __future__ import annotations

import dpkt

from ..words.packet_info import TCP_FLAGS
from .detail_tree_lines import Node, Spec, Step, fields, flag, hexadecimal

WORDS = {"FIN": "Fin", "SYN": "Syn", "RST": "Reset", "PSH": "Push", "ACK": "Acknowledgment"}
WORDS |= {"URG": "Urgent", "ECE": "ECN-Echo", "CWR": "Congestion Window Reduced"}
FILTERS = {"RST": "reset", "PSH": "push"}

_TCP = (
    Spec("sport", "Source Port", "tcp.srcport"),
    Spec("dport", "Destination Port", "tcp.dstport"),
    Spec("seq", "Sequence Number (raw)", "tcp.seq_raw"),
    Spec("ack", "Acknowledgment number (raw)", "tcp.ack_raw"),
    Spec("_off_flags", "Header Length", "tcp.hdr_len", lambda n: f"{n * 4} bytes", 0xF000),
)
_REST = (
    Spec("win", "Window", "tcp.window_size_value"),
    Spec("sum", "Checksum", "tcp.checksum", hexadecimal(4)),
    Spec("urp", "Urgent Pointer", "tcp.urgent_pointer"),
)
END_OR_NOP = {0: "End of Option List (EOL)", 1: "No-Operation (NOP)"}
OPTIONS = {2: "Maximum segment size", 3: "Window scale", 4: "SACK permitted", 5: "SACK"}
OPTIONS |= {8: "Timestamps", 19: "MD5 signature", 30: "Multipath TCP", 34: "Fast open cookie"}


def tcp(data: bytes, at: int, end: int) -> Step:
    """Dissect the TCP header with options at byte `at` of `data`; the segment ends at `end`."""
    header = max((data[at + 12] >> 4) * 4, 20)
    value = data[at + 13]
    names = [name for bit, name in TCP_FLAGS if value >> bit & 1]
    flags = Node(
        f"Flags: 0x{value:03x} ({', '.join(names) or '<None>'})",
        at + 12,
        2,
        tuple(
            Node(
                f"{WORDS[name]}: {flag(value >> bit & 1)}",
                at + 13,
                1,
                (),
                f"tcp.flags.{FILTERS.get(name, name.lower())}",
                str(value >> bit & 1),
            )
            for bit, name in reversed(TCP_FLAGS)
        ),
        "tcp.flags",
        f"0x{value:03x}",
    )
    inner = [*fields(data, at, dpkt.tcp.TCP, _TCP), flags, *fields(data, at, dpkt.tcp.TCP, _REST)]
    if header > 20:
        inner.append(_options(data, at + 20, min(at + header, end)))
    sport, dport, seq = inner[0].value, inner[1].value, inner[2].value
    size = max(end - at - header, 0)
    text = f"Transmission Control Protocol, Src Port: {sport}, Dst Port: {dport}, Seq: {seq}"
    node = Node(f"{text}, Len: {size}", at, header, tuple(inner))
    return Step(node, "tcp payload", at + header, end)


def _options(data: bytes, at: int, end: int) -> Node:
    """Return a node for TCP's options (RFC 9293 section 3.2): kind, length and value of each.

    Options of the kinds 0 and 1 have neither length nor value.
    """
    found, names, place = [], list[str](), at
    while place < end:
        kind = data[place]
        size = 1 if kind < 2 else data[place + 1] if place + 1 < end else 0
        if size == 0 or place + size > end:
            found.append(Node("[Malformed option]", place, end - place))
            break
        name = END_OR_NOP.get(kind) or OPTIONS.get(kind, f"Kind {kind}")
        text = f"TCP Option - {name}{_option(kind, data[place + 2 : place + size])}"
        found.append(Node(text, place, size))
        names.append(name)
        place += size
    title = ", ".join([f"Options: ({end - at} bytes)", *names])
    return Node(title, at, end - at, tuple(found))


def _option(kind: int, value: bytes) -> str:
    if kind == 8 and len(value) == 8:
        return (
            f": TSval {int.from_bytes(value[:4], 'big')}, TSecr {int.from_bytes(value[4:], 'big')}"
        )
    if kind == 5:
        edges = [int.from_bytes(value[i : i + 4], "big") for i in range(0, len(value) - 3, 4)]
        pairs = zip(edges[::2], edges[1::2], strict=False)
        return ": " + ", ".join(f"{left}-{right}" for left, right in pairs)
    if kind == 3 and value:
        return f": {value[0]} (multiply by {1 << min(value[0], 14)})"
    if kind == 2:
        return f": {int.from_bytes(value, 'big')} bytes"
    return f": {value.hex()}" if value else ""


def udp(data: bytes, at: int, end: int) -> Step:
    """Dissect the UDP header at byte `at` of `data`.

    The UDP length says where the payload ends, but the payload ends at byte `end` at the latest.
    """
    specs = (
        Spec("sport", "Source Port", "udp.srcport"),
        Spec("dport", "Destination Port", "udp.dstport"),
        Spec("ulen", "Length", "udp.length"),
        Spec("sum", "Checksum", "udp.checksum", hexadecimal(4)),
    )
    inner = fields(data, at, dpkt.udp.UDP, specs)
    text = f"User Datagram Protocol, Src Port: {inner[0].value}, Dst Port: {inner[1].value}"
    length = int.from_bytes(data[at + 4 : at + 6], "big")
    stop = min(end, at + length) if length >= 8 else end
    return Step(Node(text, at, 8, inner), "udp payload", at + 8, stop)
