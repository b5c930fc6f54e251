# SPDX-License-Identifier: MIT
"""Finds the records of RECORDS chunks: each head slot and the EXT slots that belong to it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from . import _kbl_layout as kbl
from .kbl_chunks import Chunk
from .wire import Bytes, Ints, Mask

KIND, FLAGS, CONTEXT, EXT_COUNT = range(4)  # byte positions that all head slots share
EXT_TYPE = 1
Slots = npt.NDArray[np.void]


class Heads(NamedTuple):
    """The head slots of a file, numbered in file order; that number is a record's ordinal."""

    slots: Bytes  # (n, 32), of the whole file
    order: str
    chunks: list[Chunk]
    rows: Ints  # slot number of each record's head
    chunk: Ints  # index in `chunks` of each record
    owner: Ints  # of each EXT slot that has one: its record
    ext: Ints  # slot number of that EXT slot

    def view(self, dtype: np.dtype[np.void], slots: Ints) -> Slots:
        """The given slots as structs of `dtype`."""
        return self.slots[slots].view(kbl.in_order(dtype, self.order))[:, 0]

    def of_type(self, type_: int) -> tuple[Ints, Ints]:
        """Records and EXT slots of a type, a record's first one last, so that it wins."""
        mask = self.slots[self.ext, EXT_TYPE] == type_
        return self.owner[mask][::-1], self.ext[mask][::-1]

    def all_of_type(self, type_: int, dtype: np.dtype[np.void]) -> tuple[Ints, Slots]:
        """Records and structs of all EXT slots of a type, in file order."""
        mask = self.slots[self.ext, EXT_TYPE] == type_
        return self.owner[mask], self.view(dtype, self.ext[mask])


def find_heads(data: Bytes, chunks: list[Chunk], order: str) -> tuple[Heads, list[str]]:
    """The records of these chunks, and what is wrong with them."""
    sizes = [(chunk.end - chunk.begin) // kbl.KBL_SLOT_SIZE for chunk in chunks]
    parts = [
        data[chunk.begin : chunk.begin + size * kbl.KBL_SLOT_SIZE]
        for chunk, size in zip(chunks, sizes, strict=True)
    ]
    slots = np.concatenate([np.empty(0, np.uint8), *parts]).reshape(-1, kbl.KBL_SLOT_SIZE)
    chunk_of = np.repeat(np.arange(len(chunks)), sizes)
    is_ext = slots[:, KIND] == kbl.KblKind.EXT
    rows, ext = np.flatnonzero(~is_ext), np.flatnonzero(is_ext)
    owner = np.searchsorted(rows, ext) - 1
    head = rows[np.maximum(owner, 0)] if len(rows) else np.zeros(len(ext), np.int64)
    claimed = slots[rows, EXT_COUNT].astype(np.int64)
    owned = (owner >= 0) & (chunk_of[ext] == chunk_of[head])
    followed = np.bincount(owner[owned], minlength=len(rows))
    if len(rows):
        owned &= ext - head <= claimed[np.maximum(owner, 0)]
    complaints: list[str] = []
    wrong = (claimed != followed) | (claimed > kbl.KBL_MAX_EXT)
    complain(complaints, wrong, "records do not have as many EXT slots as they claim")
    complain(complaints, ~owned, "EXT slots belong to no record: left out")
    heads = Heads(slots, order, chunks, rows, chunk_of[rows], owner[owned], ext[owned])
    differs = "chunks whose number of records differs from their header's"
    complain(complaints, _miscounted(heads, sizes), differs)
    return heads, complaints


def complain(complaints: list[str], mask: Mask, what: str) -> None:
    """Say how many records of `mask` are not as they should be, if any is."""
    if mask.any():
        complaints.append(f"{np.count_nonzero(mask)} {what}")


def _miscounted(heads: Heads, sizes: list[int]) -> Mask:
    chunks = heads.chunks
    counted = np.bincount(heads.chunk, minlength=len(chunks))
    claimed = np.array([chunk.items for chunk in chunks], np.int64)
    ragged = [
        size * kbl.KBL_SLOT_SIZE != chunk.end - chunk.begin
        for chunk, size in zip(chunks, sizes, strict=True)
    ]
    wrong: Mask = (counted[: len(chunks)] != claimed) | np.array(ragged, bool)
    return wrong
