# SPDX-License-Identifier: MIT
"""Put pseudonyms into all headers of packets, overwrite payloads with zeros, adjust checksums.

Everything that is not recognised as a header is treated as payload. Packets inside IP, GRE and
VXLAN, and quoted packets, are rewritten as well.
"""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free, compiled
from ...records.header_layout import (
    AUTH,
    DSTOPTS,
    ETH_DST,
    ETH_SIZE,
    ETH_SRC,
    ETH_TYPE,
    FRAGMENT,
    FRAGMENT_FIELD,
    HOPOPTS,
    IP_OFFSET,
    IPV4_CHECKSUM,
    IPV4_DADDR,
    IPV4_FRAG_OFF,
    IPV4_PROTOCOL,
    IPV4_SADDR,
    IPV4_SIZE,
    IPV4_TOT_LEN,
    IPV6_DADDR,
    IPV6_NEXT,
    IPV6_PAYLOAD_LEN,
    IPV6_SADDR,
    IPV6_SIZE,
    ROUTING,
    TCP_CHECKSUM,
    TCP_OFFSET,
    TCP_SIZE,
    UDP_CHECKSUM,
    UDP_SIZE,
)
from ...records.protocols import ICMP, ICMPV6, TCP, UDP, UDPLITE
from ...records.types import Int64s
from .byte_loops import (
    Packet,
    adjust_checksums,
    blank,
    fill,
    note_checksum,
    number,
    put_ipv4,
    put_ipv6,
    put_mac,
    word_sum,
)
from .control_protocol_loops import arp, icmp, icmp6, igmp
from .header_option_loops import IPV4_KEPT, TCP_KEPT, without_ipv6_options, without_options

IGMP, IPV4_INSIDE, IPV6_INSIDE, GRE = 2, 4, 41, 47
DONE, AT_ETHERNET, AT_IPV4, AT_IPV6, AT_ARP = range(5)  # what is at a position
VXLAN_PORT, VXLAN_SIZE = 4789, 8
GRE_CHECKSUM, GRE_OTHERS, GRE_VERSION = 0x8000, 0x3000, 0x4007
MOST_HEADERS = 16
SEGMENT_ROUTING = 4  # a type of routing header; types 0 and 2 have addresses, too

Step = tuple[np.int64, np.int64, np.int64]  # the next header, its start and end


@allocation_free
def _done() -> Step:
    return np.int64(DONE), np.int64(0), np.int64(0)


@compiled
def _of_ethertype(packet: Packet, kind: Int, at: Int, end: Int) -> Step:
    what = np.int64(DONE)
    if kind == 0x0800:
        what = np.int64(AT_IPV4)
    elif kind == 0x86DD:
        what = np.int64(AT_IPV6)
    elif kind == 0x0806:
        what = np.int64(AT_ARP)
    elif kind == 0x6558:
        what = np.int64(AT_ETHERNET)
    else:
        blank(packet, at, end)
    return what, np.int64(at), np.int64(end)


@compiled
def _ethernet(packet: Packet, at: Int, end: Int) -> Step:
    if end - at < ETH_SIZE:
        fill(packet, at, end, np.int64(0))
        return _done()
    put_mac(packet, at + ETH_DST)
    put_mac(packet, at + ETH_SRC)
    kind, here = number(packet.old, at + ETH_TYPE, np.int64(2)), np.int64(at + ETH_SIZE)
    while (kind in (0x8100, 0x88A8)) and here + 4 <= end:
        kind, here = number(packet.old, here + 2, np.int64(2)), here + 4
    return _of_ethertype(packet, kind, here, end)


@compiled
def _tcp(packet: Packet, at: Int, end: Int, less: Int) -> None:
    if end - at < TCP_SIZE:
        fill(packet, at + 8, end, np.int64(0))
        return
    note_checksum(packet, at + TCP_CHECKSUM, at, end, less, np.int64(0))
    size = np.int64(packet.old[at + TCP_OFFSET] >> np.uint8(4)) * 4
    stop = min(at + max(size, np.int64(TCP_SIZE)), np.int64(end))
    without_options(packet, at + TCP_SIZE, stop, TCP_KEPT)
    blank(packet, stop, end)


