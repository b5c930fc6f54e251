# SPDX-License-Identifier: MIT
"""Divide the time of each leg, in compiled loops for busy_and_wait_times.py.

Input: the calls of legs, the calls inside them, and the times when CPUs were interrupted or
switched threads.  Output: the spans in which a leg is not busy, and its busy time.  First, all
spans that may apply are painted with their ranks.  At each time, the span with the lowest rank
counts (docs/times.md).
"""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free, compiled
from ...records.types import Int64s
from ..calls.self_time_loops import was_switched
from ..words.wait_kinds import (
    BACKLOG,
    BUSY,
    LISTED,
    LOST,
    OTHERS,
    OUTSIDE,
    QDISC,
    QUEUE,
    RANKS,
    REASSEMBLY,
    SENDING,
    SOCKET,
    SOFTIRQ,
    UNPROBED,
)
from .call_time_loops import (
    BEGIN,
    CPU_NS,
    END,
    KIND,
    MINE,
    NOBODY,
    PAINT,
    SAME,
    SHORT_NS,
    TASK,
    Beside,
    Inside,
    Owned,
    add,
    is_lost,
    paint_call,
    paint_interrupts,
    paint_unprobed,
    same_thread,
)
from .span_order_loops import FEW, NUMBER, TIME, list_times, sort_many, sort_times

LEG = 0  # row of the result, besides those of painted spans
BUSY_NS, UNKNOWN_NS = 1, 2  # rows of sums
SINCE, UNTIL, ROW = range(3)  # rows of `held`
WAITS, AT_LEG = 1, 2  # indices of counts


@compiled
def fill(
    inside: Inside,
    beside: Beside,
    owned: Owned,
    held: Int64s,
    paint: Int64s,
    stack: Int64s,
    made: Int64s,
    sums: Int64s,
    counts: Int64s,
    open_: Int64s,
) -> bool:
    """Write into `made` the waits of the legs from counts[AT_LEG] on, into `sums` sums of times.

    Returns False if `made` or `paint` is too small.  `held`, `paint`, `stack` and `open_` are
    scratch space.
    """
    order = np.empty((2, 4 * FEW), np.int64)
    for leg in range(counts[AT_LEG], len(owned.begin)):
        counts[AT_LEG], counts[PAINT] = leg, 0
        waits = counts[WAITS]
        _mark(leg, owned)
        size = _hold(leg, inside, owned, held)
        _paint_held(leg, size, inside, beside, owned, held, paint, stack, sums, counts)
        _paint_holes(leg, size, inside, beside, owned, held, paint, stack, sums, counts)
        if 2 * counts[PAINT] + 4 > paint.shape[1]:
            sums[:, leg] = 0
            return False
        last = owned.end[leg]
        for k in range(size):
            last = max(last, held[UNTIL, k])
        count = 2 * counts[PAINT] + 1
        if count > order.shape[1]:
            order = np.empty((2, 2 * count), np.int64)
        list_times(owned.end[leg], paint, counts, order)
        if count > FEW:
            sort_many(count, order)
        else:
            sort_times(count, order)
        if not _sweep(leg, last, count, order, owned, paint, made, sums, counts, open_):
            counts[WAITS] = waits
            sums[:, leg] = 0
            return False
    counts[AT_LEG] = len(owned.begin)
    return True


@allocation_free
def _mark(leg: Int, owned: Owned) -> None:
    for row in range(owned.at[leg], owned.at[leg + 1]):
        if owned.has[row]:
            owned.mine[owned.record[row]] = leg
        else:
            owned.joined[owned.record[row]] = leg


@allocation_free
def _hold(leg: Int, inside: Inside, owned: Owned, held: Int64s) -> int:
    """Write into `held` when each call of a leg has the packet, in order; return how many calls."""
    size = np.int64(0)
    for row in range(owned.at[leg], owned.at[leg + 1]):
        if not owned.has[row]:
            continue
        record = np.int64(owned.record[row])
        since, until = inside.ts[record], max(inside.ts[record], inside.exit_ts[record])
        held[SINCE, size], held[UNTIL, size], held[ROW, size] = since, until, row
        size += 1
    for back in range(size):  # inner calls come first
        k = size - 1 - back
        row = held[ROW, k]
        if not owned.gives[row]:
            continue
        record = np.int64(owned.record[row])
        since = held[UNTIL, k]
        for other in range(k + 1, size):
            inner = np.int64(owned.record[held[ROW, other]])
            if inside.ts[inner] > held[UNTIL, k]:
                break
            if same_thread(record, inner, inside):
                since = np.int64(min(since, held[SINCE, other]))
        held[SINCE, k] = since
    for number in range(1, size):  # insertion sort: stable, and fast because it is nearly sorted
        since, until, row = held[SINCE, number], held[UNTIL, number], held[ROW, number]
        at = np.int64(number)
        while at > 0 and held[SINCE, at - 1] > since:
            held[SINCE, at], held[UNTIL, at] = held[SINCE, at - 1], held[UNTIL, at - 1]
            held[ROW, at] = held[ROW, at - 1]
            at -= 1
        held[SINCE, at], held[UNTIL, at], held[ROW, at] = since, until, row
    return int(size)


