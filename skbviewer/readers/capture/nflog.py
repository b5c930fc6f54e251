# SPDX-License-Identifier: MIT
"""NFLOG: packets that Linux's netfilter logged; the packet is one of several attributes.

Layout: https://www.tcpdump.org/linktypes/LINKTYPE_NFLOG.html.  Attributes are in the byte order of
the capturing host, which the number of the first attribute shows.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Bools, Int64s
from ..numbers_in_bytes import Frames, Rows, Wire, all_frames, mark_malformed
from .ethertypes import by_family

HEADER = 4  # bytes: family, version, resource
NFULA_PACKET_HDR, NFULA_PAYLOAD = 1, 9
TYPE = 0x7FFF  # mask of the attribute's type; the other bits are flags
MAX_ATTRIBUTES = 64  # most attributes before the packet


def nflog(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Dissect `frames` that begin with an NFLOG header; return the frames after it.

    The `kind` of a frame is netfilter's protocol number, or else follows from the address family.
    """
    mark_malformed(packets, frames.lacking(HEADER + 4))
    frames = frames.with_bytes(HEADER + 4)
    family = by_family(wire.u8(frames.at))
    is_big = wire.le16(frames.at + HEADER + 2) & TYPE > 0xFF
    done, frames = [], frames.after_header(HEADER, family)
    for _ in range(MAX_ATTRIBUTES):
        length, type_ = _number(wire, frames.at, is_big), _number(wire, frames.at + 2, is_big)
        type_ &= TYPE
        found = (type_ == NFULA_PAYLOAD) & (length >= 4)
        done.append(_payload(packets, frames.selected(found), length[found]))
        named = (type_ == NFULA_PACKET_HDR) & (length == 8) & (frames.at + 6 <= frames.end)
        protocol = wire.u16(np.where(named, frames.at + 4, frames.at))
        frames = frames.after_header((length + 3) // 4 * 4, np.where(named, protocol, frames.kind))
        more = ~found & (length >= 4)
        mark_malformed(packets, frames.rows[length < 4])
        more &= frames.at + 4 <= frames.end
        frames, is_big = frames.selected(more), is_big[more]
        if not len(frames.rows):
            break
    return all_frames(done)


def _number(wire: Wire, at: Int64s, is_big: Bools) -> Int64s:
    return np.where(is_big, wire.u16(at), wire.le16(at))


def _payload(packets: Rows, frames: Frames, length: Int64s) -> Frames:
    """Cut frames at the end of their payload, because more attributes may follow it."""
    mark_malformed(packets, frames.rows[frames.at + length > frames.stop])
    stop = np.minimum(frames.stop, frames.at + length)
    frames = frames._replace(stop=stop, end=np.minimum(frames.end, stop))
    return frames.after_header(4, frames.kind)
