# SPDX-License-Identifier: MIT
"""Network layer: IPv4, IPv6 and ARP columns, from frames at their network header.

Returns the frames at their transport header.  Fragments other than the first have none.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Int64s
from ..numbers_in_bytes import Frames, Rows, Wire, fill, joined, malformed
from .content_hash import ARP_BYTES, NO_HEADER, fill_contents
from .ethertypes import ETH_P_ARP, ETH_P_IP, ETH_P_IPV6
from .transport_layer import IP_MF

IP_OFFSET = 0x1FFF  # mask of the fragment offset in frag_off
FLOW_LABEL = 0xFFFFF  # mask in the first 32 bits of the IPv6 header (RFC 8200)
HOPOPTS, ROUTING, FRAGMENT, AUTH, DSTOPTS = 0, 43, 44, 51, 60
EXTENSIONS = (HOPOPTS, ROUTING, FRAGMENT, AUTH, DSTOPTS)
MAX_EXTENSIONS = 16


def network_headers(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Fill the identity from the outermost IP header or from ARP; returns transport headers."""
    _arp(wire, packets, frames.only(frames.kind == ETH_P_ARP))
    return joined(
        [
            _ipv4(wire, packets, frames.only(frames.kind == ETH_P_IP)),
            _ipv6(wire, packets, frames.only(frames.kind == ETH_P_IPV6)),
        ]
    )


def _ipv4(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    malformed(packets, frames.lacking(20))
    frames = frames.scratch(20)
    header_len = (wire.u8(frames.at) & 0x0F) * 4
    sane = (wire.u8(frames.at) >> 4 == 4) & (header_len >= 20)
    malformed(packets, frames.rows[~sane])
    frames, header_len = frames.only(sane), header_len[sane]
    at = frames.at
    tot_len, frag_off, protocol = wire.u16(at + 2), wire.u16(at + 6), wire.u8(at + 9)
    fill(
        packets,
        frames.rows,
        ip_version=np.full(len(at), 4),
        tot_len=tot_len,
        ip_id=wire.u16(at + 4),
        frag_off=frag_off,
        ttl=wire.u8(at + 8),
        protocol=protocol,
        saddr_lo=wire.u32(at + 12),
        daddr_lo=wire.u32(at + 16),
    )
    # A large-send skb has total length 0, which the driver fills in later.
    wrong = (tot_len != 0) & ((tot_len < header_len) | (at + tot_len > frames.stop))
    malformed(packets, frames.rows[wrong])
    later = frag_off & IP_OFFSET != 0
    inner = frames.past(header_len, np.where(later, NO_HEADER, protocol))
    _content(wire, packets, inner, np.where(tot_len, tot_len - header_len, -1))
    whole = _within(frames, tot_len)
    return whole.past(header_len, protocol).only(~later)


def _content(wire: Wire, packets: Rows, frames: Frames, length: Int64s) -> None:
    """Hash the content of frames at their payload of `length` bytes; negative = unknown."""
    columns = (frames.at - wire.begin, length, frames.end - wire.begin, frames.kind, frames.rows)
    fill_contents(wire.data, *columns, packets["content"])


def _ipv6(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    malformed(packets, frames.lacking(40))
    frames = frames.scratch(40)
    sane = wire.u8(frames.at) >> 4 == 6
    malformed(packets, frames.rows[~sane])
    frames = frames.only(sane)
    at = frames.at
    payload_len, nexthdr = wire.u16(at + 4), wire.u8(at + 6)
    fill(
        packets,
        frames.rows,
        ip_version=np.full(len(at), 6),
        tot_len=40 + payload_len,
        ttl=wire.u8(at + 7),
        protocol=nexthdr,
        flow_label=wire.u32(at) & FLOW_LABEL,
        saddr_hi=wire.i64(at + 8),
        saddr_lo=wire.i64(at + 16),
        daddr_hi=wire.i64(at + 24),
        daddr_lo=wire.i64(at + 32),
    )
    malformed(packets, frames.rows[at + 40 + payload_len > frames.stop])
    bare = (payload_len != 0) & ~np.isin(nexthdr, EXTENSIONS)
    _content(wire, packets, frames.past(40, nexthdr), np.where(bare, payload_len, -1))
    # A jumbogram or a large-send skb has payload length 0: use the frame's length.
    whole = _within(frames, np.where(payload_len == 0, 0, 40 + payload_len))
    return _skip_extensions(wire, packets, whole.past(40, nexthdr))


def _within(frames: Frames, length: Int64s) -> Frames:
    """Cut the frames at the IP length (0 = unknown), because Ethernet padding may follow."""
    stop = np.where(length == 0, frames.stop, frames.at + length)
    return frames._replace(end=np.minimum(frames.end, stop), stop=stop)


def _skip_extensions(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    done = []
    for _ in range(MAX_EXTENSIONS):
        extended = np.isin(frames.kind, EXTENSIONS)
        done.append(frames.only(~extended))
        frames = frames.only(extended)
        malformed(packets, frames.lacking(8))
        _no_protocol(packets, frames.only(frames.at + 8 > frames.end))
        frames = frames.scratch(8)
        if not len(frames.rows):
            break
        frames = _next_header(wire, packets, frames)
    _no_protocol(packets, frames.only(np.isin(frames.kind, EXTENSIONS)))
    return joined(done)


def _no_protocol(packets: Rows, frames: Frames) -> None:
    """Set the protocol to unknown: it is after headers that were not captured or are too many."""
    fill(packets, frames.rows, protocol=np.full(len(frames.rows), -1))


def _next_header(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    fragment = frames.kind == FRAGMENT
    length = wire.u8(frames.at + 1)
    size = np.where(frames.kind == AUTH, (length + 2) * 4, (length + 1) * 8)
    nexthdr = wire.u8(frames.at)
    fill(packets, frames.rows, protocol=nexthdr)
    # As in struct iphdr: offset in units of 8 bytes, then MF.
    field = wire.u16(frames.at + 2)
    frag_off = (field >> 3) | (field & 1) * IP_MF
    frag_id = wire.u32(frames.at + 4)
    fields = {"frag_off": frag_off[fragment], "frag_id": frag_id[fragment]}
    fill(packets, frames.rows[fragment], **fields)
    first = ~fragment | (frag_off & IP_OFFSET == 0)
    return frames.past(np.where(fragment, 8, size), nexthdr).only(first)


def _arp(wire: Wire, packets: Rows, frames: Frames) -> None:
    malformed(packets, frames.lacking(8))
    frames = frames.scratch(28)
    ethernet_ipv4 = (wire.u16(frames.at + 2) == ETH_P_IP) & (wire.u16(frames.at + 4) == 0x0604)
    frames = frames.only(ethernet_ipv4)
    fill(
        packets,
        frames.rows,
        sport=wire.u16(frames.at + 6),
        seq=wire.u32(frames.at + 14),
        ack=wire.u32(frames.at + 24),
    )
    ended = frames._replace(kind=np.full(len(frames.rows), NO_HEADER, np.int64))
    _content(wire, packets, ended, np.full(len(frames.rows), ARP_BYTES, np.int64))
