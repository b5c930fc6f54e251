# SPDX-License-Identifier: MIT
"""Link layer: from the first byte of a packet to its network header, by LINKTYPE_.

Input: frames positioned at their first byte.  Output: frames positioned after their link header;
`kind` is the EtherType.  If a frame is too short for its link header, it is left out, and its
columns stay unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ...records.types import Int64s
from ..numbers_in_bytes import Frames, Rows, Wire, all_frames, fill, mark_malformed
from . import rare_link_types
from .ethertypes import ETH_P_IP, ETH_P_IPV6, UNREAD_LINK, by_family, by_version
from .frame_relay import frame_relay
from .nflog import nflog
from .ppp import cisco_hdlc, ppp, ppp_hdlc, pppoe, with_direction
from .wireless import ieee_802_11, prism, radiotap

PKTAP_LEAST, PKTAP_PACKET = 108, 1
PACKET_OUTGOING = 4  # greater numbers are for packets that no packet socket gets

LinkLayer = Callable[[Wire, Rows, Frames], Frames]


def _ethernet(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    return _tagged(wire, packets, frames, 0)


def _tagged(wire: Wire, packets: Rows, frames: Frames, tag: int) -> Frames:
    """Dissect Ethernet with a switch tag of `tag` bytes after the addresses."""
    size = 14 + tag
    mark_malformed(packets, frames.lacking(size))
    frames = frames.with_bytes(size)
    fill(packets, frames.rows, eth_dst=wire.u48(frames.at), eth_src=wire.u48(frames.at + 6))
    return frames.after_header(size, wire.u16(frames.at + size - 2))


def _linux_sll(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    mark_malformed(packets, frames.lacking(16))
    frames = frames.with_bytes(16)
    _cooked_direction(packets, frames, wire.u16(frames.at))
    _cooked_source(wire, packets, frames, wire.u16(frames.at + 4), 6)
    return frames.after_header(16, wire.u16(frames.at + 14))


def _linux_sll2(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    mark_malformed(packets, frames.lacking(20))
    frames = frames.with_bytes(20)
    fill(packets, frames.rows, sll_ifindex=wire.u32(frames.at + 4))
    _cooked_direction(packets, frames, wire.u8(frames.at + 10))
    _cooked_source(wire, packets, frames, wire.u8(frames.at + 11), 12)
    return frames.after_header(20, wire.u16(frames.at))


def _cooked_source(wire: Wire, packets: Rows, frames: Frames, length: Int64s, address: int) -> None:
    ethernet = frames.selected(length == 6)
    fill(packets, ethernet.rows, eth_src=wire.u48(ethernet.at + address))


def _cooked_direction(packets: Rows, frames: Frames, kind: Int64s) -> None:
    """Fill the direction from `kind`, a PACKET_ number of linux/if_packet.h."""
    known = kind <= PACKET_OUTGOING
    fill(
        packets, frames.rows[known], sll_outgoing=(kind[known] == PACKET_OUTGOING).astype(np.int64)
    )


def _raw_ip(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    mark_malformed(packets, frames.lacking(1))
    frames = frames.with_bytes(1)
    return frames.after_header(0, by_version(wire.u8(frames.at)))


def _loopback(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Dissect NULL (in the byte order of the capturing host) and LOOP (in network order).

    Address families are small numbers, so the position of the zero bytes shows the byte order.
    """
    mark_malformed(packets, frames.lacking(4))
    frames = frames.with_bytes(4)
    family = wire.u32(frames.at)
    swapped = family.astype(np.uint32).byteswap().astype(np.int64)
    family = np.where(family > 0xFFFF, swapped, family)
    return frames.after_header(4, by_family(family))


def _ppi(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Dissect PPI: version, flags, length of the whole header, link type of the next header."""
    mark_malformed(packets, frames.lacking(8))
    frames = frames.with_bytes(8)
    size, linktype = wire.le16(frames.at + 2), wire.le32(frames.at + 4)
    sane = size >= 8
    return _behind(
        wire, packets, frames.after_header(size, frames.kind).selected(sane), linktype[sane]
    )


def _pktap(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Dissect macOS's PKTAP: header length, kind of record, link type of the next header, ..."""
    mark_malformed(packets, frames.lacking(12))
    frames = frames.with_bytes(12)
    size, linktype = wire.le32(frames.at), wire.le32(frames.at + 8)
    sane = (size >= PKTAP_LEAST) & (wire.le32(frames.at + 4) == PKTAP_PACKET)
    return _behind(
        wire, packets, frames.after_header(size, frames.kind).selected(sane), linktype[sane]
    )


def _behind(wire: Wire, packets: Rows, frames: Frames, linktype: Int64s) -> Frames:
    """Dissect frames whose outer header says that the next header has the type `linktype`."""
    done = []
    for number in np.unique(linktype).tolist():
        mine = frames.selected(linktype == number)
        layer = LINK_LAYERS.get(number)
        if layer is None or layer in (_ppi, _pktap):
            done.append(mine.after_header(0, np.full(len(mine.rows), UNREAD_LINK + number)))
        else:
            done.append(layer(wire, packets, mine))
    return all_frames(done) if done else frames


LINK_LAYERS: dict[int, LinkLayer] = {
    0: _loopback,
    1: _ethernet,
    6: rare_link_types.token_ring,
    7: rare_link_types.arcnet(addresses=2),
    9: ppp_hdlc,
    10: rare_link_types.fddi,
    12: _raw_ip,
    14: _raw_ip,
    50: ppp_hdlc,
    51: pppoe,
    100: rare_link_types.llc,
    101: _raw_ip,
    104: cisco_hdlc,
    105: ieee_802_11,
    107: frame_relay,
    108: _loopback,
    109: rare_link_types.ipsec,
    113: _linux_sll,
    117: rare_link_types.pflog,
    119: prism,
    122: rare_link_types.fibre_channel,
    127: radiotap,
    129: rare_link_types.arcnet(addresses=4),
    138: rare_link_types.ieee_1394,
    163: prism,
    166: rare_link_types.header(2, ppp),  # direction, control
    192: _ppi,
    204: with_direction,
    205: rare_link_types.header(1, cisco_hdlc),
    206: rare_link_types.header(1, frame_relay),
    219: rare_link_types.mpls,
    226: rare_link_types.ipnet,
    228: rare_link_types.of_kind(ETH_P_IP),
    229: rare_link_types.of_kind(ETH_P_IPV6),
    239: nflog,
    240: rare_link_types.header(4, _ethernet),
    241: rare_link_types.header(12, _ethernet),
    242: rare_link_types.infiniband,
    258: _pktap,
    276: _linux_sll2,
    281: partial(_tagged, tag=4),
    282: rare_link_types.header(4, _ethernet),
    284: partial(_tagged, tag=4),
    285: partial(_tagged, tag=8),
}