@allocation_free
def _paint_held(
    leg: Int,
    size: Int,
    inside: Inside,
    beside: Beside,
    owned: Owned,
    held: Int64s,
    paint: Int64s,
    stack: Int64s,
    sums: Int64s,
    counts: Int64s,
) -> None:
    """Paint spans inside the calls that have the packet, up to the end of the leg."""
    begin, end = owned.begin[leg], owned.end[leg]
    for k in range(size):
        record = np.int64(owned.record[held[ROW, k]])
        low, high = max(begin, held[SINCE, k]), held[UNTIL, k]
        if owned.gives[held[ROW, k]] and _is_within(k, size, record, inside, owned, held):
            low = max(begin, inside.ts[record])
        add(BUSY, low, high, end, high, paint, counts)
        if owned.mine[record] == leg:  # only once, even if it has the packet twice
            owned.mine[record] = -2 - leg
            paint_call(
                record, SAME, leg, low, min(high, end), inside, beside, owned,
                paint, stack, sums, counts,
            )  # fmt: skip
    for at in range(owned.queue_at[leg], owned.queue_at[leg + 1]):
        add(
            owned.queue_rank[at], owned.queue_begin[at], owned.queue_end[at], begin,
            owned.queue_end[at], paint, counts,
        )  # fmt: skip


@allocation_free
def _is_within(
    number: Int, size: Int, record: Int, inside: Inside, owned: Owned, held: Int64s
) -> bool:
    """Return whether a call of the same thread already had the packet when call `record` began."""
    for k in range(size):
        other = np.int64(owned.record[held[ROW, k]])
        if (
            k != number
            and held[SINCE, k] <= inside.ts[record] < held[UNTIL, k]
            and inside.ts[other] <= inside.ts[record]
            and same_thread(record, other, inside)
        ):
            return True
    return False


@allocation_free
def _paint_holes(
    leg: Int,
    size: Int,
    inside: Inside,
    beside: Beside,
    owned: Owned,
    held: Int64s,
    paint: Int64s,
    stack: Int64s,
    sums: Int64s,
    counts: Int64s,
) -> None:
    """Paint spans between the calls that have the packet."""
    end, last, reading, tcp, received = owned.begin[leg], np.int64(-1), False, False, False
    listed = sent = False  # GRO had it, or TCP sent it, and the stack has not received it since
    for k in range(size):
        row = held[ROW, k]
        if held[SINCE, k] > end:
            since = held[SINCE, k]
            rank = _name(
                leg, end, since, last, row, reading, tcp, received, sent, inside, beside, owned
            )
            if rank < RANKS:
                add(rank, end, since, end, since, paint, counts)
            else:
                if listed and owned.flushes[row]:
                    add(LISTED, end, since, end, since, paint, counts)
                _paint_between(
                    leg, last, row, end, since, inside, beside, owned, paint, stack, sums, counts
                )
        reading, tcp = reading or owned.reads[row], tcp or owned.tcp[row]
        received = received or owned.stack[row]
        listed = (listed or owned.polled[row]) and not owned.stack[row]
        sent = (sent or owned.sends[row]) and not owned.stack[row]
        end, last = max(end, held[UNTIL, k]), row


@allocation_free
def _name(
    leg: Int,
    begin: Int,
    end: Int,
    last: Int,
    following: Int,
    reading: bool,
    tcp: bool,
    received: bool,
    sent: bool,
    inside: Inside,
    beside: Beside,
    owned: Owned,
) -> int:
    """Return the rank of the time between two calls with the packet; RANKS for one thread."""
    for at in range(owned.queue_at[leg], owned.queue_at[leg + 1]):
        within = min(owned.queue_end[at], end) - max(owned.queue_begin[at], begin)
        if 2 * within > end - begin:
            return int(owned.queue_rank[at])
    if is_lost(begin, end, beside):
        return LOST
    if owned.reads[following] and not reading:
        return SOCKET
    if (last >= 0 and owned.puts[last]) or (owned.polled[following] and received):
        return SOFTIRQ
    if owned.dequeued[following]:
        return QDISC
    one = np.int64(owned.record[following])
    is_tcp = tcp or owned.tcp[following]  # only TCP has a backlog: IPsec's thread calls IP again
    if owned.merges[following] and not is_tcp:
        return REASSEMBLY
    if owned.merges[following] and tcp and inside.context[one] != TASK:  # not the backlog: TCP's
        return SOCKET
    if last >= 0 and owned.scrubs[last] and owned.scrubs[following]:
        return QUEUE
    same = last < 0 or same_thread(np.int64(owned.record[last]), one, inside)
    if last >= 0 and same and owned.paced[last] and owned.paced[following]:
        return QUEUE
    kept, short = last >= 0 and owned.keeps[last], end - begin <= SHORT_NS
    queued = (kept or owned.sends[following]) and not (short and same)
    if queued or (sent and owned.frees[following] and not short):
        return SENDING
    if same:
        return RANKS
    return BACKLOG if inside.context[one] == TASK and not reading and is_tcp else QUEUE


