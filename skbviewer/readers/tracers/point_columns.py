# SPDX-License-Identifier: MIT
"""Turn points of another tracer into records of a kernel log, column by column.

Input: points, many at once.  Output: a RecordTable in time order, the lifetime of each record, and
the packets of the lifetimes.  The packet bytes of points are dissected like those of captures, so a
point and a captured packet have the same identity.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import FileIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import (
    FOOTPRINT,
    FOOTPRINT_DTYPE,
    IDENTITY_DTYPE,
    PACKET_DTYPE,
    RECORD_DTYPE,
    SEEN,
    ColumnTable,
    Gathered,
    Progress,
    RecordTable,
    Scratch,
    empty,
)
from ...records.bulk_dtypes import DETAIL_BITS
from ...records.kernel_events import DROP
from ...records.time_order import time_order
from ...records.types import Bools, Int32s, Int64s, UInt8s
from ..capture.header_columns import dissect
from ..input_file import Source
from ..numbers_in_bytes import Block
from .base64_bytes import bytes_of_base64
from .event_block import EventBlock
from .numbers_by_hash import HashedNumbers, hashes_of_columns
from .shared_point_values import pair_hashes

Numbers = npt.NDArray[np.signedinteger]
Columns = dict[str, Numbers]

ETHERNET = 1  # link type
UNKNOWN_CONTEXT = 255

# `tracked` (ns) and `head` identify the skb's lifetime; both are 0 if the tracer did not know it.
# `packet` is the number of the point's packet among the distinct ones.
COLUMNS = {
    "ts": "<i8", "cpu": "<i4", "func": "<i4", "pid": "<i4", "skb": "<i8", "reason": "<i4",
    "tracked": "<i8", "head": "<i8", "ifindex": "<i4", "netns": "<i8", "skb_len": "<i4",
    "gso_size": "<i4", "gso_segs": "<i4", "sections": "<i4", "packet": "<i4",
}  # fmt: skip
PACKET_COLUMNS = {"packet": "<i4", "ts": "<i8", "begin": "<i8", "end": "<i8"}
OF_FOOTPRINT = ("packet", "ifindex", "netns", "skb_len", "gso_size", "gso_segs")
PER_RECORD = RECORD_DTYPE.itemsize


class PacketsOfLifetimes(NamedTuple):
    """Packets (PACKET_DTYPE) in order of time on the log's clock, each with its lifetime."""

    packets: ColumnTable
    lifetime: Int32s


class PointPackets(NamedTuple):
    """The packets of the points in a log, and where the points are in the log.

    `data` holds the bytes of the distinct packets.  Packet n has caplen[n] bytes from offset[n] on;
    on the wire, it had length[n] bytes.  The other arrays have an element for each record, in order
    of time: `packet` is the number of its packet (-1 = the point has no bytes), `ts` its time on
    the log's clock (ns); `begin` and `end` enclose the point's JSON object in the decompressed log.
    """

    data: UInt8s
    offset: Int64s
    caplen: Int64s
    length: Int64s
    packet: Int32s
    ts: Int64s
    begin: Int64s
    end: Int64s


