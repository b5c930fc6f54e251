# SPDX-License-Identifier: MIT
"""Single records of a .kbl file as raw slots, with the footprints that apply to them.

Input: a file and the ordinal of a record.  Output: the bytes of the record's slots, and their
positions.  To find a record, the chunks of the file are walked once.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...records import BadInput, Progress
from ...records import kbl_layout as kbl
from ...records.types import Int64s, UInt8s
from ..input_file import Source
from ..printable_names import printable
from .chunk_search import Chunk, find_chunks

SIZE = kbl.KBL_SLOT_SIZE
SKB_AT = 16  # offset of the skb in call and event slots
MOST_CHUNKS_BACK = 256  # chunks of one CPU that are searched for a footprint


class RawRecord(NamedTuple):
    """The head slot and EXT slots of a record.

    `offset` is its position in the file, `order` the byte order: "<" or ">".
    """

    ordinal: int
    offset: int
    cpu: int
    order: str
    data: bytes


def raw_records(data: Source, ordinal: int, progress: Progress) -> list[RawRecord]:
    """Return the footprint that applies to record `ordinal` of a KBL, and then this record.

    The footprint is missing if none was recorded on the CPU of the record.  Raises BadInput if the
    file has no such record; raises Cancelled.
    """
    order = "<" if bytes(data.read(0, 4)) == struct.pack("<I", kbl.KBL_MAGIC) else ">"
    begin = struct.unpack_from(f"{order}H", bytes(data.read(6, 8)))[0]
    chunks = find_chunks(data, begin, order, progress).of_type(kbl.KblChunkType.RECORDS)
    at, first = _chunk_of(data, chunks, ordinal)
    if at < 0:
        raise BadInput(data.path, None, f"has no record {ordinal}")
    records = list(_records(data, chunks[at], first, order))
    mine = ordinal - first
    footprint = _footprint(data, chunks, at, records[:mine], records[mine], order)
    return [*([footprint] if footprint else []), records[mine]]


def _chunk_of(data: Source, chunks: list[Chunk], ordinal: int) -> tuple[int, int]:
    """Return the index of the chunk that contains a record, and the first ordinal in the chunk.

    Returns (-1, 0) if there is no such record.
    """
    first = 0
    for at, chunk in enumerate(chunks):
        count = int(np.count_nonzero(_kinds(data, chunk) != kbl.KblKind.EXT))
        if ordinal < first + count:
            return (at, first) if ordinal >= first else (-1, 0)
        first += count
    return -1, 0


def _kinds(data: Source, chunk: Chunk) -> UInt8s:
    end = chunk.end - (chunk.end - chunk.begin) % SIZE
    return data.read(chunk.begin, end)[::SIZE]


def _records(data: Source, chunk: Chunk, first: int, order: str) -> Iterator[RawRecord]:
    kinds = _kinds(data, chunk)
    heads: Int64s = np.flatnonzero(kinds != kbl.KblKind.EXT)
    ends = np.r_[heads[1:], len(kinds)]
    for n, (head, end) in enumerate(zip(heads.tolist(), ends.tolist(), strict=True)):
        begin = chunk.begin + head * SIZE
        text = bytes(data.read(begin, chunk.begin + end * SIZE))
        yield RawRecord(first + n, begin, chunk.cpu, order, text)


def _footprint(
    data: Source,
    chunks: list[Chunk],
    at: int,
    before: list[RawRecord],
    record: RawRecord,
    order: str,
) -> RawRecord | None:
    """Return the last footprint of the record's skb and CPU that was recorded before it, or None.

    `at` is the index in `chunks` of the record's chunk; `before` are the earlier records of that
    chunk.
    """
    skb = record.data[SKB_AT : SKB_AT + 8]
    if not any(skb) or record.data[0] == kbl.KblKind.LOST:
        return None
    found = _last(before, skb)
    earlier = [chunk for chunk in chunks[:at] if chunk.cpu == record.cpu]
    for chunk in reversed(earlier[-MOST_CHUNKS_BACK:]):
        if found is not None:
            break
        found = _last(list(_records(data, chunk, -1, order)), skb)
    return found


def _last(records: list[RawRecord], skb: bytes) -> RawRecord | None:
    head = bytes([kbl.KblKind.EVENT, kbl.KblEvent.FOOTPRINT])
    for record in reversed(records):
        if record.data.startswith(head) and record.data[SKB_AT : SKB_AT + 8] == skb:
            return record
    return None


SLOTS = {
    kbl.KblKind.ENTRY: kbl.KBL_CALL_SLOT,
    kbl.KblKind.EXIT: kbl.KBL_CALL_SLOT,
    kbl.KblKind.CALL: kbl.KBL_SPAN_SLOT,
    kbl.KblKind.EVENT: kbl.KBL_EVENT_SLOT,
    kbl.KblKind.LOST: kbl.KBL_LOST_SLOT,
}
EXTS = {type_: getattr(kbl, f"KBL_EXT_{type_.name}") for type_ in kbl.KblExtType}


class RawField(NamedTuple):
    """A field of a slot, with its name in kbl.h; `offset` counts from the record's first byte."""

    name: str
    value: str
    offset: int
    length: int


class RawSlot(NamedTuple):
    """One slot of a record; examples of `title` are "CALL", "EVENT FOOTPRINT" and "EXT IPV4"."""

    title: str
    offset: int
    fields: tuple[RawField, ...]


def slots_of(record: RawRecord) -> tuple[RawSlot, ...]:
    """Return the slots of a record with their decoded fields; an unknown slot has no fields."""
    found = []
    for at in range(0, len(record.data) - SIZE + 1, SIZE):
        raw = record.data[at : at + SIZE]
        title, dtype = _layout(raw)
        found.append(RawSlot(title, at, _fields(raw, at, dtype, record.order) if dtype else ()))
    return tuple(found)


def _layout(raw: bytes) -> tuple[str, np.dtype[np.void] | None]:
    kind, second = raw[0], raw[1]
    if kind == kbl.KblKind.EXT:
        known = second in set(kbl.KblExtType)
        name = kbl.KblExtType(second).name if known else str(second)
        return f"EXT {name}", EXTS.get(kbl.KblExtType(second)) if known else None
    if kind not in set(kbl.KblKind):
        return f"kind {kind}", None
    name = kbl.KblKind(kind).name
    if kind == kbl.KblKind.EVENT and second in set(kbl.KblEvent):
        name += f" {kbl.KblEvent(second).name}"
    return name, SLOTS[kbl.KblKind(kind)]


def _fields(raw: bytes, at: int, dtype: np.dtype[np.void], order: str) -> tuple[RawField, ...]:
    row = np.frombuffer(raw, kbl.in_order(dtype, order), 1)[0]
    found = []
    for name in dtype.names or ():
        offset = dtype.fields[name][1] if dtype.fields else 0
        size = dtype[name].itemsize
        found.append(RawField(name, _text(name, row[name]), at + int(offset), size))
    return tuple(found)


def _text(name: str, value: object) -> str:
    if isinstance(value, np.ndarray):
        return bytes(value.tobytes()).hex(" ")
    if isinstance(value, bytes):
        return printable(value.decode("utf-8", "replace"))
    number = int(value)  # type: ignore[call-overload]
    return f"0x{number & (1 << 64) - 1:x}" if name in ("skb", "sk", "ret") else str(number)
