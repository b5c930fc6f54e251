# SPDX-License-Identifier: MIT
"""Rare link types: most of them are of other systems, or of networks of the past.

Layouts: tcpdump.org/linktypes.html, RFC 1042 (LLC on IEEE 802), 1051 and 1201 (ARCNET), 1188
(FDDI), 2734 (IEEE 1394), 4391 (InfiniBand).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...records.types import Int64s
from ..numbers_in_bytes import Frames, Rows, Wire, mark_malformed
from .ethertypes import (
    ETH_P_ARP,
    ETH_P_IP,
    ETH_P_IPV6,
    ETH_P_LLC,
    ETH_P_MPLS_UC,
    by_family,
)

LinkLayer = Callable[[Wire, Rows, Frames], Frames]

# ARCNET's protocols; those of RFC 1051 have no fragment fields.
ARCNET_OLD = {0xF0: ETH_P_IP, 0xF1: ETH_P_ARP}
ARCNET = ARCNET_OLD | {0xD4: ETH_P_IP, 0xD5: ETH_P_ARP, 0xC4: ETH_P_IPV6}
EXCEPTION = 0xFF  # value of ARCNET's split flag: padding follows, then the fields again
FDDI_LLC = 0x50  # upper half of FDDI's frame control
SOLARIS_FAMILIES = {2: ETH_P_IP, 26: ETH_P_IPV6}
TOKEN_RING_LLC, ROUTED, ROUTE_LENGTH = 1, 0x80, 0x1F


def header(size: int, then: LinkLayer) -> LinkLayer:
    """Return a dissector that skips `size` bytes, and then calls the dissector `then`."""

    def layer(wire: Wire, packets: Rows, frames: Frames) -> Frames:
        mark_malformed(packets, frames.lacking(size))
        frames = frames.with_bytes(size)
        return then(wire, packets, frames.after_header(size, frames.kind))

    return layer


def of_kind(kind: int) -> LinkLayer:
    """Return a dissector for packets without a link header; their first header is of `kind`."""
    return lambda wire, packets, frames: frames.after_header(0, np.full(len(frames.rows), kind))


def ethertype(size: int) -> LinkLayer:
    """Return a dissector for a header of `size` bytes that ends with an EtherType (2 bytes)."""

    def layer(wire: Wire, packets: Rows, frames: Frames) -> Frames:
        mark_malformed(packets, frames.lacking(size))
        frames = frames.with_bytes(size)
        return frames.after_header(size, wire.u16(frames.at))

    return layer


llc, mpls = of_kind(ETH_P_LLC), of_kind(ETH_P_MPLS_UC)
infiniband = header(40, ethertype(4))  # a global route header, or its replacement
ieee_1394 = header(16, ethertype(2))
fibre_channel = header(16, llc)


def arcnet(addresses: int) -> LinkLayer:
    """Return a dissector for ARCNET: `addresses` bytes of addresses, then the protocol.

    On Linux, the addresses include an offset in the hardware's buffer.
    """

    def layer(wire: Wire, packets: Rows, frames: Frames) -> Frames:
        mark_malformed(packets, frames.lacking(addresses + 1))
        frames = frames.with_bytes(addresses + 2)
        protocol, flag = wire.u8(frames.at + addresses), wire.u8(frames.at + addresses + 1)
        fragments = np.where(flag == EXCEPTION, 7, 3)
        size = addresses + 1 + np.where(np.isin(protocol, tuple(ARCNET_OLD)), 0, fragments)
        return frames.after_header(size, _among(ARCNET, protocol))

    return layer


def fddi(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Skip the FDDI header of `frames`.

    FDDI addresses stay unknown, because some systems capture them with reversed bits.
    """
    mark_malformed(packets, frames.lacking(13))
    frames = frames.with_bytes(13)
    kind = np.where(wire.u8(frames.at) & 0xF0 == FDDI_LLC, ETH_P_LLC, -1)
    return frames.after_header(13, kind)


def token_ring(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Skip the Token Ring header of `frames`, including its route.

    Token Ring addresses stay unknown, because they are captured with reversed bits.
    """
    mark_malformed(packets, frames.lacking(14))
    frames = frames.with_bytes(15)
    carries = wire.u8(frames.at + 1) >> 6 == TOKEN_RING_LLC
    routed = wire.u8(frames.at + 8) & ROUTED == ROUTED
    route = np.where(routed, wire.u8(frames.at + 14) & ROUTE_LENGTH, 0)
    return frames.after_header(14 + route, np.where(carries, ETH_P_LLC, -1))


def ipnet(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Skip the Solaris IPNET header of `frames`; its family says what kind of header follows."""
    mark_malformed(packets, frames.lacking(24))
    frames = frames.with_bytes(24)
    return frames.after_header(24, _among(SOLARIS_FAMILIES, wire.u8(frames.at + 1)))


def pflog(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Skip the header of BSD's packet filter log; its family says what kind of header follows.

    The first byte of the header is its length without padding.
    """
    mark_malformed(packets, frames.lacking(4))
    frames = frames.with_bytes(4)
    return frames.after_header((wire.u8(frames.at) + 3) // 4 * 4, by_family(wire.u8(frames.at + 1)))


def ipsec(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Skip the header of BSD's enc device; its family says what kind of header follows.

    The family is in the byte order of the capturing host.
    """
    mark_malformed(packets, frames.lacking(12))
    frames = frames.with_bytes(12)
    family = wire.u32(frames.at)
    return frames.after_header(12, by_family(np.where(family > 0xFFFF, family >> 24, family)))


def _among(kinds: dict[int, int], protocol: Int64s) -> Int64s:
    found = np.full(len(protocol), -1)
    for number, kind in kinds.items():
        found[protocol == number] = kind
    return found