@compiled
def _udp(packet: Packet, at: Int, end: Int, less: Int) -> Step:
    if end - at < UDP_SIZE:
        fill(packet, at + 4, end, np.int64(0))
        return _done()
    if number(packet.old, at + UDP_CHECKSUM, np.int64(2)) != 0:
        note_checksum(packet, at + UDP_CHECKSUM, at, end, less, np.int64(1))
    inner = np.int64(at + UDP_SIZE + VXLAN_SIZE)
    if number(packet.old, at + 2, np.int64(2)) == VXLAN_PORT and inner + ETH_SIZE <= end:
        return np.int64(AT_ETHERNET), inner, np.int64(end)
    blank(packet, at + UDP_SIZE, end)
    return _done()


@compiled
def _gre(packet: Packet, at: Int, end: Int) -> Step:
    flags = number(packet.old, at, np.int64(2)) if end - at >= 4 else np.int64(GRE_VERSION)
    here = np.int64(at + 4)
    if flags & GRE_VERSION:
        blank(packet, at, end)
        return _done()
    if flags & GRE_CHECKSUM:
        note_checksum(packet, at + 4, at, end, np.int64(0), np.int64(0))
        here += 4
    for bit in (0x2000, 0x1000):
        if flags & bit:
            here += 4
    if here > end:
        return _done()
    return _of_ethertype(packet, number(packet.old, at + 2, np.int64(2)), here, end)


@compiled
def _transport(packet: Packet, protocol: Int, at: Int, end: Int, less: Int) -> Step:
    """Rewrite a transport header; the pseudo-header's sum has decreased by `less`."""
    what, begin, stop = np.int64(DONE), np.int64(at), np.int64(end)
    if protocol == TCP:
        _tcp(packet, at, end, less)
    elif protocol in (UDP, UDPLITE):
        what, begin, stop = _udp(packet, at, end, less)
    elif protocol == ICMP:
        begin, stop = icmp(packet, at, end)
        what = np.int64(AT_IPV4) if begin >= 0 else np.int64(DONE)
    elif protocol == ICMPV6:
        begin, stop = icmp6(packet, at, end, less)
        what = np.int64(AT_IPV6) if begin >= 0 else np.int64(DONE)
    elif protocol == IGMP:
        igmp(packet, at, end)
    elif protocol == IPV4_INSIDE:
        what = np.int64(AT_IPV4)
    elif protocol == IPV6_INSIDE:
        what = np.int64(AT_IPV6)
    elif protocol == GRE:
        what, begin, stop = _gre(packet, at, end)
    else:
        blank(packet, at, end)
    return what, begin, stop


@compiled
def _ipv4(packet: Packet, at: Int, end: Int) -> Step:
    old = packet.old
    size = np.int64(old[at] & 15) * 4 if at < end else np.int64(0)
    if end - at < IPV4_SIZE or old[at] >> np.uint8(4) != 4 or size < IPV4_SIZE or at + size > end:
        fill(packet, at, end, np.int64(0))
        return _done()
    put_ipv4(packet, at + IPV4_SADDR)
    put_ipv4(packet, at + IPV4_DADDR)
    less = word_sum(old, at + IPV4_SADDR, at + IPV4_SIZE)
    less -= word_sum(packet.new, at + IPV4_SADDR, at + IPV4_SIZE)
    without_options(packet, at + IPV4_SIZE, at + size, IPV4_KEPT)
    note_checksum(packet, at + IPV4_CHECKSUM, at, at + size, np.int64(0), np.int64(0))
    total, stop = number(old, at + IPV4_TOT_LEN, np.int64(2)), np.int64(end)
    if total >= size and at + total < end:
        stop = np.int64(at + total)
        fill(packet, stop, end, np.int64(0))  # padding
    if number(old, at + IPV4_FRAG_OFF, np.int64(2)) & IP_OFFSET:
        blank(packet, at + size, stop)
        return _done()
    return _transport(packet, np.int64(old[at + IPV4_PROTOCOL]), at + size, stop, less)


@compiled
def _routing(packet: Packet, at: Int, size: Int) -> np.int64:
    """Replace the addresses of a routing header; return the last destination's offset, or -1."""
    kind, left = packet.old[at + 2], packet.old[at + 3]
    count = (size - 8) // 16
    if kind == SEGMENT_ROUTING:
        count = min(count, np.int64(packet.old[at + 4]) + 1)
    if kind != 0 and kind != 2 and kind != SEGMENT_ROUTING:
        count = np.int64(0)
    for one in range(count):
        put_ipv6(packet, at + 8 + 16 * one)
    fill(packet, at + 8 + 16 * count, at + size, np.int64(0))
    if left == 0 or count == 0:
        return np.int64(-1)
    return np.int64(at + 8) if kind == SEGMENT_ROUTING else np.int64(at - 8 + 16 * count)


