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

from ..matching import blocks, by_number, fits
from ..records import Records, part
from ..records.order import time_order
from .call_table import CallTable

ENTRY, EXIT, EVENT, LOST = 1, 2, 4, 5  # kbl.h enum kbl_kind
IRQ_ENTRY, IRQ_EXIT, SOFTIRQ_ENTRY, SOFTIRQ_EXIT = 24, 25, 26, 27  # kbl.h enum kbl_event
TASK, SOFTIRQ, HARDIRQ = 0, 1, 2

MARK_SLEPT = 1  # another task ran on its CPU meanwhile
MARK_MIGRATED = 2  # its task ran on another CPU meanwhile
MARK_INTERRUPTED = 4
MARK_GAP = 8  # records of its CPU were lost meanwhile: what is inside it is not known

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class Interruptions(NamedTuple):
    """Of each call: MARK_* bits and ns of interrupts inside (0 where it slept: not its own)."""

    marks: npt.NDArray[np.uint8]
    irq_ns: Index


def find(records: Records, calls: CallTable) -> Interruptions:
    """Marks and interrupt times of `calls`, made from `records` in time order."""
    slept, migrated = _switches(records)
    covers = _higher_contexts(records)
    marks, irq_ns = np.zeros(len(calls), np.uint8), np.zeros(len(calls), np.int64)
    for rows in blocks(len(calls)):
        whole, level = calls.part("exit_ns", rows) >= 0, calls.part("context", rows)
        task = np.flatnonzero(whole & (level == TASK) & (calls.part("pid", rows) > 0))
        entry, marked = calls.part("entry", rows)[task], marks[rows]
        marked[task[slept[entry]]] |= MARK_SLEPT
        marked[task[migrated[entry]]] |= MARK_MIGRATED
        steady = whole & (marked == 0)
        for context, above in covers.items():
            mine = np.flatnonzero(steady & (level == context)) + rows.start
            irq_ns[mine] = above.within(calls, mine)
    marks[irq_ns > 0] |= MARK_INTERRUPTED
    marks[_across_gaps(records, calls)] |= MARK_GAP
    return Interruptions(marks, irq_ns)


def _higher_contexts(records: Records) -> dict[int, _Intervals]:
    """When what interrupts a context ran, by context."""
    found: dict[int, _Intervals] = {}
    for context in (TASK, SOFTIRQ, HARDIRQ) if _has_sane_times(records) else ():
        begin, end, cpu = _higher(records, context)
        if len(begin):
            found[context] = _Intervals(begin, end, cpu, records)
    return found


def _has_sane_times(records: Records) -> bool:
    """Whether CPU and time fit into one number: those of a log that is no garbage do."""
    if not len(records):
        return False
    ts, cpus = records["ts"], int(records["cpu"].max()) + 1
    return fits(int(ts.max()) - int(ts.min()) + 2, cpus + 1)


def _switches(records: Records) -> tuple[Flags, Flags]:
    """Which calls saw another task on their CPU, and which their own task on another CPU.

    Of a return it is known which task was on which CPU: what matters is the last time that this
    changed before a call's own return, and whether that was inside the call.
    """
    slept, migrated = np.zeros(len(records), np.bool_), np.zeros(len(records), np.bool_)
    told = (records["kind"] == EXIT) | (records["exit_ts"] >= 0)
    item = np.flatnonzero(told & (records["context"] == TASK))
    exits = part(records, "kind", item) == EXIT
    end = np.where(exits, part(records, "ts", item), part(records, "exit_ts", item))
    item, end = item[end >= 0], end[end >= 0]
    if not len(item):
        return slept, migrated
    order = time_order(end)
    item, end = item[order].astype(np.int32), end[order]
    begin = part(records, "ts", item)
    cpu = np.where(part(records, "kind", item) == EXIT, -1, part(records, "exit_cpu", item))
    cpu = np.where(cpu < 0, part(records, "cpu", item), cpu)
    moved = cpu != part(records, "cpu", item)
    pid, where = _dense(part(records, "pid", item)), _dense(cpu)
    del cpu, exits, order
    slept[item] = _changed(where, pid, begin, end) & ~moved
    migrated[item] = _changed(pid, where, begin, end) | moved
    return slept, migrated


def _dense(values: npt.NDArray[np.generic]) -> npt.NDArray[np.uint16] | Index:
    """Small numbers for the same values, of which there may be millions: thread ids, CPUs."""
    number = values.astype(np.int64) - int(values.min(initial=0))
    if int(number.max(initial=0)) > (1 << 22) + 8 * len(number):  # a thread id of a broken log
        return np.unique(number, return_inverse=True)[1].reshape(-1).astype(np.int64)
    seen = np.zeros(int(number.max(initial=0)) + 1, np.bool_)
    seen[number] = True
    rank = np.cumsum(seen) - 1
    if rank[-1] < 1 << 16:
        return rank.astype(np.uint16)[number]  # sorted by radix
    return np.asarray(rank[number], np.int64)


