# SPDX-License-Identifier: MIT
"""Events of a KBL as rows of their own, each with the leg and the call it happened in.

In: a KBL, its series and legs, what encloses what, its calls.  Out: EVENT_DTYPE rows in time order.
A change of a table (neighbours, addresses, routes, links) belongs to the packet in whose call it
happened: that packet caused it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..matching import LegTable, Nesting, Numbering, SeriesTable, chosen, longer, passing
from ..readers import KblEvent
from ..records import KernelLog, Records, part, room_of
from ..records.compiled import compiled
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

CPU_BITS = 32

Index = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


def build(
    log: KernelLog,
    series: SeriesTable,
    legs: LegTable,
    nesting: Nesting,
    calls: CallTable,
) -> npt.NDArray[np.void]:
    """All events but those told for other records."""
    records = log.records
    rows = _rows(records, legs)
    sent = np.flatnonzero(rows["event"] == KblEvent.XMIT)
    rows["leg"][sent] = _started(records, rows, sent)
    _note_causes(legs, nesting, rows)
    finder = Finder(nesting, legs, calls)
    for some in passing(records, len(rows)):
        record, leg = (rows[name][some].astype(np.int64) for name in ("record", "leg"))
        rows["call"][some] = _calls(series, finder, record, leg)
    return rows


def _rows(records: Records, legs: LegTable) -> npt.NDArray[np.void]:
    """The events in the legs of their own records; the call is not set."""
    skipped = np.zeros(256, np.bool_)
    skipped[list(TOLD_FOR_OTHERS)] = True
    count = sum(int(_is_event(records, some, skipped).sum()) for some in passing(records))
    rows, at = room_of(records).take(count, EVENT_DTYPE), 0
    for some in passing(records):
        mine = np.flatnonzero(_is_event(records, some, skipped))
        part_of = rows[at : at + len(mine)]
        part_of["record"], part_of["leg"] = mine + some.start, legs.of[some][mine]
        part_of["event"] = part(records, "event", some)[mine]
        at += len(mine)
    return rows


def _is_event(records: Records, some: slice, skipped: Flags) -> Flags:
    return np.asarray(
        (part(records, "kind", some) == EVENT) & ~skipped[part(records, "event", some)]
    )


def _started(records: Records, rows: npt.NDArray[np.void], sent: Index) -> Index:
    """Of each XMIT the leg of the last START_XMIT of its skb and CPU: it may be freed already."""
    starts = np.flatnonzero(rows["event"] == KblEvent.START_XMIT)
    item = np.sort(np.concatenate([starts, sent]))
    leg, last = np.empty(len(item), np.int64), np.zeros(0, np.int64)
    skbs, places = Numbering(), Numbering()
    for some in passing(records, len(item)):
        mine = item[some]
        record = rows["record"][mine]
        skb = skbs.of(part(records, "skb", record).astype(np.int64)).astype(np.int64) + 1
        place = places.of((skb << CPU_BITS) | (part(records, "cpu", record) + 1))
        last = longer(last, places.count, -1)
        is_start = rows["event"][mine] == KblEvent.START_XMIT
        leg[some] = rows["leg"][mine]
        _hand_on(is_start, place, last, leg[some])
    return np.asarray(leg[rows["event"][item] == KblEvent.XMIT], np.int64)


@compiled
def _hand_on(is_start: Flags, place: Small, last: Index, leg: Index) -> None:
    """`last` is by place the leg of the last start."""
    for i in range(len(place)):
        if is_start[i]:
            last[place[i]] = leg[i]
        else:
            leg[i] = last[place[i]]


def _note_causes(legs: LegTable, nesting: Nesting, rows: npt.NDArray[np.void]) -> None:
    """Set the legs of changes that packets caused."""
    caused = np.flatnonzero(chosen(rows["event"], CHANGES) & (rows["leg"] < 0))
    leg = rows["leg"][caused]
    for position, call in nesting.around(rows["record"][caused]):
        leg[position] = np.where(leg[position] < 0, legs.of[call], leg[position])
    rows["leg"][caused] = leg


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
        room_of(records).passed()
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
    highest = max((int(part(records, "ordinal", r).max()) for r in passing(records)), default=-1)
    number = room_of(records).full(highest + 1, np.int32, -1)
    for rows in passing(records, len(events)):
        told = part(records, "ordinal", events["record"][rows])
        number[told] = np.arange(rows.start, rows.stop) + before + 1
    return number
