# SPDX-License-Identifier: MIT
"""Frame Relay (Q.922, RFC 2427), Cisco's encapsulation, and plain Ethernet frames in it.

No header field says which of the protocols follows, so skbviewer distinguishes them as Wireshark
does.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Bools, Int64s
from ..numbers_in_bytes import Frames, Rows, Wire, all_frames, mark_malformed
from .encapsulation import VLAN_TPIDS, skip_snap
from .ethertypes import (
    ETH_P_802_3_MIN,
    ETH_P_ARP,
    ETH_P_IP,
    ETH_P_IPV6,
    ETH_P_MPLS_MC,
    ETH_P_MPLS_UC,
    ETH_P_TEB,
)

LAST = 0x01  # bit of an address byte: this is the last one
MOST_ADDRESS = 8
UNNUMBERED = 0x03  # control field: a network protocol identifier follows
NLPID_SNAP, NLPIDS = 0x80, {0xCC: ETH_P_IP, 0x8E: ETH_P_IPV6}
CISCO = (ETH_P_IP, ETH_P_ARP, ETH_P_IPV6, ETH_P_MPLS_UC, ETH_P_MPLS_MC)


def frame_relay(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Dissect `frames` that begin with a Frame Relay address; return the frames after it."""
    mark_malformed(packets, frames.lacking(4))
    frames = _past_address(wire, frames).with_bytes(2)
    unnumbered = wire.u8(frames.at) == UNNUMBERED
    by_number = _by_nlpid(wire, frames.selected(unnumbered))
    return all_frames([by_number, _by_ethertype(wire, frames.selected(~unnumbered))])


def _past_address(wire: Wire, frames: Frames) -> Frames:
    done = []
    for _ in range(MOST_ADDRESS):
        frames = frames.with_bytes(1)
        last = wire.u8(frames.at) & LAST == LAST
        frames = frames.after_header(1, frames.kind)
        done.append(frames.selected(last))
        frames = frames.selected(~last)
    return all_frames(done)


def _by_nlpid(wire: Wire, frames: Frames) -> Frames:
    """Dissect RFC 2427: control, optional padding, then a protocol identifier or SNAP."""
    padded = wire.u8(frames.at + 1) == 0
    frames = frames.after_header(1 + padded, frames.kind).with_bytes(1)
    number = wire.u8(frames.at)
    kind = np.full(len(frames.rows), -1)
    for known, ethertype in NLPIDS.items():
        kind[number == known] = ethertype
    snap = frames.selected(number == NLPID_SNAP).with_bytes(6)
    return all_frames(
        [frames.after_header(1, kind).selected(number != NLPID_SNAP), skip_snap(wire, snap, 1, 0)]
    )


def _by_ethertype(wire: Wire, frames: Frames) -> Frames:
    """Dissect Cisco's encapsulation (an EtherType), or an Ethernet frame if its type is known."""
    kind = wire.u16(frames.at)
    cisco = np.isin(kind, CISCO)
    rest = frames.selected(~cisco).with_bytes(14)
    inner = rest.selected(_is_type(wire.u16(rest.at + 12)))
    whole = inner.after_header(0, np.full(len(inner.rows), ETH_P_TEB))
    return all_frames([frames.after_header(2, kind).selected(cisco), whole])


def _is_type(value: Int64s) -> Bools:
    found: Bools = np.isin(value, (*CISCO, *VLAN_TPIDS)) | (value < ETH_P_802_3_MIN)
    return found
