# SPDX-License-Identifier: MIT
"""Find calls during which another task ran on their CPU, or their own task on another CPU.

Input: the records of a KBL.  Output: MARK_SLEPT and MARK_MIGRATED of each call, and the times when
each CPU changed its thread.  The record of a call is written when the function returns, so only
returns are certain to show on which CPU a task was.  A call is marked if the last change of task or
CPU before its return happened during the call.  Returns are processed in order of time, and returns
at the same time in the order of their records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...matching import IntIndex, Rows, longer, record_blocks
from ...records import Records, part, scratch_of
from ...records.types import Int32s, Int64s, UInt8s
from .recorded_cpus import cpus_of
from .task_switch_loops import END, RECORD, mark_returns, order_returns, thread_runs


class Switches(NamedTuple):
    """`marks` has the MARK_* bits of each record; they are valid only for calls of a task.

    `ts` are the times (ns) at which an entry or return first shows a different thread on a CPU.
    The times of each CPU are sorted, and begin at index first[CPU].
    """

    marks: UInt8s
    first: Int32s
    ts: Int64s


def switches(records: Records) -> Switches:
    """Return which calls slept or changed their CPU, and when each CPU switched threads."""
    marks = scratch_of(records).full(len(records), np.uint8, 0)
    returns, tasks, cpus = _Returns(), _Seen(), _Seen()
    size = cpus_of(records)
    last, found = np.full(size, -1, np.int64), [np.zeros((2, 0), np.int64)]
    for some in record_blocks(records):
        rows = Rows(records, some)
        end, record = returns.returns_until(rows, some.stop == len(records))
        begin, pid, own, cpu = (
            part(records, name, record) for name in ("ts", "pid", "cpu", "exit_cpu")
        )
        cpu = np.where(cpu < 0, own, cpu).astype(np.int64)
        pid = pid.astype(np.int64)
        task, place = tasks.numbers_of(pid), cpus.numbers_of(cpu)
        mark_returns(record, end, begin, task, place, cpu != own, *tasks.last, *cpus.last, marks)
        made = np.empty((2, len(end) + some.stop - some.start), np.int64)
        ts, kind, at, who = rows.columns("ts kind cpu pid")
        found.append(
            made[:, : int(thread_runs(ts, kind, at, who, end, cpu, pid, last, made))].copy()
        )
    on, ts = np.concatenate(found, axis=1)
    order = np.argsort(on, kind="stable")  # they are already in order of time
    first = np.append(0, np.cumsum(np.bincount(on, minlength=size))).astype(np.int32)
    return Switches(marks, first, np.ascontiguousarray(ts[order]))


class _Returns:
    """Sorts the returns of calls by time, block by block.

    A return that is later than its block is kept on a stack.  Each return on the stack is earlier
    than the one below it, as in nested calls.  A return that is later than the one on top of the
    stack goes into a heap (Knuth, TAOCP 3, 5.2.3).
    """

    def __init__(self) -> None:
        self._waiting, self._sizes = np.zeros((2, 0, 2), np.int64), np.zeros(2, np.int64)

    def returns_until(self, rows: Rows, is_last: bool) -> tuple[Int64s, Int64s]:
        """Return (times, records) of the returns until the last of `rows`.

        If `is_last`, all later returns are included, too.

        Returns of interrupts are included because they show which task they interrupted.  On an
        idle CPU, for example, only the returns of interrupts show the task.
        """
        more = rows.end - rows.first
        made = np.empty((2, int(self._sizes.sum()) + more), np.int64)
        if self._waiting.shape[1] < int(self._sizes.max()) + more:
            longer = np.zeros((2, int(self._sizes.max()) + more, 2), np.int64)
            self._waiting = np.concatenate([self._waiting, longer], axis=1)
        ts, kind, context, pid, leave = rows.columns("ts kind context pid exit_ts")
        count = order_returns(
            rows.first, ts, kind, context, pid, leave, is_last, self._waiting, self._sizes, made
        )
        return made[END, :count], made[RECORD, :count]


class _Seen:
    """The last CPU on which each task was seen, or the last task seen on each CPU.

    Tasks and CPUs are numbered.  `last` has three columns: the last CPU (or task) seen, when it was
    last seen (ns), and when a different one was last seen before that (ns).
    """

    def __init__(self) -> None:
        self._numbers = IntIndex()
        self.last = np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64)

    def numbers_of(self, values: Int64s) -> Int32s:
        """Return a number for each of `values` (at least -1); equal values have equal numbers."""
        made, (other, when, before) = self._numbers.numbers_of(values + 2), self.last
        size = self._numbers.count
        self.last = longer(other, size, -1), longer(when, size, 0), longer(before, size, -1)
        return made
