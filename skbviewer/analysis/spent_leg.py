# SPDX-License-Identifier: MIT
"""Where the time of each leg went, leg by leg: the compiled part of spent.py.

In: the calls of legs, what is inside each call, when CPUs were interrupted and switched threads.
Out: the spans of a leg that are not busy, and how much is.  What may be true at a time is painted:
spans of ranks, the lowest of which counts (docs/times.md, "Of a leg and of a packet").
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..records.compiled import Int, compiled, lean
from .interrupts import CPUS, LEVELS
from .own_times import search, was_switched
from .waits import (
    BACKLOG,
    BUSY,
    INTERRUPTS,
    LOST,
    OFF,
    OTHERS,
    OUTSIDE,
    QUEUE,
    RANKS,
    REASSEMBLY,
    SENDING,
    SOCKET,
    SOFTIRQ,
    UNPROBED,
)

SAME, KIN, MINE, NOBODY = range(20, 24)  # how calls are looked through
SHORT_NS = 50_000  # what a thread that sleeps is away for at least: the kernel's timer slack

TASK = 0  # context
LEG, KIND, BEGIN, END = range(4)  # rows of what is made
CPU_NS, BUSY_NS, UNKNOWN_NS = range(3)  # rows of sums
SINCE, UNTIL, ROW = range(3)  # rows of `held`
PAINT, WAITS, AT_LEG = range(3)  # of the counts

Index = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]


class Inside(NamedTuple):
    """Of each record when and where it was, and the record around it.

    A call without one around it has its execution context, numbered behind the records.  The calls
    directly inside `n` are child[first[n] : first[n + 1]], in order of time.
    """

    ts: Index
    exit_ts: Index
    cpu: Small
    exit_cpu: Small
    context: Bytes
    pid: Small
    around: Small
    first: Small
    child: Small


class Beside(NamedTuple):
    """When CPUs were interrupted and switched threads, and when records were lost."""

    irq_first: Small
    irq_begin: Index
    irq_end: Index
    near: Index
    switch_first: Small
    switched: Index
    lost_begin: Index
    lost_end: Index


class Owned(NamedTuple):
    """Rows of calls, by leg: the record, flags, and when legs begin; `of` is the leg of records.

    `mine` and `joined` are the last leg that looked at a record, as a call of its packet, and of
    its socket.
    """

    at: Index
    record: Small
    has: Flags
    gives: Flags
    reads: Flags
    puts: Flags
    merges: Flags
    sends: Flags
    tcp: Flags
    begin: Index
    end: Index
    series: Index
    of: Small
    mine: Small
    joined: Small
    queue_at: Index
    queue_rank: Bytes
    queue_begin: Index
    queue_end: Index


@compiled
def fill(
    inside: Inside,
    beside: Beside,
    owned: Owned,
    held: Index,
    paint: Index,
    stack: Index,
    made: Index,
    sums: Index,
    counts: Index,
    open_: Index,
) -> bool:
    """Fill `made` and `sums` of legs from counts[AT_LEG] on; False if there was no room for one."""
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
        count = counts[PAINT]
        times = np.empty(2 * count + 1, np.int64)
        for k in range(count):
            times[2 * k], times[2 * k + 1] = paint[BEGIN, k], paint[END, k]
        times[2 * count] = owned.end[leg]
        order = np.argsort(times)
        if not _sweep(leg, last, order, times, owned, paint, made, sums, counts, open_):
            counts[WAITS] = waits
            sums[:, leg] = 0
            return False
    counts[AT_LEG] = len(owned.begin)
    return True


@lean
def _mark(leg: Int, owned: Owned) -> None:
    for row in range(owned.at[leg], owned.at[leg + 1]):
        if owned.has[row]:
            owned.mine[owned.record[row]] = leg
        else:
            owned.joined[owned.record[row]] = leg


@lean
def _hold(leg: Int, inside: Inside, owned: Owned, held: Index) -> int:
    """When each call of the packet has it, in that order; returns how many there are."""
    size = np.int64(0)
    for row in range(owned.at[leg], owned.at[leg + 1]):
        if not owned.has[row]:
            continue
        record = np.int64(owned.record[row])
        since, until = inside.ts[record], max(inside.ts[record], inside.exit_ts[record])
        held[SINCE, size], held[UNTIL, size], held[ROW, size] = since, until, row
        size += 1
    for back in range(size):  # inner calls first
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
            if _same_thread(record, inner, inside):
                since = np.int64(min(since, held[SINCE, other]))
        held[SINCE, k] = since
    for number in range(1, size):  # nearly in order: a stable insertion sort
        since, until, row = held[SINCE, number], held[UNTIL, number], held[ROW, number]
        at = np.int64(number)
        while at > 0 and held[SINCE, at - 1] > since:
            held[SINCE, at], held[UNTIL, at] = held[SINCE, at - 1], held[UNTIL, at - 1]
            held[ROW, at] = held[ROW, at - 1]
            at -= 1
        held[SINCE, at], held[UNTIL, at], held[ROW, at] = since, until, row
    return int(size)


@lean
def _same_thread(one: Int, other: Int, inside: Inside) -> bool:
    """A task may change its CPU; the idle one and interrupts have one for each."""
    if inside.context[one] != inside.context[other]:
        return False
    if inside.context[one] == TASK and inside.pid[one] > 0:
        return bool(inside.pid[one] == inside.pid[other])
    same: bool = inside.cpu[one] == inside.cpu[other]
    return same and not (inside.context[one] == TASK and inside.pid[other] > 0)


@lean
def _add(rank: Int, begin: Int, end: Int, low: Int, high: Int, paint: Index, counts: Index) -> None:
    """Paint what of a span lies within bounds; what there is no room for is only counted."""
    begin, end = max(begin, low), min(end, high)
    if begin >= end:
        return
    at = counts[PAINT]
    if 2 * at + 4 <= paint.shape[1]:
        paint[KIND, at], paint[BEGIN, at], paint[END, at] = rank, begin, end
    counts[PAINT] += 1


@lean
def _paint_held(
    leg: Int,
    size: Int,
    inside: Inside,
    beside: Beside,
    owned: Owned,
    held: Index,
    paint: Index,
    stack: Index,
    sums: Index,
    counts: Index,
) -> None:
    """What happens inside calls that have the packet; behind the leg's end nobody asks."""
    begin, end = owned.begin[leg], owned.end[leg]
    for k in range(size):
        record = np.int64(owned.record[held[ROW, k]])
        low, high = max(begin, held[SINCE, k]), held[UNTIL, k]
        if owned.gives[held[ROW, k]] and _is_within(k, size, record, inside, owned, held):
            low = max(begin, inside.ts[record])
        _add(BUSY, low, high, end, high, paint, counts)
        if owned.mine[record] == leg:  # once, if it has the packet twice
            owned.mine[record] = -2 - leg
            _paint(
                record, SAME, leg, low, min(high, end), inside, beside, owned,
                paint, stack, sums, counts,
            )  # fmt: skip
    for at in range(owned.queue_at[leg], owned.queue_at[leg + 1]):
        _add(
            owned.queue_rank[at], owned.queue_begin[at], owned.queue_end[at], begin,
            owned.queue_end[at], paint, counts,
        )  # fmt: skip


