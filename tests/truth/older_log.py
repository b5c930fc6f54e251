# SPDX-License-Identifier: MIT
"""Rewrites a recorded log of version 3 as the first recorders wrote it: version 2.

Each call has an ENTRY with its footprint and an EXIT, both with their thread.  Functions whose
packets lie in a list or a queue, or that have a socket alone, were not recorded; nor what packet
sockets are given, nor when hits were missed.  Little-endian logs only; kmod/kbl.h has the layout.
"""

from __future__ import annotations

import bisect
import struct
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .treatments import CHUNK, CHUNK_MAGIC, RECORDS, chunks_of

SLOT = 32
PER_CHUNK = 2000  # records
PROBES, COUNTERS, META, PAD = 2, 6, 7, 11
RECORDER = 0xFFFE
ENTRY, EXIT, CALL, EVENT, LOST = 1, 2, 3, 4, 5
IPV4, IPV6, IPV6_L4, SKB, EXT_CALL, COMM = 1, 2, 3, 4, 5, 6
LOST_BUFFER, LOST_MISSED = 1, 2
TASK, FOOTPRINT = 8, 34
EVENTS = {1, 2, 3, 4, 5, 6, 7, TASK, 12}  # memory, clones, drops: what was recorded then
AT_ENTRY, AT_EXIT = 0x01 | 0x02 | 0x04 | 0x20 | 0x40, 0x10  # flags
NO_PACKET, SOCK, SKB_IS_RET = 0x40, 0x80, 0x10
LONG = 0xFFFFFFFF
PACKET_FIRST = {0, 1, 2}  # the kind of a probe's first carrier
CALL_SLOT = struct.Struct("<BBBBIQQiI")
SPAN_SLOT = struct.Struct("<BBBBHHQQiI")
EVENT_SLOT = struct.Struct("<BBBBIQQQ")
PROBE = struct.Struct("<QIIIBBBBi4sQQ")
OLD_COUNTERS = 48  # bytes


class Record(NamedTuple):
    """A record as it lies in the log; `cpu` that of its chunk."""

    cpu: int
    head: bytes
    ext: list[bytes]

    @property
    def kind(self) -> int:
        """Return ENTRY, EXIT, CALL, EVENT or LOST."""
        return self.head[0]

    @property
    def ts(self) -> int:
        """Return ns; the entry's of a CALL, the end of a LOST."""
        return int.from_bytes(self.head[8:16], "little")


def records_of(data: bytes) -> Iterator[Record]:
    """Yield all records, those of one CPU in the order of writing."""
    for begin, end, kind in chunks_of(data)[1]:
        cpu = CHUNK.unpack_from(data, begin)[2]
        at = begin + CHUNK.size
        while kind == RECORDS and at < end:
            slots = [data[n : n + SLOT] for n in range(at, at + SLOT * (1 + data[at + 3]), SLOT)]
            yield Record(cpu, slots[0], slots[1:])
            at += SLOT * len(slots)


class _Footprints:
    """The footprint of each packet, as the CPU of an entry wrote it."""

    def __init__(self, records: list[Record]) -> None:
        self._kept: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        self._lost: dict[int, list[int]] = defaultdict(list)  # begins of losses
        self._records = records
        for number, record in enumerate(records):
            if record.kind == EVENT and record.head[1] == FOOTPRINT:
                skb = EVENT_SLOT.unpack(record.head)[6]
                self._kept[record.cpu, skb].append((record.ts, number))
            elif record.kind == LOST and record.head[1] == LOST_BUFFER:
                begin = int.from_bytes(record.head[16:24], "little")
                bisect.insort(self._lost[record.cpu], begin)

    def at(self, cpu: int, skb: int, ts: int) -> list[bytes]:
        """Return the EXT slots of the last one until `ts`; none if records may be lost since."""
        known = self._kept.get((cpu, skb), [])
        place = bisect.bisect_right(known, (ts, len(self._records)))
        if not skb or not place:
            return []
        when, number = known[place - 1]
        lost = self._lost[cpu]
        since = bisect.bisect_left(lost, when) != bisect.bisect_left(lost, ts)
        wanted = (IPV4, IPV6, IPV6_L4, SKB)
        return [] if since else [e for e in self._records[number].ext if e[1] in wanted]


Placed = tuple[int, int, int, bytes]  # time, order among those of one time, number, slots


