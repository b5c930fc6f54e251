# SPDX-License-Identifier: MIT
"""Find the whole chunks of a .kbl file, and report what is damaged or missing.

A chunk is valid if both its checksums match.  After damage, the search continues at the next valid
chunk header.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np

from ...records import Progress, counted, verb
from ...records.kbl_layout import (
    KBL_CHUNK_HEADER,
    KBL_CHUNK_HEADER_SIZE,
    KBL_CHUNK_MAGIC,
    KBL_CPU_RECORDER,
    KBL_MAX_PAYLOAD,
    KblChunkType,
    in_order,
)
from ...records.types import UInt8s
from ..input_file import Source

HEADER_CRC_AT = KBL_CHUNK_HEADER_SIZE - 4
SEARCH_STEP = 1 << 20


class Chunk(NamedTuple):
    """A whole chunk: the fields of its header, and the place of its payload.

    Positions in the file: `at` is where the header begins; the payload is from `begin` to `end`.
    """

    at: int  # position of its header
    type: int
    cpu: int
    seq: int
    items: int
    begin: int
    end: int
    first_ns: int = 0
    last_ns: int = 0


Look = Callable[[Chunk, UInt8s], None]


class _Records:
    """The whole RECORDS chunks that have been found so far.

    If the file has a chunk twice, only the first copy is used.
    """

    def __init__(self, path: Path, look: Look | None) -> None:
        self._path, self._look = path, look
        self._seen: set[tuple[int, int]] = set()
        self.repeated: list[str] = []

    def count(self, chunk: Chunk, data: Source) -> bool:
        """Return False for a second copy of a chunk; else pass it to `look`, and return True."""
        if (chunk.cpu, chunk.seq) in self._seen:
            what = (
                f"chunk {chunk.seq} of CPU {chunk.cpu} was written twice; the second copy is "
                "skipped"
            )
            self.repeated.append(f"{self._path} at byte {chunk.at}: {what}")
            return False
        self._seen.add((chunk.cpu, chunk.seq))
        if self._look is not None:
            self._look(chunk, data.read(chunk.begin, chunk.end))
        return True


@dataclass
class Chunks:
    """The chunks of a file; `lost` counts the records of damaged or missing chunks.

    `damaged` holds the RECORDS chunks that have a valid header but a damaged payload.
    """

    whole: list[Chunk] = field(default_factory=list)
    damaged: list[Chunk] = field(default_factory=list)
    lost: int = 0
    warnings: list[str] = field(default_factory=list)

    def of_type(self, type_: int) -> list[Chunk]:
        """Return the whole chunks of the type `type_`, in file order."""
        return [chunk for chunk in self.whole if chunk.type == type_]


def find_chunks(
    data: Source, begin: int, order: str, progress: Progress, look: Look | None = None
) -> Chunks:
    """Walk the chunks of the KBL `data` from byte `begin` to its end.

    `order` is its byte order: "<" or ">".  Calls `look` with each RECORDS chunk that is used and
    with its payload, so that the caller need not read it again.  Raises BadInput if the file
    becomes shorter while it is read; raises Cancelled.
    """
    path, found, at = data.path, Chunks(), begin
    # By (cpu, seq): a damaged chunk's sequence number is not missing.
    damaged: dict[tuple[int, int], Chunk] = {}
    records = _Records(path, look)
    while at < len(data):
        progress.report(f"reading {path.name}", at, len(data))
        chunk, why = _chunk(data, at, order)
        if chunk is not None and not why:
            if chunk.type != KblChunkType.RECORDS or records.count(chunk, data):
                found.whole.append(chunk)
            at = chunk.end
            continue
        if chunk is not None and chunk.type == KblChunkType.RECORDS:
            damaged[chunk.cpu, chunk.seq] = chunk
        after = _next_chunk(data, at + 4, order)
        found.warnings.append(f"{path} at byte {at}: {why}; {counted(after - at, 'byte')} skipped")
        at = after
    found.damaged = list(damaged.values())
    found.lost = sum(chunk.items for chunk in found.damaged)
    found.warnings += records.repeated
    _find_holes(path, found, set(damaged))
    if not found.of_type(KblChunkType.END):
        found.warnings.append(f"{path}: recording ended without a clean stop")
    return found


def _chunk(data: Source, at: int, order: str) -> tuple[Chunk | None, str]:
    """Return the chunk at `at`, and what is wrong with it ("" if nothing is).

    The chunk is None if its header is invalid.
    """
    if at + KBL_CHUNK_HEADER_SIZE > len(data):
        return None, f"cut in the middle of a chunk header, {counted(len(data) - at, 'byte')}"
    raw = bytes(data.read(at, at + KBL_CHUNK_HEADER_SIZE))
    header = np.frombuffer(raw, in_order(KBL_CHUNK_HEADER, order), 1)[0]
    if header["magic"] != KBL_CHUNK_MAGIC:
        return None, "no chunk begins here"
    if crc32(raw[:HEADER_CRC_AT]) != header["header_crc32"]:
        return None, "the checksum of a chunk header is wrong"
    begin, size = at + KBL_CHUNK_HEADER_SIZE, int(header["payload_len"])
    type_, cpu, seq, items = (int(header[name]) for name in ("type", "cpu", "seq", "nr_items"))
    first_ns, last_ns = int(header["first_ns"]), int(header["last_ns"])
    chunk = Chunk(at, type_, cpu, seq, items, begin, begin + size, first_ns, last_ns)
    if size > KBL_MAX_PAYLOAD or size % 8:
        return None, f"chunk claims the bad length {size}"
    if chunk.end > len(data):
        missing = chunk.end - len(data)
        lacks = f"{counted(missing, 'byte')} {verb(missing, 'is', 'are')} missing"
        return chunk, f"cut in the middle of a chunk, {lacks}"
    if crc32(data.read(begin, chunk.end).data) != header["crc32"]:
        return chunk, f"the checksum is wrong in a chunk of {size} bytes"
    return chunk, ""


def _next_chunk(data: Source, at: int, order: str) -> int:
    """Return where the next chunk with a valid header begins, or the end of the file."""
    for candidate in _magics(data, at, struct.pack(order + "I", KBL_CHUNK_MAGIC)):
        if _chunk(data, candidate, order)[0] is not None:
            return candidate
    return len(data)


def _magics(data: Source, at: int, magic: bytes) -> Iterator[int]:
    while at < len(data):
        window = bytes(data.read(at, at + SEARCH_STEP + len(magic) - 1))
        place = window.find(magic)
        while place >= 0:
            yield at + place
            place = window.find(magic, place + 1)
        at += SEARCH_STEP


def _find_holes(path: Path, found: Chunks, damaged: set[tuple[int, int]]) -> None:
    """Count missing sequence numbers: each stands for at least one lost record."""
    present: dict[int, set[int]] = {}
    for chunk in found.of_type(KblChunkType.RECORDS):
        present.setdefault(chunk.cpu, set()).add(chunk.seq)
    for cpu, numbers in sorted(present.items()):
        known = numbers | {seq for other, seq in damaged if other == cpu}
        missing = max(known) + 1 - len(known)
        if missing:
            found.lost += missing
            first = next(seq for seq in range(len(known) + 1) if seq not in known)
            are = verb(missing, "is", "are")
            whose = "the recorder" if cpu == KBL_CPU_RECORDER else f"CPU {cpu}"
            found.warnings.append(
                f"{path}: {whose}: {counted(missing, 'chunk')} {are} missing, the first is number "
                f"{first}: at least {counted(missing, 'record')} {are} lost"
            )
