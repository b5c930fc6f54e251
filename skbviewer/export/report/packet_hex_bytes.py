# SPDX-License-Identifier: MIT
"""The bytes of a packet that a report shows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records import PacketRow
from ..formats import Request
from ..pseudonyms import Pseudonyms
from ..pseudonyms.packets import with_pseudonyms
from ..snap_length import header_bytes, kept_bytes

MOST = 512  # bytes
PER_LINE = 16


class Bytes(NamedTuple):
    """The bytes of a packet that are shown, and how many were captured."""

    shown: bytes
    captured: int


def bytes_of(raw: bytes, row: PacketRow, request: Request, names: Pseudonyms | None) -> Bytes:
    """Return the captured bytes of a packet (`raw`) that `request` allows a report to show.

    With `names`, addresses are replaced and the payload becomes zeros.
    """
    data = np.frombuffer(raw, np.uint8)
    offset, caplen, length, linktype = (
        np.array([value], np.int64) for value in (0, len(raw), row.len, row.linktype)
    )
    headers = None
    if not request.payload:
        headers = header_bytes(data, linktype, offset, caplen, length)
    (kept,) = kept_bytes(caplen, headers, request.snaplen).tolist()
    if names is not None:
        data = with_pseudonyms(data, linktype, offset, caplen, length, names)
    return Bytes(data[: min(kept, MOST)].tobytes(), len(raw))


def dump(data: bytes) -> str:
    """Return a hexadecimal dump: lines such as "0010 45 00 ... E..."."""
    lines = []
    for at in range(0, len(data), PER_LINE):
        part = data[at : at + PER_LINE]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{at:04x}  {part.hex(' '):<{3 * PER_LINE}} {text}")
    return "\n".join(lines)
