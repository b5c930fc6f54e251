# SPDX-License-Identifier: MIT
"""Compute the intervals in which interrupts ran, from their events and calls.

The caller of these loops is interrupt_times.py.
"""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free
from ...records.kbl_layout import KblEvent
from ...records.kernel_events import Trait, flags
from ...records.types import Int32s, Int64s, UInt8s

ENTRY, EVENT = 1, 4  # kbl.h enum kbl_kind
IS_INTERRUPT = flags(Trait.INTERRUPT)
IRQ_ENTRY, IRQ_EXIT = int(KblEvent.IRQ_ENTRY), int(KblEvent.IRQ_EXIT)
SOFTIRQ_ENTRY = int(KblEvent.SOFTIRQ_ENTRY)
SOFTIRQ, HARDIRQ = 1, 2  # context
RECORD, UNTIL, ON_CPU, ABOVE = 0, 1, 2, 3  # rows of `spans`; ABOVE is the interrupt's context
LEVELS = 3  # contexts that can be interrupted
COLUMNS = "ts exit_ts kind context cpu exit_cpu"
# Rows of intervals: number of CPUs * context + CPU, begin, end, cost of the probes of the calls in
# it, and of its events.
PLACE, BEGIN, END, PROBES, EVENTS = range(5)


@allocation_free
def pair_events(
    first: int, ts: Int64s, kind: UInt8s, event: UInt8s, cpu: Int32s, last: Int64s, made: Int64s
) -> int:
    """Pair the entry and exit events of interrupts: write a column of `made` for each pair.

    The column has the rows RECORD, UNTIL, ON_CPU and ABOVE.  `ts`, `kind`, `event` and `cpu` are
    columns of a block of records that begins at record `first`.  `last` is the record of the open
    interrupt of each context and CPU (-1: none); the caller passes it from block to block.  Returns
    the number of columns.
    """
    count, cpus = 0, len(last) // LEVELS
    for i in range(len(kind)):
        is_interrupt = (kind[i] == EVENT) & IS_INTERRUPT[event[i]]
        if not is_interrupt or not 0 <= cpu[i] < cpus:  # a single branch, to avoid mispredictions
            continue
        above = HARDIRQ if event[i] <= IRQ_EXIT else SOFTIRQ
        at = cpus * above + cpu[i]
        if event[i] == IRQ_ENTRY or event[i] == SOFTIRQ_ENTRY:
            last[at] = first + i
        elif last[at] >= 0:
            made[RECORD, count], made[UNTIL, count] = last[at], ts[i]
            made[ON_CPU, count], made[ABOVE, count], last[at] = cpu[i], above, -1
            count += 1
    return count


@allocation_free
def unite(
    first: int,
    ts: Int64s,
    exit_ts: Int64s,
    kind: UInt8s,
    context: UInt8s,
    cpu: Int32s,
    exit_cpu: Int32s,
    probes: Int64s,
    events: Int64s,
    spans: Int64s,
    done: Int64s,
    last: Int64s,
    made: Int64s,
) -> int:
    """Merge calls in interrupts and the `spans` of interrupt events into disjoint intervals.

    The arrays from `ts` to `events` are columns of a block that begins at record `first`.  `probes`
    and `events` are what each record costs (ns), as the probe of a call or as an event; both may be
    empty.  `last` is the open interval of each context and CPU (END is -1 if there is none).
    `done` is the number of columns of `spans` used so far.  Writes each interval that is complete
    into `made`, as a column from PLACE to EVENTS, and returns the number of these intervals.
    """
    count, asked, cpus = np.int64(0), len(probes) > 0, last.shape[1] // LEVELS
    for i in range(len(ts)):
        at = done[0]
        if at < spans.shape[1] and spans[RECORD, at] == first + i:
            done[0] += 1
            count = _add(
                spans[ABOVE, at], spans[ON_CPU, at], ts[i], spans[UNTIL, at], np.int64(0),
                last, made, count,
            )  # fmt: skip
        elif (kind[i] == ENTRY) & (context[i] > 0) & (exit_ts[i] >= 0) and 0 <= exit_cpu[i] < cpus:
            cost = np.int64(probes[i]) if asked else np.int64(0)
            count = _add(
                np.int64(context[i]), np.int64(exit_cpu[i]), ts[i], exit_ts[i], cost,
                last, made, count,
            )  # fmt: skip
        if asked and events[i] and (context[i] > 0) & (0 <= cpu[i] < cpus):
            _add_event(np.int64(context[i]), np.int64(cpu[i]), ts[i], events[i], last)
    return int(count)


@allocation_free
def _add_event(above: Int, cpu: Int, ts: Int, cost: Int, last: Int64s) -> None:
    """Add the cost of an event (ns) to the open intervals of all contexts below `above`."""
    for level in range(min(above, LEVELS)):
        at = last.shape[1] // LEVELS * level + cpu
        if last[END, at] > ts:
            last[EVENTS, at] += cost


@allocation_free
def _add(
    above: Int,
    cpu: Int,
    since: Int,
    until: Int,
    probes: Int,
    last: Int64s,
    made: Int64s,
    count: np.int64,
) -> np.int64:
    """Add an interval to all contexts below `above`; return the number of filled columns of `made`.

    Intervals that only touch are not merged, because a call may have returned between them.
    """
    for level in range(min(above, LEVELS)):
        at = last.shape[1] // LEVELS * level + cpu
        if last[END, at] > since:
            last[END, at] = max(last[END, at], until)
            last[PROBES, at] += probes
            continue
        if last[END, at] >= 0:
            made[PLACE, count] = at
            for field in range(BEGIN, EVENTS + 1):
                made[field, count] = last[field, at]
            count += 1
        last[BEGIN, at], last[END, at] = since, until
        last[PROBES, at], last[EVENTS, at] = probes, 0
    return count


@allocation_free
def order_intervals(
    where: Int64s,
    begin: Int64s,
    end: Int64s,
    probes: Int64s,
    events: Int64s,
    place: Int64s,
    begin_out: Int64s,
    end_out: Int64s,
    total: Int64s,
    probes_out: Int64s,
    events_out: Int64s,
) -> None:
    """Sort intervals by context and CPU, and compute running sums of their times and costs.

    The intervals are in order of time.  `where` is CPUS * context + CPU, `begin` and `end` are
    times (ns), `probes` and `events` are the costs (ns) in the interval. place[w] is the next free
    row for intervals with `where` == w; this function increases it.  The arrays whose names end in
    _out get the sorted columns. total[i] is the time (ns) of the intervals before row i; the two
    costs are summed in the same way.
    """
    total[0], probes_out[0], events_out[0] = 0, 0, 0
    for i in range(len(where)):
        at = place[where[i]]
        begin_out[at], end_out[at] = begin[i], end[i]
        probes_out[at + 1], events_out[at + 1] = probes[i], events[i]
        place[where[i]] += 1
    for i in range(len(where)):
        total[i + 1] = total[i] + end_out[i] - begin_out[i]
        probes_out[i + 1] += probes_out[i]
        events_out[i + 1] += events_out[i]