@lean
def _is_within(
    number: Int, size: Int, record: Int, inside: Inside, owned: Owned, held: Index
) -> bool:
    """Whether another call of its thread had the packet when this one began."""
    for k in range(size):
        other = np.int64(owned.record[held[ROW, k]])
        if (
            k != number
            and held[SINCE, k] <= inside.ts[record] < held[UNTIL, k]
            and inside.ts[other] <= inside.ts[record]
            and _same_thread(record, other, inside)
        ):
            return True
    return False


@lean
def _paint(
    record: Int,
    mode: Int,
    leg: Int,
    low: Int,
    high: Int,
    inside: Inside,
    beside: Beside,
    owned: Owned,
    paint: Index,
    stack: Index,
    sums: Index,
    counts: Index,
) -> None:
    """The stretches of a call from low to high, and of those inside it that work for the packet.

    `mode`: SAME: it has the packet; KIN: another leg of it has; MINE: it is the socket's, and no
    call has the packet; OTHERS: it works for others; NOBODY: nothing shows for whom.  A record
    behind all is a context.
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
            _add(OTHERS, inside.ts[child], inside.exit_ts[child], low, high, paint, counts)
        elif go > OTHERS and depth < stack.shape[1]:
            depth = _push(depth, child, go, low, inside, stack)


@lean
def _push(depth: Int, record: Int, mode: Int, low: Int, inside: Inside, stack: Index) -> np.int64:
    """Look through a call next, from the first call inside it that is not over at `low`."""
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


@lean
def _how(child: Int, mode: Int, leg: Int, owned: Owned) -> np.int64:
    """How a call inside another is looked through; -1: not at all, for it is by itself."""
    is_mine = owned.mine[child] == leg or owned.mine[child] == -2 - leg
    of = np.int64(owned.of[child])
    if mode in (SAME, KIN):
        if is_mine:
            return np.int64(-1)
        if of < 0:
            return np.int64(mode)
        return np.int64(KIN if owned.series[of] == owned.series[leg] else OTHERS)
    if is_mine or owned.joined[child] == leg:
        return np.int64(MINE)
    return np.int64(mode if of < 0 else OTHERS)


@lean
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
    paint: Index,
    sums: Index,
    counts: Index,
) -> None:
    """One stretch of a call."""
    if mode == NOBODY:
        return
    if mode == OTHERS:
        _add(OTHERS, at, until, low, high, paint, counts)
        return
    level = np.int64(inside.context[record])
    is_thread = level == TASK and inside.pid[record] > 0
    if is_thread and was_switched(on, at, cpu, until, beside.switch_first, beside.switched):
        _add(OFF, at, until, low, high, paint, counts)
        return
    begin, end = max(at, low), min(until, high)
    if begin >= end:
        return
    _add(BUSY, begin, end, begin, end, paint, counts)
    ran = end - begin - _interrupted(level, on, begin, end, True, beside, paint, counts)
    if mode != KIN:
        sums[CPU_NS, leg] += ran


@lean
def _interrupted(
    level: Int,
    cpu: Int,
    begin: Int,
    end: Int,
    cut: bool,
    beside: Beside,
    paint: Index,
    counts: Index,
) -> np.int64:
    """Paint interrupts of a CPU; `cut`: out of the last span.  Returns how long they are."""
    taken = np.int64(0)
    if level >= LEVELS or not 0 <= cpu < CPUS:
        return taken
    place = CPUS * level + cpu
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
        if cut:  # the busy span ends here, and another one begins behind it
            last = counts[PAINT] - 1
            if 2 * last + 4 <= paint.shape[1]:
                paint[END, last] = since
            if since <= at:
                counts[PAINT] -= 1
        _add(INTERRUPTS, since, until, begin, end, paint, counts)
        if cut:
            _add(BUSY, until, end, begin, end, paint, counts)
            if until >= end:
                return taken
        at = until
        one += 1
    return taken


@lean
def _paint_holes(
    leg: Int,
    size: Int,
    inside: Inside,
    beside: Beside,
    owned: Owned,
    held: Index,
    paint: Index,
    stack: Index,
    sums: Index,
    counts: Index,
) -> None:
    """What happens when no call has the packet."""
    end, last, reading, tcp = owned.begin[leg], np.int64(-1), False, False
    for k in range(size):
        row = held[ROW, k]
        if held[SINCE, k] > end:
            since = held[SINCE, k]
            rank = _name(leg, end, since, last, row, reading, tcp, inside, beside, owned)
            if rank < RANKS:
                _add(rank, end, since, end, since, paint, counts)
            else:
                _paint_between(
                    leg, last, row, end, since, inside, beside, owned, paint, stack, sums, counts
                )
        reading, tcp = reading or owned.reads[row], tcp or owned.tcp[row]
        end, last = max(end, held[UNTIL, k]), row


@lean
def _name(
    leg: Int,
    begin: Int,
    end: Int,
    last: Int,
    following: Int,
    reading: bool,
    tcp: bool,
    inside: Inside,
    beside: Beside,
    owned: Owned,
) -> int:
    """The rank of a hole between two calls with the packet; RANKS: the same thread had it."""
    for at in range(owned.queue_at[leg], owned.queue_at[leg + 1]):
        within = min(owned.queue_end[at], end) - max(owned.queue_begin[at], begin)
        if 2 * within > end - begin:
            return int(owned.queue_rank[at])
    if _is_lost(begin, end, beside):
        return LOST
    if owned.reads[following] and not reading:
        return SOCKET
    if last >= 0 and owned.puts[last]:
        return SOFTIRQ
    if owned.merges[following] and not tcp:
        return REASSEMBLY
    one = np.int64(owned.record[following])
    same = last < 0 or _same_thread(np.int64(owned.record[last]), one, inside)
    if owned.sends[following] and (end - begin > SHORT_NS or not same):
        return SENDING
    if same:
        return RANKS
    return BACKLOG if inside.context[one] == TASK and not reading else QUEUE


@lean
def _is_lost(begin: Int, end: Int, beside: Beside) -> bool:
    """As Spans.meet() says."""
    low, high = np.int64(0), np.int64(len(beside.lost_begin))
    while low < high:
        middle = (low + high) // 2
        if beside.lost_begin[middle] <= end:
            low = middle + 1
        else:
            high = middle
    return bool(low > 0 and beside.lost_end[low - 1] >= begin)


@lean
def _paint_between(
    leg: Int,
    last: Int,
    following: Int,
    begin: Int,
    end: Int,
    inside: Inside,
    beside: Beside,
    owned: Owned,
    paint: Index,
    stack: Index,
    sums: Index,
    counts: Index,
) -> None:
    """One thread has the packet before and behind: for whom it worked in between."""
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
        if inside.context[above] == TASK:  # a system call's, of no packet
            mode = MINE
        above = np.int64(inside.around[above])
    if begin < high:
        _paint(around, mode, leg, begin, high, inside, beside, owned, paint, stack, sums, counts)
        level, cpu = np.int64(inside.context[record]), np.int64(inside.cpu[record])
        _interrupted(level, cpu, begin, high, False, beside, paint, counts)
        on = cpu
        if last >= 0:
            on = np.int64(inside.exit_cpu[owned.record[last]])
        away = was_switched(on, begin, cpu, end, beside.switch_first, beside.switched)
        if end - begin <= SHORT_NS and not away:
            _add(UNPROBED, begin, end, begin, high, paint, counts)


@lean
def _sweep(
    leg: Int,
    last: Int,
    order: Index,
    times: Index,
    owned: Owned,
    paint: Index,
    made: Index,
    sums: Index,
    counts: Index,
    open_: Index,
) -> bool:
    """From ranks to spans that do not overlap; False if `made` has no room for them."""
    count, begin, end = counts[PAINT], owned.begin[leg], owned.end[leg]
    at, open_[:] = begin, 0  # spans of each rank
    sums[BUSY_NS, leg] = end - begin
    first = counts[WAITS]
    for i in range(len(order) + 1):
        now = last if i == len(order) else times[order[i]]
        now = min(max(now, begin), last)
        if now > at:
            rank = OUTSIDE
            for each in range(RANKS):
                if open_[each] > 0:
                    rank = each
                    break
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
        if i < len(order) and order[i] < 2 * count:
            k = order[i] // 2
            rank = paint[KIND, k]
            open_[rank] += 1 if order[i] % 2 == 0 else -1
    return True