class _Rewriter:
    """Collects the records of version 2 by CPU."""

    def __init__(self, records: list[Record], unknown: set[int]) -> None:
        self.streams: dict[int, list[Placed]] = defaultdict(list)
        self._footprints = _Footprints(records)
        self._unknown = unknown  # functions that were not recorded
        thread: dict[int, int] = defaultdict(int)
        for number, record in enumerate(records):
            if record.kind == CALL:
                self._call(record, thread[record.cpu], number)
            elif record.kind in (ENTRY, EXIT):
                self._half(record, number)
            elif record.kind == EVENT and record.head[1] in EVENTS:
                if record.head[1] == TASK:
                    thread[record.cpu] = EVENT_SLOT.unpack(record.head)[4]
                comm = [e for e in record.ext if e[1] == COMM]
                self._add(record.cpu, record.ts, 2, number, record.head, comm)
            elif record.kind == LOST and record.cpu != RECORDER:
                self._add(record.cpu, record.ts, 2, number, record.head, [])

    def _add(
        self, cpu: int, ts: int, place: int, number: int, head: bytes, ext: list[bytes]
    ) -> None:
        slots = head[:3] + bytes([len(ext)]) + head[4:] + b"".join(ext)
        self.streams[cpu].append((ts, place, number, slots))

    def _call(self, record: Record, pid: int, number: int) -> None:
        _, flags, context, _, func, cpu, ts, skb, caller, dur = SPAN_SLOT.unpack(record.head)
        if func in self._unknown or flags & SOCK:
            return
        value = 0
        for ext in record.ext:
            if ext[1] == EXT_CALL:
                long, value = struct.unpack_from("<Qq", ext, 8)
                dur = long if dur == LONG else dur
        known = [] if flags & NO_PACKET else self._footprints.at(cpu, skb, ts)
        head = (func, ts, skb, caller, pid)
        self._add(cpu, ts, 0, number, CALL_SLOT.pack(ENTRY, flags & AT_ENTRY, context, 0, *head),
                  known)  # fmt: skip
        low = (value & LONG) - ((value & 0x80000000) << 1)
        held = value & (1 << 64) - 1 if flags & SKB_IS_RET else skb
        head = (func, ts + dur, held, 0 if flags & SKB_IS_RET else low, pid)
        slot = CALL_SLOT.pack(EXIT, flags & AT_EXIT, context, 0, *head)
        self._add(record.cpu, ts + dur, 1, number, slot, [])

    def _half(self, record: Record, number: int) -> None:
        _, flags, _, _, func, ts, skb, _, _ = CALL_SLOT.unpack(record.head)
        if func in self._unknown or flags & SOCK:
            return
        begins = record.kind == ENTRY and not flags & NO_PACKET
        known = self._footprints.at(record.cpu, skb, ts) if begins else []
        self._add(record.cpu, ts, int(record.kind == EXIT), number, record.head, known)


def chunk(kind: int, cpu: int, seq: int, span: tuple[int, int], items: int, body: bytes) -> bytes:
    head = CHUNK.pack(CHUNK_MAGIC, kind, cpu, seq, *span, items, len(body), zlib.crc32(body), 0)
    return head[:-4] + struct.pack("<I", zlib.crc32(head[:-4])) + body


def _unknown(data: bytes, chunks: list[tuple[int, int, int]]) -> set[int]:
    """Return functions that the first recorders did not know how to record, by probe id."""
    found = set()
    for begin, end, kind in chunks:
        if kind == PROBES:
            for row, _ in probe_rows(data, begin, end):
                if row[9][0] >> 4 not in PACKET_FIRST:
                    found.add(row[1])
    return found


def probe_rows(data: bytes, begin: int, end: int) -> Iterator[tuple[tuple[Any, ...], bytes]]:
    """Yield each row of a chunk of PROBES: the members of version 2, and the bytes after them."""
    items, at = CHUNK.unpack_from(data, begin)[6], begin + CHUNK.size
    size = (end - at) // max(1, items)
    for place in range(at, at + items * size, size):
        row = data[place : place + size]
        yield PROBE.unpack_from(row), row[PROBE.size :]


def _old_table(
    data: bytes, begin: int, end: int, kind: int, unknown: set[int], written: float
) -> bytes:
    """Return a table as it was in version 2; `written`: how many records there are of one then."""
    body = data[begin + CHUNK.size : end]
    if kind == PROBES:
        rows = []
        for row, _ in probe_rows(data, begin, end):
            armed = row[1] not in unknown
            ends = (*row[5:7], row[7] if armed else 0, row[8] if armed else -22)
            counts = row[10:] if armed else (0, 0)
            rows.append(PROBE.pack(row[0] * armed, *row[1:5], *ends, bytes(4), *counts))
        return b"".join(rows)
    if kind == COUNTERS:
        count = round(int.from_bytes(body[8:16], "little") * written)
        return body[:8] + struct.pack("<Q", count) + body[16:OLD_COUNTERS]
    if kind == META:
        lines = body.rstrip(b"\0").splitlines(keepends=True)
        text = b"".join(line for line in lines if not line.startswith(b"missed_poll_ms="))
        return text + bytes(-len(text) % 8)
    return body


def streams_of(streams: dict[int, list[Placed]]) -> list[bytes]:
    """Return the chunks of all CPUs, by the time at which they end."""
    chunks = []
    for cpu, stream in streams.items():
        stream.sort()
        for seq, first in enumerate(range(0, len(stream), PER_CHUNK)):
            part = stream[first : first + PER_CHUNK]
            body = b"".join(placed[3] for placed in part)
            span = part[0][0], part[-1][0]
            chunks.append((span[1], cpu, seq, chunk(RECORDS, cpu, seq, span, len(part), body)))
    return [chunk[3] for chunk in sorted(chunks)]


def as_version_2(log: Path, out: Path) -> int:
    """Write the log as a recorder of version 2 would have; returns the number of its records.

    Raises ValueError if it is no whole little-endian log.
    """
    data = log.read_bytes()
    first, chunks = chunks_of(data)
    unknown = _unknown(data, chunks)
    records = list(records_of(data))
    streams = _Rewriter(records, unknown).streams
    count = sum(map(len, streams.values()))
    declared = [struct.unpack_from("<Q", data, begin + CHUNK.size + 8)[0]
                for begin, _, kind in chunks if kind == COUNTERS]  # fmt: skip
    written = count / declared[-1] if declared and declared[-1] else 1.0
    parts, seq, placed = [data[:4] + struct.pack("<H", 2) + data[6:first]], 0, False
    for begin, end, kind in chunks:
        if kind == RECORDS and not placed:
            parts += streams_of(streams)
            placed = True
        if kind in (RECORDS, PAD):
            continue
        head = CHUNK.unpack_from(data, begin)
        body = _old_table(data, begin, end, kind, unknown, written)
        parts.append(chunk(kind, head[2], seq, head[4:6], head[6], body))
        seq += 1
    out.write_bytes(b"".join(parts))
    return count
