# SPDX-License-Identifier: MIT
"""Wireshark's names of ICMP and ICMPv6 messages, by type and code."""

from __future__ import annotations

from collections.abc import Mapping

ECHO = {8: "request", 0: "reply", 128: "request", 129: "reply"}
ERRORS = frozenset({3, 4, 5, 11, 12})  # ICMP types that quote the packet that caused the error

ICMP_TYPES = {0: "Echo (ping) reply", 3: "Destination unreachable", 4: "Source quench"}
ICMP_TYPES |= {5: "Redirect", 8: "Echo (ping) request", 9: "Router advertisement"}
ICMP_TYPES |= {10: "Router solicitation", 11: "Time-to-live exceeded", 12: "Parameter problem"}
ICMP_TYPES |= {13: "Timestamp request", 14: "Timestamp reply", 15: "Information request"}
ICMP_TYPES |= {16: "Information reply", 17: "Address mask request", 18: "Address mask reply"}
ICMP_QUERIES = frozenset({0, 8, *range(13, 19)})  # types with identifier and sequence number
ICMP_CODES: Mapping[int, tuple[str, ...]] = {
    3: (
        "Network unreachable",
        "Host unreachable",
        "Protocol unreachable",
        "Port unreachable",
        "Fragmentation needed",
        "Source route failed",
        "Destination network unknown",
        "Destination host unknown",
        "Source host isolated",
        "Network administratively prohibited",
        "Host administratively prohibited",
        "Network unreachable for TOS",
        "Host unreachable for TOS",
        "Communication administratively filtered",
        "Host precedence violation",
        "Precedence cutoff in effect",
    ),
    5: (
        "Redirect for network",
        "Redirect for host",
        "Redirect for TOS and network",
        "Redirect for TOS and host",
    ),
    11: ("Time to live exceeded in transit", "Fragment reassembly time exceeded"),
    12: ("Pointer indicates the error", "Required option missing", "Bad length"),
}

ICMPV6_TYPES = {1: "Destination Unreachable", 2: "Packet Too Big", 3: "Time Exceeded"}
ICMPV6_TYPES |= {4: "Parameter Problem", 128: "Echo (ping) request", 129: "Echo (ping) reply"}
ICMPV6_TYPES |= {130: "Multicast Listener Query", 131: "Multicast Listener Report"}
ICMPV6_TYPES |= {132: "Multicast Listener Done", 133: "Router Solicitation"}
ICMPV6_TYPES |= {134: "Router Advertisement", 135: "Neighbor Solicitation"}
ICMPV6_TYPES |= {136: "Neighbor Advertisement", 137: "Redirect"}
ICMPV6_TYPES |= {143: "Multicast Listener Report Message v2"}
ICMPV6_CODES: Mapping[int, tuple[str, ...]] = {
    1: (
        "no route to destination",
        "Administratively prohibited",
        "Beyond scope of source address",
        "Address unreachable",
        "Port unreachable",
        "Source address failed ingress/egress policy",
        "Reject route to destination",
        "Error in Source Routing Header",
    ),
    3: ("hop limit exceeded in transit", "fragment reassembly time exceeded"),
    4: (
        "erroneous header field encountered",
        "unrecognized Next Header type encountered",
        "unrecognized IPv6 option encountered",
        "IPv6 First Fragment has incomplete IPv6 Header Chain",
    ),
}


def icmp_info(kind: int, code: int, ident: int, seq: int, ttl: int) -> str:
    """Return the Info text of an ICMP message, in Wireshark's words.

    `kind` is the message's type and `code` its code.  `ident` and `seq` are the numbers of an echo
    message.  `ttl` is -1 if unknown.
    """
    name = ICMP_TYPES.get(kind, f"Type {kind}")
    if kind in ICMP_QUERIES:
        swapped = (seq & 0xFF) << 8 | seq >> 8 & 0xFF  # some hosts use their own byte order
        tail = f", ttl={ttl}" if ttl >= 0 else ""
        return f"{name:<20} id=0x{ident:04x}, seq={seq}/{swapped}{tail}"
    said = _code(ICMP_CODES, kind, code, f"Unknown code: {code}")
    return f"{name:<20} ({said})" if said else name


def icmpv6_info(kind: int, code: int, ident: int, seq: int, hops: int) -> str:
    """Return the Info text of an ICMPv6 message, without the addresses in its body.

    `kind` is the message's type and `code` its code.  `ident` and `seq` are the numbers of an echo
    message.  `hops` is -1 if unknown.
    """
    name = ICMPV6_TYPES.get(kind, f"Type {kind}")
    if kind in ECHO:
        tail = f", hop limit={hops}" if hops >= 0 else ""
        return f"{name} id=0x{ident:04x}, seq={seq}{tail}"
    said = _code(ICMPV6_CODES, kind, code, f"Unknown code: {code}")
    return f"{name} ({said})" if said else name


def _code(codes: Mapping[int, tuple[str, ...]], kind: int, code: int, unknown: str) -> str:
    """Return what a code means; "" if codes of this type mean nothing."""
    known = codes.get(kind, ())
    return known[code] if code < len(known) else unknown if known else ""