def _changed(
    group: npt.NDArray[np.generic], value: npt.NDArray[np.generic], begin: Index, end: Index
) -> Flags:
    """Whether, of returns in order of `end`, those of one group inside a call show two values."""
    order = np.argsort(group, kind="stable").astype(np.int32)
    group, value = group[order], value[order]
    change = np.zeros(len(order), np.bool_)
    change[1:] = (value[1:] != value[:-1]) & (group[1:] == group[:-1])
    last = np.where(change, np.arange(len(order), dtype=np.int32), np.int32(0))
    np.maximum.accumulate(last, out=last)
    found = np.zeros(len(order), np.bool_)
    for rows in blocks(len(order)):
        changed, mine = last[rows], order[rows]
        # Of another group: it has not changed in this one.
        inside = change[changed] & (group[changed] == group[rows])
        inside &= end[order[np.maximum(changed - 1, 0)]] > begin[mine]
        found[mine] = inside
    return found


def _higher(records: Records, context: int) -> tuple[Index, Index, Index]:
    """Times (begin, end, cpu) in which a context above `context` ran, as far as it is told."""
    parts = [_calls_above(records, context)]
    if context < HARDIRQ:
        parts.append(_told(records, IRQ_ENTRY, IRQ_EXIT))
    if context < SOFTIRQ:
        parts.append(_told(records, SOFTIRQ_ENTRY, SOFTIRQ_EXIT))
    begin, end, cpu = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _union(begin, end, cpu)


def _calls_above(records: Records, context: int) -> tuple[Index, Index, Index]:
    """Calls of higher contexts."""
    calls = np.flatnonzero(
        (records["kind"] == ENTRY) & (records["context"] > context) & (records["exit_ts"] >= 0)
    )
    begin, end, cpu = (part(records, name, calls) for name in ("ts", "exit_ts", "exit_cpu"))
    return begin, end, cpu.astype(np.int64)


def _told(records: Records, enter: int, leave: int) -> tuple[Index, Index, Index]:
    """Interrupts by their entry and exit events, each with the next of its CPU."""
    event = records["event"]
    chosen = np.flatnonzero((records["kind"] == EVENT) & ((event == enter) | (event == leave)))
    cpu = records["cpu"][chosen].astype(np.int64)
    order = np.argsort(cpu, kind="stable")
    chosen, cpu = chosen[order], cpu[order]
    opens = event[chosen] == enter
    pair = np.flatnonzero(opens[:-1] & ~opens[1:] & (cpu[1:] == cpu[:-1]))
    return records["ts"][chosen[pair]], records["ts"][chosen[pair + 1]], cpu[pair]


def _union(begin: Index, end: Index, cpu: Index) -> tuple[Index, Index, Index]:
    """Overlapping intervals of one CPU merged; sorted by (cpu, begin)."""
    if not len(begin):
        return begin, end, cpu
    order = np.argsort(begin, kind="stable")  # nearly in order already
    order = order[by_number(cpu[order] - cpu.min())]
    begin, end, cpu = begin[order], end[order], cpu[order]
    base, span = int(begin.min()), np.int64(int(end.max()) - int(begin.min()) + 1)
    reach = np.maximum.accumulate(cpu * span + (end - base))
    new = np.r_[True, (cpu * span + (begin - base))[1:] > reach[:-1]]
    last = np.r_[np.flatnonzero(new)[1:] - 1, len(begin) - 1]
    return begin[new], reach[last] - cpu[new] * span + base, cpu[new]


class _Intervals:
    """Intervals that are merged and sorted by (cpu, begin)."""

    def __init__(self, begin: Index, end: Index, cpu: Index, records: Records) -> None:
        """`records` are those of the calls that will be asked about."""
        ts, leave = records["ts"], records["exit_ts"]
        self._base = min(int(begin.min()), int(ts.min()))
        high = max(int(end.max()), int(ts.max()), int(leave.max()))
        self._span = np.int64(high - self._base + 1)
        self._key = cpu * self._span + (begin - self._base)
        self._end, self._total = end, np.r_[0, np.cumsum(end - begin)]

    def within(self, calls: CallTable, rows: Index) -> Index:
        """ns of the intervals within each of some calls, on its CPU."""
        leave = calls.part("exit_ns", rows)
        where = calls.part("cpu", rows) * self._span - self._base
        first = np.searchsorted(self._key, where + calls.part("entry_ns", rows))
        last = np.maximum(np.searchsorted(self._key, where + leave, "right"), first)
        beyond = np.maximum(self._end[np.maximum(last - 1, 0)] - leave, 0)
        beyond[last == first] = 0
        return np.asarray(self._total[last] - self._total[first] - beyond, np.int64)


def _across_gaps(records: Records, calls: CallTable) -> Flags:
    """Calls on a CPU that lost records between their entry and exit."""
    marked = np.zeros(len(calls), np.bool_)
    gaps = np.flatnonzero(records["kind"] == LOST)
    if not len(gaps):
        return marked
    ts, dur, lost_on = records["ts"][gaps], records["dur"][gaps], records["cpu"][gaps]
    cpu, enter, leave = calls["cpu"], calls["entry_ns"], calls["exit_ns"]
    for end, lasted, number in zip(ts.tolist(), dur.tolist(), lost_on.tolist(), strict=True):
        ends = np.where(leave >= 0, leave, end)
        marked |= (cpu == number) & (enter <= end) & (ends >= end - max(lasted, 0))
    return marked
