# SPDX-License-Identifier: MIT
"""Fills the identity columns of packets from their bytes, many packets at once.

In: PACKET_DTYPE rows in which linktype, offset, caplen and len are set and offset + caplen lies
inside the file.  The identity is the outermost IP header's.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..records import PACKET_CUT, PACKET_DTYPE, ColumnTable, Progress, Room, empty
from .link import LINK_LAYERS, to_network
from .network import network_headers
from .plain import Plain
from .transport import transport_headers
from .wire import FORGET_STEP, Block, Bytes, Frames, Ints, Rows, Wire, forget

BLOCK = 1 << 13  # packets at once: what is made of them stays in the processor's cache

# Fills ts, caplen, len, offset, interface and linktype of the packets from a number on.
Fill = Callable[[Rows, int], None]


def dissect(
    name: str, data: Bytes, count: int, fill: Fill, progress: Progress, folder: Path | None
) -> tuple[ColumnTable, list[str]]:
    """All packets, and one warning for each link type not understood.

    Many packets lie in a file in `folder`, if one is given.
    """
    wire, plain = Wire(data), Plain(data)
    # Memory is taken when it is written: a column that no packet tells takes none.
    room = Room.for_rows(count * PACKET_DTYPE.itemsize, folder)
    columns = {field: room.take(count, PACKET_DTYPE[field]) for field in PACKET_DTYPE.names or ()}
    told: set[str] = set()
    unknown = empty(PACKET_DTYPE, 1)
    known = 0  # up to there the file's pages are given back
    for first in range(0, count, BLOCK):
        progress.report(f"dissecting {name}", first, count)
        room.passed()
        part = {field: column[first : first + BLOCK] for field, column in columns.items()}
        block = Block(part, unknown)
        fill(block, first)
        cut = block["caplen"] < block["len"]
        if cut.any():
            block["flags"][cut] = PACKET_CUT
        _dissect_block(wire, plain, block)
        for field in block.written - told:
            columns[field][:first] = unknown[field]
        told |= block.written
        block.finish(told)
        behind = int(block["offset"][-1])
        if behind - known > FORGET_STEP:
            forget(data, known, behind)
            known = behind
    columns |= {field: np.broadcast_to(unknown[field], count) for field in set(columns) - told}
    packets = ColumnTable(PACKET_DTYPE, columns, room)
    progress.report(f"dissecting {name}", count, count)
    warnings = _unknown_link_types(name, packets)
    room.forget()
    return packets, warnings


def _dissect_block(wire: Wire, plain: Plain, packets: Rows) -> None:
    linktypes = packets["linktype"]
    one = bool((linktypes == linktypes[0]).all())
    for linktype in np.unique(linktypes[:1] if one else linktypes).tolist():
        layer = LINK_LAYERS.get(linktype)
        if layer is None:
            continue
        if one:
            rows = np.flatnonzero(~plain.fill(packets, linktype))
        else:
            rows = np.flatnonzero(linktypes == linktype)
        if not len(rows):
            continue
        frames = to_network(wire, packets, layer(wire, packets, whole_frames(packets, rows)))
        transport_headers(wire, packets, network_headers(wire, packets, frames))


def whole_frames(packets: Rows, rows: Ints) -> Frames:
    at = packets["offset"][rows]
    end, stop = at + packets["caplen"][rows], at + packets["len"][rows]
    return Frames(rows, at, end, stop, np.full(len(rows), -1, np.int64))


def _unknown_link_types(name: str, packets: ColumnTable) -> list[str]:
    counts = np.bincount(packets["linktype"])
    found = np.flatnonzero(counts)
    return [
        f"{name}: {count} packets of link type {linktype}, which is not understood: "
        "their addresses stay unknown"
        for linktype, count in zip(found.tolist(), counts[found].tolist(), strict=True)
        if linktype not in LINK_LAYERS
    ]
