# SPDX-License-Identifier: MIT
"""Find for which packet each call of a leg works, and when calls do not run (leg_time_loops.py).

Input: the calls inside each call, the packet of each call, and the times when CPUs were interrupted
or switched threads.  Output: spans with ranks (wait_kinds.py), which may overlap; to paint is to
add a span.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.compiled import Int, allocation_free
from ...records.types import Bools, Int32s, Int64s, UInt8s
from ..calls.interrupt_time_loops import LEVELS
from ..calls.self_time_loops import search, was_switched
from ..words.wait_kinds import BUSY, INTERRUPTS, OFF, OTHERS, UNPROBED

SAME, KIN, MINE, NOBODY = range(20, 24)  # modes of calls, see paint_call()

TASK = 0  # context
KIND, BEGIN, END = range(1, 4)  # rows of painted spans
CPU_NS = 0  # row of sums
SERIES_BITS = 32
PAINT = 0  # index of counts
SHORT_NS = 50_000  # the shortest sleep of a thread: the kernel's timer slack


class Inside(NamedTuple):
    """Each record has the times (ns) and CPUs of its entry and exit, and the call `around` it.

    If no call is around a record, `around` is the number of its execution context.  The number of
    the first context follows that of the last record.  The calls directly inside record n or
    context n are child[first[n] : first[n + 1]], in order of time.  Times are in ns on the log's
    clock.
    """

    ts: Int64s
    exit_ts: Int64s
    cpu: Int32s
    exit_cpu: Int32s
    context: UInt8s
    pid: Int32s
    around: Int32s
    first: Int32s
    child: Int32s


class Beside(NamedTuple):
    """When CPUs were interrupted or switched threads, and when records were lost (ns)."""

    irq_first: Int32s
    irq_begin: Int64s
    irq_end: Int64s
    near: Int64s
    switch_first: Int32s
    switched: Int64s
    switch_near: Int64s
    lost_begin: Int64s
    lost_end: Int64s


class Owned(NamedTuple):
    """The calls of all legs, and what is known about legs and records.

    The calls of leg i are the rows from at[i] to at[i + 1].  `record` and the flags from `has` to
    `paced` have an element for each row.  Each leg has a `begin` and `end` (ns) and a lifetime,
    `series`.  For each record, `of` is its leg.  `mine` is the last leg that visited the record as
    a call of the leg's packet, and `joined` the last leg that visited it as a call of the packet's
    socket.  `also` has the further packets of calls that handle lists: (call << SERIES_BITS) +
    lifetime, sorted.  The times of leg i in queues are the rows from queue_at[i] to queue_at[i + 1]
    of `queue_rank`, `queue_begin` and `queue_end`.
    """

    at: Int64s
    record: Int32s
    has: Bools
    gives: Bools
    reads: Bools
    puts: Bools
    merges: Bools
    sends: Bools
    keeps: Bools
    dequeued: Bools
    polled: Bools
    stack: Bools
    flushes: Bools
    frees: Bools
    scrubs: Bools
    tcp: Bools
    paced: Bools
    begin: Int64s
    end: Int64s
    series: Int64s
    of: Int32s
    mine: Int32s
    joined: Int32s
    also: Int64s
    queue_at: Int64s
    queue_rank: UInt8s
    queue_begin: Int64s
    queue_end: Int64s


@allocation_free
def same_thread(one: Int, other: Int, inside: Inside) -> bool:
    """Return whether two calls (`one` and `other` are record numbers) are in the same thread.

    A task may change its CPU, but each CPU has its own idle task and its own interrupts.
    """
    if inside.context[one] != inside.context[other]:
        return False
    if inside.context[one] == TASK and inside.pid[one] > 0:
        return bool(inside.pid[one] == inside.pid[other])
    same: bool = inside.cpu[one] == inside.cpu[other]
    return same and not (inside.context[one] == TASK and inside.pid[other] > 0)


@allocation_free
def is_lost(begin: Int, end: Int, beside: Beside) -> bool:
    """Return whether records were lost between two times (ns); Spans.meet() does it for arrays."""
    low, high = np.int64(0), np.int64(len(beside.lost_begin))
    while low < high:
        middle = (low + high) // 2
        if beside.lost_begin[middle] <= end:
            low = middle + 1
        else:
            high = middle
    return bool(low > 0 and beside.lost_end[low - 1] >= begin)


@allocation_free
def add(
    rank: Int, begin: Int, end: Int, low: Int, high: Int, paint: Int64s, counts: Int64s
) -> None:
    """Append a span of the kind `rank` to `paint`, limited to times from `low` to `high` (ns).

    The span lasts from `begin` to `end` (ns).

    If `paint` has no space left, the span is only counted in counts[PAINT].
    """
    begin, end = max(begin, low), min(end, high)
    if begin >= end:
        return
    at = counts[PAINT]
    if 2 * at + 4 <= paint.shape[1]:
        paint[KIND, at], paint[BEGIN, at], paint[END, at] = rank, begin, end
    counts[PAINT] += 1


@allocation_free
def paint_call(
    record: Int,
    mode: Int,
    leg: Int,
    low: Int,
    high: Int,
    inside: Inside,
    beside: Beside,
    owned: Owned,
    paint: Int64s,
    stack: Int64s,
    sums: Int64s,
    counts: Int64s,
) -> None:
    """Paint a call and its inner calls for the packet, each without the calls inside it.

    Times before `low` and after `high` (ns) are left out.  `mode` says for what the call works.
    SAME means that the call has the packet.  KIN means that the call has the packet in another leg.
    MINE means that the call belongs to the packet's socket, and that no call has the packet.
    OTHERS means that the call works for other packets.  NOBODY means that no record shows for what
    the call works.  If `record` is beyond the last record, it stands for a context.  Spans are
    appended to `paint` and counted in `counts`, and times are added to `sums`.  `stack` is scratch
    space.
    """
    depth = _push(np.int64(0), np.int64(record), np.int64(mode), low, inside, stack)
    while depth > 0:
        top = depth - 1
        one, how, next_ = stack[0, top], stack[1, top], stack[2, top]
        at, on = stack[3, top], stack[4, top]
        is_call = one < len(inside.ts)
        done = next_ >= inside.first[one + 1]
        child = np.int64(-1)
        if not done:
            child = np.int64(inside.child[next_])
            done = inside.ts[child] >= high
        until, cpu = high, on
        if child >= 0:
            until, cpu = inside.ts[child], np.int64(inside.cpu[child])
        elif is_call:
            until, cpu = inside.exit_ts[one], np.int64(inside.exit_cpu[one])
        if is_call and until > at:
            _stretch(
                one, how, leg, at, on, until, cpu, low, high, inside, beside, paint, sums, counts
            )
        if done:
            depth -= 1
            continue
        stack[2, top] = next_ + 1
        if inside.exit_ts[child] > at:
            stack[3, top], stack[4, top] = inside.exit_ts[child], inside.exit_cpu[child]
        go = _how(child, how, leg, owned)
        if go == OTHERS:
            add(OTHERS, inside.ts[child], inside.exit_ts[child], low, high, paint, counts)
        elif go > OTHERS and depth < stack.shape[1]:
            depth = _push(depth, child, go, low, inside, stack)


@allocation_free
def _push(depth: Int, record: Int, mode: Int, low: Int, inside: Inside, stack: Int64s) -> np.int64:
    """Push a call onto the stack; inner calls that ended before `low` (ns) are skipped."""
    begin, end = np.int64(inside.first[record]), np.int64(inside.first[record + 1])
    first = begin
    while begin < end:
        middle = (begin + end) // 2
        if inside.exit_ts[inside.child[middle]] <= low:
            begin = middle + 1
        else:
            end = middle
    at, on = np.int64(low), np.int64(-1)
    if begin > first:
        before = np.int64(inside.child[begin - 1])
        at, on = inside.exit_ts[before], np.int64(inside.exit_cpu[before])
    elif record < len(inside.ts):
        at, on = inside.ts[record], np.int64(inside.cpu[record])
    stack[0, depth], stack[1, depth], stack[2, depth] = record, mode, begin
    stack[3, depth], stack[4, depth] = at, on
    return np.int64(depth + 1)


@allocation_free
def _how(child: Int, mode: Int, leg: Int, owned: Owned) -> np.int64:
    """Return the mode of an inner call; -1 if the inner call is painted separately for the leg."""
    is_mine = owned.mine[child] == leg or owned.mine[child] == -2 - leg
    of = np.int64(owned.of[child])
    if mode in (SAME, KIN):
        if is_mine:
            return np.int64(-1)
        if of < 0:
            return np.int64(mode)
        mine = owned.series[leg]
        return np.int64(
            KIN if owned.series[of] == mine or _is_given(child, mine, owned) else OTHERS
        )
    if is_mine or owned.joined[child] == leg:
        return np.int64(MINE)
    return np.int64(mode if of < 0 else OTHERS)


@allocation_free
def _is_given(call: Int, series: Int, owned: Owned) -> bool:
    """Return whether one of the further packets in a call's list has the lifetime `series`."""
    wanted = (np.int64(call) << SERIES_BITS) | np.int64(series)
    at = np.searchsorted(owned.also, wanted)
    return bool(at < len(owned.also) and owned.also[at] == wanted)


