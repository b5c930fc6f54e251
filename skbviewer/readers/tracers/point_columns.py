# SPDX-License-Identifier: MIT
"""Points of another tracer as records of a kernel log, built column by column.

Input: points one by one.  Output: a RecordTable in time order, and the lifetime of each record.  No
Python object of a point is kept: every BLOCK points become arrays.  Packet bytes are dissected as
those of captures are, so that a point and a captured packet have the same identity.
"""

from __future__ import annotations

import base64
import binascii
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
    RECORD_DTYPE,
    SEEN,
    ColumnTable,
    Gathered,
    Progress,
    RecordTable,
    Scratch,
    empty,
)
from ...records.kernel_events import DROP
from ...records.time_order import time_order
from ...records.types import Int32s, Int64s, UInt8s
from ..capture.header_columns import dissect
from ..numbers_in_bytes import Block
from ..source import Source

BLOCK = 1 << 14  # points whose Python numbers are in memory
KNOWN = 1 << 12  # latest packets that are recognised when they are seen again
ETHERNET = 1  # link type
UNKNOWN_CONTEXT = 255


class Point(NamedTuple):
    """What one point shows; -1 = unknown.

    `tracked` (ns) and `head` identify the skb's lifetime; both are 0 if the tracer did not know it.
    `reason` is the number of a drop's reason, -1 = no drop.  `length` is the packet's on the wire.
    """

    ts: int
    cpu: int
    func: int
    pid: int
    skb: int
    reason: int
    tracked: int
    head: int
    ifindex: int
    netns: int
    skb_len: int
    gso_size: int
    gso_segs: int
    length: int


COLUMNS = (*Point._fields, "packet")
OF_FOOTPRINT = ("packet", "ifindex", "netns", "skb_len", "gso_size", "gso_segs")
ADDRESSES = ("skb", "head", "tracked")  # unsigned 64 bits
PER_RECORD = RECORD_DTYPE.itemsize


class PointColumns:
    """Collects points."""

    def __init__(self) -> None:
        self._new: list[list[int]] = [[] for _ in COLUMNS]
        self._kept = {name: Gathered(Scratch(), np.int64) for name in COLUMNS}
        self._bytes, self._ends, self._lengths = TemporaryFile(), [0], list[int]()  # noqa: SIM115
        self._known: dict[tuple[str, int], int] = {}

    def add(self, point: Point, packet: str) -> bool:
        """One point more, with its packet's bytes in base64, "" = unknown.

        Returns False, and adds nothing, if they are not base64.
        """
        number = self._number(packet, point.length) if packet else -1
        if number is None:
            return False
        for column, value in zip(self._new, (*point, number), strict=True):
            column.append(value)
        if len(self._new[0]) >= BLOCK:
            self._keep()
        return True

    def _number(self, packet: str, length: int) -> int | None:
        """The number of a packet among the different ones; points of one skb repeat it."""
        found = self._known.get((packet, length))
        if found is not None:
            return found
        try:
            raw = base64.b64decode(packet, validate=True)
        except (binascii.Error, ValueError):
            return None
        self._bytes.write(raw)
        self._ends.append(self._ends[-1] + len(raw))
        self._lengths.append(max(length, len(raw)))
        if len(self._known) >= KNOWN:
            self._known.clear()
        self._known[packet, length] = len(self._lengths) - 1
        return len(self._lengths) - 1

    def _keep(self) -> None:
        for name, values in zip(COLUMNS, self._new, strict=True):
            made = np.array(values, np.uint64 if name in ADDRESSES else np.int64)
            self._kept[name].add(made.view(np.int64))
            values.clear()

    def finish(
        self, path: Path, progress: Progress, folder: Path | None
    ) -> tuple[RecordTable, Int32s]:
        """All records in time order, and the lifetime of each.  Raises Cancelled."""
        self._keep()
        columns: dict[str, Int64s] = {name: self._kept[name].whole() for name in COLUMNS}
        packets = self._dissected(path, progress, folder)
        scratch = Scratch.for_rows(len(columns["ts"]) * PER_RECORD, folder)
        order = time_order(columns["ts"])
        columns = {name: column[order] for name, column in columns.items()}
        footprint, footprints = _footprints(columns, packets)
        records = RecordTable(_records(columns, order, scratch), footprint, footprints, scratch)
        return records, _lifetimes(columns["tracked"], columns["head"])

    def close(self) -> None:
        """Free the packets' bytes."""
        self._bytes.close()

    def _dissected(self, path: Path, progress: Progress, folder: Path | None) -> ColumnTable:
        """The different packets as PACKET_DTYPE."""
        self._bytes.flush()
        ends, lengths = np.array(self._ends, np.int64), np.array(self._lengths, np.int64)

        def fill(packets: Block, first: int, some: UInt8s, begin: int) -> None:
            rows = slice(first, first + len(packets))
            packets["interface"], packets["linktype"] = 0, ETHERNET
            packets.blank("ts")[:] = 0
            packets.blank("offset")[:] = ends[:-1][rows]
            packets.blank("caplen")[:] = np.diff(ends)[rows]
            packets.blank("len")[:] = lengths[rows]

        file = self._bytes.raw
        assert isinstance(file, FileIO)
        data = Source(path, int(ends[-1]), file)
        return dissect(data, ends[:-1], ends[1:], fill, progress, folder)[0]


def _records(columns: dict[str, Int64s], order: Int64s, scratch: Scratch) -> dict[str, Any]:
    """The columns of RECORD_DTYPE before the footprint."""
    names = RECORD_DTYPE.names or ()
    count, unknown = len(order), empty(RECORD_DTYPE, 1)
    drops = columns["reason"] >= 0
    own = ("ts", "cpu", "func", "pid", "skb")
    known: dict[str, npt.NDArray[Any]] = {name: columns[name] for name in own}
    known |= {"ordinal": order, "data": np.where(drops, columns["reason"], columns["func"])}
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


def _footprints(columns: dict[str, Int64s], packets: ColumnTable) -> tuple[Int32s, ColumnTable]:
    """The footprint of each record, and the different footprints after the unknown one."""
    number = np.zeros(len(columns["ts"]), np.int64)
    for name in OF_FOOTPRINT:  # a number for each combination of the columns so far
        values, of = np.unique(columns[name], return_inverse=True)
        number = number * len(values) + of.reshape(-1)
        number = np.unique(number, return_inverse=True)[1].reshape(-1)
    first = np.unique(number, return_index=True)[1]
    made = empty(FOOTPRINT_DTYPE, len(first) + 1)
    for name in OF_FOOTPRINT[1:]:
        made[name][1:] = columns[name][first]
    packet = columns["packet"][first]
    shown = np.flatnonzero(packet >= 0)
    for name in IDENTITY_DTYPE.names or ():
        made[name][1 + shown] = packets.part(name, packet[shown])
    table = ColumnTable(FOOTPRINT_DTYPE, {n: made[n].copy() for n in FOOTPRINT_DTYPE.names or ()})
    return (number + 1).astype(np.int32), table


def _lifetimes(tracked: Int64s, head: Int64s) -> Int32s:
    """The lifetime of each record: numbered by first record, -1 = none."""
    both = np.stack([tracked, head], axis=1)
    _, first, of = np.unique(both, axis=0, return_index=True, return_inverse=True)
    is_none = (tracked[first] == 0) & (head[first] == 0)
    rank = np.full(len(first), -1, np.int32)
    chosen = np.flatnonzero(~is_none)
    rank[chosen[np.argsort(first[chosen])]] = np.arange(len(chosen), dtype=np.int32)
    return rank[of.reshape(-1)]
