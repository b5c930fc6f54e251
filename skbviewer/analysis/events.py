# SPDX-License-Identifier: MIT
"""Events of a KBL as rows of their own, each with the leg and the call it happened in.

In: a KBL, its series and legs, what encloses what, its calls.  Out: EVENT_DTYPE rows in time order.
A change of a table (neighbours, addresses, routes, links) belongs to the packet in whose call it
happened: that packet caused it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..matching import LegTable, Nesting, SeriesTable, blocks, chosen
from ..readers import KblEvent
from ..records import KernelLog, Records, part
from ..store import Builder, schema
from .call_finder import Finder
from .call_table import CallTable

ENTRY, EVENT = 1, 4  # kbl.h enum kbl_kind
TOLD_FOR_OTHERS = (KblEvent.TASK, KblEvent.FOOTPRINT)
CHANGES = (KblEvent.NEIGH, KblEvent.ADDR, KblEvent.ROUTE, KblEvent.LINK)

EVENT_DTYPE = np.dtype(
    [
        ("record", "<i4"),
        ("event", "u1"),
        ("leg", "<i4"),  # -1: of no packet
        ("call", "<i4"),  # row of the innermost call of that leg around it, -1 = none
    ]
)
OF_RECORD = ("ordinal", "event", "ts", "cpu", "context", "pid", "skb", "data")  # stored beside

Index = npt.NDArray[np.int64]


def build(
    log: KernelLog,
    series: SeriesTable,
    legs: LegTable,
    nesting: Nesting,
    calls: CallTable,
) -> npt.NDArray[np.void]:
    """All events but those told for other records."""
    records = log.records
    record = np.flatnonzero((records["kind"] == EVENT) & ~chosen(records["event"], TOLD_FOR_OTHERS))
    rows = np.zeros(len(record), EVENT_DTYPE)
    rows["record"], rows["event"] = record, part(records, "event", record)
    rows["leg"] = leg = _legs(log, legs, nesting, record)
    finder = Finder(nesting, legs, calls)
    for some in blocks(len(rows)):
        rows["call"][some] = _calls(series, finder, record[some], leg[some])
    return rows


def _legs(log: KernelLog, legs: LegTable, nesting: Nesting, record: Index) -> Index:
    event = part(log.records, "event", record)
    leg = legs.of[record].astype(np.int64)
    sent = np.flatnonzero(event == KblEvent.XMIT)
    leg[sent] = _started(log, legs, record[sent])
    caused = np.flatnonzero(np.isin(event, CHANGES) & (leg < 0))
    for position, call in nesting.around(record[caused]):
        mine = caused[position]
        leg[mine] = np.where(leg[mine] < 0, legs.of[call], leg[mine])
    return leg


def _started(log: KernelLog, legs: LegTable, sent: Index) -> Index:
    """Of each XMIT the leg of the last START_XMIT of its skb and CPU: it may be freed already."""
    records = log.records
    starts = np.flatnonzero((records["kind"] == EVENT) & (records["event"] == KblEvent.START_XMIT))
    item = np.concatenate([starts, sent])
    order = np.lexsort((item, records["cpu"][item], records["skb"][item]))
    is_start = order < len(starts)
    last = np.maximum.accumulate(np.where(is_start, np.arange(len(item)), -1))
    start = item[order[np.maximum(last, 0)]]
    mine = item[order]
    same = (last >= 0) & (records["skb"][start] == records["skb"][mine])
    same &= records["cpu"][start] == records["cpu"][mine]
    leg = np.empty(len(item), np.int64)
    leg[order] = np.where(same, legs.of[start], -1)
    return leg[len(starts) :]


def _calls(series: SeriesTable, finder: Finder, record: Index, leg: Index) -> Index:
    """The row of the call of the leg that told each record, else of the innermost one open then."""
    told_by = series.told_by[record]
    row = np.full(len(record), -1, np.int64)
    told = np.flatnonzero(told_by >= 0)
    row[told] = finder.at(leg[told], told_by[told])
    left = np.flatnonzero((row < 0) & (leg >= 0))
    row[left] = finder.around(leg[left], record[left])
    return row


def store_events(
    log: KernelLog,
    source: int,
    events: npt.NDArray[np.void],
    first: dict[str, int],
    builder: Builder,
) -> None:
    """Write the events of a KBL and their details; `first` counts the rows stored before."""
    records = log.records

    def make(rows: slice) -> dict[str, npt.NDArray[np.generic]]:
        some = events[rows]
        columns = {name: part(records, name, some["record"]) for name in OF_RECORD}
        columns["source"] = np.full(len(some), source)
        for name in ("leg", "call"):
            columns[name] = np.where(some[name] >= 0, some[name] + np.int64(first[name] + 1), -1)
        return columns

    builder.add_parts(schema.event, len(events), make)
    details = log.details
    number = _numbers(records, events, first["event"])
    for table, rows in (
        (schema.frame, details.frames),
        (schema.drop, details.drops),
        (schema.change, details.changes),
        (schema.syscall, details.syscalls),
    ):
        told = {name: rows[name] for name in rows.dtype.names or () if name != "ordinal"}
        builder.add_array(table, told | {"event": number[rows["ordinal"]]})
    names = ((int(number[ordinal]), name) for ordinal, name in details.names.items())
    builder.add_rows(schema.event_name, [row for row in names if row[0] >= 0])


def _numbers(records: Records, events: npt.NDArray[np.void], before: int) -> npt.NDArray[np.int32]:
    """By ordinal of a record the row of its event, -1 = none; `before` are rows stored before."""
    number = np.full(int(records["ordinal"].max(initial=-1)) + 1, -1, np.int32)
    for rows in blocks(len(events)):
        told = part(records, "ordinal", events["record"][rows])
        number[told] = np.arange(rows.start, rows.stop) + before + 1
    return number