@allocation_free
def _stretch(
    record: Int,
    mode: Int,
    leg: Int,
    at: Int,
    on: Int,
    until: Int,
    cpu: Int,
    low: Int,
    high: Int,
    inside: Inside,
    beside: Beside,
    paint: Int64s,
    sums: Int64s,
    counts: Int64s,
) -> None:
    """Paint one part of a call in which no inner call runs."""
    if mode == NOBODY:
        return
    if mode == OTHERS:
        add(OTHERS, at, until, low, high, paint, counts)
        return
    level = np.int64(inside.context[record])
    is_thread = level == TASK and inside.pid[record] > 0
    if is_thread and was_switched(
        on, at, cpu, until, beside.switch_first, beside.switched, beside.switch_near
    ):
        add(OFF, at, until, low, high, paint, counts)
        return
    begin, end = max(at, low), min(until, high)
    if begin >= end:
        return
    add(BUSY, begin, end, begin, end, paint, counts)
    ran = end - begin - paint_interrupts(level, on, begin, end, True, beside, paint, counts)
    if mode != KIN:
        sums[CPU_NS, leg] += ran


@allocation_free
def paint_interrupts(
    level: Int,
    cpu: Int,
    begin: Int,
    end: Int,
    cut: bool,
    beside: Beside,
    paint: Int64s,
    counts: Int64s,
) -> np.int64:
    """Paint the interrupts of the CPU `cpu` from `begin` to `end`; return their total time (ns).

    Only interrupts above the context `level` are painted.  If `cut` is true, the last span of
    `paint` is divided, so that it does not overlap the interrupts.  `paint` and `counts` are
    described at add().
    """
    taken, cpus = np.int64(0), (len(beside.irq_first) - 1) // LEVELS
    if level >= LEVELS or not 0 <= cpu < cpus:
        return taken
    place = cpus * level + cpu
    low, high = np.int64(beside.irq_first[place]), np.int64(beside.irq_first[place + 1])
    if low >= high:
        return taken
    one = search(beside.irq_begin, low, high, np.int64(beside.near[place]), np.int64(begin))
    beside.near[place] = one
    if one > low and beside.irq_end[one - 1] > begin:
        one -= 1
    at = begin
    while one < high and beside.irq_begin[one] < end:
        since, until = max(beside.irq_begin[one], begin), min(beside.irq_end[one], end)
        taken += np.int64(until - since)
        if cut:  # the busy span ends here, and another one begins after it
            last = counts[PAINT] - 1
            if 2 * last + 4 <= paint.shape[1]:
                paint[END, last] = since
            if since <= at:
                counts[PAINT] -= 1
        add(INTERRUPTS, since, until, begin, end, paint, counts)
        if cut:
            add(BUSY, until, end, begin, end, paint, counts)
            if until >= end:
                return taken
        at = until
        one += 1
    return taken


