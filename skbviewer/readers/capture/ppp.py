# SPDX-License-Identifier: MIT
"""PPP (RFC 1661, 1662), PPPoE (RFC 2516) and Cisco HDLC, up to the network header."""

from __future__ import annotations

import numpy as np

from ...records.types import Int64s
from ..numbers_in_bytes import Frames, Rows, Wire, mark_malformed

ADDRESS_CONTROL = 0xFF03
CISCO = (0x0F, 0x8F)  # addresses of Cisco HDLC: unicast, broadcast
ETHERTYPES = {0x0021: 0x0800, 0x0057: 0x86DD, 0x0281: 0x8847, 0x0283: 0x8848}


def ethertype_of(protocol: Int64s) -> Int64s:
    """Return EtherTypes for PPP protocol numbers; -1 for PPP's own protocols."""
    found = np.full(len(protocol), -1)
    for number, kind in ETHERTYPES.items():
        found[protocol == number] = kind
    return found


def ppp(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Skip the PPP header of `frames`, with or without its address and control bytes."""
    mark_malformed(packets, frames.lacking(2))
    frames = frames.with_bytes(2)
    framed = (wire.u16(frames.at) == ADDRESS_CONTROL) & (frames.at + 4 <= frames.end)
    frames = frames.after_header(2 * framed, frames.kind)
    # RFC 1661, 6.5: a protocol number may be sent as one byte, which then is odd.
    first = wire.u8(frames.at)
    short = (first & 1) == 1
    protocol = np.where(short, first, wire.u16(np.where(short, wire.begin, frames.at)))
    return frames.after_header(np.where(short, 1, 2), ethertype_of(protocol))


def ppp_hdlc(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Dissect `frames` of serial lines: PPP or Cisco HDLC, which the address byte distinguishes.

    Returns the frames positioned after that header.
    """
    some = frames.with_bytes(4)
    is_cisco = np.isin(wire.u8(some.at), CISCO)
    if not is_cisco.any():
        return ppp(wire, packets, frames)
    if is_cisco.all() and len(some.rows) == len(frames.rows):
        return cisco_hdlc(wire, packets, frames)
    rest = frames.selected(~np.isin(frames.rows, some.rows[is_cisco]))
    parts = (ppp(wire, packets, rest), cisco_hdlc(wire, packets, some.selected(is_cisco)))
    return Frames(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def cisco_hdlc(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Skip a Cisco HDLC header (address, control, EtherType) of `frames`."""
    mark_malformed(packets, frames.lacking(4))
    frames = frames.with_bytes(4)
    return frames.after_header(4, wire.u16(frames.at + 2))


def pppoe(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Skip a PPPoE header of `frames` (version 1, type 1, code, session, length), and PPP."""
    mark_malformed(packets, frames.lacking(6))
    frames = frames.with_bytes(6)
    session = frames.selected(wire.u16(frames.at) == 0x1100)
    return ppp(wire, packets, session.after_header(6, session.kind))


def with_direction(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Skip the byte that gives the direction of a frame, and the PPP header after it."""
    return ppp(wire, packets, frames.after_header(1, frames.kind))
