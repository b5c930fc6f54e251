# SPDX-License-Identifier: MIT
"""From the slots of a .kbl file to records in time order.

First one row a head slot, then, for version 3, what the stream tells but once (threads, footprints)
goes to every row it holds for, and each CALL becomes an ENTRY and an EXIT.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..records import ColumnTable, Details, RecordTable
from . import _kbl_layout as kbl
from .kbl_calls import Exits, Expanded, expand
from .kbl_chunks import Chunk
from .kbl_details import read_details
from .kbl_footprints import read_footprints
from .kbl_order import time_order
from .kbl_rows import Rows, make_rows
from .kbl_slots import Column, Heads, Slots, complain, find_heads
from .kbl_told import fill_told
from .wire import Bytes, Ints

BLOCK = 1 << 18  # rows made at once


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
    heads, complaints = find_heads(data, chunks, order)
    rows = make_rows(heads, version, stext, symbols)
    footprints = read_footprints(rows, heads, version)
    owner, comms = heads.all_of_type(kbl.KblExtType.COMM, kbl.KBL_EXT_COMM)
    of_task = rows.event[owner] == kbl.KblEvent.TASK  # other events have names as well
    times, comms = rows.ts[owner[of_task]], comms[of_task]
    known = {int(kind) for kind in kbl.KblKind} - ({kbl.KblKind.CALL} if version == 2 else set())
    listed = np.zeros(256, np.bool_)
    listed[sorted(known)] = True
    unknown = ~listed[rows.kind]
    complain(complaints, unknown, "records of an unknown kind: left out")
    details = read_details(heads, stext)
    if version == 2:
        expanded = _as_written(rows, np.flatnonzero(~unknown))
    else:
        fill_told(rows, heads)
        expanded = expand(rows, heads, unknown, complaints)
    apart = _apart(heads)
    del heads  # the slots are the largest of what is no longer needed
    records = _table(rows, expanded, apart, footprints)
    return Decoded(records, times, comms, details, complaints)


def _as_written(rows: Rows, source: Ints) -> Expanded:
    """Of equal times by CPU, then in the order of its stream, in which the ordinal grows."""
    source = source[np.argsort(rows.cpu[source], kind="stable")]
    none = np.zeros(0, np.int64)
    return Expanded(
        source.astype(np.int32), rows.ts[source], len(source), Exits(none, none, none, none, none)
    )


def _table(rows: Rows, expanded: Expanded, apart: _Apart, footprints: ColumnTable) -> RecordTable:
    order = time_order(expanded.ts)
    made: dict[str, Column] = {}
    for first in range(0, max(len(order), 1), BLOCK):
        part = slice(first, first + BLOCK)
        for name, values in _columns(rows, expanded, order[part]).items():
            if not first:
                made[name] = np.empty(len(order), values.dtype)
            made[name][part] = values
    footprint = made.pop("footprint")
    made["dur"], made["counter"] = _gaps(apart, made), _counted(apart, made)
    return RecordTable(made, footprint, footprints)


def _columns(rows: Rows, expanded: Expanded, order: Ints) -> dict[str, Column]:
    """Columns of some rows: those of their sources, except what exits have of their own."""
    exits, number = expanded.exits, order - expanded.begin
    place = np.flatnonzero((number >= 0) & (number < len(exits.of)))
    number = number[place]
    source = expanded.source[order]
    columns = {name: column[source] for name, column in rows.columns().items() if name != "ts"}
    columns["ts"] = expanded.ts[order]
    columns["ordinal"] = source
    columns["kind"][place] = kbl.KblKind.EXIT
    columns["caller"][place] = 0
    for name, values in (("cpu", exits.cpu), ("skb", exits.skb), ("data", exits.ret)):
        columns[name][place] = values[number]
    given = (columns["flags"][place] & kbl.KBL_FLAG_SOCK) != 0
    columns["footprint"][place[~given]] = 0  # at the exit nothing is known of an skb
    return columns


class _Apart(NamedTuple):
    """What few records have, by ordinal: begins of LOST, counters of CALLs."""

    lost: Ints
    begin: Ints
    counting: Ints
    counted: Ints


def _apart(heads: Heads) -> _Apart:
    lost = np.flatnonzero(heads.kind == kbl.KblKind.LOST)
    begin = heads.view(kbl.KBL_LOST_SLOT)["first_ns"][lost].astype(np.int64)
    owner, slots = heads.all_of_type(kbl.KblExtType.COUNTER, kbl.KBL_EXT_COUNTER)
    owner, first = np.unique(owner, return_index=True)
    of_call = heads.kind[owner] == kbl.KblKind.CALL
    owner, slots = owner[of_call], slots[first[of_call]]
    counted = np.where(slots["valid"] != 0, slots["count"].astype(np.int64), -1)
    return _Apart(lost, begin, owner, counted)


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
    """Of a call's EXIT the events of the hardware counter."""
    if not len(apart.counting):
        return np.broadcast_to(np.int64(-1), len(columns["kind"]))
    made = np.full(len(columns["kind"]), -1)
    exits = np.flatnonzero(columns["kind"] == kbl.KblKind.EXIT)
    ordinal = columns["ordinal"][exits]
    place = np.minimum(np.searchsorted(apart.counting, ordinal), len(apart.counting) - 1)
    own = apart.counting[place] == ordinal
    made[exits[own]] = apart.counted[place[own]]
    return made
