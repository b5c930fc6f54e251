# SPDX-License-Identifier: MIT
"""Takes the records of RECORDS chunks apart: columns of the head slots, and the EXT slots.

Done a few chunks at a time: what fits into the processor's cache is read but once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _kbl_layout as kbl
from .kbl_chunks import Chunk
from .wire import Bytes, Ints, Mask

KIND, FLAGS, CONTEXT, EXT_COUNT = range(4)  # byte positions that all head slots share
EXT_TYPE = 1
BLOCK_SLOTS = 1 << 16
Slots = npt.NDArray[np.void]
Column = npt.NDArray[Any]


class Heads(NamedTuple):
    """The head slots of a file, numbered in file order; that number is a record's ordinal."""

    order: str
    chunks: list[Chunk]
    first: Ints  # number of each chunk's first record, and behind them how many there are
    kind: npt.NDArray[np.uint8]
    flags: npt.NDArray[np.uint8]  # or event, or reason
    context: npt.NDArray[np.uint8]
    slots: Slots  # V32
    owner: npt.NDArray[np.int32]  # of each EXT slot that has one: its record
    ext: Slots  # V32: those EXT slots

    def view(self, dtype: np.dtype[np.void]) -> Slots:
        """All head slots as structs of `dtype`."""
        return self.slots.view(kbl.in_order(dtype, self.order))

    def of_type(self, type_: int, dtype: np.dtype[np.void]) -> tuple[Ints, Slots]:
        """Records and structs of a type, a record's first one last, so that it wins."""
        owner, slots = self.all_of_type(type_, dtype)
        return owner[::-1], slots[::-1]

    def all_of_type(self, type_: int, dtype: np.dtype[np.void]) -> tuple[Ints, Slots]:
        """Records and structs of all EXT slots of a type, in file order."""
        types = self.ext.view(np.uint8).reshape(-1, kbl.KBL_SLOT_SIZE)[:, EXT_TYPE]
        mask = types == type_
        return self.owner[mask].astype(np.int64), self.ext[mask].view(
            kbl.in_order(dtype, self.order)
        )

    def cpus(self) -> Ints:
        """The CPU of each chunk."""
        return np.array([chunk.cpu for chunk in self.chunks], np.int64)

    def streams(self) -> Iterator[tuple[int, list[int]]]:
        """Each CPU with its chunks, in file order."""
        cpus = self.cpus()
        for cpu in np.unique(cpus).tolist():
            yield cpu, np.flatnonzero(cpus == cpu).tolist()

    def per_record(self, values: Column) -> Column:
        """For each record the value of its chunk."""
        return np.repeat(values, np.diff(self.first))


class _Found(NamedTuple):
    """The records of a block of chunks; `owner` counts from the block's first record."""

    slots: Slots
    owner: Ints
    ext: Slots
    per_chunk: Ints
    wrong: int
    stray: int


def find_heads(data: Bytes, chunks: list[Chunk], order: str) -> tuple[Heads, list[str]]:
    """The records of these chunks, and what is wrong with them."""
    total = sum((chunk.end - chunk.begin) // kbl.KBL_SLOT_SIZE for chunk in chunks)
    slots, ext = np.empty(total, "V32"), np.empty(total, "V32")  # memory comes when it is written
    owner = np.empty(total, np.int32)
    counts, heads, exts, wrong, stray = [np.zeros(0, np.int64)], 0, 0, 0, 0
    for block in _blocks(chunks):
        found = _find(data, block)
        slots[heads : heads + len(found.slots)] = found.slots
        ext[exts : exts + len(found.ext)] = found.ext
        owner[exts : exts + len(found.ext)] = found.owner + heads
        heads, exts = heads + len(found.slots), exts + len(found.ext)
        wrong, stray = wrong + found.wrong, stray + found.stray
        counts.append(found.per_chunk)
    per_chunk = np.concatenate(counts)
    complaints: list[str] = []
    count_complaint(complaints, wrong, "records do not have as many EXT slots as they claim")
    count_complaint(complaints, stray, "EXT slots belong to no record: left out")
    differs = "chunks whose number of records differs from their header's"
    complain(complaints, _miscounted(chunks, per_chunk), differs)
    slots = slots[:heads]
    whole = slots.view(np.uint8).reshape(-1, kbl.KBL_SLOT_SIZE)
    kind, flags, context = (np.ascontiguousarray(whole[:, at]) for at in (KIND, FLAGS, CONTEXT))
    first = np.r_[0, np.cumsum(per_chunk)]
    told = (slots, owner[:exts], ext[:exts])
    return Heads(order, chunks, first, kind, flags, context, *told), complaints


def _blocks(chunks: list[Chunk]) -> Iterator[list[Chunk]]:
    block: list[Chunk] = []
    size = 0
    for chunk in chunks:
        slots = (chunk.end - chunk.begin) // kbl.KBL_SLOT_SIZE
        if block and size + slots > BLOCK_SLOTS:
            yield block
            block, size = [], 0
        block.append(chunk)
        size += slots
    if block:
        yield block


def _find(data: Bytes, chunks: list[Chunk]) -> _Found:
    size = kbl.KBL_SLOT_SIZE
    sizes = [(chunk.end - chunk.begin) // size for chunk in chunks]
    parts = [data[c.begin : c.begin + n * size] for c, n in zip(chunks, sizes, strict=True)]
    slots = np.concatenate(parts).reshape(-1, size)
    is_ext = slots[:, KIND] == kbl.KblKind.EXT
    rows, ext = np.flatnonzero(~is_ext), np.flatnonzero(is_ext)
    begin = np.cumsum(sizes) - sizes
    owner = ext - np.arange(len(ext)) - 1  # as many heads are before it
    head = rows[np.maximum(owner, 0)] if len(rows) else np.zeros(len(ext), np.int64)
    chunk = np.searchsorted(begin, ext, "right") - 1
    owned = (owner >= 0) & (head >= begin[chunk])
    claimed = slots[rows, EXT_COUNT].astype(np.int64)
    followed = np.bincount(owner[owned], minlength=len(rows))
    if len(rows):
        owned &= ext - head <= claimed[np.maximum(owner, 0)]
    wrong = int(np.count_nonzero((claimed != followed) | (claimed > kbl.KBL_MAX_EXT)))
    whole = slots.reshape(-1).view("V32")
    mine = ext[owned]
    ends = np.searchsorted(rows, np.r_[begin, len(slots)])
    return _Found(
        whole[rows], owner[owned], whole[mine], np.diff(ends), wrong, len(ext) - len(mine)
    )


def complain(complaints: list[str], mask: Mask, what: str) -> None:
    """Say how many records of `mask` are not as they should be, if any is."""
    count_complaint(complaints, int(np.count_nonzero(mask)), what)


def count_complaint(complaints: list[str], count: int, what: str) -> None:
    """Say how many there are of what should not be, if there are any."""
    if count:
        complaints.append(f"{count} {what}")


def _miscounted(chunks: list[Chunk], counted: Ints) -> Mask:
    claimed = np.array([chunk.items for chunk in chunks], np.int64)
    ragged = [(chunk.end - chunk.begin) % kbl.KBL_SLOT_SIZE != 0 for chunk in chunks]
    wrong: Mask = (counted != claimed) | np.array(ragged, bool)
    return wrong
