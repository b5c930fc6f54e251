# SPDX-License-Identifier: MIT
"""What came between the entry and the exit of a call: interrupts, other tasks, CPUs, lost records.

In: the records of a KBL, its losses and its calls.  Out: for each call how long it took, MARK_*
bits, the time that interrupts took inside it and how many probed calls were in them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..matching import whole
from ..records import Gathered, Records, narrow, part
from ..records.compiled import Int, lean
from .call_table import CallTable, Column
from .interrupts import CPUS, LEVELS, interrupts
from .losses import Losses
from .probed import Probed
from .switches import MARK_MIGRATED, MARK_SLEPT, switches

__all__ = ["MARK_GAP", "MARK_INTERRUPTED", "MARK_MIGRATED", "MARK_SLEPT", "Interruptions", "find"]

TASK = 0  # context
IRQ_NS, DUR_NS, PROBED, WITH_SKB = range(4)  # rows of what is made of calls

MARK_INTERRUPTED = 4
MARK_GAP = 8  # records of its CPUs were lost meanwhile: what is inside it is not known

Index = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]


class Interruptions(NamedTuple):
    """Of each call: MARK_* bits, ns of interrupts inside (0 where it slept: not its own), ns from
    entry to exit (-1: unknown), and ns of interrupts and calls directly inside.

    `probed` and `with_skb` are how many probed calls those interrupts made (0 where nobody asks).
    """

    marks: Bytes
    irq_ns: Column
    dur_ns: Column
    inside_ns: Index
    probed: Column
    with_skb: Column


def find(records: Records, losses: Losses, calls: CallTable, probed: Probed) -> Interruptions:
    """Marks and times of `calls`, made from `records` in time order."""
    higher, columns = interrupts(records, probed), (*_whole(records), switches(records))
    near, room = higher.first.astype(np.int64), calls.room
    marks, inside = room.take(len(calls), np.uint8), room.full(len(calls), np.int64, 0)
    told = tuple(Gathered(room, np.int8) for _ in range(4))
    parent, entry = calls.stored("parent"), calls.stored("entry")
    for rows in calls.passing():
        made = np.empty((len(told), rows.stop - rows.start), np.int64)
        _sum(
            rows.start, parent[rows], entry[rows], *columns, *higher, near,
            marks, made, inside,
        )  # fmt: skip
        for column, values in zip(told, made, strict=True):
            column.add(narrow(values))
    _note_gaps(records, losses, calls, marks)
    irq_ns, dur_ns, *probed_inside = (column.whole() for column in told)
    return Interruptions(marks, irq_ns, dur_ns, inside, *probed_inside)


def _whole(records: Records) -> tuple[Index, Index, Bytes, npt.NDArray[np.uint16], Small]:
    types = {"ts": "i8", "exit_ts": "i8", "context": "u1", "cpu": "u2", "pid": "i4"}
    ts, exit_ts, context, cpu, pid = (whole(records, *column) for column in types.items())
    return ts, exit_ts, context, cpu, pid


@lean
def _sum(
    first: int,
    parent: Small,
    entry: Small,
    ts: Index,
    exit_ts: Index,
    context: Bytes,
    cpu: npt.NDArray[np.uint16],
    pid: Small,
    switched: Bytes,
    where: Small,
    begin: Index,
    end: Index,
    total: Index,
    calls: Small,
    with_skb: Small,
    near: Index,
    marks: Bytes,
    made: Index,
    inside: Index,
) -> None:
    """The calls from `first` on; `near` is where the last one was among the intervals."""
    for i in range(len(entry)):
        record = entry[i]
        leave, level = exit_ts[record], np.int64(context[record])
        mark, irq, dur = np.uint8(0), np.int64(0), np.int64(-1)
        made[:, i] = 0
        if level == TASK and pid[record] > 0:
            mark = switched[record]
        if leave >= 0:
            dur = leave - ts[record]
        if leave >= 0 and mark == 0 and level < LEVELS:
            at = CPUS * level + cpu[record]
            low, high = np.int64(where[at]), np.int64(where[at + 1])
            if low < high:
                since = _search(begin, low, high, near[at], ts[record] - 1)
                until = _search(begin, low, high, since, leave - 1)
                near[at] = since
                if until > since:
                    irq = total[until] - total[since] - max(end[until - 1] - leave, 0)
                    made[PROBED, i] = calls[until] - calls[since]
                    made[WITH_SKB, i] = with_skb[until] - with_skb[since]
        marks[first + i] = mark | MARK_INTERRUPTED if irq > 0 else mark
        made[IRQ_NS, i], made[DUR_NS, i] = irq, dur
        inside[first + i] += irq
        if parent[i] >= 0 and dur > 0:
            inside[parent[i]] += dur - irq


@lean
def _search(column: Index, low: Int, high: Int, near: Int, value: Int) -> np.int64:
    """The first place from low to below high with more than `value`, else high; from `near` on."""
    step = np.int64(1)
    if near > low and column[near - 1] > value:
        top = near - 1
        while top - step > low and column[top - step] > value:
            top, step = top - step, 2 * step
        low, high = max(low, top - step), top
    else:
        bottom = near
        while bottom + step < high and column[bottom + step] <= value:
            bottom, step = bottom + step, 2 * step
        low, high = bottom, min(high, bottom + step)
    while low < high:
        middle = (low + high) // 2
        if column[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return np.int64(low)


def _note_gaps(records: Records, losses: Losses, calls: CallTable, marks: Bytes) -> None:
    """Mark calls on a CPU that lost records between their entry and exit.

    Of one that changed its CPU nobody knows where it was meanwhile: any CPU's losses count.
    """
    if not len(losses.ts):
        return
    ts, dur, lost_on = (column.tolist() for column in (losses.ts, losses.dur, losses.cpu))
    for rows in calls.passing():
        cpu, enter, leave = (calls.part(name, rows) for name in ("cpu", "entry_ns", "exit_ns"))
        left_on = part(records, "exit_cpu", calls.part("entry", rows))  # -1: open
        moved = ((marks[rows] & MARK_MIGRATED) != 0) | ((left_on >= 0) & (left_on != cpu))
        for end, lasted, number in zip(ts, dur, lost_on, strict=True):
            ends = np.where(leave >= 0, leave, end)
            across = ((cpu == number) | moved) & (enter <= end) & (ends >= end - max(lasted, 0))
            marks[rows][across] |= MARK_GAP
