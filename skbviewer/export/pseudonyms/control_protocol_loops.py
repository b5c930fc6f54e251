# SPDX-License-Identifier: MIT
"""Replace addresses in ARP, ICMP, ICMPv6 and IGMP messages, and find packets quoted there."""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, compiled
from ...records.header_layout import (
    ARP_SENDER,
    ARP_SENDER_MAC,
    ARP_SIZE,
    ARP_SIZES,
    ARP_TARGET,
    ARP_TARGET_MAC,
    ICMP_CHECKSUM,
    ICMP_SIZE,
)
from .byte_loops import Packet, blank, fill, note_checksum, number, put_ipv4, put_ipv6, put_mac
from .header_option_loops import nd_options

ETHERNET_IPV4 = 0x00010800  # hardware type and protocol of ARP
SIZES = 0x0604  # of their addresses
REDIRECT = 5
# Types of ICMP that quote a packet: unreachable, source quench, redirect, time, parameter.
QUOTING = np.array([3, 4, REDIRECT, 11, 12])
MOST_QUOTING6 = 4  # of ICMPv6: types 1 to 4
MLD_QUERY, MLD_REPORT, MLD_DONE, ROUTER_SOLICIT, ROUTER_ADVERT = 130, 131, 132, 133, 134
NEIGHBOUR_SOLICIT, NEIGHBOUR_ADVERT, REDIRECT6, MLD2_REPORT = 135, 136, 137, 143
IGMP_QUERY, IGMP3_REPORT = 0x11, 0x22

Quoted = tuple[np.int64, np.int64]  # begin and end of a packet inside, -1 if there is none


@compiled
def arp(packet: Packet, at: Int, end: Int) -> None:
    """Replace the addresses of an ARP packet for IPv4 over Ethernet; zero all other addresses.

    The ARP packet is in the bytes from `at` to `end` - 1.
    """
    known = end - at >= ARP_SIZE and number(packet.old, at, np.int64(4)) == ETHERNET_IPV4
    if not known or number(packet.old, at + ARP_SIZES, np.int64(2)) != SIZES:
        fill(packet, at, end, np.int64(0))
        return
    put_mac(packet, at + ARP_SENDER_MAC)
    put_ipv4(packet, at + ARP_SENDER)
    put_mac(packet, at + ARP_TARGET_MAC)
    put_ipv4(packet, at + ARP_TARGET)
    fill(packet, at + ARP_SIZE, end, np.int64(0))


@compiled
def icmp(packet: Packet, at: Int, end: Int) -> Quoted:
    """Replace the gateway of an ICMP redirect; return the packet that the message quotes.

    The ICMP message is in the bytes from `at` to `end` - 1.
    """
    if end - at < ICMP_SIZE:
        fill(packet, at, end, np.int64(0))
        return np.int64(-1), np.int64(-1)
    note_checksum(packet, at + ICMP_CHECKSUM, at, end, np.int64(0), np.int64(0))
    kind = np.int64(packet.old[at])
    if kind == REDIRECT:
        put_ipv4(packet, at + 4)
    quotes = False
    for one in QUOTING:
        quotes = quotes or one == kind
    if quotes:
        return np.int64(at + ICMP_SIZE), np.int64(end)
    blank(packet, at + ICMP_SIZE, end)
    return np.int64(-1), np.int64(-1)


@compiled
def _addresses6(packet: Packet, at: Int, count: Int, end: Int) -> np.int64:
    """Replace up to `count` addresses; return the position after the last one."""
    here = np.int64(at)
    for _ in range(count):
        if here + 16 > end:
            break
        put_ipv6(packet, here)
        here += 16
    return here


@compiled
def _listener_reports(packet: Packet, at: Int, end: Int) -> None:
    """Replace the groups and sources of a MLD version 2 report."""
    here = np.int64(at)
    while here + 20 <= end:
        sources = number(packet.old, here + 2, np.int64(2))
        more = number(packet.old, here + 1, np.int64(1)) * 4
        here = _addresses6(packet, here + 4, sources + 1, end)
        fill(packet, here, min(here + more, end), np.int64(0))
        here += more
    fill(packet, min(here, end), end, np.int64(0))


@compiled
def _icmp6_body(packet: Packet, at: Int, end: Int, kind: Int) -> Quoted:
    """Replace the addresses after a message's first 8 bytes; return the packet that it quotes."""
    nowhere = (np.int64(-1), np.int64(-1))
    if kind == MLD2_REPORT:
        _listener_reports(packet, at + 8, end)
    elif MLD_QUERY <= kind <= MLD_DONE:
        rest = _addresses6(packet, at + 8, np.int64(1), end) + 4
        _addresses6(packet, rest, np.int64((end - rest) // 16), end)
    elif ROUTER_SOLICIT <= kind <= REDIRECT6:
        addresses = np.int64(0)
        if kind in (NEIGHBOUR_SOLICIT, NEIGHBOUR_ADVERT):
            addresses = np.int64(1)
        elif kind == REDIRECT6:
            addresses = np.int64(2)
        begin = _addresses6(packet, at + 8, addresses, end)
        return nd_options(packet, begin + 8 * (kind == ROUTER_ADVERT), end)
    elif 1 <= kind <= MOST_QUOTING6:
        return np.int64(at + 8), np.int64(end)
    else:
        blank(packet, at + 8, end)
    return nowhere


@compiled
def icmp6(packet: Packet, at: Int, end: Int, less: Int) -> Quoted:
    """Replace the addresses of an ICMPv6 message; return the packet that it quotes.

    The message is in the bytes from `at` to `end` - 1. `less` is the amount by which the sum of the
    pseudo-header has decreased.
    """
    if end - at < ICMP_SIZE:
        fill(packet, at, end, np.int64(0))
        return np.int64(-1), np.int64(-1)
    note_checksum(packet, at + ICMP_CHECKSUM, at, end, less, np.int64(0))
    return _icmp6_body(packet, at, end, np.int64(packet.old[at]))


@compiled
def igmp(packet: Packet, at: Int, end: Int) -> None:
    """Replace IGMP groups that are not multicast addresses, and the sources of IGMP version 3.

    The message is in the bytes from `at` to `end` - 1.
    """
    if end - at < ICMP_SIZE:
        fill(packet, at, end, np.int64(0))
        return
    note_checksum(packet, at + ICMP_CHECKSUM, at, end, np.int64(0), np.int64(0))
    kind, here = packet.old[at], np.int64(at + ICMP_SIZE)
    if kind == IGMP3_REPORT:
        while here + 8 <= end:
            sources = number(packet.old, here + 2, np.int64(2))
            here += 4
            for _ in range(sources + 1):
                if here + 4 <= end:
                    put_ipv4(packet, here)
                    here += 4
    else:
        put_ipv4(packet, at + 4)
    if kind == IGMP_QUERY:
        here += 4
        while here + 4 <= end:
            put_ipv4(packet, here)
            here += 4
    if here < end:
        blank(packet, here, end)
