# SPDX-License-Identifier: MIT
"""Fill the columns of the records of a .kbl file, with each record at its place in time order.

A head slot fills the columns of RECORD_DTYPE; a CALL becomes an entry that has a return.  A TASK
event names the thread that runs on its CPU until the next TASK event.  After a gap in the file, the
thread is unknown until it is written again.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...records import BadInput, ColumnTable, Progress, Scratch
from ...records.types import Int64s, UInt64s
from ..input_file import Source
from .chunk_search import Chunk
from .footprint_slot_loops import (
    UNKNOWN,
)
from .footprint_slots import FootprintTable
from .record_column_loops import FORGET_BLOCKS, Aside, Rows, decode
from .record_order_loops import ALL_CPUS, Places
from .slot_blocks import SLOT, blocks
from .slot_scan_loops import (
    ASIDE,
    LOSSES,
    PRINTS,
)

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


def room_for(count: int, folder: Path | None) -> Scratch:
    """Return scratch memory for `count` records, and for the arrays that are made from them.

    If `folder` is given, large arrays are stored there.
    """
    return Scratch.for_rows(count * sum(t.itemsize for t in TYPES.values()), folder)


class LogFacts(NamedTuple):
    """Facts about a file that are needed to decode its records: version, byte order, symbols."""

    order: str
    version: int
    stext: int
    symbols: Int64s


def read_rows(
    data: Source,
    chunks: list[Chunk],
    facts: LogFacts,
    counts: Int64s,
    bits: UInt64s,
    place: Places,
    count: int,
    scratch: Scratch,
    progress: Progress,
) -> tuple[Rows, Aside, ColumnTable]:
    """Return `count` records in time order, the slots that fill no column, and the footprints.

    `place` is the row of each head slot; `counts` and `bits` are results of the scan; `facts` are
    facts about the file.  Raises BadInput if the file was overwritten after the scan; raises
    Cancelled.
    """
    rows = Rows(**{name: scratch.take(count, TYPES[name]) for name in Rows._fields})
    aside = Aside(
        np.empty(counts[ASIDE], np.int32),
        np.empty(counts[ASIDE], SLOT),
        np.empty(counts[LOSSES], np.int64),
        np.empty(counts[LOSSES], np.int64),
    )
    prints = FootprintTable(int(counts[PRINTS]), bits, scratch)
    at = np.zeros(len(counts), np.int64)
    at[PRINTS] = 1  # row 0 exists already
    pids, values = np.full(ALL_CPUS, -1, np.int64), UNKNOWN.copy()
    base = int(np.array([facts.stext], np.uint64).astype(np.int64)[0])
    for number, block in enumerate(blocks(data, chunks, facts.order, progress)):
        good = decode(
            block.slots,
            block.begin,
            block.cpu,
            block.fresh,
            facts.version,
            base,
            facts.symbols,
            place,
            pids,
            at,
            rows,
            aside,
            prints.planes,
            prints.count,
            values,
        )
        if not good:
            raise BadInput(data.path, None, "the file was overwritten while it was read")
        if number % FORGET_BLOCKS == 0:
            scratch.forget()
    found = int(at[ASIDE])
    kept = aside._replace(ordinal=aside.ordinal[:found], slots=aside.slots[:found])
    return rows, kept, prints.table(int(at[PRINTS]))
