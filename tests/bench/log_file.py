# SPDX-License-Identifier: MIT
"""Writes what a recorder would log of made-up traffic: a .kbl of version 3, docs/kbl-format.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from skbviewer.records import kbl_layout as kbl
from tests.readers.build_kbl import KblBuilder, chunk_bytes

from .capture_file import WALL_EPOCH
from .slots import FUNCTIONS, Calls, Slots, make_slots
from .traffic import CPUS, EPOCH, Packets

BLOCK = 1 << 17  # packets turned into records at once
CHUNK_SLOTS = 1 << 13
EVENT_OF_FUNCTION = {"napi_build_skb": kbl.KblEvent.ALLOC, "__alloc_skb": kbl.KblEvent.ALLOC}
EVENT_OF_FUNCTION |= {"kfree_skbmem": kbl.KblEvent.FREE}


class Written(NamedTuple):
    """How much is in the file: head slots, and rows as a reader counts them (a CALL is two)."""

    slots: int
    rows: int
    calls: int


def write_kbl(path: Path, packets: Packets, calls: Calls) -> Written:
    """Write the log of `packets`."""
    return write_slots(path, _blocks(packets, calls), int(packets["begin"].max(initial=EPOCH)))


def write_slots(path: Path, parts: Iterable[Slots], last: int) -> Written:
    """Write a log of these records, in order of time, the last of them at about `last`, ns."""
    builder = _tables(last)
    head = builder.to_bytes()
    with path.open("wb") as file:
        file.write(head)
        written = _write_records(file, parts)
        file.write(_ending(written, head))
    return written


def _tables(last: int) -> KblBuilder:
    builder = KblBuilder(version=3, nr_cpus=CPUS, start_mono_ns=EPOCH)
    builder.header["start_real_ns"] = WALL_EPOCH + EPOCH
    builder.end = False
    for name in FUNCTIONS:
        builder.probe(name, EVENT_OF_FUNCTION.get(name, 0))
    for at in (EPOCH, max(last, EPOCH + 1)):
        builder.clock(at, WALL_EPOCH + at)
    builder.device(0xF0000000, 2, "eth0")
    builder.meta = {"recorder": "tests.bench.generate", "kernel": "made up"}
    return builder


def _ending(written: Written, head: bytes) -> bytes:
    """Return COUNTERS and END; their sequence numbers follow the tables'."""
    seq = head.count(kbl.KBL_CHUNK_MAGIC.to_bytes(4, "little"))
    counters = np.zeros(1, kbl.KBL_COUNTERS)
    counters["written"] = written.slots
    kind = kbl.KblChunkType
    return chunk_bytes(kind.COUNTERS, counters.tobytes(), seq=seq, items=1) + chunk_bytes(
        kind.END, b"", seq=seq + 1
    )


def _write_records(file: BinaryIO, parts: Iterable[Slots]) -> Written:
    sequence = [0] * CPUS
    heads = spans = 0
    for made in parts:
        stream = Stream(made)
        for cpu, first, last in stream.parts():
            payload = stream.payload(first, last)
            times = (int(stream.written[first]), int(stream.written[last - 1]))
            type_, seq = kbl.KblChunkType.RECORDS, sequence[cpu]
            file.write(_chunk_head(type_, cpu, seq, last - first, times, payload))
            file.write(payload)
            sequence[cpu] += 1
        heads += len(made.head)
        spans += int(np.count_nonzero(made.key % 2 == 0))
    return Written(heads, heads + spans, spans)


def _chunk_head(
    type_: int, cpu: int, seq: int, items: int, times: tuple[int, int], payload: memoryview
) -> bytes:
    """Do what build_kbl.chunk_bytes() does, without copying the payload."""
    head = np.zeros(1, kbl.KBL_CHUNK_HEADER)
    head["magic"], head["type"], head["cpu"], head["seq"] = kbl.KBL_CHUNK_MAGIC, type_, cpu, seq
    head["first_ns"], head["last_ns"], head["nr_items"] = *times, items
    head["payload_len"], head["crc32"] = len(payload), crc32(payload)
    head["header_crc32"] = crc32(head.tobytes()[:-4])
    return head.tobytes()


class Stream:
    """Records of all CPUs, sorted by (CPU, time of writing), ready to be cut into chunks."""

    def __init__(self, slots: Slots) -> None:
        order = np.argsort(slots.cpu << 58 | slots.key, kind="stable")
        self.cpu, self.written = slots.cpu[order], slots.key[order] >> 1
        self.count = len(order)
        ext = slots.ext[order]
        two = slots.pool["two"][np.maximum(ext, 0)] if len(slots.pool) else np.zeros(len(ext), bool)
        more = np.where(ext >= 0, 1 + two.astype(np.int64), 0)
        self.at = np.r_[0, np.cumsum(1 + more)]
        self.slots = np.zeros(int(self.at[-1]), "V32")
        self.slots[self.at[:-1]] = slots.head[order]
        for number, name in enumerate(("first", "second"), start=1):
            has = np.flatnonzero(more >= number)
            self.slots[self.at[has] + number] = slots.pool[name][ext[has]]

    def parts(self) -> Iterator[tuple[int, int, int]]:
        """Yield (CPU, first record, end) of each chunk."""
        for cpu in range(CPUS):
            begin, end = np.searchsorted(self.cpu, [cpu, cpu + 1])
            for first in range(int(begin), int(end), CHUNK_SLOTS):
                yield cpu, first, min(first + CHUNK_SLOTS, int(end))

    def payload(self, first: int, last: int) -> memoryview:
        whole: npt.NDArray[np.uint8] = self.slots[self.at[first] : self.at[last]].view(np.uint8)
        return whole.data


def _blocks(packets: Packets, calls: Calls) -> Iterator[Slots]:
    """Yield the records block by block; records after the next block's start wait for it."""
    waiting = None
    for first in range(0, len(packets), BLOCK):
        following = first + BLOCK
        made = make_slots(packets, calls, first, min(following, len(packets)))
        whole = made.joined(waiting) if waiting is not None else made
        until = packets["begin"][following] if following < len(packets) else np.iinfo(np.int64).max
        now = whole.key >> 1 < until
        waiting = whole.only(~now)
        yield whole.only(now)
