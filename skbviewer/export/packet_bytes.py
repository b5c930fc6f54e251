# SPDX-License-Identifier: MIT
"""The bytes of many packets at a time: one array of bytes, and the offset of each packet in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..analysis.fields.field_source_tables import PACKET, Data
from ..records import BadInput, Progress
from ..records.compiled import compiled
from ..records.table_columns import INT64, TableColumn, TableMeaning
from ..records.types import Int32s, Int64s, UInt8s
from .formats import Exportable
from .pseudonyms import Pseudonyms
from .pseudonyms.packets import with_pseudonyms

MOST_PACKETS, MOST_BYTES = 1 << 18, 1 << 27
BYTES = TableMeaning(
    "packet_bytes",
    "The captured bytes of a packet.",
    (
        TableColumn("number", INT64, "", "", "the packet: packets.number", 9),
        TableColumn(
            "bytes", "bytes", "", "", "the captured bytes of the packet, from the link layer on", 9
        ),
    ),
)

Block = tuple[Int64s, Int32s, UInt8s]


def byte_blocks(
    recording: Exportable,
    packets: Int64s | None,
    snaplen: int,
    progress: Progress,
    names: Pseudonyms | None = None,
) -> Iterator[Block]:
    """Yield (numbers, offsets, bytes) for blocks of packets.

    Packet k of a block has the bytes from offsets[k] to offsets[k + 1] - 1.

    `packets` are numbers of packets, ascending; None means all packets. `snaplen` is how many bytes
    of each packet are written at most; 0 means all bytes. With `names`, addresses are replaced and
    payloads become zeros. Raises BadInput if a capture cannot be read, and Cancelled if the user
    cancels.
    """
    fields = recording.export.field_data()
    columns = fields.columns
    if packets is None:
        packets = np.arange(1, columns.length(PACKET) + 1)
    done, total = 0, len(packets)
    for source in recording.sources():
        mine = packets[columns.take(PACKET, "source", packets - 1) == source.id]
        if source.kind.is_log or not len(mine):
            continue
        data = _contents(recording, source.id)
        for some in _parts(mine, columns.take(PACKET, "caplen", mine - 1), snaplen):
            offset = columns.take(PACKET, "offset", some - 1).astype(np.int64)
            size = columns.take(PACKET, "caplen", some - 1).astype(np.int64)
            if (offset + size).max() > len(data) or min(offset.min(), size.min()) < 0:
                raise BadInput(Path(source.path), None, "is shorter than when it was imported")
            if snaplen:
                size = np.minimum(size, snaplen)
            ends = np.r_[0, np.cumsum(size)]
            made = np.empty(int(ends[-1]), np.uint8)
            _copy(data, offset, ends, made)
            if names is not None:
                made = _renamed(fields, some, ends, made, names)
            yield some, ends.astype(np.int32), made
            done += len(some)
            progress.report("writing packet_bytes", done, total)


def _renamed(
    fields: Data, packets: Int64s, ends: Int64s, data: UInt8s, names: Pseudonyms
) -> UInt8s:
    def column(name: str) -> Int64s:
        return fields.columns.take(PACKET, name, packets - 1).astype(np.int64)

    linktype, length = column("linktype"), column("len")
    return with_pseudonyms(data, linktype, ends[:-1], np.diff(ends), length, names)


def _contents(recording: Exportable, source: int) -> UInt8s:
    try:
        return recording.export.capture_bytes(source)
    except BadInput as error:
        why = f"{error.why}; use '--no-payload' to write tables without the packets' bytes"
        raise BadInput(error.path, error.offset, why) from error


def _parts(packets: Int64s, caplen: Int64s, snaplen: int) -> Iterator[Int64s]:
    """Divide packets into parts of at most MOST_PACKETS and about MOST_BYTES."""
    size = np.minimum(caplen, snaplen) if snaplen else caplen
    part = np.maximum(
        np.arange(len(packets)) // MOST_PACKETS, np.cumsum(size, dtype=np.int64) // MOST_BYTES
    )
    yield from np.split(packets, np.flatnonzero(np.diff(part)) + 1)


@compiled
def _copy(data: UInt8s, offset: Int64s, ends: Int64s, out: UInt8s) -> None:
    for packet in range(len(offset)):
        at = offset[packet] - ends[packet]
        for place in range(ends[packet], ends[packet + 1]):
            out[place] = data[at + place]