@allocation_free
def _paint_between(
    leg: Int,
    last: Int,
    following: Int,
    begin: Int,
    end: Int,
    inside: Inside,
    beside: Beside,
    owned: Owned,
    paint: Int64s,
    stack: Int64s,
    sums: Int64s,
    counts: Int64s,
) -> None:
    """Paint spans of a thread between two of its calls with the packet: what it worked for."""
    record, records = np.int64(owned.record[following]), len(inside.ts)
    high = min(end, owned.end[leg])
    around = np.int64(inside.around[record])
    while around < records and inside.ts[around] > begin:
        around = np.int64(inside.around[around])
    mode, above = NOBODY, around
    while above < records:
        if owned.joined[above] == leg or owned.mine[above] in (leg, -2 - leg):
            mode = MINE
            break
        if owned.of[above] >= 0:
            mode = OTHERS
            break
        if inside.context[above] == TASK:  # inside a system call without a packet
            mode = MINE
        above = np.int64(inside.around[above])
    if begin < high:
        paint_call(
            around, mode, leg, begin, high, inside, beside, owned, paint, stack, sums, counts
        )
        level, cpu = np.int64(inside.context[record]), np.int64(inside.cpu[record])
        paint_interrupts(level, cpu, begin, high, False, beside, paint, counts)
        on = cpu
        if last >= 0:
            on = np.int64(inside.exit_cpu[owned.record[last]])
        away = was_switched(
            on, begin, cpu, end, beside.switch_first, beside.switched, beside.switch_near
        )
        if end - begin <= SHORT_NS and not away:
            add(UNPROBED, begin, end, begin, high, paint, counts)
        else:
            paint_unprobed(around, begin, on, end, cpu, high, inside, beside, paint, counts)


@allocation_free
def _sweep(
    leg: Int,
    last: Int,
    size: Int,
    order: Int64s,
    owned: Owned,
    paint: Int64s,
    made: Int64s,
    sums: Int64s,
    counts: Int64s,
    open_: Int64s,
) -> bool:
    """Turn painted spans, which may overlap, into spans that do not overlap.

    Returns False if `made` has no space for the spans.
    """
    count, begin, end = counts[PAINT], owned.begin[leg], owned.end[leg]
    at, open_[:] = begin, 0  # open_ counts open spans by rank
    lowest = np.int64(RANKS)  # of the open ranks
    sums[BUSY_NS, leg] = end - begin
    first = counts[WAITS]
    for i in range(size + 1):
        now = last if i == size else order[TIME, i]
        now = min(max(now, begin), last)
        if now > at:
            rank = int(OUTSIDE if lowest == RANKS else lowest)
            if rank == UNPROBED:
                sums[CPU_NS, leg] += min(now, end) - at if at < end else 0
                rank = BUSY
            if rank != BUSY and (at < end or rank < OTHERS or rank == LOST):
                n = counts[WAITS]
                if n >= made.shape[1]:
                    return False
                if n > first and made[KIND, n - 1] == rank and made[END, n - 1] == at:
                    made[END, n - 1] = now
                else:
                    made[LEG, n], made[KIND, n] = leg, rank
                    made[BEGIN, n], made[END, n] = at, now
                    counts[WAITS] += 1
                if at < end:
                    sums[BUSY_NS, leg] -= now - at
                    sums[UNKNOWN_NS, leg] += now - at if rank >= LOST else 0
            at = now
        if i < size and order[NUMBER, i] < 2 * count:
            rank = int(paint[KIND, order[NUMBER, i] // 2])
            if order[NUMBER, i] % 2 == 0:
                open_[rank] += 1
                if rank < lowest:
                    lowest = np.int64(rank)
            else:
                open_[rank] -= 1
                while lowest < RANKS and open_[lowest] <= 0:
                    lowest += 1
    return True
