# SPDX-License-Identifier: MIT
"""What came between the entry and the exit of a call: interrupts, other tasks, CPUs, lost records.

In: the records of a KBL and its calls.  Out: for each call MARK_* bits and the time that interrupts
took inside it.  An interrupt is known by its events (irq, softirq) and by calls of a higher
context on the same CPU.  A CALL is written when the function returns, so only returns tell for
sure on which CPU a task was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..matching import Numbering, Rows, found, longer, passing
from ..records import Gathered, Records, narrow, part, room_of
from ..records.compiled import compiled
from ..records.order import time_order
from .call_table import CallTable

ENTRY, EXIT, EVENT, LOST = 1, 2, 4, 5  # kbl.h enum kbl_kind
IRQ_ENTRY, IRQ_EXIT, SOFTIRQ_ENTRY, SOFTIRQ_EXIT = 24, 25, 26, 27  # kbl.h enum kbl_event
TASK, SOFTIRQ, HARDIRQ = 0, 1, 2
LEVELS = 3  # contexts that others interrupt
CPUS = 1 << 16  # the recorder has 16 bits for them

MARK_SLEPT = 1  # another task ran on its CPU meanwhile
MARK_MIGRATED = 2  # its task ran on another CPU meanwhile
MARK_INTERRUPTED = 4
MARK_GAP = 8  # records of its CPU were lost meanwhile: what is inside it is not known

Index = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]
Number = int | np.int64


class Interruptions(NamedTuple):
    """Of each call: MARK_* bits and ns of interrupts inside (0 where it slept: not its own)."""

    marks: Bytes
    irq_ns: Index


def find(records: Records, calls: CallTable) -> Interruptions:
    """Marks and interrupt times of `calls`, made from `records` in time order."""
    switched, higher = _switches(records), _higher(records)
    near = higher.first.astype(np.int64)
    room = room_of(records)
    marks, irq_ns = room.full(len(calls), np.uint8, 0), room.full(len(calls), np.int64, 0)
    for rows in calls.passing():
        marked, level = marks[rows], calls.part("context", rows)
        task = np.flatnonzero((level == TASK) & (calls.part("pid", rows) > 0))
        marked[task] = switched[calls.part("entry", rows)[task]]
        begin, end, cpu = (np.array(calls.part(n, rows)) for n in ("entry_ns", "exit_ns", "cpu"))
        _sum(np.array(level), begin, end, cpu, marked, irq_ns[rows], *higher, near)
        marked[irq_ns[rows] > 0] |= MARK_INTERRUPTED
    _note_gaps(records, calls, marks)
    return Interruptions(marks, room.keep(narrow(irq_ns)))


def _switches(records: Records) -> Bytes:
    """MARK_SLEPT of calls that saw another task on their CPU, MARK_MIGRATED of those on two CPUs.

    Of a return it is known which task was on which CPU: what matters is the last time that this
    changed before a call's own return, and whether that was inside the call.
    """
    marks = room_of(records).full(len(records), np.uint8, 0)
    waiting = np.zeros((6, 0), np.int64)
    tasks, cpus = _Seen(), _Seen()
    for some in passing(records):
        last = some.stop == len(records)
        ends = np.concatenate([waiting, _returns(Rows(records, some))], axis=1)
        end = ends[1]
        until = np.iinfo(np.int64).max if last else int(Rows(records, some)["ts"][-1])
        order = time_order(end)
        now = order[: np.searchsorted(end[order], until, "right")]
        waiting = ends[:, np.sort(order[len(now) :])]
        item, end, begin, pid, cpu, moved = ends[:, now]
        _mark(item, end, begin, tasks.of(pid), cpus.of(cpu), moved, *tasks.last, *cpus.last, marks)
    return marks


def _returns(rows: Rows) -> Index:
    """Of each return in a task: record, when, entry, task, CPU, 1 if it was entered elsewhere."""
    kind, context, ts, leave = rows.columns("kind context ts exit_ts")
    item = np.flatnonzero(((kind == EXIT) | (leave >= 0)) & (context == TASK))
    exits = kind[item] == EXIT
    begin, own = ts[item], rows["cpu"][item]
    end = np.where(exits, begin, leave[item])
    cpu = np.where(exits, -1, rows["exit_cpu"][item])
    cpu = np.where(cpu < 0, own, cpu)
    made = np.stack([item + rows.first, end, begin, rows["pid"][item], cpu, cpu != own])
    return np.asarray(made[:, end >= 0], np.int64)


class _Seen:
    """Numbers tasks, or CPUs; `last`: with which other each was seen last, when, and before that.

    Columns: what it was seen with (-1: never), when (ns), and when it was last seen with another.
    """

    def __init__(self) -> None:
        self._numbers = Numbering()
        self.last = np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64)

    def of(self, values: Index) -> Small:
        """The numbers of values above -2."""
        made, (other, when, before) = self._numbers.of(values + 2), self.last
        size = self._numbers.count
        self.last = longer(other, size, -1), longer(when, size, 0), longer(before, size, -1)
        return made


@compiled
def _mark(
    item: Index,
    end: Index,
    begin: Index,
    task: Small,
    cpu: Small,
    moved: Index,
    task_cpu: Small,
    task_ns: Index,
    task_before: Index,
    cpu_task: Small,
    cpu_ns: Index,
    cpu_before: Index,
    marks: Bytes,
) -> None:
    """Set marks of returns in order of their ends."""
    for i in range(len(item)):
        t, c = task[i], cpu[i]
        if cpu_task[c] >= 0 and cpu_task[c] != t:
            cpu_before[c] = cpu_ns[c]
        if task_cpu[t] >= 0 and task_cpu[t] != c:
            task_before[t] = task_ns[t]
        cpu_task[c], cpu_ns[c], task_cpu[t], task_ns[t] = t, end[i], c, end[i]
        mark = 0
        if moved[i] != 0 or task_before[t] > begin[i]:
            mark = MARK_MIGRATED
        if moved[i] == 0 and cpu_before[c] > begin[i]:
            mark |= MARK_SLEPT
        marks[item[i]] = mark


class _Higher(NamedTuple):
    """When what interrupts a context ran: intervals that do not touch, in order of time.

    Those of a context and CPU stand from first[CPUS * context + CPU] on; `total` is how long those
    before each lasted.
    """

    first: Small
    begin: Index
    end: Index
    total: Index


def _higher(records: Records) -> _Higher:
    """As far as it is told: by calls of a higher context and by events of interrupts."""
    begin, end = np.zeros(LEVELS * CPUS, np.int64), np.full(LEVELS * CPUS, -1, np.int64)
    told, room = _told(records), room_of(records)
    united = tuple(Gathered(room, np.int64) for _ in range(3))  # place, begin, end
    for some in passing(records):
        rows = Rows(records, some)
        exit_ts, cpu, kind, context = (
            column.copy() for column in rows.columns("exit_ts exit_cpu kind context")
        )
        mine = slice(*np.searchsorted(told[0], (some.start, some.stop)))
        record, until, where, above = told[:, mine]
        exit_ts[record - some.start] = until
        context[record - some.start] = above
        cpu[record - some.start], kind[record - some.start] = where, ENTRY
        made = np.empty((3, LEVELS * len(kind)), np.int64)
        count = _unite(rows["ts"], exit_ts, kind, context, cpu, begin, end, made)
        for column, values in zip(united, made[:, :count], strict=True):
            column.add(values.copy())
    open_ = np.flatnonzero(end >= 0)
    for column, values in zip(united, (open_, begin[open_], end[open_]), strict=True):
        column.add(values)
    where, begin, end = (column.whole() for column in united)
    size = np.bincount(where, minlength=LEVELS * CPUS)
    rank = np.cumsum(size > 0)[where]  # 16 bits are sorted by radix
    small = int(rank.max(initial=0)) < 1 << 16
    order = np.argsort(rank.astype(np.uint16) if small else rank, kind="stable")
    begin, end = room.keep(begin[order]), room.keep(end[order])
    first = np.append(0, np.cumsum(size)).astype(np.int32)
    return _Higher(first, begin, end, room.keep(np.append(0, np.cumsum(end - begin))))


def _told(records: Records) -> Index:
    """Entry events of interrupts that the CPU leaves next: record, when, CPU, context."""
    parts = [np.zeros((4, 0), np.int64)]
    for some in passing(records):
        rows = Rows(records, some)
        kind, event = rows.columns("kind event")
        chosen = np.flatnonzero((kind == EVENT) & (event >= IRQ_ENTRY) & (event <= SOFTIRQ_EXIT))
        columns = (chosen + some.start, rows["ts"][chosen], rows["cpu"][chosen], event[chosen])
        parts.append(np.stack(columns).astype(np.int64))
    every, found = np.concatenate(parts, axis=1), []
    for enter, leave, above in (
        (IRQ_ENTRY, IRQ_EXIT, HARDIRQ),
        (SOFTIRQ_ENTRY, SOFTIRQ_EXIT, SOFTIRQ),
    ):
        mine = every[:, (every[3] == enter) | (every[3] == leave)]
        record, ts, cpu, event = mine[:, np.argsort(mine[2], kind="stable")]
        pair = (event[:-1] == enter) & (event[1:] == leave) & (cpu[1:] == cpu[:-1])
        at = np.flatnonzero(pair)
        found.append(np.stack([record[at], ts[at + 1], cpu[at], np.full(len(at), above)]))
    both = np.concatenate(found, axis=1)
    return np.asarray(both[:, np.argsort(both[0], kind="stable")], np.int64)


@compiled
def _unite(
    ts: Index,
    exit_ts: Index,
    kind: Bytes,
    context: Bytes,
    cpu: Small,
    begin: Index,
    end: Index,
    made: npt.NDArray[np.int64],
) -> int:
    """Calls become intervals; `begin` and `end` (-1: none) are of the last one of each place.

    Returns how many columns of `made` (place, begin, end) are whole.
    """
    count = 0
    for i in range(len(ts)):
        if kind[i] != ENTRY or exit_ts[i] < 0 or not 0 <= cpu[i] < CPUS:
            continue
        for level in range(context[i] if context[i] < LEVELS else LEVELS):
            at = CPUS * np.int64(level) + cpu[i]
            if end[at] < ts[i]:
                if end[at] >= 0:
                    made[0, count], made[1, count], made[2, count] = at, begin[at], end[at]
                    count += 1
                begin[at], end[at] = ts[i], exit_ts[i]
            else:
                end[at] = max(end[at], exit_ts[i])
    return count


@compiled
def _search(column: Index, low: Number, high: Number, near: Number, value: Number) -> np.int64:
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


@compiled
def _sum(
    context: Bytes,
    entry_ns: Index,
    exit_ns: Index,
    cpu: Small,
    marks: Bytes,
    irq_ns: Index,
    first: Small,
    begin: Index,
    end: Index,
    total: Index,
    near: Index,
) -> None:
    """Set irq_ns of calls that have an end and did not sleep; `near` is where the last one was."""
    for i in range(len(context)):
        if exit_ns[i] < 0 or marks[i] != 0 or context[i] >= LEVELS or not 0 <= cpu[i] < CPUS:
            continue
        at = CPUS * np.int64(context[i]) + cpu[i]
        low, high = np.int64(first[at]), np.int64(first[at + 1])
        if low == high:
            continue
        since = _search(begin, low, high, near[at], entry_ns[i] - 1)
        until = _search(begin, low, high, since, exit_ns[i])
        near[at] = since
        if until > since:
            beyond = max(end[until - 1] - exit_ns[i], 0)
            irq_ns[i] = total[until] - total[since] - beyond


def _note_gaps(records: Records, calls: CallTable, marks: Bytes) -> None:
    """Mark calls on a CPU that lost records between their entry and exit."""
    gaps = found(records, lambda some: part(records, "kind", some) == LOST)
    if not len(gaps):
        return
    ts, dur, lost_on = (part(records, name, gaps).tolist() for name in ("ts", "dur", "cpu"))
    for rows in calls.passing():
        cpu, enter, leave = (calls.part(name, rows) for name in ("cpu", "entry_ns", "exit_ns"))
        for end, lasted, number in zip(ts, dur, lost_on, strict=True):
            ends = np.where(leave >= 0, leave, end)
            across = (cpu == number) & (enter <= end) & (ends >= end - max(lasted, 0))
            marks[rows][across] |= MARK_GAP
