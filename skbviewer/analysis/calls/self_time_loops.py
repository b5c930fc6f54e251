# SPDX-License-Identifier: MIT
"""Add up the parts of calls in which no inner call runs, in compiled loops for self_times.py."""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free
from ...records.types import Bools, Int32s, Int64s, UInt8s
from .interrupt_time_loops import LEVELS

ENTRY = 1  # kbl.h enum kbl_kind
TASK = 0  # context


@allocation_free
def add_stretches(
    first: int,
    ts: Int64s,
    cpu: Int32s,
    kind: UInt8s,
    context: UInt8s,
    pid: Int32s,
    exit_ts: Int64s,
    exit_cpu: Int32s,
    parent: Int32s,
    carried: Bools,
    at: Int64s,
    at_cpu: Int32s,
    switch_first: Int32s,
    switch_ts: Int64s,
    switch_near: Int64s,
    irq_first: Int32s,
    begin: Int64s,
    end: Int64s,
    total: Int64s,
    probes_sum: Int64s,
    events_sum: Int64s,
    near: Int64s,
    own: Int64s,
    irq: Int64s,
    off: Int64s,
    probes: Int64s,
    events: Int64s,
) -> None:
    """Add up the parts of calls that end where an inner call begins, for a block of records.

    The block begins at record `first`; `ts` and `cpu` are its columns.  The next arrays have an
    element for each record of the log.  The arrays from `kind` to `carried` are the columns of
    Records and Nesting with these names.  `at` and `at_cpu` are the time (ns) and CPU at which the
    call's next part without an inner call begins.  `own`, `irq`, `off`, `probes` and `events` are
    the call's sums (see SelfTimes).  The arrays from `switch_first` to `switch_near` describe the
    thread switches on each CPU.  The arrays from `irq_first` to `events_sum` describe the
    interrupts in each context on each CPU, with running sums.  `near` is where the next search
    among the interrupts begins.
    """
    for i in range(len(ts)):
        record = np.int64(first + i)
        if kind[record] != ENTRY or carried[record]:
            continue
        at[record], at_cpu[record] = ts[i], cpu[i]
        up = np.int64(parent[record])
        if up < 0 or exit_ts[record] < 0:
            continue
        if ts[i] > at[up]:
            _stretch(
                up, np.int64(ts[i]), np.int64(cpu[i]), context, pid, at, at_cpu, switch_first,
                switch_ts, switch_near, irq_first, begin, end, total, probes_sum, events_sum,
                near, own, irq, off, probes, events,
            )  # fmt: skip
        if exit_ts[record] > at[up]:
            at[up], at_cpu[up] = exit_ts[record], exit_cpu[record]


@allocation_free
def add_totals(
    first: int,
    stop: int,
    kind: UInt8s,
    context: UInt8s,
    pid: Int32s,
    exit_ts: Int64s,
    exit_cpu: Int32s,
    parent: Int32s,
    carried: Bools,
    at: Int64s,
    at_cpu: Int32s,
    switch_first: Int32s,
    switch_ts: Int64s,
    switch_near: Int64s,
    irq_first: Int32s,
    begin: Int64s,
    end: Int64s,
    total: Int64s,
    probes_sum: Int64s,
    events_sum: Int64s,
    near: Int64s,
    own: Int64s,
    irq: Int64s,
    off: Int64s,
    probes: Int64s,
    events: Int64s,
) -> None:
    """Add the time after each call's last inner call; add the call's sums to the call around it.

    The loop goes backwards from record `stop` - 1 to record `first`, because inner calls must be
    complete first.  The other arrays are described at add_stretches().
    """
    for back in range(stop - first):
        record = np.int64(stop - 1 - back)
        if kind[record] != ENTRY or carried[record] or exit_ts[record] < 0:
            continue
        if exit_ts[record] > at[record]:
            _stretch(
                record, exit_ts[record], np.int64(exit_cpu[record]), context, pid, at, at_cpu,
                switch_first, switch_ts, switch_near, irq_first, begin, end, total,
                probes_sum, events_sum, near, own, irq, off, probes, events,
            )  # fmt: skip
        up = np.int64(parent[record])
        if up >= 0:
            irq[up] += irq[record]
            off[up] += off[record]
            if len(probes):
                probes[up] += probes[record]
                events[up] += events[record]


@allocation_free
def _stretch(
    record: Int,
    until: Int,
    cpu: Int,
    context: UInt8s,
    pid: Int32s,
    at: Int64s,
    at_cpu: Int32s,
    switch_first: Int32s,
    switch_ts: Int64s,
    switch_near: Int64s,
    irq_first: Int32s,
    begin: Int64s,
    end: Int64s,
    total: Int64s,
    probes_sum: Int64s,
    events_sum: Int64s,
    near: Int64s,
    own: Int64s,
    irq: Int64s,
    off: Int64s,
    probes: Int64s,
    events: Int64s,
) -> None:
    """Add a part of a call to its sums; the part ends at the time `until` on the CPU `cpu`."""
    since, level, on = at[record], np.int64(context[record]), np.int64(at_cpu[record])
    if (
        level == TASK
        and pid[record] > 0
        and was_switched(on, since, cpu, until, switch_first, switch_ts, switch_near)
    ):
        off[record] += until - since
        return
    taken = np.int64(0)
    cpus = (len(irq_first) - 1) // LEVELS
    if level < LEVELS and 0 <= on < cpus:
        place = cpus * level + on
        low, high = np.int64(irq_first[place]), np.int64(irq_first[place + 1])
        if low < high:
            one = search(begin, low, high, near[place], since)
            if one > low and end[one - 1] > since:
                one -= 1
            other = search(begin, low, high, max(one, low), until - 1)
            near[place] = one
            if other > one:
                taken = total[other] - total[one] - max(since - begin[one], 0)
                taken -= max(end[other - 1] - until, 0)
                if len(probes):
                    probes[record] += probes_sum[other] - probes_sum[one]
                    events[record] += events_sum[other] - events_sum[one]
    irq[record] += taken
    own[record] += until - since - taken


@allocation_free
def was_switched(
    on: Int, since: Int, cpu: Int, until: Int, first: Int32s, switched: Int64s, near: Int64s
) -> bool:
    """Return whether the thread or the CPU changed between two moments of a call.

    The first moment is `since` (ns) on the CPU `on`, the second is `until` (ns) on `cpu`.
    `switched` are the times of thread switches; those on CPU c are switched[first[c] : first[c +
    1]].  The search starts at `near`, where the last search for this CPU ended.
    """
    if on != cpu:
        return True
    if not 0 <= on < len(first) - 1:
        return False
    low, high = np.int64(first[on]), np.int64(first[on + 1])
    one = search(switched, low, high, near[on], since)  # the first one after `since`
    near[on] = one
    return bool(one < high and switched[one] <= until)


@allocation_free
def search(column: Int64s, low: Int, high: Int, near: Int, value: Int) -> np.int64:
    """Return the first index in [low, high) where `column` exceeds `value`; `high` if none does.

    `column` is sorted in ascending order; the search starts at index `near`.
    """
    step = np.int64(1)
    near = min(max(near, low), high)
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
