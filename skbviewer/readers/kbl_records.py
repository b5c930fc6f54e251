# SPDX-License-Identifier: MIT
"""From the slots of a .kbl file to records in time order.

First one row a head slot, then, for version 3, what the stream tells but once (threads, footprints)
goes to every row it holds for.  A call with its return is one record, in either version.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..records import ColumnTable, Details, RecordTable
from ..records.order import time_order
from . import _kbl_layout as kbl
from .kbl_calls import complete_calls
from .kbl_chunks import Chunk
from .kbl_details import read_details
from .kbl_footprints import FILLERS, Prints, narrowed
from .kbl_pairs import join_pairs
from .kbl_rows import Beside, Rows, Told, read_rows
from .kbl_slots import Column, Heads, SlotReader, Slots, complain
from .kbl_told import fill_told
from .wire import Bytes, Ints, Mask


class Decoded(NamedTuple):
    """`records` in time order; `task_times` and `comms` are parallel."""

    records: RecordTable
    task_times: Ints
    comms: Slots  # KBL_EXT_COMM
    details: Details
    complaints: list[str]


def decode_records(
    data: Bytes, chunks: list[Chunk], order: str, version: int, stext: int, symbols: Ints
) -> Decoded:
    """Decode the RECORDS chunks; `symbols` are the symbol table's addresses in file order."""
    reader = SlotReader(data, chunks, order, FILLERS)
    prints = Prints(reader.most, order)
    rows, beside = read_rows(reader, Told(order, version, stext, symbols), prints)
    heads, complaints = reader.heads()
    footprints = prints.table()
    owner, comms = heads.all_of_type(kbl.KblExtType.COMM, kbl.KBL_EXT_COMM)
    of_task = rows.event[owner] == kbl.KblEvent.TASK  # other events have names as well
    times, comms = rows.ts[owner[of_task]], comms[of_task]
    known = {int(kind) for kind in kbl.KblKind} - ({kbl.KblKind.CALL} if version == 2 else set())
    listed = np.zeros(256, np.bool_)
    listed[sorted(known)] = True
    keep = listed[rows.kind]
    complain(complaints, ~keep, "records of an unknown kind: left out")
    details = read_details(heads, stext)
    apart = _apart(rows, heads, beside)
    if version > 2:
        fill_told(rows, heads, beside)
        complete_calls(rows, heads, complaints)
    del heads
    keep = join_pairs(rows, keep)
    records = _table(rows, _in_time(rows, keep, version), apart, footprints)
    return Decoded(records, times, comms, details, complaints)


def _in_time(rows: Rows, keep: Mask, version: int) -> Ints:
    """The rows to keep in time order.

    Of one time version 2's are as written, by CPU; of version 3's entries come first, a list's
    first packet before its others, for the stream tells a call when all is over.
    """
    if version == 2:
        source = np.flatnonzero(keep)
        source = source[np.argsort(rows.cpu[source], kind="stable")]
    else:
        entry = rows.kind == kbl.KblKind.ENTRY
        further = entry & (rows.data >= 0)
        parts = (entry & ~further, further, keep & ~entry)
        source = np.concatenate([np.flatnonzero(part) for part in parts])
    return source[time_order(rows.ts[source])]


def _table(rows: Rows, order: Ints, apart: _Apart, footprints: ColumnTable) -> RecordTable:
    made: dict[str, Column] = {"ordinal": order.astype(np.int32)}
    columns = rows.columns()
    vars(rows).clear()  # no column is there twice
    while columns:
        name, column = columns.popitem()
        made[name] = column[order]
        del column
    made["func"] = narrowed(made["func"])
    made["exit_cpu"][made["exit_ts"] < 0] = -1
    made["exit_cpu"] = narrowed(made["exit_cpu"])
    footprint = made.pop("footprint")
    made["dur"], made["counter"] = _gaps(apart, made), _counted(apart, made)
    return RecordTable(made, footprint, footprints)


class _Apart(NamedTuple):
    """What few records have, by ordinal: begins of LOST, counters of CALLs."""

    lost: Ints
    begin: Ints
    counting: Ints
    counted: Ints


def _apart(rows: Rows, heads: Heads, beside: Beside) -> _Apart:
    owner, slots = heads.all_of_type(kbl.KblExtType.COUNTER, kbl.KBL_EXT_COUNTER)
    owner, first = np.unique(owner, return_index=True)
    of_call = rows.kind[owner] == kbl.KblKind.CALL
    owner, slots = owner[of_call], slots[first[of_call]]
    counted = np.where(slots["valid"] != 0, slots["count"].astype(np.int64), -1)
    return _Apart(beside.lost, beside.begin, owner, counted)


def _gaps(apart: _Apart, columns: dict[str, Column]) -> Column:
    """Of LOST records the time without records, ns."""
    if not len(apart.lost):
        return np.broadcast_to(np.int64(-1), len(columns["kind"]))
    lost = np.flatnonzero(columns["kind"] == kbl.KblKind.LOST)
    dur = np.full(len(columns["kind"]), -1)
    begin = apart.begin[np.searchsorted(apart.lost, columns["ordinal"][lost])]
    dur[lost] = columns["ts"][lost] - begin
    return dur


def _counted(apart: _Apart, columns: dict[str, Column]) -> Column:
    """Of calls the events of the hardware counter."""
    if not len(apart.counting):
        return np.broadcast_to(np.int64(-1), len(columns["kind"]))
    made = np.full(len(columns["kind"]), -1)
    calls = np.flatnonzero(columns["exit_ts"] >= 0)
    ordinal = columns["ordinal"][calls]
    place = np.minimum(np.searchsorted(apart.counting, ordinal), len(apart.counting) - 1)
    own = apart.counting[place] == ordinal
    made[calls[own]] = apart.counted[place[own]]
    return made
