# SPDX-License-Identifier: MIT
"""Transport layer: ports, TCP and ICMP columns, from frames at their transport header."""

from __future__ import annotations

import numpy as np

from ...records.protocols import ICMP, ICMPV6, SCTP, TCP, UDP, UDPLITE
from ...records.types import Int64s
from ..numbers_in_bytes import Frames, Rows, Wire, fill, malformed

IP_MF = 0x2000  # of frag_off


def transport_headers(wire: Wire, packets: Rows, frames: Frames) -> None:
    """Fill the columns from the captured bytes; fields that were not captured stay unknown."""
    _mark(wire, packets, frames)
    ported = frames.only(np.isin(frames.kind, (TCP, UDP, SCTP, UDPLITE))).scratch(4)
    fill(packets, ported.rows, sport=wire.u16(ported.at), dport=wire.u16(ported.at + 2))
    tcp = frames.only(frames.kind == TCP)
    _tcp(wire, packets, tcp.scratch(20))
    _cut_tcp(wire, packets, tcp.only(tcp.at + 20 > tcp.end))
    udp = frames.only(frames.kind == UDP).scratch(8)
    fill(packets, udp.rows, payload=_payload(udp, 8))
    icmp = frames.only(np.isin(frames.kind, (ICMP, ICMPV6)))
    for name, at in (("sport", 0), ("dport", 4), ("seq", 6)):
        icmp = icmp.scratch(at + 2)
        fill(packets, icmp.rows, **{name: wire.u16(icmp.at + at)})


def _tcp(wire: Wire, packets: Rows, frames: Frames) -> None:
    at = frames.at
    fill(
        packets,
        frames.rows,
        seq=wire.u32(at + 4),
        ack=wire.u32(at + 8),
        tcp_flags=wire.u8(at + 13),
        window=wire.u16(at + 14),
        payload=_payload(frames, (wire.u8(at + 12) >> 4) * 4),
    )


def _cut_tcp(wire: Wire, packets: Rows, frames: Frames) -> None:
    """Fill the columns of truncated TCP headers."""
    for name, at in (("seq", 4), ("ack", 8)):
        frames = frames.scratch(at + 4)
        fill(packets, frames.rows, **{name: wire.u32(frames.at + at)})
    frames = frames.scratch(14)
    length = (wire.u8(frames.at + 12) >> 4) * 4
    flags = wire.u8(frames.at + 13)
    fill(packets, frames.rows, tcp_flags=flags, payload=_payload(frames, length))
    frames = frames.scratch(16)
    fill(packets, frames.rows, window=wire.u16(frames.at + 14))


def _payload(frames: Frames, header_len: int | Int64s) -> Int64s:
    """Bytes after the transport header according to the IP length; -1 if that is too short."""
    length: Int64s = np.maximum(frames.stop - frames.at - header_len, -1)
    return length


def _mark(wire: Wire, packets: Rows, frames: Frames) -> None:
    """Mark headers that are too short although nothing was cut off, and impossible lengths.

    First fragments are skipped, because their lengths are those of the whole packet.
    """
    frag_off = packets["frag_off"][frames.rows]
    frames = frames.only((frag_off < 0) | (frag_off & IP_MF == 0))
    tcp, udp = frames.only(frames.kind == TCP), frames.only(frames.kind == UDP)
    malformed(packets, tcp.lacking(20))
    tcp = tcp.scratch(20)
    offset = (wire.u8(tcp.at + 12) >> 4) * 4
    malformed(packets, tcp.rows[(offset < 20) | (tcp.at + offset > tcp.stop)])
    short = frames.only(np.isin(frames.kind, (UDP, ICMP, ICMPV6)))
    malformed(packets, short.lacking(8))
    udp = udp.scratch(8)
    length = wire.u16(udp.at + 4)  # 0: a jumbogram (RFC 2675) or a large-send skb
    malformed(packets, udp.rows[(length != 0) & ((length < 8) | (udp.at + length > udp.stop))])