@allocation_free
def paint_unprobed(
    around: Int,
    begin: Int,
    on: Int,
    end: Int,
    cpu: Int,
    high: Int,
    inside: Inside,
    beside: Beside,
    paint: Int64s,
    counts: Int64s,
) -> None:
    """Paint the times of a thread outside the calls that are directly inside `around`.

    The times lie between `begin` (on the CPU `on`) and the earlier one of `end` (on `cpu`) and
    `high` (ns).  The thread ran if it is recorded again soon and on the same CPU, and if no other
    thread is recorded on this CPU in between.  `paint` and `counts` are described at add().
    """
    low, last = np.int64(inside.first[around]), np.int64(inside.first[around + 1])
    stop = last
    while low < stop:
        middle = (low + stop) // 2
        if inside.exit_ts[inside.child[middle]] <= begin:
            low = middle + 1
        else:
            stop = middle
    one, at, here = low, np.int64(begin), np.int64(on)
    while at < high:
        until, there = np.int64(end), np.int64(cpu)
        is_last = one >= last or inside.ts[inside.child[one]] >= end
        if not is_last:
            child = inside.child[one]
            until, there = np.int64(inside.ts[child]), np.int64(inside.cpu[child])
        if at < until <= at + SHORT_NS and not was_switched(
            here, at, there, until, beside.switch_first, beside.switched, beside.switch_near
        ):
            add(UNPROBED, at, until, begin, high, paint, counts)
        if is_last:
            return
        child = inside.child[one]
        if inside.exit_ts[child] > at:
            at, here = np.int64(inside.exit_ts[child]), np.int64(inside.exit_cpu[child])
        one += 1
