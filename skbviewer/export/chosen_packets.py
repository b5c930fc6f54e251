# SPDX-License-Identifier: MIT
"""The packets that a request names, and where their bytes are in the captures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..analysis.fields.field_source_tables import PACKET, Data
from ..records import BadInput
from ..records.types import Int64s, UInt8s
from .chosen_rows import chosen_rows
from .formats import Exportable, Request
from .snap_length import header_bytes, kept_bytes

MOST_PACKETS, MOST_BYTES = 1 << 16, 1 << 25  # of a block of packets that is written at once


class Places(NamedTuple):
    """Where packets are in the file of their capture, and which part of each packet is written.

    A packet's `caplen` captured bytes begin at `offset`. The packet's first `kept` bytes are
    written. The packet's `length` is its size on the wire. `ts` is the time (ns) on the capture's
    own clock.
    """

    offset: Int64s
    caplen: Int64s
    length: Int64s
    kept: Int64s
    ts: Int64s
    interface: Int64s
    linktype: Int64s


def packet_places(data: Data, file: UInt8s, packets: Int64s, request: Request) -> Places:
    """Return the positions of `packets` (numbers from 1) in the capture whose bytes are `file`.

    Raises BadInput if `file` is too short.
    """

    def column(name: str) -> Int64s:
        return data.columns.take(PACKET, name, packets - 1).astype(np.int64)

    offset, caplen, length = column("offset"), column("caplen"), column("len")
    linktype = column("linktype")
    if (offset + caplen).max() > len(file) or min(offset.min(), caplen.min()) < 0:
        path = next(s.path for s in data.sources if s.id == int(column("source")[0]))
        raise BadInput(Path(path), None, "is shorter than when it was imported")
    headers = None
    if not request.payload:
        headers = header_bytes(file, linktype, offset, caplen, length)
    kept = kept_bytes(caplen, headers, request.snaplen)
    return Places(offset, caplen, length, kept, column("ts"), column("interface"), linktype)


def chosen_packets(recording: Exportable, request: Request) -> Int64s:
    """Return the numbers of the captured packets that `request` chooses, ascending.

    Raises the exceptions of chosen_rows(), and KeyError if a chosen row is a row K<n> but the
    request does not ask for kernel-only packets.
    """
    for row in request.rows:
        if row < 0 and not request.kernel_only:
            raise KeyError(f"no capture has packet K{-row}")
    rows = chosen_rows(recording, request)
    return np.arange(1, recording.packets.count() + 1) if rows is None else rows[rows > 0]


def parts(packets: Int64s, caplen: Int64s) -> Iterator[Int64s]:
    """Divide packets into parts of at most MOST_PACKETS packets and about MOST_BYTES bytes.

    `caplen` is the captured length of each packet in bytes.
    """
    part = np.maximum(
        np.arange(len(packets)) // MOST_PACKETS, np.cumsum(caplen, dtype=np.int64) // MOST_BYTES
    )
    if len(packets):
        yield from np.split(packets, np.flatnonzero(np.diff(part)) + 1)
