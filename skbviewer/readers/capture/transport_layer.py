# SPDX-License-Identifier: MIT
"""Transport layer: the columns of ports, TCP and ICMP, from frames at their transport header."""

from __future__ import annotations

import numpy as np

from ...records.header_layout import (
    DPORT,
    ICMP_ID,
    ICMP_SEQ,
    ICMP_SIZE,
    ICMP_TYPE,
    IP_MF,
    PORTS_SIZE,
    SPORT,
    TCP_ACK,
    TCP_FLAGS,
    TCP_OFFSET,
    TCP_SEQ,
    TCP_SIZE,
    TCP_WINDOW,
    UDP_LEN,
    UDP_SIZE,
)
from ...records.protocols import ICMP, ICMPV6, SCTP, TCP, UDP, UDPLITE
from ...records.types import Int64s
from ..numbers_in_bytes import Frames, Rows, Wire, fill, mark_malformed


def transport_headers(wire: Wire, packets: Rows, frames: Frames) -> None:
    """Fill the columns of ports, TCP, UDP and ICMP from the captured bytes.

    `frames` are positioned at their transport header.  Fields that were not captured stay unknown.
    """
    _mark(wire, packets, frames)
    ported = frames.selected(np.isin(frames.kind, (TCP, UDP, SCTP, UDPLITE))).with_bytes(PORTS_SIZE)
    sport, dport = wire.u16(ported.at + SPORT), wire.u16(ported.at + DPORT)
    fill(packets, ported.rows, sport=sport, dport=dport)
    tcp = frames.selected(frames.kind == TCP)
    _tcp(wire, packets, tcp.with_bytes(TCP_SIZE))
    _cut_tcp(wire, packets, tcp.selected(tcp.at + TCP_SIZE > tcp.end))
    udp = frames.selected(frames.kind == UDP).with_bytes(UDP_SIZE)
    fill(packets, udp.rows, payload=_payload(udp, UDP_SIZE))
    icmp = frames.selected(np.isin(frames.kind, (ICMP, ICMPV6)))
    for name, at in (("sport", ICMP_TYPE), ("dport", ICMP_ID), ("seq", ICMP_SEQ)):
        icmp = icmp.with_bytes(at + 2)
        fill(packets, icmp.rows, **{name: wire.u16(icmp.at + at)})


def _tcp(wire: Wire, packets: Rows, frames: Frames) -> None:
    at = frames.at
    fill(
        packets,
        frames.rows,
        seq=wire.u32(at + TCP_SEQ),
        ack=wire.u32(at + TCP_ACK),
        tcp_flags=wire.u8(at + TCP_FLAGS),
        window=wire.u16(at + TCP_WINDOW),
        payload=_payload(frames, (wire.u8(at + TCP_OFFSET) >> 4) * 4),
    )


def _cut_tcp(wire: Wire, packets: Rows, frames: Frames) -> None:
    """Fill the columns of truncated TCP headers."""
    for name, at in (("seq", TCP_SEQ), ("ack", TCP_ACK)):
        frames = frames.with_bytes(at + 4)
        fill(packets, frames.rows, **{name: wire.u32(frames.at + at)})
    frames = frames.with_bytes(TCP_FLAGS + 1)
    length = (wire.u8(frames.at + TCP_OFFSET) >> 4) * 4
    flags = wire.u8(frames.at + TCP_FLAGS)
    fill(packets, frames.rows, tcp_flags=flags, payload=_payload(frames, length))
    frames = frames.with_bytes(TCP_WINDOW + 2)
    fill(packets, frames.rows, window=wire.u16(frames.at + TCP_WINDOW))


def _payload(frames: Frames, header_len: int | Int64s) -> Int64s:
    """Return the number of bytes after the transport header, according to the IP length.

    The result is -1 if the IP length is too short.
    """
    length: Int64s = np.maximum(frames.stop - frames.at - header_len, -1)
    return length


def _mark(wire: Wire, packets: Rows, frames: Frames) -> None:
    """Mark packets with impossible lengths, or with too short headers that were not truncated.

    First fragments are not checked, because their lengths are those of the whole packet.
    """
    frag_off = packets["frag_off"][frames.rows]
    frames = frames.selected((frag_off < 0) | (frag_off & IP_MF == 0))
    tcp, udp = frames.selected(frames.kind == TCP), frames.selected(frames.kind == UDP)
    mark_malformed(packets, tcp.lacking(TCP_SIZE))
    tcp = tcp.with_bytes(TCP_SIZE)
    offset = (wire.u8(tcp.at + TCP_OFFSET) >> 4) * 4
    mark_malformed(packets, tcp.rows[(offset < TCP_SIZE) | (tcp.at + offset > tcp.stop)])
    short = frames.selected(np.isin(frames.kind, (UDP, ICMP, ICMPV6)))
    mark_malformed(packets, short.lacking(ICMP_SIZE))
    udp = udp.with_bytes(UDP_SIZE)
    length = wire.u16(udp.at + UDP_LEN)  # 0: a jumbogram (RFC 2675) or a large-send skb
    wrong = (length < UDP_SIZE) | (udp.at + length > udp.stop)
    mark_malformed(packets, udp.rows[(length != 0) & wrong])
