# SPDX-License-Identifier: MIT
"""Turn the slots of a .kbl file into records in time order.

The first pass over the slots (slot_scan.py) finds how many records there are, and their times.  The
second pass writes each record to its place in time order.  Version 3 writes each footprint only
once, so it is then copied to all records to which it applies.  In versions 2 and 3, a call and its
return become one record.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...records import ColumnTable, Details, Part, Progress, RecordTable, Scratch, Table
from ...records import kbl_layout as kbl
from ...records.types import Bools, Int64s
from ..input_file import Source
from .carry_events import complete_calls
from .chunk_search import Chunk
from .entry_exit_pairs import gaps_of, join_pairs
from .event_details import Asides, read_details
from .footprint_fill import fill_footprints
from .footprint_slots import in_narrowest_type
from .record_column_loops import Aside, Rows
from .record_columns import LogFacts, read_rows, room_for
from .record_order import time_places
from .record_order_loops import Places
from .slot_blocks import Column, Slots
from .slot_scan import Scan
from .tap_slots import read_taps

ORDERED, READ, FILLED, ALL = 15, 80, 90, 100  # progress after each step, in percent
PART = 1 << 20  # records processed together


class Decoded(NamedTuple):
    """The records of a file in time order, and details; `task_times` and `comms` are parallel."""

    records: RecordTable
    task_times: Int64s
    comms: Slots  # KBL_EXT_COMM
    taps: Table
    details: Details
    complaints: list[str]


def decode_records(
    data: Source,
    chunks: list[Chunk],
    scan: Scan,
    order: str,
    version: int,
    stext: int,
    symbols: Int64s,
    folder: Path | None,
    progress: Progress,
    what: str,
) -> Decoded:
    """Decode the RECORDS chunks of `data` that were scanned before.

    `order` is the byte order of the file, `version` the version of its format, `stext` the address
    of `_stext`, and `symbols` are the addresses in its symbol table.  If `folder` is given, a large
    table is stored in a nameless file there.  `progress` gets reports, in which the work is called
    `what`.  Raises BadInput if the file was overwritten after the scan; raises Cancelled.
    """
    progress.report(what, 0, ALL)
    complaints = scan.complaints
    placed = time_places(scan, version)
    counts, bits = scan.counts, scan.bits
    del scan  # its columns take much memory
    facts = LogFacts(order, version, stext, symbols)
    place, scratch = placed.place, room_for(placed.size, folder)
    watch = Part(progress, what, ORDERED, READ, ALL)
    rows, aside, footprints = read_rows(
        data, chunks, facts, counts, bits, place, placed.size, scratch, watch
    )
    asides = Asides(aside.ordinal, aside.slots)
    times, comms = _task_names(rows, place, asides)
    details = read_details(asides, stext)
    if version > 2:
        fill_footprints(rows, aside, chunks, scratch, Part(progress, what, READ, FILLED, ALL))
        complete_calls(rows, placed, complaints)
    taps = read_taps(asides, place)
    del placed, place
    left = join_pairs(rows, gaps_of(rows, aside, chunks))
    taps = _among(taps, left)
    records = _table(rows, left, _gaps(aside, rows, scratch), asides, footprints, scratch)
    scratch.forget()
    progress.report(what, ALL, ALL)
    return Decoded(records, times, comms, taps, details, complaints)


def _task_names(rows: Rows, place: Places, asides: Asides) -> tuple[Int64s, Slots]:
    """Return the times and COMM slots of TASK events; other events' COMM slots are left out."""
    owner, comms = asides.of_type(kbl.KblExtType.COMM, kbl.KBL_EXT_COMM)
    at = place[owner]
    at, comms = at[at >= 0], comms[at >= 0]
    of_task = (rows.event[at] == kbl.KblEvent.TASK) & (rows.kind[at] == kbl.KblKind.EVENT)
    return rows.ts[at[of_task]], comms[of_task]


def _gaps(aside: Aside, rows: Rows, scratch: Scratch) -> Column:
    """Return the length of the gap before each LOST record, ns; -1 in other rows."""
    if not len(aside.lost):
        return np.broadcast_to(np.int64(-1), len(rows.ts))
    dur = scratch.full(len(rows.ts), np.int64, -1)
    dur[aside.lost] = rows.ts[aside.lost] - aside.begin
    return dur


def _table(
    rows: Rows, left: Bools, gaps: Column, asides: Asides, footprints: ColumnTable, scratch: Scratch
) -> RecordTable:
    made: dict[str, Column] = {**rows._asdict(), "dur": gaps}
    if not left.all():
        made = {name: _packed(made.pop(name), left) for name in list(made)}
    scratch.forget()
    for name in ("func", "exit_cpu"):
        made[name] = scratch.keep(in_narrowest_type(made[name]))
    footprint = made.pop("footprint")
    made["counter"] = _counted(asides, made, scratch)
    return RecordTable(made, footprint, footprints, scratch)


def _among(taps: Table, left: Bools) -> Table:
    """Return the taps whose records are `left` (flags), with their records' new row numbers."""
    if not len(taps) or left.all():
        return taps
    mine: Bools = left[taps["record"]]
    taps = taps[mine]
    record: Int64s = taps["record"]
    taps["record"] = np.cumsum(left)[record] - 1
    return taps


def _parts(count: int) -> Iterator[slice]:
    return (slice(begin, begin + PART) for begin in range(0, count, PART))


def _packed(column: Column, left: Bools) -> Column:
    """Move the rows of a column that are `left` (flags) together, and return them."""
    if column.strides == (0,):
        return column[: np.count_nonzero(left)]
    size = 0
    for some in _parts(len(column)):
        kept = column[some][left[some]]
        column[size : size + len(kept)] = kept
        size += len(kept)
    return column[:size]


def _counted(asides: Asides, columns: dict[str, Column], scratch: Scratch) -> Column:
    """Return how many events the hardware counter counted during each call; -1 in other rows."""
    owner, slots = asides.of_type(kbl.KblExtType.COUNTER, kbl.KBL_EXT_COUNTER)
    if not len(owner):
        return np.broadcast_to(np.int64(-1), len(columns["kind"]))
    counting, first = np.unique(owner, return_index=True)
    slots = slots[first]
    counted = np.where(slots["valid"] != 0, slots["count"].astype(np.int64), -1)
    made = scratch.full(len(columns["kind"]), np.int64, -1)
    calls = np.flatnonzero(columns["exit_ts"] >= 0)
    ordinal = columns["ordinal"][calls]
    place = np.minimum(np.searchsorted(counting, ordinal), len(counting) - 1)
    own = counting[place] == ordinal
    made[calls[own]] = counted[place[own]]
    return made
