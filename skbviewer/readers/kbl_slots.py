# SPDX-License-Identifier: MIT
"""Takes the slots of RECORDS chunks apart: head slots a block at a time, EXT slots by type.

A block fits into the processor's cache and is read but once: the slots of a file are never all in
memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _kbl_layout as kbl
from .kbl_chunks import Chunk
from .wire import Bytes, Ints, Mask, forget

KIND, FLAGS, CONTEXT, EXT_COUNT = range(4)  # byte positions that all head slots share
EXT_TYPE = 1
EXT = int(kbl.KblKind.EXT)
BLOCK_SLOTS = 1 << 14
Slots = npt.NDArray[np.void]
Column = npt.NDArray[Any]
Owned = tuple[npt.NDArray[np.integer], Slots]  # records, and EXT slots (V32) that they have


class Block(NamedTuple):
    """Head slots that follow each other in the file, and what follows them."""

    first: int  # number of the first one
    slots: Slots  # V32
    cpu: npt.NDArray[np.uint16]  # of their chunks
    ext: dict[int, Owned]  # by type; owners are counted from the first one


class Heads(NamedTuple):
    """What a file's head slots lie in and what follows them.

    Head slots are numbered in file order; that number is a record's ordinal.
    """

    order: str
    chunks: list[Chunk]
    first: Ints  # number of each chunk's first record, and behind them how many there are
    ext: dict[int, Owned]  # by type, in file order; without the types that only blocks have

    def of_type(self, type_: int, dtype: np.dtype[np.void]) -> tuple[Ints, Slots]:
        """Records and structs of a type, a record's first one last, so that it wins."""
        owner, slots = self.all_of_type(type_, dtype)
        return owner[::-1], slots[::-1]

    def all_of_type(self, type_: int, dtype: np.dtype[np.void]) -> tuple[Ints, Slots]:
        """Records and structs of all EXT slots of a type, in file order."""
        owner, slots = self.ext.get(type_, (np.zeros(0, np.int32), np.zeros(0, "V32")))
        return owner.astype(np.int64), slots.view(kbl.in_order(dtype, self.order))

    def cpus(self) -> Ints:
        """The CPU of each chunk."""
        return np.array([chunk.cpu for chunk in self.chunks], np.int64)

    def streams(self) -> Iterator[tuple[int, list[int]]]:
        """Each CPU with its chunks, in file order."""
        cpus = self.cpus()
        for cpu in np.unique(cpus).tolist():
            yield cpu, np.flatnonzero(cpus == cpu).tolist()


class _Found(NamedTuple):
    """The records of a block of chunks; `owner` counts from the block's first record."""

    slots: Slots
    owner: Ints
    ext: Bytes
    per_chunk: Ints
    wrong: int
    stray: int


class SlotReader:
    """Gives the head slots of some chunks block by block, then what they have in common.

    EXT slots of the types `passing` are given with their blocks only.
    """

    def __init__(
        self, data: Bytes, chunks: list[Chunk], order: str, passing: Collection[int] = ()
    ) -> None:
        self._data, self._chunks, self._order = data, chunks, order
        self._passing = passing
        # Slots of all chunks: as many records are there at most.
        self.most = sum((chunk.end - chunk.begin) // kbl.KBL_SLOT_SIZE for chunk in chunks)
        self._per_chunk: list[Ints] = [np.zeros(0, np.int64)]
        self._ext: dict[int, list[Owned]] = {}
        self._wrong = self._stray = 0

    def blocks(self) -> Iterator[Block]:
        """All head slots, to be asked for once."""
        first = 0
        for chunks in _blocks(self._chunks):
            found = _find(self._data, chunks)
            ext = self._keep(found, first)
            cpus = np.array([chunk.cpu for chunk in chunks], np.uint16)
            yield Block(first, found.slots, np.repeat(cpus, found.per_chunk), ext)
            first += len(found.slots)
            forget(self._data, chunks[0].begin, chunks[-1].end)

    def _keep(self, found: _Found, first: int) -> dict[int, Owned]:
        self._per_chunk.append(found.per_chunk)
        self._wrong, self._stray = self._wrong + found.wrong, self._stray + found.stray
        types = np.ascontiguousarray(found.ext[:, EXT_TYPE])
        whole = found.ext.reshape(-1).view("V32")
        ext: dict[int, Owned] = {}
        for type_ in np.flatnonzero(np.bincount(types)).tolist():
            mine = np.flatnonzero(types == type_)
            owner, slots = ext[type_] = (found.owner[mine], whole.take(mine))
            if type_ not in self._passing:
                kept = ((owner + first).astype(np.int32), slots)
                self._ext.setdefault(type_, []).append(kept)
        return ext

    def heads(self) -> tuple[Heads, list[str]]:
        """When all blocks were given: what else was found, and what is wrong with the records."""
        per_chunk = np.concatenate(self._per_chunk)
        complaints: list[str] = []
        few = "records do not have as many EXT slots as they claim"
        count_complaint(complaints, self._wrong, few)
        count_complaint(complaints, self._stray, "EXT slots belong to no record: left out")
        differs = "chunks whose number of records differs from their header's"
        complain(complaints, _miscounted(self._chunks, per_chunk), differs)
        ext: dict[int, Owned] = {}
        while self._ext:
            type_, parts = self._ext.popitem()
            owners, slots = zip(*parts, strict=True)
            ext[type_] = (np.concatenate(owners), np.concatenate(slots))
        first = np.r_[0, np.cumsum(per_chunk)]
        return Heads(self._order, self._chunks, first, ext), complaints


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
    slots = (np.concatenate(parts) if len(parts) > 1 else parts[0]).reshape(-1, size)
    is_ext = slots[:, KIND] == EXT
    rows, ext = np.flatnonzero(~is_ext), np.flatnonzero(is_ext)
    begin = np.cumsum(sizes, dtype=np.int64) - sizes
    whole = slots.reshape(-1).view("V32")
    heads = whole.take(rows)
    claimed = heads.view(np.uint8)[EXT_COUNT::size]
    followed = np.diff(rows, append=len(slots)) - 1
    wrong = int(np.count_nonzero((claimed != followed) | (claimed > kbl.KBL_MAX_EXT)))
    if wrong or is_ext[begin[begin < len(slots)]].any():
        owner, ext, wrong = _owned(rows, ext, begin, claimed)
    else:
        owner = np.repeat(np.arange(len(rows)), followed)
    ends = np.searchsorted(rows, np.r_[begin, len(slots)])
    found = whole.take(ext).view(np.uint8).reshape(-1, size)
    stray = len(slots) - len(rows) - len(ext)
    return _Found(heads, owner, found, np.diff(ends), wrong, stray)


def _owned(rows: Ints, ext: Ints, begin: Ints, claimed: Bytes) -> tuple[Ints, Ints, int]:
    """Of slots out of order: owners of EXT slots, those that have one, and how many heads err."""
    owner = ext - np.arange(len(ext)) - 1  # as many heads are before it
    head = rows[np.maximum(owner, 0)] if len(rows) else np.zeros(len(ext), np.int64)
    chunk = np.searchsorted(begin, ext, "right") - 1
    owned = (owner >= 0) & (head >= begin[chunk])
    followed = np.bincount(owner[owned], minlength=len(rows))
    if len(rows):
        owned &= ext - head <= claimed[np.maximum(owner, 0)]
    wrong = int(np.count_nonzero((claimed != followed) | (claimed > kbl.KBL_MAX_EXT)))
    return owner[owned], ext[owned], wrong


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
