# SPDX-License-Identifier: MIT
"""Write the events of a KBL as rows, each with the leg and the call in which it happened.

Input: a KBL, its skb lifetimes and legs, the nesting, and its calls.  Output: rows of EVENT_DTYPE,
in order of time.  A change of a table (neighbours, addresses, routes, links) belongs to the packet
in whose call it happened, because this packet caused it.  A page fault or a wait for a lock belongs
to a packet in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ...matching import IntIndex, LegTable, Nesting, Rows, SeriesTable, longer, record_blocks
from ...readers import KblEvent
from ...records import SEEN, ColumnTable, Gathered, KernelLog, Records, part, parts, scratch_of
from ...records.compiled import allocation_free
from ...records.kernel_events import SEEN_AT, Trait, flags
from ...records.types import Bools, Int32s, Int64s, UInt8s
from ...store import BulkRows, FewRows, NewRows, of_columns, schema
from ..calls.call_finder import Finder
from ..calls.call_table import CallTable
from .call_rows import constant_column, row_ids

EVENT = 4  # kbl.h enum kbl_kind
SEEN_NUMBER = SEEN_AT.number
IS_SKIPPED, IS_CAUSED = flags(Trait.DESCRIBES), flags(Trait.CHANGE, Trait.INSIDE)

EVENT_DTYPE = np.dtype(
    [
        ("record", "<i4"),
        ("event", "u1"),
        ("leg", "<i4"),  # -1: of no packet
        ("call", "<i4"),  # row of the innermost call of that leg around the event, -1 = none
    ]
)
OF_RECORD = ("ordinal", "ts", "cpu", "context", "pid", "skb", "data")  # stored from the record

CPU_BITS = 32


def build(
    log: KernelLog,
    series: SeriesTable,
    legs: LegTable,
    nesting: Nesting,
    calls: CallTable,
) -> ColumnTable:
    """Return the events of a log as EVENT_DTYPE, each with its leg and its call (-1: none).

    Events that only describe other records are left out.
    """
    rows = _rows(log.records, legs)
    record, event, leg, call = (rows.stored(name) for name in EVENT_DTYPE.names or ())
    sent = np.flatnonzero(event == KblEvent.XMIT)
    leg[sent] = _started(log.records, rows, sent)
    finder = Finder(nesting, legs, calls)
    for some in record_blocks(log.records, len(rows)):
        caused = IS_CAUSED[event[some]]
        call[some] = finder.innermost_calls(leg[some], record[some], series.owner_calls, caused)
    return rows


def _rows(records: Records, legs: LegTable) -> ColumnTable:
    """Return the events, each with the leg of its own record; column `call` is not filled."""
    scratch, of_event = scratch_of(records), ("record", "event", "leg")
    made = {name: Gathered(scratch, EVENT_DTYPE[name]) for name in of_event}
    for some in record_blocks(records):
        kind, event = Rows(records, some).columns("kind event")
        rows = [np.empty(len(kind), EVENT_DTYPE[name]) for name in of_event]
        count = _fill(some.start, kind, event, legs.of[some], *rows)
        for name, column in zip(of_event, rows, strict=True):
            made[name].add(column[:count].copy())
    columns = {name: column.whole() for name, column in made.items()}
    columns["call"] = scratch.take(len(columns["record"]), EVENT_DTYPE["call"])
    return ColumnTable(EVENT_DTYPE, columns, scratch)


@allocation_free
def _fill(
    first: int, kind: UInt8s, event: UInt8s, of: Int32s, record: Int32s, number: UInt8s, leg: Int32s
) -> int:
    """Write the events among the records from `first` on into the columns; return how many."""
    count = 0
    for i in range(len(kind)):
        is_point = (kind[i] == SEEN) & (event[i] == 0)
        record[count], leg[count] = first + i, of[i]
        number[count] = SEEN_NUMBER if is_point else event[i]
        # Without a branch, which would often be mispredicted.
        count += ((kind[i] == EVENT) | (kind[i] == SEEN)) & ~IS_SKIPPED[event[i]]
    return count


def _started(records: Records, rows: ColumnTable, sent: Int64s) -> Int64s:
    """Return for each XMIT event the leg of the last START_XMIT event of its skb on its CPU.

    When an XMIT event is recorded, the skb may already be freed.  So the leg of the event's own
    record may be wrong.
    """
    event, of_row, of_leg = (rows.stored(name) for name in ("event", "record", "leg"))
    starts = np.flatnonzero(event == KblEvent.START_XMIT)
    item = np.sort(np.concatenate([starts, sent]))
    leg, last = np.empty(len(item), np.int64), np.zeros(0, np.int64)
    skbs, places = IntIndex(), IntIndex()
    for some in record_blocks(records, len(item)):
        mine = item[some]
        record = of_row[mine]
        skb = skbs.numbers_of(part(records, "skb", record).astype(np.int64)).astype(np.int64) + 1
        place = places.numbers_of((skb << CPU_BITS) | (part(records, "cpu", record) + 1))
        last = longer(last, places.count, -1)
        leg[some] = of_leg[mine]
        _hand_on(event[mine] == KblEvent.START_XMIT, place, last, leg[some])
    return np.asarray(leg[event[item] == KblEvent.XMIT], np.int64)


@allocation_free
def _hand_on(is_start: Bools, place: Int32s, last: Int64s, leg: Int64s) -> None:
    """Give each XMIT event the leg of the last START_XMIT event of the same skb on the same CPU.

    `place` has a number for each pair of skb and CPU, and `last` the leg of each pair's last
    START_XMIT.
    """
    for i in range(len(place)):
        if is_start[i]:
            last[place[i]] = leg[i]
        else:
            leg[i] = last[place[i]]


def event_rows(
    log: KernelLog, source: int, events: ColumnTable, first: dict[str, int]
) -> Iterator[NewRows]:
    """Yield the events of a KBL and their details, as rows of several tables.

    `source` is the source id of the KBL.  `first` has, for each table, the number of rows that were
    stored before.
    """
    records = log.records

    def make(rows: slice) -> dict[str, npt.NDArray[np.generic]]:
        scratch_of(records).passed()
        record = events.stored("record")[rows].astype(np.int64)
        columns: dict[str, npt.NDArray[np.generic]] = dict(parts(records, OF_RECORD, record))
        columns |= {
            "event": events.stored("event")[rows],
            "source": constant_column(source, len(record)),
        }
        for name in ("leg", "call"):
            columns[name] = row_ids(events.stored(name)[rows], first[name])
        return columns

    yield BulkRows(schema.event, len(events), make)
    details = log.details
    if not any(map(len, details)):
        return
    number = _numbers(records, events, first["event"])
    for table, rows in (
        (schema.frame, details.frames),
        (schema.drop, details.drops),
        (schema.change, details.changes),
        (schema.syscall, details.syscalls),
    ):
        of_events = {name: rows[name] for name in rows.dtype.names or () if name != "ordinal"}
        yield of_columns(table, of_events | {"event": number[rows["ordinal"]]})
    names = ((int(number[ordinal]), name) for ordinal, name in details.names.items())
    yield FewRows(schema.event_name, [row for row in names if row[0] >= 0])


def _numbers(records: Records, events: ColumnTable, before: int) -> npt.NDArray[np.int32]:
    """Return for each ordinal the row of the event whose record has this ordinal; -1 = none.

    `before` is the number of rows that were stored before.
    """
    highest = max(
        (int(part(records, "ordinal", r).max()) for r in record_blocks(records)), default=-1
    )
    number = scratch_of(records).full(highest + 1, np.int32, -1)
    for rows in record_blocks(records, len(events)):
        ordinals = part(records, "ordinal", events["record"][rows])
        number[ordinals] = np.arange(rows.start, rows.stop) + before + 1
    return number
