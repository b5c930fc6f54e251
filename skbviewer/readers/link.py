# SPDX-License-Identifier: MIT
"""Link layer: from a packet's first byte to its network header, by LINKTYPE_.

In: frames at their first byte.  Out: frames at their network header, `kind` its EtherType.
Frames too short for their header are left out, so their columns stay unknown.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .ppp import cisco_hdlc, ethertype_of, ppp, ppp_hdlc, pppoe, with_direction
from .wire import Frames, Ints, Rows, Wire, fill, joined, malformed
from .wireless import ieee_802_11, radiotap

ETH_P_IP = 0x0800
ETH_P_ARP = 0x0806
ETH_P_IPV6 = 0x86DD
ETH_P_802_3_MIN = 0x0600
VLAN_TPIDS = (0x8100, 0x88A8, 0x9100)
ETH_P_MPLS = (0x8847, 0x8848)
ETH_P_PPPOE_SESSION = 0x8864
MAX_TAGS = 8
AF_INET6 = (10, 23, 24, 28, 30)  # Linux, Windows, NetBSD, FreeBSD, macOS

LinkLayer = Callable[[Wire, Rows, Frames], Frames]


def _ethernet(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    malformed(packets, frames.lacking(14))
    frames = frames.room(14)
    fill(packets, frames.rows, eth_dst=wire.u48(frames.at), eth_src=wire.u48(frames.at + 6))
    return frames.past(14, wire.u16(frames.at + 12))


def _linux_sll(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    malformed(packets, frames.lacking(16))
    frames = frames.room(16)
    _cooked_source(wire, packets, frames, wire.u16(frames.at + 4), 6)
    return frames.past(16, wire.u16(frames.at + 14))


def _linux_sll2(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    malformed(packets, frames.lacking(20))
    frames = frames.room(20)
    _cooked_source(wire, packets, frames, wire.u8(frames.at + 11), 12)
    return frames.past(20, wire.u16(frames.at))


def _cooked_source(wire: Wire, packets: Rows, frames: Frames, length: Ints, address: int) -> None:
    ethernet = frames.only(length == 6)
    fill(packets, ethernet.rows, eth_src=wire.u48(ethernet.at + address))


def _raw_ip(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    malformed(packets, frames.lacking(1))
    frames = frames.room(1)
    return frames.past(0, _by_version(wire.u8(frames.at)))


def _by_version(first: Ints) -> Ints:
    version = first >> 4
    return np.select([version == 4, version == 6], [ETH_P_IP, ETH_P_IPV6], -1)


def _ipv4(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    return frames.past(0, np.full(len(frames.rows), ETH_P_IP))


def _ipv6(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    return frames.past(0, np.full(len(frames.rows), ETH_P_IPV6))


def _loopback(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """NULL has the capturing host's byte order, LOOP the network's: a family is a small number."""
    malformed(packets, frames.lacking(4))
    frames = frames.room(4)
    family = wire.u32(frames.at)
    swapped = family.astype(np.uint32).byteswap().astype(np.int64)
    family = np.where(family > 0xFFFF, swapped, family)
    kinds = np.where(np.isin(family, AF_INET6), ETH_P_IPV6, -1)
    return frames.past(4, np.where(family == 2, ETH_P_IP, kinds))


LINK_LAYERS: dict[int, LinkLayer] = {
    0: _loopback,
    1: _ethernet,
    9: ppp,
    12: _raw_ip,
    14: _raw_ip,
    50: ppp_hdlc,
    51: pppoe,
    101: _raw_ip,
    104: cisco_hdlc,
    105: ieee_802_11,
    108: _loopback,
    113: _linux_sll,
    127: radiotap,
    204: with_direction,
    228: _ipv4,
    229: _ipv6,
    276: _linux_sll2,
}


def to_network(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Step over VLAN tags, SNAP, MPLS and PPPoE; fills `vlan` and `ethertype`.

    `ethertype` is what follows the VLAN tags; IP inside MPLS or PPPoE is found all the same.
    """
    frames = _skip_snap(wire, _skip_tags(wire, packets, frames))
    known = frames.only(frames.kind >= ETH_P_802_3_MIN)
    fill(packets, known.rows, ethertype=known.kind)
    mpls, pppoe = np.isin(known.kind, ETH_P_MPLS), known.kind == ETH_P_PPPOE_SESSION
    if not (mpls.any() or pppoe.any()):
        return known
    inner = [_skip_mpls(wire, known.only(mpls)), _skip_pppoe(wire, known.only(pppoe))]
    return joined([known.only(~mpls & ~pppoe), *inner])


def _skip_tags(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    done = []
    for depth in range(MAX_TAGS):
        tagged = np.isin(frames.kind, VLAN_TPIDS)
        done.append(frames.only(~tagged))
        frames = frames.only(tagged).room(4)
        if not len(frames.rows):
            break
        if depth == 0:
            fill(packets, frames.rows, vlan=wire.u16(frames.at) & 0x0FFF)
        frames = frames.past(4, wire.u16(frames.at + 2))
    return joined(done)


def _skip_snap(wire: Wire, frames: Frames) -> Frames:
    """IEEE 802.3: a length instead of an EtherType; only LLC SNAP with OUI 0 tells one."""
    plain = frames.kind >= ETH_P_802_3_MIN
    if plain.all():
        return frames
    llc = frames.only(~plain & (frames.kind >= 0)).room(8)
    llc = llc.only((wire.u32(llc.at) == 0xAAAA0300) & (wire.u16(llc.at + 4) == 0))
    return joined([frames.only(plain), llc.past(8, wire.u16(llc.at + 6))])


def _skip_mpls(wire: Wire, frames: Frames) -> Frames:
    done = []
    for _ in range(MAX_TAGS):
        frames = frames.room(5)
        bottom = (wire.u32(frames.at) >> 8 & 1).astype(bool)
        frames = frames.past(4, _by_version(wire.u8(frames.at + 4)))
        done.append(frames.only(bottom))
        frames = frames.only(~bottom)
    return joined(done)


def _skip_pppoe(wire: Wire, frames: Frames) -> Frames:
    frames = frames.room(8)
    return frames.past(8, ethertype_of(wire.u16(frames.at + 6)))
