# SPDX-License-Identifier: MIT
"""Columns of the records of a .kbl file, each record at its place in time.

What a head slot says goes into the columns of RECORD_DTYPE; a CALL's row is an entry that knows of
its return.  The thread, which the stream tells but once, holds along a CPU's stream from one TASK
to the next; behind a hole in the file none is known until it is told again.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import ColumnTable, Progress, Room
from ..records.compiled import Int, compiled
from . import _kbl_layout as kbl
from .kbl_chunks import Chunk
from .kbl_footprints import (
    IPV4,
    IPV6,
    IPV6_L4,
    SK,
    SKB,
    Prints,
    fill_ipv4,
    fill_ipv6,
    fill_ipv6_l4,
    fill_skb,
)
from .kbl_order import ALL_CPUS, Places
from .kbl_scan import (
    ASIDE,
    CALL,
    ENTRY,
    EVENT,
    EXIT,
    EXT_CALL,
    EXT_COUNTER,
    FLAG_SOCK,
    LOSSES,
    LOST,
    PRINTS,
    ROWS,
    Scan,
)
from .kbl_slots import EXT, SLOT, Slots, blocks
from .wire import Bytes, Ints

FORGET_BLOCKS = 32  # blocks between two times that their records' pages are given back
LONG = 0xFFFFFFFF  # dur of a CALL whose EXT slot has it
TASK = int(kbl.KblEvent.TASK)
NO_CALLER, MODULE_CALLER = kbl.KBL_FLAG_NO_CALLER, kbl.KBL_FLAG_MODULE_CALLER


class Rows(NamedTuple):
    """`footprint` numbers the rows of a table of footprints, 0 = none.

    `cpu` is that of a CALL's entry, `exit_cpu` the one whose stream has the record.
    """

    ts: npt.NDArray[np.int64]
    ordinal: npt.NDArray[np.int32]
    kind: npt.NDArray[np.uint8]
    event: npt.NDArray[np.uint8]
    flags: npt.NDArray[np.uint8]
    context: npt.NDArray[np.uint8]
    cpu: npt.NDArray[np.uint16]
    func: npt.NDArray[np.int32]
    pid: npt.NDArray[np.int32]
    skb: npt.NDArray[np.int64]
    caller: npt.NDArray[np.int64]
    data: npt.NDArray[np.int64]
    exit_ts: npt.NDArray[np.int64]
    exit_cpu: npt.NDArray[np.int32]
    ret: npt.NDArray[np.int64]
    footprint: npt.NDArray[np.int32]


TYPES = {
    name: np.dtype(getattr(np, width))
    for width, names in {
        "int64": ("ts", "skb", "caller", "data", "exit_ts", "ret"),
        "int32": ("ordinal", "func", "pid", "exit_cpu", "footprint"),
        "uint16": ("cpu",),
        "uint8": ("kind", "event", "flags", "context"),
    }.items()
    for name in names
}


def room_for(count: int, folder: Path | None) -> Room:
    """Memory for so many records and what is made of them, in `folder` if it is much."""
    return Room.for_rows(count * sum(t.itemsize for t in TYPES.values()), folder)


class Aside(NamedTuple):
    """What few records tell beside their columns, in file order."""

    ordinal: npt.NDArray[np.int32]  # of the records that these EXT slots belong to
    slots: Slots  # of dtype SLOT
    lost: Ints  # places of LOST records, and when their gaps began
    begin: Ints


class Told(NamedTuple):
    """What the file tells to make sense of callers, and how old it is."""

    order: str
    version: int
    stext: int
    symbols: Ints


def read_rows(
    data: Bytes,
    chunks: list[Chunk],
    told: Told,
    scan: Scan,
    place: Places,
    count: int,
    room: Room,
    progress: Progress,
) -> tuple[Rows, Aside, ColumnTable]:
    """`count` records, each head slot at its `place`; with the footprints that they tell.

    Raises Cancelled.
    """
    rows = Rows(**{name: room.take(count, TYPES[name]) for name in Rows._fields})
    aside = Aside(
        np.empty(scan.counts[ASIDE], np.int32),
        np.empty(scan.counts[ASIDE], SLOT),
        np.empty(scan.counts[LOSSES], np.int64),
        np.empty(scan.counts[LOSSES], np.int64),
    )
    at, prints = np.zeros(len(scan.counts), np.int64), Prints(room)
    pids = np.full(ALL_CPUS, -1, np.int64)
    base = int(np.array([told.stext], np.uint64).astype(np.int64)[0])
    for number, block in enumerate(blocks(data, chunks, told.order, progress)):
        _decode(
            block.slots,
            block.begin,
            block.cpu,
            block.fresh,
            told.version,
            base,
            told.symbols,
            place,
            pids,
            at,
            rows,
            aside,
            prints.room(int(scan.prints[number])),
            prints.count,
        )
        prints.keep(int(scan.prints[number]))
        if number % FORGET_BLOCKS == 0:
            room.forget()
    found = int(at[ASIDE])
    kept = aside._replace(ordinal=aside.ordinal[:found], slots=aside.slots[:found])
    return rows, kept, prints.table()


@compiled
def _decode(
    slots: Slots,
    begin: Ints,
    cpus: Ints,
    fresh: npt.NDArray[np.bool_],
    version: int,
    stext: int,
    symbols: Ints,
    place: Places,
    pids: Ints,
    at: Ints,
    rows: Rows,
    aside: Aside,
    prints: Ints,
    before: int,
) -> None:
    """The records of a block; `pids` are of the threads on the CPUs, `at` counts what was filled.

    `before` footprints come before those of this block.
    """
    row, told, kept, lost = at[ROWS], np.int64(0), at[ASIDE], at[LOSSES]
    for chunk in range(len(cpus)):
        cpu, end = cpus[chunk], begin[chunk + 1]
        if fresh[chunk]:
            pids[cpu] = -1
        i = begin[chunk]
        while i < end and slots[i]["call_kind"] == EXT:
            i += 1
        while i < end:
            slot = slots[i]
            last = i + 1  # behind its EXT slots
            limit = last + np.int64(slot["call_ext"])
            while last < end and slots[last]["call_kind"] == EXT:
                last += 1
            limit = min(limit, last)
            kind, flags, p = slot["call_kind"], slot["call_flags"], np.int64(place[row])
            is_span = kind == CALL and version > 2
            if p >= 0:
                ts = np.int64(slot["call_ts"])
                rows.ts[p], rows.ordinal[p], rows.context[p] = ts, row, slot["call_context"]
                rows.kind[p], rows.event[p], rows.flags[p] = kind, 0, flags
                rows.cpu[p], rows.func[p], rows.pid[p] = cpu, -1, -1
                rows.data[p], rows.caller[p] = -1, 0
                rows.ret[p], rows.footprint[p] = 0, 0
                skb, left = np.int64(slot["call_skb"]), np.int64(-1)
                sock, given = np.int64(0), False
                if is_span:
                    rows.kind[p], rows.cpu[p] = ENTRY, slot["span_entry_cpu"]
                    rows.func[p], rows.pid[p] = slot["span_func"], pids[cpu]
                    if slot["span_dur"] != LONG:
                        left = ts + np.int64(slot["span_dur"])
                elif kind == EVENT:
                    rows.event[p], rows.flags[p] = flags, 0
                    rows.pid[p] = np.int32(slot["event_pid"])
                    rows.data[p] = np.int64(slot["event_data"])
                    if flags == TASK:
                        pids[cpu] = np.int64(np.int32(slot["event_pid"]))
                elif kind == LOST:
                    rows.func[p] = np.int32(slot["lost_func"])
                    rows.data[p] = np.int64(slot["lost_count"])
                    skb = np.int64(0)
                    aside.lost[lost], aside.begin[lost] = p, np.int64(slot["lost_first_ns"])
                    lost += 1
                else:
                    rows.func[p] = np.int32(slot["call_func"])
                    rows.pid[p] = np.int32(slot["call_pid"])
                    if kind == EXIT:
                        rows.data[p] = slot["call_caller"]
                if is_span or kind == ENTRY:
                    rows.caller[p] = _caller(flags, np.int64(slot["call_caller"]), stext, symbols)
                if is_span or kind in (ENTRY, EXIT):
                    given = (flags & FLAG_SOCK) != 0
                    if given:
                        sock, skb = skb, np.int64(0)
                rows.skb[p] = skb
                if is_span:
                    for j in range(limit - 1, i, -1):
                        if slots[j]["ret_type"] == EXT_CALL:
                            rows.ret[p] = slots[j]["ret_ret"]
                            if slot["span_dur"] == LONG or left < 0:
                                left = ts + np.int64(slots[j]["ret_dur"])
                rows.exit_ts[p], rows.exit_cpu[p] = left, cpu
                tells = given
                for j in range(i + 1, limit):
                    tells = tells or _is_print(slots[j]["ipv4_type"])
                if tells:
                    if given:
                        prints[SK, told] = sock
                    _fill(slots, i + 1, limit, prints, told)
                    rows.footprint[p] = before + told
            else:
                given = False
            if p < 0:  # of an unknown kind: it counts, nobody asks for it
                tells = False
                for j in range(i + 1, limit):
                    tells = tells or _is_print(slots[j]["ipv4_type"])
            told += tells
            for j in range(i + 1, limit):
                type_ = slots[j]["ipv4_type"]
                counts = type_ != EXT_COUNTER or is_span
                if not _is_print(type_) and type_ != EXT_CALL and counts:
                    aside.ordinal[kept], aside.slots[kept] = row, slots[j]
                    kept += 1
            row += 1
            i = last
    at[ROWS], at[PRINTS], at[ASIDE], at[LOSSES] = row, told, kept, lost


@compiled
def _is_print(type_: int) -> bool:
    """Whether EXT slots of this type are parts of a footprint."""
    return type_ in (IPV4, IPV6, IPV6_L4, SKB)


@compiled
def _caller(flags: Int, caller: Int, stext: Int, symbols: Ints) -> Int:
    """The absolute return address; 0 where the file does not tell."""
    if flags & NO_CALLER:
        return np.int64(0)
    if flags & MODULE_CALLER:
        return symbols[caller] if 0 <= caller < len(symbols) else np.int64(0)
    return stext + caller


@compiled
def _fill(slots: Slots, begin: Int, end: Int, prints: Ints, at: Int) -> None:
    """A footprint of all its EXT slots; of several of a type the first is written last."""
    for j in range(end - 1, begin - 1, -1):
        if slots[j]["ipv4_type"] == IPV4:
            fill_ipv4(slots[j], prints, at)
    for j in range(end - 1, begin - 1, -1):
        if slots[j]["ipv4_type"] == IPV6:
            fill_ipv6(slots[j], prints, at)
    for j in range(end - 1, begin - 1, -1):
        if slots[j]["ipv4_type"] == IPV6_L4:
            fill_ipv6_l4(slots[j], prints, at)
    for j in range(end - 1, begin - 1, -1):
        if slots[j]["ipv4_type"] == SKB:
            fill_skb(slots[j], prints, at)
