# SPDX-License-Identifier: MIT
"""Fills the identity columns of packets from their bytes, many packets at once.

In: PACKET_DTYPE rows in which linktype, offset, caplen and len are set and offset + caplen lies
inside the file.  The identity is the outermost IP header's.
"""

from __future__ import annotations

import numpy as np

from ..records import Packets, Progress
from .link import LINK_LAYERS, to_network
from .network import network_headers
from .transport import transport_headers
from .wire import Bytes, Frames, Ints, Wire

BLOCK = 1 << 18  # packets at once, which bounds the memory of the temporary columns


def dissect(name: str, data: Bytes, packets: Packets, progress: Progress) -> list[str]:
    """Fill `packets` in place; returns one warning for each link type not understood."""
    wire = Wire(data)
    for first in range(0, len(packets), BLOCK):
        progress.report(f"dissecting {name}", first, len(packets))
        _dissect_block(wire, packets[first : first + BLOCK])
    progress.report(f"dissecting {name}", len(packets), len(packets))
    return _unknown_link_types(name, packets)


def _dissect_block(wire: Wire, packets: Packets) -> None:
    for linktype in np.unique(packets["linktype"]):
        layer = LINK_LAYERS.get(int(linktype))
        if layer is None:
            continue
        rows = np.flatnonzero(packets["linktype"] == linktype).astype(np.int64)
        frames = to_network(wire, packets, layer(wire, packets, whole_frames(packets, rows)))
        transport_headers(wire, packets, network_headers(wire, packets, frames))


def whole_frames(packets: Packets, rows: Ints) -> Frames:
    at = packets["offset"][rows]
    end, stop = at + packets["caplen"][rows], at + packets["len"][rows]
    return Frames(rows, at, end, stop, np.full(len(rows), -1, np.int64))


def _unknown_link_types(name: str, packets: Packets) -> list[str]:
    found, counts = np.unique(packets["linktype"], return_counts=True)
    return [
        f"{name}: {count} packets of link type {linktype}, which is not understood: "
        "their addresses stay unknown"
        for linktype, count in zip(found.tolist(), counts.tolist(), strict=True)
        if linktype not in LINK_LAYERS
    ]
