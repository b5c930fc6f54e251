# SPDX-License-Identifier: MIT
"""Find where headers and payloads of packets are in their file, many packets at once."""

from __future__ import annotations

import numpy as np

from ...records import PACKET_DTYPE, Table
from ...records.bulk_dtypes import empty
from ...records.header_layout import ETH_SIZE, TCP_OFFSET, TCP_SIZE, UDP_SIZE
from ...records.protocols import ICMP, ICMPV6, OSPF, SCTP, TCP, UDP
from ...records.types import Int64s, UInt8s
from ..numbers_in_bytes import Frames, Wire
from .encapsulation import to_network
from .ethertypes import ETH_P_ARP, ETH_P_IP, ETH_P_IPV6
from .header_columns import whole_frames
from .link_layers import LINK_LAYERS
from .network_layer import network_headers

DLT_EN10MB = 1
HEADERS = ("frame", "eth", "arp", "ip", "ipv6", "tcp", "udp", "icmp", "icmpv6", "ospf", "sctp")
PAYLOADS = ("tcp.payload", "udp.payload")
_NETWORK = {"arp": ETH_P_ARP, "ip": ETH_P_IP, "ipv6": ETH_P_IPV6}
_TRANSPORT = {"tcp": TCP, "udp": UDP, "icmp": ICMP, "icmpv6": ICMPV6, "ospf": OSPF, "sctp": SCTP}

Place = tuple[
    Int64s, Int64s
]  # positions in the file of the first byte and of the byte after the last


def header_extents(
    data: UInt8s, linktype: Int64s, offset: Int64s, caplen: Int64s, length: Int64s
) -> dict[str, Place]:
    """Return (begin, end) of each of HEADERS and PAYLOADS in `data`; -1 for packets without it.

    By packet: link type, offset in `data`, captured and original length.  The `end` of the frame,
    the Ethernet header and the network header is the end of the captured bytes.  That of an inner
    header or payload follows from the length in the IP header.  `offset` + `caplen` must be inside
    the file.
    """
    packets = empty(PACKET_DTYPE, len(offset))
    for name, values in (("linktype", linktype), ("offset", offset)):
        packets[name] = values
    packets["caplen"], packets["len"] = caplen, length
    found = {name: _nowhere(len(offset)) for name in (*HEADERS, *PAYLOADS)}
    found["frame"] = (offset.astype(np.int64), (offset + caplen).astype(np.int64))
    wire = Wire(data)
    for kind in np.unique(linktype).tolist():
        rows = np.flatnonzero(linktype == kind).astype(np.int64)
        frames = whole_frames(packets, rows)
        if kind == DLT_EN10MB:
            _note(found["eth"], frames.with_bytes(ETH_SIZE))
        if kind in LINK_LAYERS:
            _inner(wire, packets, LINK_LAYERS[kind](wire, packets, frames), found)
    return found


def network_header(data: bytes, linktype: int) -> tuple[str, int, int] | None:
    """Return a packet's network header (arp, ip or ipv6), its begin, and the end of the frame.

    `data` are the packet's captured bytes, which begin with a header of `linktype`.  Returns None
    if the packet has no such header or cannot be dissected.
    """
    layer = LINK_LAYERS.get(linktype)
    if layer is None:
        return None
    packets = empty(PACKET_DTYPE, 1)
    packets["offset"], packets["caplen"], packets["len"] = 0, len(data), len(data)
    wire = Wire(np.frombuffer(data, np.uint8))
    frames = layer(wire, packets, whole_frames(packets, np.zeros(1, np.int64)))
    network = to_network(wire, packets, frames)
    for name, ethertype in _NETWORK.items():
        here = network.selected(network.kind == ethertype).with_bytes(1)
        if len(here.rows):
            return name, int(here.at[0]), int(min(here.end[0], len(data)))
    return None


def _inner(wire: Wire, packets: Table, frames: Frames, found: dict[str, Place]) -> None:
    network = to_network(wire, packets, frames)
    for name, ethertype in _NETWORK.items():
        _note(found[name], network.selected(network.kind == ethertype))
    transport = network_headers(wire, packets, network)
    for name, protocol in _TRANSPORT.items():
        _note(found[name], transport.selected(transport.kind == protocol).with_bytes(4))
    tcp = transport.selected(transport.kind == TCP).with_bytes(TCP_SIZE)
    _note(found["tcp.payload"], tcp.after_header((wire.u8(tcp.at + TCP_OFFSET) >> 4) * 4, tcp.kind))
    udp = transport.selected(transport.kind == UDP).with_bytes(UDP_SIZE)
    _note(found["udp.payload"], udp.after_header(UDP_SIZE, udp.kind))


def _note(place: Place, frames: Frames) -> None:
    begin, end = place
    begin[frames.rows], end[frames.rows] = frames.at, np.minimum(frames.end, frames.stop)


def _nowhere(count: int) -> Place:
    return np.full(count, -1, np.int64), np.full(count, -1, np.int64)
