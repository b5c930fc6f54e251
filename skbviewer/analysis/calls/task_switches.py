# SPDX-License-Identifier: MIT
"""Which calls saw another task on their CPU, or their own task on another CPU.

Input: the records of a KBL.  Output: MARK_SLEPT and MARK_MIGRATED of each call, and the times when
each CPU ran another thread than before.  A CALL is written when the function returns, so only
returns show for certain on which CPU a task was.  What matters is the last change before a call's
return, and whether it was during the call.  Returns are processed in order of time, and those at
the same time in order of their records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...matching import IntIndex, Rows, longer, passing
from ...records import Records, part, scratch_of
from ...records.compiled import Int, allocation_free
from ...records.types import LATEST_NS, Bools, Int32s, Int64s, UInt8s

MARK_SLEPT = 1  # another task ran on its CPU meanwhile
MARK_MIGRATED = 2  # its task ran on another CPU meanwhile

ENTRY, EXIT = 1, 2  # kbl.h enum kbl_kind
CPUS = 1 << 16  # the recorder's CPU numbers have 16 bits
TASK = 0  # context

STACKED, HEAPED = 0, 1  # indices of sizes
END, RECORD = 0, 1  # columns of returns


class Switches(NamedTuple):
    """`marks` of all records that are calls of a task; others may have any marks.

    `ts` are the times when calls (entries and returns) first show another thread on a CPU than
    before.  They are sorted; those of a CPU begin at index first[CPU].
    """

    marks: UInt8s
    first: Int32s
    ts: Int64s


def switches(records: Records) -> Switches:
    """Return the marks of all records, and the switches of all CPUs."""
    marks = scratch_of(records).full(len(records), np.uint8, 0)
    returns, tasks, cpus = _Returns(), _Seen(), _Seen()
    last, found = np.full(CPUS, -1, np.int64), [np.zeros((2, 0), np.int64)]
    for some in passing(records):
        rows = Rows(records, some)
        end, record = returns.until(rows, some.stop == len(records))
        begin, pid, own, cpu = (
            part(records, name, record) for name in ("ts", "pid", "cpu", "exit_cpu")
        )
        cpu = np.where(cpu < 0, own, cpu).astype(np.int64)
        pid = pid.astype(np.int64)
        task, place = tasks.of(pid), cpus.of(cpu)
        _mark(record, end, begin, task, place, cpu != own, *tasks.last, *cpus.last, marks)
        made = np.empty((2, len(end) + some.stop - some.start), np.int64)
        ts, kind, at, who = rows.columns("ts kind cpu pid")
        found.append(made[:, : int(_runs(ts, kind, at, who, end, cpu, pid, last, made))].copy())
    on, ts = np.concatenate(found, axis=1)
    order = np.argsort(on, kind="stable")  # they are already in order of time
    first = np.searchsorted(on[order], np.arange(CPUS + 1)).astype(np.int32)
    return Switches(marks, first, np.ascontiguousarray(ts[order]))


@allocation_free
def _runs(
    ts: Int64s,
    kind: UInt8s,
    cpu: Int32s,
    pid: Int64s,
    end: Int64s,
    end_cpu: Int64s,
    end_pid: Int64s,
    last: Int64s,
    made: Int64s,
) -> int:
    """Fill `made` (CPU, time) from entries, and from returns up to the last of them.

    `last` is the thread that each CPU ran last (-1 = none yet).
    """
    count, at = 0, 0
    for i in range(len(ts) + 1):
        while at < len(end) and (i == len(ts) or end[at] < ts[i]):
            on, who = end_cpu[at], end_pid[at]
            if 0 <= on < CPUS and who >= 0 and last[on] != who:
                if last[on] >= 0:
                    made[0, count], made[1, count] = on, end[at]
                    count += 1
                last[on] = who
            at += 1
        if i < len(ts) and kind[i] == ENTRY and 0 <= cpu[i] < CPUS and pid[i] >= 0:
            on = np.int64(cpu[i])
            if last[on] != pid[i]:
                if last[on] >= 0:
                    made[0, count], made[1, count] = on, ts[i]
                    count += 1
                last[on] = pid[i]
    return count


class _Returns:
    """Sorts returns, block by block.

    Future returns are on a stack, each one before those below it, as in nested calls.  A return
    that is later than the top of the stack goes into a heap (Knuth, TAOCP 3, 5.2.3).
    """

    def __init__(self) -> None:
        self._waiting, self._sizes = np.zeros((2, 0, 2), np.int64), np.zeros(2, np.int64)

    def until(self, rows: Rows, is_last: bool) -> tuple[Int64s, Int64s]:
        """Return (time, record) of returns up to the last of these records, or of all if `is_last`.

        Returns of interrupts are included because they show which task they interrupted, which
        matters if no call of a task returned meanwhile, as on an idle CPU.
        """
        more = rows.end - rows.first
        made = np.empty((2, int(self._sizes.sum()) + more), np.int64)
        if self._waiting.shape[1] < int(self._sizes.max()) + more:
            longer = np.zeros((2, int(self._sizes.max()) + more, 2), np.int64)
            self._waiting = np.concatenate([self._waiting, longer], axis=1)
        ts, kind, context, pid, leave = rows.columns("ts kind context pid exit_ts")
        count = _order(
            rows.first, ts, kind, context, pid, leave, is_last, self._waiting, self._sizes, made
        )
        return made[END, :count], made[RECORD, :count]


@allocation_free
def _order(
    first: int,
    ts: Int64s,
    kind: UInt8s,
    context: UInt8s,
    pid: Int64s,
    exit_ts: Int64s,
    is_last: bool,
    waiting: Int64s,
    sizes: Int64s,
    made: Int64s,
) -> int:
    """Fill `made` (END, RECORD); returns the number of its columns that are filled."""
    top, size, count = sizes[STACKED], sizes[HEAPED], np.int64(0)
    for i in range(len(ts) + is_last):
        now, end = np.int64(LATEST_NS), np.int64(-1)
        if i < len(ts):
            now = ts[i]
            end = now if kind[i] == EXIT else exit_ts[i]
            if end < 0 or (context[i] != TASK and pid[i] < 0):
                continue
        while top + size > 0:
            kept, at = STACKED, top - 1
            if size > 0 and (top == 0 or _is_before(waiting, HEAPED, 0, STACKED, at)):
                kept, at = HEAPED, np.int64(0)
            if waiting[kept, at, END] > now:
                break
            made[END, count], made[RECORD, count] = (
                waiting[kept, at, END],
                waiting[kept, at, RECORD],
            )
            count += 1
            if kept == STACKED:
                top -= 1
            else:
                size -= 1
                _sink(waiting, size)
        if top == 0 or end < waiting[STACKED, top - 1, END]:
            waiting[STACKED, top, END], waiting[STACKED, top, RECORD] = end, first + i
            top += 1
        else:
            waiting[HEAPED, size, END], waiting[HEAPED, size, RECORD] = end, first + i
            _rise(waiting, size)
            size += 1
    sizes[STACKED], sizes[HEAPED] = top - is_last, size  # without the sentinel at the end
    return int(count)


@allocation_free
def _is_before(waiting: Int64s, kept: Int, at: Int, other: Int, place: Int) -> bool:
    end, than = waiting[kept, at, END], waiting[other, place, END]
    earlier: bool = waiting[kept, at, RECORD] < waiting[other, place, RECORD]
    return bool(end < than) or (bool(end == than) and earlier)


@allocation_free
def _rise(waiting: Int64s, at: Int) -> None:
    """Move the last return of the heap to its place."""
    while at > 0 and _is_before(waiting, HEAPED, at, HEAPED, (at - 1) >> 1):
        _swap(waiting, at, (at - 1) >> 1)
        at = (at - 1) >> 1


@allocation_free
def _sink(waiting: Int64s, last: Int) -> None:
    """Replace the heap's first return, which is gone, by the one at `last`; then restore order."""
    _swap(waiting, np.int64(0), last)
    at, below = np.int64(0), np.int64(1)
    while below < last:
        if below + 1 < last and _is_before(waiting, HEAPED, below + 1, HEAPED, below):
            below += 1
        if not _is_before(waiting, HEAPED, below, HEAPED, at):
            break
        _swap(waiting, at, below)
        at, below = below, 2 * below + 1


