# SPDX-License-Identifier: MIT
"""The slots of RECORDS chunks in blocks, as the structs of the kernel's header.

A block fits into the processor's cache, and the slots of a file are never all in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import Progress
from ...records import kbl_layout as kbl
from ...records.types import Int64s, UInt8s
from ..input_file import Source
from .chunk_search import Chunk

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
    _TYPE.TAP: ("tap", kbl.KBL_EXT_TAP),
    _TYPE.STACK: ("stack", kbl.KBL_EXT_STACK),
}
FILLING = (_TYPE.IPV4, _TYPE.IPV6, _TYPE.IPV6_L4, _TYPE.SKB, _TYPE.CALL)  # these fill columns


def _union() -> np.dtype[np.void]:
    """Return the dtype of a slot as the union of its structs:

    `span_dur`, `ipv4_ip_id`, `word_0`, ...

    A byte array is read as one number.  A struct is omitted if it is only decoded on its own,
    because each member takes time to compile.
    """
    members: dict[str, tuple[Any, int]] = {}
    for name, dtype in (*HEADS.values(), *(EXTS[type_] for type_ in FILLING)):
        assert dtype.fields is not None
        for field, (kind, offset, *_) in dtype.fields.items():
            if kind.subdtype is None and kind.kind in "iu":
                members[f"{name}_{field}"] = kind, offset
            elif kind.subdtype is not None and kind.itemsize in (4, 8) and kind.base == np.uint8:
                members[f"{name}_{field}"] = np.dtype(f"<u{kind.itemsize}"), offset
    members |= {f"word_{i}": (np.dtype("<u8"), 8 * i) for i in range(kbl.KBL_SLOT_SIZE // 8)}
    formats, offsets = zip(*members.values(), strict=True)
    made = {"names": list(members), "formats": formats, "offsets": offsets}
    slot: np.dtype[np.void] = np.dtype({**made, "itemsize": kbl.KBL_SLOT_SIZE})  # type: ignore[call-overload]
    return slot


SLOT = _union()


class Block(NamedTuple):
    """The slots of some consecutive chunks."""

    slots: Slots  # of dtype SLOT
    begin: Int64s  # index of each chunk's first slot; then the number of slots
    cpu: Int64s  # of each chunk
    fresh: npt.NDArray[np.bool_]  # the CPU's first chunk, or the one before it is missing


def slots_of(payload: UInt8s, order: str) -> Slots:
    """Return the whole slots of a chunk; they are no copy if `payload` is little-endian."""
    raw = payload[: len(payload) // kbl.KBL_SLOT_SIZE * kbl.KBL_SLOT_SIZE]
    return (raw if order == "<" else _little(raw)).view(SLOT)


def blocks(data: Source, chunks: list[Chunk], order: str, progress: Progress) -> Iterator[Block]:
    """Yield all slots of `chunks`, block by block; `order` is the file's byte order.

    A block is valid until the next one is requested.  Raises BadInput or Cancelled.
    """
    fresh = begins_after_a_hole(chunks)
    first, scratch = 0, np.empty(0, np.uint8)
    for some in _grouped(chunks):
        progress.report("reading slots", first, len(chunks))
        size = sum(map(_slots, some)) * kbl.KBL_SLOT_SIZE
        if len(scratch) < size:
            scratch = np.empty(size, np.uint8)
        yield _block(data, some, scratch[:size], fresh[first : first + len(some)], order)
        first += len(some)


def _slots(chunk: Chunk) -> int:
    return (chunk.end - chunk.begin) // kbl.KBL_SLOT_SIZE


def begins_after_a_hole(chunks: list[Chunk]) -> npt.NDArray[np.bool_]:
    """Return for each chunk whether it is its CPU's first, or follows a missing chunk."""
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
        slots = _slots(chunk)
        if block and size + slots > BLOCK_SLOTS:
            yield block
            block, size = [], 0
        block.append(chunk)
        size += slots
    if block:
        yield block


def _block(
    data: Source, chunks: list[Chunk], scratch: UInt8s, fresh: npt.NDArray[np.bool_], order: str
) -> Block:
    begin = np.zeros(len(chunks) + 1, np.int64)
    begin[1:] = np.cumsum([_slots(chunk) for chunk in chunks])
    places = (begin * kbl.KBL_SLOT_SIZE).tolist()
    for chunk, at, end in zip(chunks, places, places[1:], strict=False):
        data.fill(scratch[at:end], chunk.begin)
    cpus = np.array([chunk.cpu for chunk in chunks], np.int64)
    return Block(slots_of(scratch, order), begin, cpus, fresh)


def _little(raw: UInt8s) -> UInt8s:
    """Return a copy of the slots with their numbers in little-endian order."""
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
