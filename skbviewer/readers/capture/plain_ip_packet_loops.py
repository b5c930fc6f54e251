# SPDX-License-Identifier: MIT
"""Decode common packets: loops of plain_ip_packets.py."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.compiled import Int, allocation_free
from ...records.header_layout import (
    DPORT,
    ETH_DST,
    ETH_SIZE,
    ETH_SRC,
    ETH_TYPE,
    FLOW_LABEL,
    ICMP_ID,
    ICMP_SEQ,
    ICMP_SIZE,
    IP_MF,
    IP_OFFSET,
    IPV4_DADDR,
    IPV4_FRAG_OFF,
    IPV4_ID,
    IPV4_PROTOCOL,
    IPV4_SADDR,
    IPV4_SIZE,
    IPV4_TOT_LEN,
    IPV4_TTL,
    IPV6_DADDR,
    IPV6_HOP_LIMIT,
    IPV6_NEXT,
    IPV6_PAYLOAD_LEN,
    IPV6_SADDR,
    IPV6_SIZE,
    SPORT,
    TCP_ACK,
    TCP_FLAGS,
    TCP_OFFSET,
    TCP_SEQ,
    TCP_SIZE,
    TCP_WINDOW,
    UDP_LEN,
    UDP_SIZE,
    VLAN_SIZE,
    VLAN_TCI,
    VLAN_TYPE,
)
from ...records.protocols import ICMP, ICMPV6, TCP, UDP
from ...records.types import Bools, Int64s, UInt8s
from .content_hash import content_of
from .ethertypes import ETH_P_8021Q, ETH_P_IP, ETH_P_IPV6

VLAN_ID = 0x0FFF
MORE_OR_LATER = IP_MF | IP_OFFSET  # bits of frag_off that only fragments have
ETHERNET, RAW, LINKTYPE_IPV4, LINKTYPE_IPV6 = 1, (12, 14, 101), 228, 229
NO, V4, V6 = range(3)  # what a packet is: not common, IPv4, IPv6
SOME, SOME_V4, SOME_V6, SOME_ETHERNET, SOME_VLAN, SOMES = range(6)  # what the block contains

Int32s = npt.NDArray[np.int32]
Int16s = npt.NDArray[np.int16]


class Columns(NamedTuple):
    """The columns of PACKET_DTYPE that common packets fill."""

    eth_src: Int64s
    eth_dst: Int64s
    vlan: Int32s
    ttl: Int16s
    window: Int32s
    payload: Int32s
    content: Int32s
    ethertype: Int32s
    ip_version: UInt8s
    saddr_hi: Int64s
    saddr_lo: Int64s
    daddr_hi: Int64s
    daddr_lo: Int64s
    ip_id: Int32s
    protocol: Int16s
    frag_off: Int32s
    tot_len: Int32s
    sport: Int32s
    dport: Int32s
    seq: Int64s
    ack: Int64s
    tcp_flags: Int16s
    flow_label: Int32s


@allocation_free
def _u16(data: UInt8s, at: Int) -> np.int64:
    return np.int64(data[at]) << 8 | np.int64(data[at + 1])


@allocation_free
def _u32(data: UInt8s, at: Int) -> np.int64:
    return _u16(data, at) << 16 | _u16(data, at + 2)


@allocation_free
def _u48(data: UInt8s, at: Int) -> np.int64:
    return _u16(data, at) << 32 | _u32(data, at + 2)


@allocation_free
def _i64(data: UInt8s, at: Int) -> np.int64:
    return _u32(data, at) << 32 | _u32(data, at + 4)


@allocation_free
def _sane(data: UInt8s, at: Int, protocol: Int, length: Int, left: Int) -> bool | np.bool_:
    """Return whether a transport header was captured as a whole, with consistent lengths."""
    if protocol == TCP:
        if length < TCP_SIZE or left < TCP_SIZE:
            return False
        offset = (np.int64(data[at + TCP_OFFSET]) >> 4) * 4
        return TCP_SIZE <= offset <= length
    if protocol == UDP:
        return length >= UDP_SIZE and left >= UDP_SIZE and _u16(data, at + UDP_LEN) == length
    return protocol in (ICMP, ICMPV6) and length >= ICMP_SIZE and left >= ICMP_SIZE


@allocation_free
def sort_packets(
    data: UInt8s,
    begin: int,
    linktype: Int32s,
    offset: Int64s,
    caplen: Int64s,
    length: Int64s,
    kind: UInt8s,
    network: Int64s,
    among: Bools,
) -> None:
    """Fill `kind` (NO, V4 or V6) and `network`, the position of the network header, by packet.

    `data` holds the file's bytes from `begin` on.  By packet: link type, `offset` in the file,
    captured and original length.  `among` is set at the index SOME_V4, for example, if the block
    has such packets.
    """
    for i in range(len(kind)):
        kind[i] = NO
        at, link, tagged = offset[i] - begin, linktype[i], False
        end, stop = at + caplen[i], at + length[i]
        if at < 0 or end > len(data):
            continue
        type_ = np.int64(-1)
        if link == ETHERNET:
            if end - at < VLAN_SIZE:
                continue
            type_ = _u16(data, at + ETH_TYPE)
            tagged = type_ == ETH_P_8021Q
            if tagged:
                type_ = _u16(data, at + VLAN_TYPE)
            at += VLAN_SIZE if tagged else ETH_SIZE
        elif link == LINKTYPE_IPV4:
            type_ = np.int64(ETH_P_IP)
        elif link == LINKTYPE_IPV6:
            type_ = np.int64(ETH_P_IPV6)
        elif link in RAW and at < end:
            version = data[at] >> 4
            type_ = np.int64(ETH_P_IP if version == 4 else ETH_P_IPV6 if version == 6 else -1)
        left = end - at
        if type_ == ETH_P_IP and left >= IPV4_SIZE and data[at] == 0x45:
            total = _u16(data, at + IPV4_TOT_LEN)
            protocol = np.int64(data[at + IPV4_PROTOCOL])
            good = _u16(data, at + IPV4_FRAG_OFF) & MORE_OR_LATER == 0 and total <= stop - at
            good = good and protocol != ICMPV6
            if good and _sane(data, at + IPV4_SIZE, protocol, total - IPV4_SIZE, left - IPV4_SIZE):
                kind[i], among[SOME_V4] = V4, True
        elif type_ == ETH_P_IPV6 and left >= IPV6_SIZE and data[at] >> 4 == 6:
            total = _u16(data, at + IPV6_PAYLOAD_LEN)
            protocol = np.int64(data[at + IPV6_NEXT])
            good = total + IPV6_SIZE <= stop - at and protocol != ICMP
            if good and _sane(data, at + IPV6_SIZE, protocol, total, left - IPV6_SIZE):
                kind[i], among[SOME_V6] = V6, True
        if kind[i] != NO:
            network[i], among[SOME] = at, True
            among[SOME_ETHERNET] |= link == ETHERNET
            among[SOME_VLAN] |= tagged


@allocation_free
def fill_common(
    data: UInt8s,
    begin: int,
    linktype: Int32s,
    kind: UInt8s,
    network: Int64s,
    offset: Int64s,
    caplen: Int64s,
    among: Bools,
    to: Columns,
) -> None:
    """Fill the columns `to` of common packets; set those of other packets to unknown.

    sort_packets() sets `kind`, `network` and `among`; it explains the other arguments.
    """
    some_v4, some_v6 = among[SOME_V4], among[SOME_V6]
    ethernet, vlan = among[SOME_ETHERNET], among[SOME_VLAN]
    for i in range(len(kind)):
        at, version, length = network[i], np.int64(0), np.int64(0)
        ttl, protocol, total = np.int64(-1), np.int64(-1), np.int64(-1)
        ip_id, frag_off, flow = np.int64(-1), np.int64(-1), np.int64(-1)
        saddr, daddr, saddr_hi, daddr_hi = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        sport, dport, seq, ack = np.int64(-1), np.int64(-1), np.int64(-1), np.int64(-1)
        tcp_flags, window, payload, place = np.int64(-1), np.int64(-1), np.int64(-1), np.int64(0)
        if kind[i] == V4:
            version, place = np.int64(4), at + IPV4_SIZE
            total, ttl, protocol = (
                _u16(data, at + IPV4_TOT_LEN),
                np.int64(data[at + IPV4_TTL]),
                np.int64(data[at + IPV4_PROTOCOL]),
            )
            ip_id, frag_off = _u16(data, at + IPV4_ID), _u16(data, at + IPV4_FRAG_OFF)
            saddr, daddr = _u32(data, at + IPV4_SADDR), _u32(data, at + IPV4_DADDR)
            length = total - IPV4_SIZE
        elif kind[i] == V6:
            version, place = np.int64(6), at + IPV6_SIZE
            length, flow = _u16(data, at + IPV6_PAYLOAD_LEN), _u32(data, at) & FLOW_LABEL
            protocol, ttl = np.int64(data[at + IPV6_NEXT]), np.int64(data[at + IPV6_HOP_LIMIT])
            total = length + IPV6_SIZE
            saddr_hi, saddr = _i64(data, at + IPV6_SADDR), _i64(data, at + IPV6_SADDR + 8)
            daddr_hi, daddr = _i64(data, at + IPV6_DADDR), _i64(data, at + IPV6_DADDR + 8)
        if kind[i] != NO:
            sport, dport = _u16(data, place + SPORT), _u16(data, place + DPORT)
        if protocol == TCP:
            seq, ack = _u32(data, place + TCP_SEQ), _u32(data, place + TCP_ACK)
            tcp_flags = np.int64(data[place + TCP_FLAGS])
            window = _u16(data, place + TCP_WINDOW)
            payload = length - (np.int64(data[place + TCP_OFFSET]) >> 4) * 4
        elif protocol == UDP:
            payload = length - UDP_SIZE
        elif kind[i] != NO:
            dport, seq = _u16(data, place + ICMP_ID), _u16(data, place + ICMP_SEQ)
        to.ip_version[i], to.ttl[i], to.protocol[i], to.tot_len[i] = version, ttl, protocol, total
        to.ethertype[i] = ETH_P_IP if version == 4 else ETH_P_IPV6 if version == 6 else -1
        to.saddr_lo[i], to.daddr_lo[i], to.sport[i], to.dport[i] = saddr, daddr, sport, dport
        to.seq[i], to.ack[i], to.tcp_flags[i] = seq, ack, tcp_flags
        to.window[i], to.payload[i] = window, payload
        left = offset[i] - begin + caplen[i] - place
        to.content[i] = content_of(data, place, length, left, protocol) if version else -1
        if some_v4:
            to.ip_id[i], to.frag_off[i] = ip_id, frag_off
        if some_v6:
            to.saddr_hi[i], to.daddr_hi[i], to.flow_label[i] = saddr_hi, daddr_hi, flow
        at, framed = offset[i] - begin, kind[i] != NO and linktype[i] == ETHERNET
        if ethernet:
            to.eth_dst[i] = _u48(data, at + ETH_DST) if framed else -1
            to.eth_src[i] = _u48(data, at + ETH_SRC) if framed else -1
        if vlan:
            tagged = framed and _u16(data, at + ETH_TYPE) == ETH_P_8021Q
            to.vlan[i] = _u16(data, at + VLAN_TCI) & VLAN_ID if tagged else -1
