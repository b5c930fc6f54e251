# SPDX-License-Identifier: MIT
"""IEEE 802.11 frames, with or without a radio header, up to their network header.

Layouts: IEEE 802.11-2020 sections 9.2 and 9.3.2, https://www.radiotap.org.  Management, control and
encrypted frames have no readable network header.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Bools, Int64s
from ..numbers_in_bytes import Frames, Rows, Wire, fill, mark_malformed

DATA = 2  # frame type
NO_DATA, QOS = 4, 8  # bits of a data frame's subtype
TO_DS, FROM_DS, PROTECTED, ORDER = 0x01, 0x02, 0x40, 0x80  # bits of the second byte
AMSDU = 0x80  # bit of the QoS field: several frames in one; the first is read
LENGTH_FIELD = 0  # in the place of an EtherType: an IEEE 802.3 length, so LLC follows
TSFT, RADIO_FLAGS, MORE_PRESENT = 1, 2, 1 << 31  # bits of radiotap's first present word
DATA_PAD = 0x20  # bit of radiotap's flags: the frame's header is padded to 32 bits
MAX_PRESENT = 8
AVS, PRISM_SIZE = 0x802110, 144


def ieee_802_11(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Skip the IEEE 802.11 header of `frames`.

    Frames without data, and encrypted frames, are left out.
    """
    return _data(wire, packets, frames, np.zeros(len(frames.rows), np.bool_))


def radiotap(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Skip the radiotap header of `frames`, and the IEEE 802.11 header after it."""
    mark_malformed(packets, frames.lacking(8))
    frames = frames.with_bytes(8)
    size = wire.le16(frames.at + 2)
    mark_malformed(packets, frames.rows[size < 8])
    whole = (size >= 8) & (frames.at + size <= frames.end)
    frames, size = frames.selected(whole), size[whole]
    padded = _is_padded(wire, frames, frames.at + size)
    return _data(wire, packets, frames.after_header(size, frames.kind), padded)


def prism(wire: Wire, packets: Rows, frames: Frames) -> Frames:
    """Skip the Prism or AVS header of `frames`, and the IEEE 802.11 header after it.

    A magic number distinguishes the Prism header from the AVS header.
    """
    mark_malformed(packets, frames.lacking(8))
    frames = frames.with_bytes(8)
    avs = wire.u32(frames.at) >> 8 == AVS
    size = np.where(avs, wire.u32(frames.at + 4), PRISM_SIZE)
    return ieee_802_11(wire, packets, frames.after_header(size, frames.kind))


def _is_padded(wire: Wire, frames: Frames, end: Int64s) -> Bools:
    """Return whether radiotap's flags, which follow the present words, announce padding."""
    first = wire.le32(frames.at + 4)
    at, word = frames.at + 8, first
    for _ in range(MAX_PRESENT):
        more = ((word & MORE_PRESENT) != 0) & (at + 4 <= end)
        word = np.where(more, wire.le32(np.where(more, at, wire.begin)), 0)
        at = at + 4 * more
    aligned = frames.at + (at - frames.at + 7) // 8 * 8
    at = np.where((first & TSFT) != 0, aligned + 8, at)
    present = ((first & RADIO_FLAGS) != 0) & (at < end)
    return np.asarray(
        present & ((wire.u8(np.where(present, at, wire.begin)) & DATA_PAD) != 0), np.bool_
    )


def _data(wire: Wire, packets: Rows, frames: Frames, padded: Bools) -> Frames:
    """Skip the header of data frames and fill their addresses."""
    mark_malformed(packets, frames.lacking(10))  # the shortest frames are CTS and ACK
    whole = frames.at + 24 <= frames.end
    frames, padded = frames.selected(whole), padded[whole]
    control, flags = wire.u8(frames.at), wire.u8(frames.at + 1)
    subtype = control >> 4
    carries = ((control >> 2 & 3) == DATA) & ((subtype & NO_DATA) == 0)
    four = (flags & TO_DS != 0) & (flags & FROM_DS != 0)
    qos = (subtype & QOS) != 0
    size = 24 + 6 * four + 2 * qos + 4 * (qos & (flags & ORDER != 0))
    whole = carries & (frames.at + size <= frames.end)
    frames, flags, size, qos, four = (
        frames.selected(whole), flags[whole], size[whole], qos[whole], four[whole]
    )  # fmt: skip
    _addresses(wire, packets, frames, flags, four)
    several = qos.copy()
    control = np.where(qos, frames.at + 24 + 6 * four, wire.begin)
    several &= (wire.u8(control) & AMSDU) != 0
    size = np.where(padded[whole], (size + 3) // 4 * 4, size) + 14 * several
    open_ = (flags & PROTECTED) == 0
    kind = np.full(len(frames.rows), LENGTH_FIELD)
    return frames.after_header(size, kind).selected(open_)


def _addresses(wire: Wire, packets: Rows, frames: Frames, flags: Int64s, four: Bools) -> None:
    """Fill source and destination; the other addresses in a frame are those of access points."""
    first, second, third = (wire.u48(frames.at + 4 + 6 * i) for i in range(3))
    to, from_ = flags & TO_DS != 0, flags & FROM_DS != 0
    fourth = wire.u48(np.where(four, frames.at + 24, frames.at))
    source = np.where(four, fourth, np.where(from_, third, second))
    fill(packets, frames.rows, eth_dst=np.where(to, third, first), eth_src=source)
