# SPDX-License-Identifier: MIT
"""The slots of RECORDS chunks, a block at a time, as what they are in the kernel's header.

A block fits into the processor's cache; the slots of a file are never all in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import Progress
from . import _kbl_layout as kbl
from .kbl_chunks import Chunk
from .wire import Bytes, Ints, forget

BLOCK_SLOTS = 1 << 14
Slots = npt.NDArray[np.void]
Column = npt.NDArray[Any]
_TYPE = kbl.KblExtType
EXT = int(kbl.KblKind.EXT)
HEADS = {
    kbl.KblKind.ENTRY: ("call", kbl.KBL_CALL_SLOT),
    kbl.KblKind.EXIT: ("call", kbl.KBL_CALL_SLOT),
    kbl.KblKind.CALL: ("span", kbl.KBL_SPAN_SLOT),
    kbl.KblKind.EVENT: ("event", kbl.KBL_EVENT_SLOT),
    kbl.KblKind.LOST: ("lost", kbl.KBL_LOST_SLOT),
}
EXTS = {
    _TYPE.IPV4: ("ipv4", kbl.KBL_EXT_IPV4),
    _TYPE.IPV6: ("ipv6", kbl.KBL_EXT_IPV6),
    _TYPE.IPV6_L4: ("l4", kbl.KBL_EXT_IPV6_L4),
    _TYPE.SKB: ("skb", kbl.KBL_EXT_SKB),
    _TYPE.CALL: ("ret", kbl.KBL_EXT_CALL),
    _TYPE.COMM: ("comm", kbl.KBL_EXT_COMM),
    _TYPE.COUNTER: ("counter", kbl.KBL_EXT_COUNTER),
    _TYPE.DROP: ("drop", kbl.KBL_EXT_DROP),
    _TYPE.ADDR: ("addr", kbl.KBL_EXT_ADDR),
    _TYPE.NEIGH: ("neigh", kbl.KBL_EXT_NEIGH),
    _TYPE.ROUTE: ("route", kbl.KBL_EXT_ROUTE),
    _TYPE.SYSCALL: ("syscall", kbl.KBL_EXT_SYSCALL),
}
FILLING = (_TYPE.IPV4, _TYPE.IPV6, _TYPE.IPV6_L4, _TYPE.SKB, _TYPE.CALL)  # columns


def _union() -> np.dtype[np.void]:
    """A slot as the union of its structs: `span_dur`, `ipv4_ip_id`; bytes as one number.

    Without those that are only looked at by themselves: each member takes time to compile.
    """
    members: dict[str, tuple[Any, int]] = {}
    for name, dtype in (*HEADS.values(), *(EXTS[type_] for type_ in FILLING)):
        assert dtype.fields is not None
        for field, (kind, offset, *_) in dtype.fields.items():
            if kind.subdtype is None and kind.kind in "iu":
                members[f"{name}_{field}"] = kind, offset
            elif kind.subdtype is not None and kind.itemsize in (4, 8) and kind.base == np.uint8:
                members[f"{name}_{field}"] = np.dtype(f"<u{kind.itemsize}"), offset
    formats, offsets = zip(*members.values(), strict=True)
    made = {"names": list(members), "formats": formats, "offsets": offsets}
    slot: np.dtype[np.void] = np.dtype({**made, "itemsize": kbl.KBL_SLOT_SIZE})  # type: ignore[call-overload]
    return slot


SLOT = _union()


class Block(NamedTuple):
    """The slots of some chunks that follow each other in the file."""

    slots: Slots  # of dtype SLOT
    begin: Ints  # of each chunk, and behind them how many there are
    cpu: Ints  # of each chunk
    fresh: npt.NDArray[np.bool_]  # chunks before which one of their CPU is missing, or its first


def most_slots(chunks: list[Chunk]) -> int:
    """Slots of all chunks: as many records are there at most."""
    return sum((chunk.end - chunk.begin) // kbl.KBL_SLOT_SIZE for chunk in chunks)


def blocks(data: Bytes, chunks: list[Chunk], order: str, progress: Progress) -> Iterator[Block]:
    """All slots; the pages of a mapped file are given back behind them.  Raises Cancelled."""
    fresh = begins_after_a_hole(chunks)
    first = 0
    for some in _grouped(chunks):
        progress.report("reading slots", first, len(chunks))
        yield _block(data, some, fresh[first : first + len(some)], order)
        first += len(some)
        forget(data, some[0].begin, some[-1].end)


def begins_after_a_hole(chunks: list[Chunk]) -> npt.NDArray[np.bool_]:
    """Chunks before which a chunk of their CPU is missing, and each CPU's first."""
    following: dict[int, int] = {}
    fresh = np.ones(len(chunks), np.bool_)
    for number, chunk in enumerate(chunks):
        fresh[number] = following.get(chunk.cpu) != chunk.seq
        following[chunk.cpu] = chunk.seq + 1
    return fresh


def _grouped(chunks: list[Chunk]) -> Iterator[list[Chunk]]:
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


def _block(data: Bytes, chunks: list[Chunk], fresh: npt.NDArray[np.bool_], order: str) -> Block:
    size = kbl.KBL_SLOT_SIZE
    sizes = [(chunk.end - chunk.begin) // size for chunk in chunks]
    parts = [data[c.begin : c.begin + n * size] for c, n in zip(chunks, sizes, strict=True)]
    raw = np.concatenate(parts) if len(parts) > 1 else parts[0]
    slots = (raw if order == "<" else _little(raw)).view(SLOT)
    slots.flags.writeable = False  # as a mapped file's are: of one type
    begin = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    return Block(slots, begin, np.array([chunk.cpu for chunk in chunks], np.int64), fresh)


def _little(raw: Bytes) -> Bytes:
    """A copy of slots with their numbers in little-endian order."""
    made = raw.copy()
    of, to = (some.reshape(-1, kbl.KBL_SLOT_SIZE) for some in (raw, made))
    is_ext = of[:, 0] == EXT
    of_kind = [(of[:, 0] == kind, dtype) for kind, (_, dtype) in HEADS.items()]
    of_type = [(is_ext & (of[:, 1] == type_), dtype) for type_, (_, dtype) in EXTS.items()]
    for mine, dtype in of_kind + of_type:
        rows = np.flatnonzero(mine)
        swapped = of[rows].view(kbl.in_order(dtype, ">")).astype(dtype)
        to[rows] = swapped.view(np.uint8).reshape(-1, kbl.KBL_SLOT_SIZE)
    return made
