# SPDX-License-Identifier: MIT
"""Remove identifying data from options of IPv4, TCP, IPv6 and neighbour discovery."""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free, compiled
from ...records.types import Int64s
from .byte_loops import Packet, fill, number, put_ipv6, put_mac, put_prefix

END_OF_LIST, NOP = 0, 1  # of IPv4 and of TCP, one byte
IPV4_KEPT = np.array([148])  # router alert
TCP_KEPT = np.array([2, 3, 4, 5, 8])  # MSS, window scale, SACK permitted, SACK, time stamps
IPV6_KEPT = np.array([0x01, 0x05, 0xC2])  # PadN, router alert, jumbo payload
PAD1, PADN = 0, 1
ND_SOURCE, ND_TARGET, ND_PREFIX, ND_REDIRECTED, ND_MTU, ND_ROUTE, ND_RDNSS = 1, 2, 3, 4, 5, 24, 25


@allocation_free
def _kept(kind: Int, kinds: Int64s) -> bool:
    kept = False
    for one in kinds:
        kept = kept or one == kind
    return kept


@compiled
def without_options(packet: Packet, begin: Int, end: Int, kinds: Int64s) -> None:
    """Replace options of IPv4 or TCP with NOPs, except options of the kinds `kinds`.

    The options are in the bytes from `begin` to `end` - 1.
    """
    at = np.int64(begin)
    while at < end:
        kind = packet.old[at]
        if kind == END_OF_LIST:
            fill(packet, at, end, np.int64(END_OF_LIST))
            return
        size = np.int64(1)
        if kind != NOP:
            size = np.int64(packet.old[at + 1]) if at + 1 < end else np.int64(0)
            if size < 2 or at + size > end:
                fill(packet, at, end, np.int64(NOP))
                return
            if not _kept(np.int64(kind), kinds):
                fill(packet, at, at + size, np.int64(NOP))
        at += size


@compiled
def without_ipv6_options(packet: Packet, begin: Int, end: Int) -> None:
    """Replace hop-by-hop and destination options with padding, except the kinds in IPV6_KEPT.

    The options are in the bytes from `begin` to `end` - 1.
    """
    at = np.int64(begin)
    while at < end:
        kind = packet.old[at]
        size = np.int64(1)
        if kind != PAD1:
            size = np.int64(packet.old[at + 1]) + 2 if at + 1 < end else np.int64(0)
            if size < 2 or at + size > end:
                fill(packet, at, end, np.int64(PAD1))
                return
            if not _kept(np.int64(kind), IPV6_KEPT) or kind == PADN:
                packet.new[at] = PADN
                fill(packet, at + 2, at + size, np.int64(0))
        at += size


@compiled
def _nd_option(packet: Packet, at: Int, size: Int) -> np.int64:
    """Replace the addresses of an option; return the offset of the packet it quotes, or -1."""
    kind, quoted = packet.old[at], np.int64(-1)
    if (kind in (ND_SOURCE, ND_TARGET)) and size == 8:
        put_mac(packet, at + 2)
    elif kind == ND_PREFIX and size == 32:
        put_prefix(packet, at + 16, np.int64(packet.old[at + 2]), np.int64(16))
    elif kind == ND_ROUTE and size <= 24:
        put_prefix(packet, at + 8, np.int64(packet.old[at + 2]), size - np.int64(8))
    elif kind == ND_RDNSS:
        for one in range((size - 8) // 16):
            put_ipv6(packet, at + 8 + 16 * one)
    elif kind == ND_REDIRECTED:
        quoted = np.int64(at + 8)
    elif kind != ND_MTU:
        fill(packet, at + 2, at + size, np.int64(0))
    return quoted


@compiled
def nd_options(packet: Packet, begin: Int, end: Int) -> tuple[np.int64, np.int64]:
    """Replace the addresses in options of neighbour discovery.

    The options are in the bytes from `begin` to `end` - 1. Bytes after the last complete option
    become zeros. Returns start and end of the packet that an option quotes, or (-1, -1).
    """
    at, quoted, stop = np.int64(begin), np.int64(-1), np.int64(-1)
    while at + 8 <= end:
        size = number(packet.old, at + 1, np.int64(1)) * 8
        if size == 0 or at + size > end:
            break
        here = _nd_option(packet, at, size)
        if here >= 0 and quoted < 0:
            quoted, stop = here, at + size
        at += size
    fill(packet, at, end, np.int64(0))
    return quoted, stop