class PacketBytes:
    """The bytes of all distinct packets, one after the other in a nameless file."""

    def __init__(self) -> None:
        self.file = TemporaryFile()  # noqa: SIM115
        self._lengths, self._captured = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        self._numbers, self._bad = HashedNumbers(), np.zeros(0, np.bool_)

    def of(self, block: EventBlock) -> Int64s:
        """Return the number of each point's packet; -1 without a packet, -2 if it is not base64."""
        length = block.number("length")
        found, new = self._numbers.of(pair_hashes(block.hashes("packet"), length.view(np.uint64)))
        self._add(block, new, length[new])
        packets = found.astype(np.int64)
        has = np.flatnonzero(found >= 0)
        packets[has[self._bad[found[has]]]] = -2
        return packets

    def _add(self, block: EventBlock, new: Int64s, length: Int64s) -> None:
        made, captured = bytes_of_base64(block.text, block.spans("packet")[new])
        given = block.given("packet")
        own = [at for at, row in enumerate(new.tolist()) if row in given]
        parts, place = [], np.cumsum(np.maximum(captured, 0))
        begin = 0
        for at in own:  # read by JSON's parser: their texts are not in the block
            parts.append(made[begin : int(place[at]) - max(int(captured[at]), 0)])
            begin = int(place[at])
            raw = np.frombuffer(given[int(new[at])], np.uint8)
            mine, count = bytes_of_base64(raw.copy(), np.array([[0, len(raw)]], np.int32))
            parts.append(mine)
            captured[at] = count[0]
        parts.append(made[begin:])
        for part in parts:
            self.file.write(part.tobytes())
        self._bad = np.concatenate([self._bad, captured < 0])
        captured = np.maximum(captured, 0)
        self._captured.append(captured)
        self._lengths.append(np.maximum(length, captured))

    def places(self) -> tuple[Int64s, Int64s, Int64s]:
        """Return the offset, captured length and original length of each distinct packet."""
        captured, lengths = np.concatenate(self._captured), np.concatenate(self._lengths)
        return np.cumsum(captured) - captured, captured, lengths

    def dissected(self, path: Path, progress: Progress, folder: Path | None) -> ColumnTable:
        """Return the distinct packets as PACKET_DTYPE; their `offset` is a position in contents().

        `path` names the log in error messages.  Raises Cancelled.
        """
        self.file.flush()
        begin, captured, lengths = self.places()
        ends = np.append(begin, captured.sum())

        def fill(packets: Block, first: int, some: UInt8s, begin: int) -> None:
            rows = slice(first, first + len(packets))
            packets["interface"], packets["linktype"] = 0, ETHERNET
            packets.blank("ts")[:] = 0
            packets.blank("offset")[:] = ends[:-1][rows]
            packets.blank("caplen")[:] = captured[rows]
            packets.blank("len")[:] = lengths[rows]

        file = self.file.raw
        assert isinstance(file, FileIO)
        data = Source(path, int(ends[-1]), file)
        return dissect(data, ends[:-1], ends[1:], fill, progress, folder)[0]

    def contents(self) -> UInt8s:
        """Return the bytes of all distinct packets."""
        self.file.seek(0)
        return np.frombuffer(self.file.read(), np.uint8)


class PointColumns:
    """Collects the columns of points; then call either finish() or found()."""

    def __init__(self, columns: Mapping[str, str] = COLUMNS) -> None:
        self._columns = columns
        self._kept = {name: Gathered(Scratch(), dtype) for name, dtype in columns.items()}
        self.packets = PacketBytes()

    def add(self, columns: dict[str, npt.NDArray[np.integer]], usable: Bools) -> None:
        """Add the points of a block that are `usable`; `columns` has all columns of the block."""
        every = bool(usable.all())
        for name, dtype in self._columns.items():
            column = columns[name] if every else columns[name][usable]
            self._kept[name].add(column.astype(dtype))

    def finish(
        self, path: Path, progress: Progress, folder: Path | None
    ) -> tuple[RecordTable, Int32s, PacketsOfLifetimes]:
        """Return all records in time order, the lifetime of each, and the packets of lifetimes.

        `path` names the log in error messages.  Large columns are stored in nameless files in
        `folder`.  Raises Cancelled.
        """
        columns: Columns = {name: self._kept[name].whole() for name in COLUMNS}
        packets = self.packets.dissected(path, progress, folder)
        scratch = Scratch.for_rows(len(columns["ts"]) * PER_RECORD, folder)
        order = time_order(columns["ts"])
        if (order[1:] < order[:-1]).any():
            columns = {name: column[order] for name, column in columns.items()}
        footprint, footprints = _footprints(columns, packets)
        records = RecordTable(_records(columns, order, scratch), footprint, footprints, scratch)
        lifetimes = _lifetimes(columns["tracked"], columns["head"])
        return records, lifetimes, _first_packets(columns, lifetimes, packets)

    def found(self) -> PointPackets:
        """Return the packets of the collected points, in order of time.

        The object must have been made with PACKET_COLUMNS.
        """
        kept = {name: self._kept[name].whole() for name in PACKET_COLUMNS}
        order = time_order(kept["ts"])
        kept = {name: column[order] for name, column in kept.items()}
        return PointPackets(self.packets.contents(), *self.packets.places(), **kept)

    def close(self) -> None:
        """Free the memory of the bytes of packets."""
        self.packets.file.close()


