# SPDX-License-Identifier: MIT
"""A KBL read slot by slot, independent of the product's reader, to check recordings."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from skbviewer.readers import _kbl_layout as layout

Kind = layout.KblKind
Type = layout.KblChunkType
HEADS: dict[int, np.dtype[np.void]] = {
    Kind.ENTRY: layout.KBL_CALL_SLOT,
    Kind.EXIT: layout.KBL_CALL_SLOT,
    Kind.EVENT: layout.KBL_EVENT_SLOT,
    Kind.LOST: layout.KBL_LOST_SLOT,
}
SLOT = layout.KBL_SLOT_SIZE


class Record(NamedTuple):
    """A head slot, with the types of its EXT slots."""

    cpu: int
    head: np.void
    ext: tuple[int, ...]


class Kbl(NamedTuple):
    """All records in file order, and the last chunk of each table."""

    header: np.void
    records: list[Record]
    tables: dict[int, bytes]
    types: list[int]


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
        yield Record(cpu, one(payload, HEADS[kind], at), tuple(s[1] for s in slots))
        at += SLOT * (1 + ext)


def read(path: Path) -> Kbl:
    """Read a whole KBL, checking every checksum and sequence number."""
    raw = path.read_bytes()
    header = one(raw, layout.KBL_FILE_HEADER)
    at, kbl = int(header["header_len"]), Kbl(header, [], {}, [])
    expected: dict[int, int] = {}
    while at < len(raw):
        chunk = one(raw, layout.KBL_CHUNK_HEADER, at)
        size, cpu, kind = int(chunk["payload_len"]), int(chunk["cpu"]), int(chunk["type"])
        payload = raw[at + layout.KBL_CHUNK_HEADER_SIZE :][:size]
        assert (chunk["magic"], len(payload), size % 8) == (layout.KBL_CHUNK_MAGIC, size, 0)
        assert chunk["crc32"] == zlib.crc32(payload)
        assert chunk["header_crc32"] == zlib.crc32(raw[at : at + 44])
        assert chunk["seq"] == expected.setdefault(cpu, 0)
        expected[cpu] += 1
        kbl.types.append(kind)
        if kind == Type.RECORDS:
            records = list(split(cpu, payload))
            assert len(records) == chunk["nr_items"]
            assert [chunk["first_ns"], chunk["last_ns"]] == [records[i].head["ts"] for i in (0, -1)]
            kbl.records.extend(records)
        else:
            kbl.tables[kind] = payload
        at += layout.KBL_CHUNK_HEADER_SIZE + size
    return kbl


def string(kbl: Kbl, offset: int) -> str:
    """Return a string of the STRINGS table."""
    text = kbl.tables[Type.STRINGS]
    return text[offset : text.index(b"\0", offset)].decode()


def probes(kbl: Kbl) -> dict[str, np.void]:
    """Return the last probe table by name."""
    table = np.frombuffer(kbl.tables[Type.PROBES], layout.KBL_PROBE)
    return {string(kbl, int(row["name"])): row for row in table}
