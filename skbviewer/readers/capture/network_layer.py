# SPDX-License-Identifier: MIT
"""Network layer: IPv4, IPv6 and ARP columns, from frames at their network header.

Output: frames positioned at their transport header; only the first fragment of a packet has one.
"""

from __future__ import annotations

import numpy as np

from ...records.header_layout import (
    ARP_OPERATION,
    ARP_PROTOCOL,
    ARP_SENDER,
    ARP_SIZE,
    ARP_SIZES,
    ARP_TARGET,
    AUTH,
    EXTENSION_LEN,
    EXTENSIONS,
    FLOW_LABEL,
    FRAGMENT,
    FRAGMENT_FIELD,
    FRAGMENT_ID,
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
)
from ...records.types import Int64s
from ..numbers_in_bytes import Frames, Rows, Wire, all_frames, fill, mark_malformed
from .content_hash import ARP_BYTES, NO_HEADER, fill_contents
from .ethertypes import ETH_P_ARP, ETH_P_IP, ETH_P_IPV6

MAX_EXTENSIONS = 16
MAC_AND_IPV4 = 0x0604  # sizes of the addresses in an ARP packet


def network_headers(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Fill the identity of packets from their outermost IP header or from ARP.

    Returns the frames with the position of the transport header in `at`, and its protocol in
    `kind`.
    """
    _arp(wire, packets, frames.selected(frames.kind == ETH_P_ARP))
    return all_frames(
        [
            _ipv4(wire, packets, frames.selected(frames.kind == ETH_P_IP)),
            _ipv6(wire, packets, frames.selected(frames.kind == ETH_P_IPV6)),
        ]
    )


def _ipv4(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    mark_malformed(packets, frames.lacking(IPV4_SIZE))
    frames = frames.with_bytes(IPV4_SIZE)
    header_len = (wire.u8(frames.at) & 0x0F) * 4
    sane = (wire.u8(frames.at) >> 4 == 4) & (header_len >= IPV4_SIZE)
    mark_malformed(packets, frames.rows[~sane])
    frames, header_len = frames.selected(sane), header_len[sane]
    at = frames.at
    tot_len, frag_off = wire.u16(at + IPV4_TOT_LEN), wire.u16(at + IPV4_FRAG_OFF)
    protocol = wire.u8(at + IPV4_PROTOCOL)
    fill(
        packets,
        frames.rows,
        ip_version=np.full(len(at), 4),
        tot_len=tot_len,
        ip_id=wire.u16(at + IPV4_ID),
        frag_off=frag_off,
        ttl=wire.u8(at + IPV4_TTL),
        protocol=protocol,
        saddr_lo=wire.u32(at + IPV4_SADDR),
        daddr_lo=wire.u32(at + IPV4_DADDR),
    )
    # A large-send skb has total length 0, which the driver fills in later.
    wrong = (tot_len != 0) & ((tot_len < header_len) | (at + tot_len > frames.stop))
    mark_malformed(packets, frames.rows[wrong])
    later = frag_off & IP_OFFSET != 0
    inner = frames.after_header(header_len, np.where(later, NO_HEADER, protocol))
    _content(wire, packets, inner, np.where(tot_len, tot_len - header_len, -1))
    whole = _within(frames, tot_len)
    return whole.after_header(header_len, protocol).selected(~later)


def _content(wire: Wire, packets: Rows, frames: Frames, length: Int64s) -> None:
    """Hash the content of frames; their payload has `length` bytes (negative = unknown)."""
    columns = (frames.at - wire.begin, length, frames.end - wire.begin, frames.kind, frames.rows)
    fill_contents(wire.data, *columns, packets["content"])


def _ipv6(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    mark_malformed(packets, frames.lacking(IPV6_SIZE))
    frames = frames.with_bytes(IPV6_SIZE)
    sane = wire.u8(frames.at) >> 4 == 6
    mark_malformed(packets, frames.rows[~sane])
    frames = frames.selected(sane)
    at = frames.at
    payload_len, nexthdr = wire.u16(at + IPV6_PAYLOAD_LEN), wire.u8(at + IPV6_NEXT)
    fill(
        packets,
        frames.rows,
        ip_version=np.full(len(at), 6),
        tot_len=IPV6_SIZE + payload_len,
        ttl=wire.u8(at + IPV6_HOP_LIMIT),
        protocol=nexthdr,
        flow_label=wire.u32(at) & FLOW_LABEL,
        saddr_hi=wire.i64(at + IPV6_SADDR),
        saddr_lo=wire.i64(at + IPV6_SADDR + 8),
        daddr_hi=wire.i64(at + IPV6_DADDR),
        daddr_lo=wire.i64(at + IPV6_DADDR + 8),
    )
    mark_malformed(packets, frames.rows[at + IPV6_SIZE + payload_len > frames.stop])
    bare = (payload_len != 0) & ~np.isin(nexthdr, EXTENSIONS)
    _content(
        wire, packets, frames.after_header(IPV6_SIZE, nexthdr), np.where(bare, payload_len, -1)
    )
    # A jumbogram or a large-send skb has payload length 0: use the frame's length.
    whole = _within(frames, np.where(payload_len == 0, 0, IPV6_SIZE + payload_len))
    return _skip_extensions(wire, packets, whole.after_header(IPV6_SIZE, nexthdr))


def _within(frames: Frames, length: Int64s) -> Frames:
    """Cut the frames at the IP length (0 = unknown), to remove Ethernet padding."""
    stop = np.where(length == 0, frames.stop, frames.at + length)
    return frames._replace(end=np.minimum(frames.end, stop), stop=stop)


def _skip_extensions(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    done = []
    for _ in range(MAX_EXTENSIONS):
        extended = np.isin(frames.kind, EXTENSIONS)
        done.append(frames.selected(~extended))
        frames = frames.selected(extended)
        mark_malformed(packets, frames.lacking(8))
        _no_protocol(packets, frames.selected(frames.at + 8 > frames.end))
        frames = frames.with_bytes(8)
        if not len(frames.rows):
            break
        frames = _next_header(wire, packets, frames)
    _no_protocol(packets, frames.selected(np.isin(frames.kind, EXTENSIONS)))
    return all_frames(done)


def _no_protocol(packets: Rows, frames: Frames) -> None:
    """Set the protocol to unknown: headers before it were not captured, or are too many."""
    fill(packets, frames.rows, protocol=np.full(len(frames.rows), -1))


def _next_header(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    fragment = frames.kind == FRAGMENT
    length = wire.u8(frames.at + EXTENSION_LEN)
    size = np.where(frames.kind == AUTH, (length + 2) * 4, (length + 1) * 8)
    nexthdr = wire.u8(frames.at)
    fill(packets, frames.rows, protocol=nexthdr)
    # As in struct iphdr: offset in units of 8 bytes, then MF.
    field = wire.u16(frames.at + FRAGMENT_FIELD)
    frag_off = (field >> 3) | (field & 1) * IP_MF
    frag_id = wire.u32(frames.at + FRAGMENT_ID)
    fields = {"frag_off": frag_off[fragment], "frag_id": frag_id[fragment]}
    fill(packets, frames.rows[fragment], **fields)
    first = ~fragment | (frag_off & IP_OFFSET == 0)
    return frames.after_header(np.where(fragment, 8, size), nexthdr).selected(first)


def _arp(wire: Wire, packets: Rows, frames: Frames) -> None:
    mark_malformed(packets, frames.lacking(8))
    frames = frames.with_bytes(ARP_SIZE)
    ethernet_ipv4 = wire.u16(frames.at + ARP_PROTOCOL) == ETH_P_IP
    ethernet_ipv4 &= wire.u16(frames.at + ARP_SIZES) == MAC_AND_IPV4
    frames = frames.selected(ethernet_ipv4)
    fill(
        packets,
        frames.rows,
        sport=wire.u16(frames.at + ARP_OPERATION),
        seq=wire.u32(frames.at + ARP_SENDER),
        ack=wire.u32(frames.at + ARP_TARGET),
    )
    ended = frames._replace(kind=np.full(len(frames.rows), NO_HEADER, np.int64))
    _content(wire, packets, ended, np.full(len(frames.rows), ARP_BYTES, np.int64))