@compiled
def _ipv6(packet: Packet, at: Int, end: Int) -> Step:
    old = packet.old
    if end - at < IPV6_SIZE or old[at] >> np.uint8(4) != 6:
        fill(packet, at, end, np.int64(0))
        return _done()
    put_ipv6(packet, at + IPV6_SADDR)
    put_ipv6(packet, at + IPV6_DADDR)
    length, stop = number(old, at + IPV6_PAYLOAD_LEN, np.int64(2)), np.int64(end)
    if length > 0 and at + IPV6_SIZE + length < end:
        stop = np.int64(at + IPV6_SIZE + length)
        fill(packet, stop, end, np.int64(0))  # padding
    target = np.int64(at + IPV6_DADDR)
    kind, here = np.int64(old[at + IPV6_NEXT]), np.int64(at + IPV6_SIZE)
    for _ in range(MOST_HEADERS):
        extends = kind in (HOPOPTS, DSTOPTS, ROUTING)
        if not (extends or kind in (FRAGMENT, AUTH)) or here + 8 > stop:
            break
        size = np.int64(8)
        if kind == AUTH:
            size = (np.int64(old[here + 1]) + 2) * 4
        elif extends:
            size = (np.int64(old[here + 1]) + 1) * 8
        size = min(size, stop - here)
        if kind in (HOPOPTS, DSTOPTS):
            without_ipv6_options(packet, here + 2, here + size)
        elif kind == AUTH:
            fill(packet, here + 8, here + size, np.int64(0))
        elif kind == ROUTING:
            last = _routing(packet, here, size)
            target = last if last >= 0 else target
        elif number(old, here + FRAGMENT_FIELD, np.int64(2)) & 0xFFF8:
            blank(packet, here + 8, stop)
            return _done()
        kind, here = np.int64(old[here]), here + size
    less = word_sum(old, at + IPV6_SADDR, at + IPV6_DADDR) + word_sum(old, target, target + 16)
    less -= word_sum(packet.new, at + IPV6_SADDR, at + IPV6_DADDR)
    less -= word_sum(packet.new, target, target + 16)
    return _transport(packet, kind, here, stop, less)


@compiled
def _from_network(packet: Packet, what: Int, at: Int, end: Int) -> None:
    """Rewrite a network header and all headers inside it."""
    kind, begin, stop = np.int64(what), np.int64(at), np.int64(end)
    for _ in range(MOST_HEADERS):
        if kind == AT_IPV4:
            kind, begin, stop = _ipv4(packet, begin, stop)
        elif kind == AT_IPV6:
            kind, begin, stop = _ipv6(packet, begin, stop)
        elif kind == AT_ETHERNET:
            kind, begin, stop = _ethernet(packet, begin, stop)
        else:
            break
    if kind == AT_ARP:
        arp(packet, begin, stop)
    elif kind != DONE:
        fill(packet, begin, stop, np.int64(0))


@compiled
def rewrite(
    packet: Packet, begin: Int64s, end: Int64s, macs: Int64s, kept: Int64s, ipv4: Int64s,
    ipv6: Int64s, arps: Int64s,
) -> None:  # fmt: skip
    """Replace addresses in packet.new, at first a copy of packet.old, and make its payload zeros.

    Packet i is in the bytes from begin[i] to end[i] - 1.

    `macs` (n, 2) are the offsets of MAC addresses in link headers. `kept` says how many bytes of
    each link header are not zeroed. `ipv4`, `ipv6` and `arps` are the offsets of the packets' IPv4,
    IPv6 and ARP headers. A missing address or header has the offset -1; all other offsets must be
    inside the arrays.
    """
    for i in range(len(begin)):
        packet.found[0] = 0
        at, stop = np.int64(begin[i]), np.int64(end[i])
        what, network = np.int64(DONE), stop
        if ipv4[i] >= 0:
            what, network = np.int64(AT_IPV4), ipv4[i]
        elif ipv6[i] >= 0:
            what, network = np.int64(AT_IPV6), ipv6[i]
        elif arps[i] >= 0:
            what, network = np.int64(AT_ARP), arps[i]
        after = min(at + kept[i], network)
        fill(packet, after, network, np.int64(0))
        for column in range(2):
            where = macs[i, column]
            if where >= 0 and where + 6 <= network:
                put_mac(packet, where)
        _from_network(packet, what, network, stop)
        adjust_checksums(packet)