def _records(columns: Columns, order: Int64s, scratch: Scratch) -> dict[str, Any]:
    """Return the columns of RECORD_DTYPE that come before the footprint."""
    names = RECORD_DTYPE.names or ()
    count, unknown = len(order), empty(RECORD_DTYPE, 1)
    drops = columns["reason"] >= 0
    own = ("ts", "cpu", "func", "pid", "skb")
    known: dict[str, npt.NDArray[Any]] = {name: columns[name] for name in own}
    data = np.where(drops, columns["reason"], columns["func"]).astype(np.int64)
    data += (columns["sections"].astype(np.int64) + 1) << DETAIL_BITS
    known |= {"ordinal": order, "data": data}
    known |= {"event": np.where(drops, DROP, 0), "kind": np.full(count, SEEN)}
    known["context"] = np.full(count, UNKNOWN_CONTEXT)
    zeros = {"caller": 0, "flags": 0}
    made = {}
    for name in names[: names.index(FOOTPRINT)]:
        column = scratch.full(count, RECORD_DTYPE[name], zeros.get(name, int(unknown[name][0])))
        if name in known:
            column[:] = known[name]
        made[name] = column
    return made


def _footprints(columns: Columns, packets: ColumnTable) -> tuple[Int32s, ColumnTable]:
    """Return the footprint number of each record, and the distinct footprints (0 is unknown)."""
    hashes = hashes_of_columns(*(columns[name] for name in OF_FOOTPRINT))
    number, first = HashedNumbers().of(hashes)
    made = empty(FOOTPRINT_DTYPE, len(first) + 1)
    for name in OF_FOOTPRINT[1:]:
        made[name][1:] = columns[name][first]
    packet = columns["packet"][first]
    shown = np.flatnonzero(packet >= 0)
    for name in IDENTITY_DTYPE.names or ():
        made[name][1 + shown] = packets.part(name, packet[shown])
    table = ColumnTable(FOOTPRINT_DTYPE, {n: made[n].copy() for n in FOOTPRINT_DTYPE.names or ()})
    return (number + 1).astype(np.int32), table


def _lifetimes(tracked: Numbers, head: Numbers) -> Int32s:
    """Return the lifetime of each record; lifetimes are numbered by first record, -1 = none."""
    hashes = hashes_of_columns(tracked, head)
    hashes[(tracked == 0) & (head == 0)] = 0
    return HashedNumbers().of(hashes)[0]


def _first_packets(columns: Columns, lifetimes: Int32s, packets: ColumnTable) -> PacketsOfLifetimes:
    """Return the first packet that the log shows for each lifetime, in order of time."""
    shown = np.flatnonzero((lifetimes >= 0) & (columns["packet"] >= 0))
    first = np.full(int(lifetimes.max(initial=-1)) + 1, -1, np.int64)
    first[lifetimes[shown[::-1]]] = shown[::-1]  # numpy keeps the last one
    # Lifetimes are numbered by first record, but the first bytes may come later.
    row = np.sort(first[first >= 0])
    lifetime = lifetimes[row]
    of = columns["packet"][row]
    made = {name: packets.part(name, of).copy() for name in PACKET_DTYPE.names or ()}
    made["ts"] = columns["ts"][row]
    return PacketsOfLifetimes(ColumnTable(PACKET_DTYPE, made), lifetime)
