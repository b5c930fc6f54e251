# SPDX-License-Identifier: MIT
"""A KBL read slot by slot, independent of the product's reader, to check recordings."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from skbviewer.records import kbl_layout as layout

Kind = layout.KblKind
Type = layout.KblChunkType
HEADS: dict[int, np.dtype[np.void]] = {
    Kind.ENTRY: layout.KBL_CALL_SLOT,
    Kind.EXIT: layout.KBL_CALL_SLOT,
    Kind.CALL: layout.KBL_SPAN_SLOT,
    Kind.EVENT: layout.KBL_EVENT_SLOT,
    Kind.LOST: layout.KBL_LOST_SLOT,
}
EXTS: dict[int, np.dtype[np.void]] = {
    layout.KblExtType.IPV4: layout.KBL_EXT_IPV4,
    layout.KblExtType.IPV6: layout.KBL_EXT_IPV6,
    layout.KblExtType.IPV6_L4: layout.KBL_EXT_IPV6_L4,
    layout.KblExtType.SKB: layout.KBL_EXT_SKB,
    layout.KblExtType.TAP: layout.KBL_EXT_TAP,
    layout.KblExtType.CALL: layout.KBL_EXT_CALL,
    layout.KblExtType.COMM: layout.KBL_EXT_COMM,
    layout.KblExtType.COUNTER: layout.KBL_EXT_COUNTER,
    layout.KblExtType.DROP: layout.KBL_EXT_DROP,
    layout.KblExtType.STACK: layout.KBL_EXT_STACK,
    layout.KblExtType.ADDR: layout.KBL_EXT_ADDR,
    layout.KblExtType.NEIGH: layout.KBL_EXT_NEIGH,
    layout.KblExtType.ROUTE: layout.KBL_EXT_ROUTE,
    layout.KblExtType.SYSCALL: layout.KBL_EXT_SYSCALL,
}
SLOT = layout.KBL_SLOT_SIZE
LONG = 0xFFFFFFFF  # the duration is in EXT_CALL


class Record(NamedTuple):
    """A head slot, the types of its EXT slots, and these."""

    cpu: int
    head: np.void
    ext: tuple[int, ...]
    slots: tuple[np.void, ...]


class Kbl(NamedTuple):
    """All records in file order, and the last chunk of each table."""

    header: np.void
    records: list[Record]
    tables: dict[int, bytes]
    types: list[int]


ROW_SIZES: dict[int, int] = {
    Type.PROBES: layout.KBL_PROBE_SIZE,
    Type.COUNTERS: layout.KBL_COUNTERS_SIZE,
}


class Chunk(NamedTuple):
    """A chunk whose checksums and number are right."""

    header: np.void
    payload: bytes


def one(raw: bytes, dtype: np.dtype[np.void], offset: int = 0) -> np.void:
    """Return one struct."""
    item: np.void = np.frombuffer(raw, dtype, 1, offset)[0]
    return item


def split(cpu: int, payload: bytes) -> Iterator[Record]:
    """Yield the records of a chunk; an unknown or torn slot is an AssertionError."""
    at = 0
    while at < len(payload):
        kind, ext = payload[at], payload[at + 3]
        assert kind in HEADS, f"slot of kind {kind} at {at}"
        slots = [payload[at + SLOT * i :][:SLOT] for i in range(1, ext + 1)]
        assert all(len(s) == SLOT and s[0] == Kind.EXT for s in slots)
        found = tuple(one(s, EXTS[s[1]]) for s in slots)
        yield Record(cpu, one(payload, HEADS[kind], at), tuple(s[1] for s in slots), found)
        at += SLOT * (1 + ext)


def chunks(raw: bytes) -> Iterator[Chunk]:
    """Yield every chunk of a file; a wrong checksum or number is an AssertionError."""
    at = int(one(raw, layout.KBL_FILE_HEADER)["header_len"])
    expected: dict[int, int] = {}
    while at < len(raw):
        header = one(raw, layout.KBL_CHUNK_HEADER, at)
        size, cpu = int(header["payload_len"]), int(header["cpu"])
        begin = at + layout.KBL_CHUNK_HEADER_SIZE
        payload = raw[begin : begin + size]
        assert (header["magic"], len(payload), size % 8) == (layout.KBL_CHUNK_MAGIC, size, 0)
        assert header["crc32"] == zlib.crc32(payload)
        assert header["header_crc32"] == zlib.crc32(raw[at : at + 44])
        assert header["seq"] == expected.setdefault(cpu, 0)
        expected[cpu] += 1
        yield Chunk(header, payload)
        at += layout.KBL_CHUNK_HEADER_SIZE + size


def written_at(record: Record) -> int:
    """Return when a record was written: of a CALL its end."""
    head = record.head
    if head["kind"] != Kind.CALL:
        return int(head["ts"])
    duration = int(head["dur"])
    if duration == LONG:
        duration = int(record.slots[record.ext.index(layout.KblExtType.CALL)]["dur"])
    return int(head["ts"]) + duration


def read(path: Path) -> Kbl:
    """Read a whole KBL, checking every checksum and sequence number."""
    raw = path.read_bytes()
    kbl = Kbl(one(raw, layout.KBL_FILE_HEADER), [], {}, [])
    assert kbl.header["version"] == layout.KBL_VERSION
    for header, payload in chunks(raw):
        kind = int(header["type"])
        kbl.types.append(kind)
        if kind != Type.RECORDS:
            kbl.tables[kind] = whole_rows(header, payload)
            continue
        records = list(split(int(header["cpu"]), payload))
        assert len(records) == header["nr_items"]
        ends = [written_at(records[i]) for i in (0, -1)]
        assert [header["first_ns"], header["last_ns"]] == ends
        kbl.records.extend(records)
    return kbl


def whole_rows(header: np.void, payload: bytes) -> bytes:
    """Return the rows of a table with all members: files of earlier recorders have shorter rows."""
    size, count = ROW_SIZES.get(int(header["type"]), 0), int(header["nr_items"])
    if not count or len(payload) >= size * count:
        return payload
    rows = np.zeros((count, size), np.uint8)
    rows[:, : len(payload) // count] = np.frombuffer(payload, np.uint8).reshape(count, -1)
    return rows.tobytes()


def string(kbl: Kbl, offset: int) -> str:
    """Return a string of the STRINGS table."""
    text = kbl.tables[Type.STRINGS]
    return text[offset : text.index(b"\0", offset)].decode()


def probes(kbl: Kbl) -> dict[str, np.void]:
    """Return the last probe table by name."""
    table = np.frombuffer(kbl.tables[Type.PROBES], layout.KBL_PROBE)
    return {string(kbl, int(row["name"])): row for row in table}