@allocation_free
def _swap(waiting: Int64s, at: Int, other: Int) -> None:
    for k in (END, RECORD):
        kept = waiting[HEAPED, at, k]
        waiting[HEAPED, at, k] = waiting[HEAPED, other, k]
        waiting[HEAPED, other, k] = kept


class _Seen:
    """Numbers tasks, or CPUs; `last` says with which other one each was seen, and when.

    Columns: the other one (-1 = never), the last time with it (ns), and the last time with another.
    """

    def __init__(self) -> None:
        self._numbers = IntIndex()
        self.last = np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64)

    def of(self, values: Int64s) -> Int32s:
        """Return the numbers of values, which must be greater than -2."""
        made, (other, when, before) = self._numbers.of(values + 2), self.last
        size = self._numbers.count
        self.last = longer(other, size, -1), longer(when, size, 0), longer(before, size, -1)
        return made


@allocation_free
def _mark(
    record: Int64s,
    end: Int64s,
    begin: Int64s,
    task: Int32s,
    cpu: Int32s,
    moved: Bools,
    task_cpu: Int32s,
    task_ns: Int64s,
    task_before: Int64s,
    cpu_task: Int32s,
    cpu_ns: Int64s,
    cpu_before: Int64s,
    marks: UInt8s,
) -> None:
    """Set the marks of returns, in order of their ends."""
    for i in range(len(record)):
        t, c = task[i], cpu[i]
        if cpu_task[c] >= 0 and cpu_task[c] != t:
            cpu_before[c] = cpu_ns[c]
        if task_cpu[t] >= 0 and task_cpu[t] != c:
            task_before[t] = task_ns[t]
        cpu_task[c], cpu_ns[c], task_cpu[t], task_ns[t] = t, end[i], c, end[i]
        mark = 0
        if moved[i] or task_before[t] > begin[i]:
            mark = MARK_MIGRATED
        if not moved[i] and cpu_before[c] > begin[i]:
            mark |= MARK_SLEPT
        marks[record[i]] = mark
