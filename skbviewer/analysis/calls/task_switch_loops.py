# SPDX-License-Identifier: MIT
"""Follow which thread runs on each CPU, in loops for task_switches.py."""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free
from ...records.types import LATEST_NS, Bools, Int32s, Int64s, UInt8s

MARK_SLEPT = 1  # another task ran on its CPU meanwhile
MARK_MIGRATED = 2  # its task ran on another CPU meanwhile

ENTRY, EXIT = 1, 2  # kbl.h enum kbl_kind
TASK = 0  # context

STACKED, HEAPED = 0, 1  # indices of sizes
END, RECORD = 0, 1  # columns of returns


@allocation_free
def thread_runs(
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
    """Write CPU and time of each thread switch into `made`, and return the number of switches.

    A CPU has switched threads if an entry or return on it is from another thread than the previous
    entry or return on it.  `ts`, `kind`, `cpu` and `pid` are columns of a block of records; only
    the entries among them count.  `end`, `end_cpu` and `end_pid` are the returns up to the last of
    these records, in order of time.  `last` is the last thread seen on each CPU (-1: none yet).
    """
    count, at = 0, 0
    for i in range(len(ts) + 1):
        while at < len(end) and (i == len(ts) or end[at] < ts[i]):
            on, who = end_cpu[at], end_pid[at]
            if 0 <= on < len(last) and who >= 0 and last[on] != who:
                if last[on] >= 0:
                    made[0, count], made[1, count] = on, end[at]
                    count += 1
                last[on] = who
            at += 1
        if i < len(ts) and kind[i] == ENTRY and 0 <= cpu[i] < len(last) and pid[i] >= 0:
            on = np.int64(cpu[i])
            if last[on] != pid[i]:
                if last[on] >= 0:
                    made[0, count], made[1, count] = on, ts[i]
                    count += 1
                last[on] = pid[i]
    return count


@allocation_free
def order_returns(
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
    """Sort returns by time: write (END, RECORD) of each into `made`, and return their number.

    The arrays from `ts` to `exit_ts` are columns of a block of records that begins at record
    `first`.  Returns that are later than the block's last record stay in `waiting` until the next
    block; `sizes` says how many wait.  If `is_last`, all returns are written.
    """
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
    """Move the last return of the heap up to its place."""
    while at > 0 and _is_before(waiting, HEAPED, at, HEAPED, (at - 1) >> 1):
        _swap(waiting, at, (at - 1) >> 1)
        at = (at - 1) >> 1


@allocation_free
def _sink(waiting: Int64s, last: Int) -> None:
    """Move the return at index `last` of the heap to index 0, from which a return was removed.

    The order of the heap is then restored.
    """
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


@allocation_free
def mark_returns(
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
    """Set marks[record] of calls during which another task ran, or whose task changed its CPU.

    The returns are in order of time.  Each return has `record`, `end` and `begin` of its call (ns),
    the numbers of `task` and `cpu`, and whether the call `moved` to another CPU.  For each task,
    `task_cpu` is its last CPU, `task_ns` the time of its last return, and `task_before` the time
    when it was last seen on another CPU.  For each CPU, `cpu_task` is its last task, `cpu_ns` the
    time of its last return, and `cpu_before` the time when it was last seen with another task.
    """
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
