# SPDX-License-Identifier: MIT
"""Summaries of neighbour discovery messages: address in question, sender, hardware address.

The messages are those of RFC 4861, and the words are Wireshark's.  The functions raise IndexError
or ValueError if the bytes are too short.
"""

from __future__ import annotations

from ipaddress import IPv6Address

from ..words.icmp_words import ICMPV6_TYPES
from ..words.packet_info import mac

SOLICITATION, ADVERTISEMENT = 135, 136
OPTIONS = {133: 8, 134: 16, SOLICITATION: 24, ADVERTISEMENT: 24, 137: 40}  # offsets of the options
LINKS = {1: "from", 2: "is at"}  # options with a link-layer address: source, target
FLAGS = ((0x80, "rtr"), (0x40, "sol"), (0x20, "ovr"))


def neighbour_summary(data: bytes) -> tuple[str, str] | None:
    """Return (Protocol, Info) of an ICMPv6 message; None if it is not neighbour discovery."""
    kind = data[0]
    if kind not in OPTIONS:
        return None
    said = ICMPV6_TYPES[kind]
    if kind == SOLICITATION:
        said += f" for {IPv6Address(data[8:24])}"
    elif kind == ADVERTISEMENT:
        flags = ", ".join(name for bit, name in FLAGS if data[4] & bit)
        said += f" {IPv6Address(data[8:24])} ({flags or 'none'})"
    return "ICMPv6", said + _link_addresses(data, OPTIONS[kind])


def _link_addresses(data: bytes, at: int) -> str:
    """Return the Ethernet addresses in the options that begin at byte `at`, as text."""
    said = ""
    while at + 8 <= len(data) and data[at + 1]:
        if data[at] in LINKS:
            said += f" {LINKS[data[at]]} {mac(int.from_bytes(data[at + 2 : at + 8], 'big'))}"
        at += data[at + 1] * 8
    return said
