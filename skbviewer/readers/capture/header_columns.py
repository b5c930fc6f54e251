# SPDX-License-Identifier: MIT
"""Fill the identity columns of packets from their bytes, many packets at once.

Input: PACKET_DTYPE rows in which linktype, offset, caplen and len are set; offset + caplen must be
inside the file.  The identity of a packet is taken from its outermost IP header.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ...records import PACKET_CUT, PACKET_DTYPE, ColumnTable, Progress, Scratch, counted, empty
from ...records.types import Int64s, UInt8s
from ..input_file import Source
from ..numbers_in_bytes import Block, Frames, Rows, Wire
from .encapsulation import to_network
from .ethertypes import UNREAD, unread_name
from .link_layers import LINK_LAYERS
from .linktype_names import linktype_name
from .network_layer import network_headers
from .plain_ip_packets import fill_plain
from .transport_layer import transport_headers

BLOCK = 1 << 13  # packets handled together: their columns stay in the processor's cache
BLOCK_BYTES = 1 << 21  # most bytes of a block, unless a single packet has more

# Fills ts, caplen, len, offset, interface and linktype of the packets of a block.  Arguments: the
# block, its first packet's number, the bytes of the file that hold its packets, and the position
# of these bytes.
Fill = Callable[[Block, int, UInt8s, int], None]


def dissect(
    data: Source, begin: Int64s, end: Int64s, fill: Fill, progress: Progress, folder: Path | None
) -> tuple[ColumnTable, list[str]]:
    """Return all packets of `data`, and a warning for each encapsulation that cannot be dissected.

    The bytes of packet i, and all bytes that `fill` reads for it, are from begin[i] to end[i].
    These ranges do not overlap.  `fill` writes the columns whose values are not in the bytes of the
    packet.  If `folder` is given, a large table is stored in a nameless file there.  Raises
    BadInput and Cancelled.
    """
    name, count = data.path.name, len(begin)
    # Pages are allocated when they are written: a column that no packet fills takes no memory.
    scratch = Scratch.for_rows(count * PACKET_DTYPE.itemsize, folder)
    columns = {
        field: scratch.take(count, PACKET_DTYPE[field]) for field in PACKET_DTYPE.names or ()
    }
    written: set[str] = set()
    unread: Counter[int] = Counter()
    unknown = empty(PACKET_DTYPE, 1)
    first = 0
    while first < count:
        progress.report(f"dissecting {name}", first, count)
        scratch.passed()
        at = int(begin[first])
        last = int(np.searchsorted(end[first : first + BLOCK], at + BLOCK_BYTES, "right"))
        last = first + max(last, 1)
        block = Block({field: c[first:last] for field, c in columns.items()}, unknown)
        _dissect_block(data.read(at, int(end[last - 1])), at, first, block, fill, unread)
        for field in block.written - written:
            columns[field][:first] = unknown[field]
        written |= block.written
        block.finish(written)
        first = last
    columns |= {field: np.broadcast_to(unknown[field], count) for field in set(columns) - written}
    packets = ColumnTable(PACKET_DTYPE, columns, scratch)
    progress.report(f"dissecting {name}", count, count)
    warnings = _not_understood(data.path, packets, unread)
    scratch.forget()
    return packets, warnings


def _dissect_block(
    data: UInt8s, begin: int, first: int, packets: Block, fill: Fill, unread: Counter[int]
) -> None:
    """Fill the columns of a block; count in `unread` the kinds that hide an IP header."""
    fill(packets, first, data, begin)
    cut = packets["caplen"] < packets["len"]
    if cut.any():
        packets["flags"][cut] = PACKET_CUT
    rest = np.flatnonzero(~fill_plain(data, begin, packets))
    if not len(rest):
        return
    wire, linktypes = Wire(data, begin), packets["linktype"][rest]
    for linktype in np.unique(linktypes).tolist():
        layer = LINK_LAYERS.get(linktype)
        if layer is None:
            continue
        frames = layer(wire, packets, whole_frames(packets, rest[linktypes == linktype]))
        frames = to_network(wire, packets, frames)
        kinds, counts = np.unique(frames.kind[frames.kind >= UNREAD], return_counts=True)
        unread.update(dict(zip(kinds.tolist(), counts.tolist(), strict=True)))
        transport_headers(wire, packets, network_headers(wire, packets, frames))


def whole_frames(packets: Rows, rows: Int64s) -> Frames:
    """Return a frame for each packet in `rows`, positioned at the packet's first captured byte."""
    at = packets["offset"][rows]
    end, stop = at + packets["caplen"][rows], at + packets["len"][rows]
    return Frames(rows, at, end, stop, np.full(len(rows), -1, np.int64))


def _not_understood(path: Path, packets: ColumnTable, unread: Counter[int]) -> list[str]:
    counts = np.bincount(packets["linktype"])
    lines = [
        (int(counts[linktype]), f"of {linktype_name(linktype)}")
        for linktype in np.flatnonzero(counts).tolist()
        if linktype not in LINK_LAYERS
    ]
    for kind, count in sorted(unread.items()):
        lines.append((count, f"{'carries' if count == 1 else 'carry'} {unread_name(kind)}"))
    return [
        f"{path}: {counted(count, 'packet')} {what}, which skbviewer cannot dissect, so "
        f"{'its' if count == 1 else 'their'} addresses stay unknown"
        for count, what in lines
    ]
