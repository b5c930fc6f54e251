# SPDX-License-Identifier: MIT
"""When what interrupts an execution context ran, as far as it is told.

In: the records of a KBL.  Out: intervals.  An interrupt is known by its events (irq, softirq) and
by calls of a higher context on the same CPU.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..matching import Rows, passing
from ..records import Gathered, Records, room_of
from ..records.compiled import Int, lean

ENTRY, EVENT = 1, 4  # kbl.h enum kbl_kind
IRQ_ENTRY, IRQ_EXIT, SOFTIRQ_ENTRY, SOFTIRQ_EXIT = 24, 25, 26, 27  # kbl.h enum kbl_event
SOFTIRQ, HARDIRQ = 1, 2  # context
RECORD, UNTIL, ON_CPU, ABOVE = 0, 1, 2, 3  # rows of what is told: the last is the context
LEVELS = 3  # contexts that others interrupt
COLUMNS = "ts exit_ts kind context exit_cpu"
CPUS = 1 << 16  # the recorder has 16 bits for them

Index = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]


class Interrupts(NamedTuple):
    """Intervals that do not touch, in order of time.

    Those of a context and CPU stand from first[CPUS * context + CPU] on; `total` is how long those
    before each lasted.
    """

    first: Small
    begin: Index
    end: Index
    total: Index


def interrupts(records: Records) -> Interrupts:
    """Of all contexts and CPUs."""
    told, room, done = _told(records), room_of(records), np.zeros(1, np.int64)
    begin, end = np.zeros(LEVELS * CPUS, np.int64), np.full(LEVELS * CPUS, -1, np.int64)
    united = tuple(Gathered(room, np.int64) for _ in range(3))  # place, begin, end
    made = np.empty((3, 0), np.int64)
    for some in passing(records):
        ts, leave, kind, context, cpu = Rows(records, some).columns(COLUMNS)
        if made.shape[1] < LEVELS * len(ts):
            made = np.empty((3, LEVELS * len(ts)), np.int64)
        count = _unite(some.start, ts, leave, kind, context, cpu, told, done, begin, end, made)
        for column, values in zip(united, made[:, :count], strict=True):
            column.add(values.copy())
    open_ = np.flatnonzero(end >= 0)
    for column, values in zip(united, (open_, begin[open_], end[open_]), strict=True):
        column.add(values)
    where, begin, end = (column.whole() for column in united)
    size = np.bincount(where, minlength=LEVELS * CPUS)
    first = np.append(0, np.cumsum(size))
    ordered = [room.take(len(where) + more, np.int64) for more in (0, 0, 1)]
    _order(where, begin, end, first[:-1].copy(), *ordered)
    return Interrupts(first.astype(np.int32), *ordered)


def _told(records: Records) -> Index:
    """Columns are entry events of interrupts that the CPU leaves next, in their order."""
    last = np.full(LEVELS * CPUS, -1, np.int64)
    parts = [np.zeros((4, 0), np.int64)]
    for some in passing(records):
        rows = Rows(records, some)
        made = np.empty((4, some.stop - some.start), np.int64)
        ts, kind, event, cpu = rows.columns("ts kind event cpu")
        count = _pair(some.start, ts, kind, event, cpu, last, made)
        parts.append(made[:, :count].copy())
    every = np.concatenate(parts, axis=1)
    return np.ascontiguousarray(every[:, np.argsort(every[RECORD], kind="stable")])


@lean
def _pair(
    first: int, ts: Index, kind: Bytes, event: Bytes, cpu: Small, last: Index, made: Index
) -> int:
    """Fill `made`; `last` is the entry that a CPU did not yet leave."""
    count = 0
    for i in range(len(kind)):
        is_told = (kind[i] == EVENT) & (event[i] >= IRQ_ENTRY) & (event[i] <= SOFTIRQ_EXIT)
        if not is_told or not 0 <= cpu[i] < CPUS:  # one branch: kinds are not to be guessed
            continue
        above = HARDIRQ if event[i] <= IRQ_EXIT else SOFTIRQ
        at = CPUS * above + cpu[i]
        if event[i] == IRQ_ENTRY or event[i] == SOFTIRQ_ENTRY:
            last[at] = first + i
        elif last[at] >= 0:
            made[RECORD, count], made[UNTIL, count] = last[at], ts[i]
            made[ON_CPU, count], made[ABOVE, count], last[at] = cpu[i], above, -1
            count += 1
    return count


@lean
def _unite(
    first: int,
    ts: Index,
    exit_ts: Index,
    kind: Bytes,
    context: Bytes,
    exit_cpu: Small,
    told: Index,
    done: Index,
    begin: Index,
    end: Index,
    made: Index,
) -> int:
    """Calls become intervals; `begin` and `end` (-1: none) are of the last one of each place.

    Returns how many columns of `made` (place, begin, end) are whole; `done` of `told` are taken.
    """
    count = np.int64(0)
    for i in range(len(ts)):
        at = done[0]
        if at < told.shape[1] and told[RECORD, at] == first + i:
            done[0] += 1
            count = _add(
                told[ABOVE, at], told[ON_CPU, at], ts[i], told[UNTIL, at], begin, end, made, count
            )
        elif (kind[i] == ENTRY) & (context[i] > 0) & (exit_ts[i] >= 0) and 0 <= exit_cpu[i] < CPUS:
            count = _add(
                np.int64(context[i]), np.int64(exit_cpu[i]), ts[i], exit_ts[i],
                begin, end, made, count,
            )  # fmt: skip
    return int(count)


@lean
def _add(
    above: Int,
    cpu: Int,
    since: Int,
    until: Int,
    begin: Index,
    end: Index,
    made: Index,
    count: np.int64,
) -> np.int64:
    """An interval of what interrupts all contexts below; returns how many of `made` are whole."""
    for level in range(min(above, LEVELS)):
        at = CPUS * level + cpu
        if end[at] < since:
            if end[at] >= 0:
                made[0, count], made[1, count], made[2, count] = at, begin[at], end[at]
                count += 1
            begin[at], end[at] = since, until
        else:
            end[at] = max(end[at], until)
    return count


@lean
def _order(
    where: Index,
    begin: Index,
    end: Index,
    place: Index,
    begin_out: Index,
    end_out: Index,
    total: Index,
) -> None:
    """Put intervals behind those of the same place, and sum them up."""
    for i in range(len(where)):
        at = place[where[i]]
        begin_out[at], end_out[at] = begin[i], end[i]
        place[where[i]] += 1
    total[0] = 0
    for i in range(len(where)):
        total[i + 1] = total[i] + end_out[i] - begin_out[i]
