# SPDX-License-Identifier: MIT
"""Where the time of a leg and of a packet went: docs/times.md, "Times of a leg and of a packet".

Input: the calls of a log, and of each leg which of them are its, when it begins and ends.  Output:
spans, each with its name.  Each span is judged alone: which calls were open, and which thread ran?
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from .calls import MISSED, Calls, Nested, Span, around_at, chain, ends, execution
from .layout import EVENT, NULL_SKB, RETURNS_SKB
from .roles import (
    ACKNOWLEDGES,
    DEQUEUES,
    FLUSHES,
    GENERATOR,
    GRO,
    KEPT,
    MERGES,
    QUEUED,
    RECEIVES,
    SCRUBS,
    SENDS_AGAIN,
)  # fmt: skip
from .slots import Event

BUSY, QDISC, SOCKET, SOFTIRQ, BACKLOG, SENDING, QUEUE, REASSEMBLY, OTHERS, INTERRUPTS, OFF = (
    "busy", "qdisc", "socket queue", "softirq", "socket backlog", "send queue", "queue",
    "reassembly", "other packets", "interrupts", "switched out",
)  # fmt: skip
UNPROBED, LISTED = "functions without a probe", "NAPI list"
LOST, OUTSIDE = "records were lost meanwhile", "outside probed functions"
RANK = (
    BUSY, QDISC, SOCKET, SOFTIRQ, BACKLOG, SENDING, QUEUE, REASSEMBLY, OTHERS, INTERRUPTS, OFF,
    UNPROBED, LISTED, LOST, OUTSIDE,
)  # fmt: skip
SHORT_NS = 50_000
NO_TIME = (LOST, OUTSIDE)  # unknown
QUEUES = {
    EVENT.QDISC_ENQUEUE: (EVENT.QDISC_DEQUEUE, QDISC),
    EVENT.SOCK_ENQUEUE: (EVENT.COPY_TO_USER, SOCKET),
}


@dataclass(eq=False)
class Leg:
    """`calls` have its packet, `socket` are those of its socket without one."""

    series: int
    begin: int
    end: int
    calls: list[Nested]
    socket: list[Nested]
    events: list[Event]
    gap: bool = False
    functions: int = 0
    waits: list[tuple[str, int, int]] = field(default_factory=list)  # name, begin, end
    cpu_ns: int = 0

    @property
    def kernel_ns(self) -> int:
        return self.end - self.begin

    def within(self, name: str) -> int:
        """Return ns of one name between begin and end."""
        return sum(
            max(min(end, self.end) - begin, 0) for what, begin, end in self.waits if what == name
        )

    @property
    def unknown_ns(self) -> int:
        return sum(self.within(name) for name in NO_TIME)

    @property
    def busy_ns(self) -> int:
        return self.kernel_ns - sum(self.within(name) for name in RANK[1:])


class Spent:
    """Makes `waits` and `cpu_ns` of legs."""

    def __init__(self, calls: Calls, legs: Sequence[Leg], readers: Iterable[str]) -> None:
        self._calls, self._legs, self._readers = calls, legs, frozenset(readers)
        self._series: dict[int, set[int]] = {}  # of calls with a packet, by id()
        for leg in legs:
            for each in leg.calls:
                self._series.setdefault(id(each), set()).add(leg.series)
        self._losses = [loss for loss in calls.log.losses if loss.reason != MISSED]
        for leg in legs:
            _OneLeg(self, leg).fill()

    def is_reader(self, of: Nested) -> bool:
        return self._calls.log.functions.get(of.call.func) in self._readers

    def puts(self, of: Nested) -> bool:
        return self._calls.log.functions.get(of.call.func) in QUEUED

    def name(self, of: Nested) -> str:
        return self._calls.log.functions.get(of.call.func, "")

    @cached_property
    def sees_devices(self) -> bool:  # each packet that is given to one
        return "__dev_queue_xmit" in self._calls.log.functions.values()

    def generates(self, of: Nested) -> bool:
        """Return whether the thread of the kernel's packet generator made it, in no other call."""
        call, log = of.call, self._calls.log
        name = log.threads.get(call.pid, "")
        return of.parent is None and call.context == 0 and name.startswith(GENERATOR)

    def switched(self, cpu: int, begin: int, on: int, end: int) -> bool:
        return self._calls.switched(cpu, begin, on, end)

    def gives(self, of: Nested) -> bool:
        """Return whether it took no packet and returned one."""
        call = of.call
        takes = self._calls.log.takes.get(call.func, False) and not call.flags & NULL_SKB
        return bool(call.flags & RETURNS_SKB) and call.end is not None and not takes

    def series_of(self, of: Nested) -> set[int]:
        return self._series.get(id(of), set())

    def lost(self, begin: int, end: int) -> bool:
        return any(loss.begin <= end and loss.end >= begin for loss in self._losses)

    def inside(self, of: Nested | None, thread: tuple[int, int]) -> list[Nested]:
        return self._calls.tops.get(thread, []) if of is None else of.inside

    def interrupts(self, call: Nested, begin: int, end: int) -> list[Span]:
        return list(self._calls.interrupted(call.call.context, call.call.cpu, begin, end))


class _OneLeg:
    def __init__(self, all_: Spent, leg: Leg) -> None:
        self._all, self._leg = all_, leg
        self._own = {id(each) for each in leg.calls}
        self._joined = {id(each) for each in leg.socket}

    @cached_property
    def _held(self) -> list[tuple[int, int, Nested]]:
        """Return (since, until, call): when each call had the packet."""
        made: dict[int, tuple[int, int, Nested]] = {}
        for each in sorted(self._leg.calls, key=lambda one: -one.call.entry):
            call = each.call
            until = call.entry if call.end is None else call.end
            since = call.entry
            if self._all.gives(each):
                inner = [
                    begin
                    for begin, _, other in made.values()
                    if call.entry < other.call.entry <= until
                    and execution(other.call) == execution(call)
                ]
                since = min(inner, default=until)
            made[id(each)] = (since, until, each)
        order = {id(each): n for n, each in enumerate(self._leg.calls)}
        return sorted(made.values(), key=lambda one: (one[0], order[id(one[2])]))

    @cached_property
    def _queued(self) -> list[tuple[str, int, int]]:
        found, events = [], self._leg.events
        for n, event in enumerate(events):
            leaving, name = QUEUES.get(event.event, (None, ""))
            out = next((e.ts for e in events[n + 1 :] if e.event == leaving), None)
            if name and out is not None:
                found.append((name, event.ts, out))
        return found

    @cached_property
    def _holes(self) -> list[tuple[int, int, str, Nested]]:
        """Return (begin, end, name or "" for the same thread, next call) when no call had it."""
        made: list[tuple[int, int, str, Nested]] = []
        end, before = self._leg.begin, list[Nested]()
        for since, until, each in self._held:
            if since > end:
                made.append((end, since, self._name(before, each, (end, since)), each))
            before.append(each)
            end = max(end, until)
        return made

    def _name(self, before: list[Nested], following: Nested, hole: Span) -> str:
        last = before[-1] if before else None
        reading = any(self._all.is_reader(each) for each in before)
        for name, begin, end in self._queued:
            if 2 * (min(end, hole[1]) - max(begin, hole[0])) > hole[1] - hole[0]:
                return name
        if self._all.lost(*hole):
            return LOST
        if self._all.is_reader(following) and not reading:
            return SOCKET
        names = [self._all.name(each) for each in before]
        if self._all.name(following) == GRO and any(each in RECEIVES for each in names):
            return SOFTIRQ
        if last is not None and self._all.puts(last):
            return SOFTIRQ
        if self._all.name(following) in DEQUEUES:
            return QDISC
        tcp, merges = any(n.startswith("tcp_") for n in names), self._all.name(following) in MERGES
        if merges and not tcp and not self._all.name(following).startswith("tcp_"):
            return REASSEMBLY
        if merges and tcp and following.call.context != 0:
            return SOCKET
        if names[-1:] == [self._all.name(following)] == [SCRUBS] and self._all.sees_devices:
            return QUEUE
        same = last is None or execution(last.call) == execution(following.call)
        if last is not None and same and all(map(self._all.generates, (last, following))):
            return QUEUE
        sends = self._all.name(following) in SENDS_AGAIN or KEPT & {*names[-1:]}
        if sends and (hole[1] - hole[0] > SHORT_NS or not same):
            return SENDING
        steps = [each for each in names if each in SENDS_AGAIN | RECEIVES]
        kept = bool(steps) and steps[-1] in SENDS_AGAIN
        if kept and self._all.name(following) in ACKNOWLEDGES and hole[1] - hole[0] > SHORT_NS:
            return SENDING
        if same:
            return ""
        of_tcp = tcp or self._all.name(following).startswith("tcp_")
        return BACKLOG if following.call.context == 0 and not reading and of_tcp else QUEUE

    def fill(self) -> None:
        leg = self._leg
        for begin, end in self._cuts():
            names = set(self._names(begin, end))
            name = min(names, key=RANK.index, default=OUTSIDE)
            if name == UNPROBED:
                leg.cpu_ns += end - begin if begin < leg.end else 0
                continue
            if name == BUSY:
                leg.cpu_ns += (end - begin) * self._running(begin) if begin < leg.end else 0
                continue
            if begin >= leg.end and name in (OTHERS, INTERRUPTS, OFF, LISTED, OUTSIDE):
                continue
            if leg.waits and leg.waits[-1][0] == name and leg.waits[-1][2] == begin:
                leg.waits[-1] = name, leg.waits[-1][1], end
            else:
                leg.waits.append((name, begin, end))

    def _cuts(self) -> list[Span]:
        """Return the leg, and what waits lie behind it, cut wherever anything begins or ends."""
        leg = self._leg
        last = max([leg.end, *(until for _, until, _ in self._held)])
        cuts = {leg.begin, leg.end}
        for since, until, each in self._held:
            cuts |= {since, until, *ends(each)}
        for each in leg.socket:
            cuts |= ends(each)
        for _, begin, end in self._queued:
            cuts |= {begin, end}
        for begin, end, name, following in self._holes:
            cuts |= {begin, end}
            if not name:
                for low, high in self._all.interrupts(following, begin, end):
                    cuts |= {low, high}
                for each in self._all.inside(
                    around_at(following, begin), execution(following.call)
                ):
                    if (
                        each.call.end is not None
                        and each.call.entry < end
                        and each.call.end > begin
                    ):
                        cuts |= ends(each)
        at = sorted(cut for cut in cuts if leg.begin <= cut <= last)
        return list(pairwise(at))

    def _names(self, begin: int, end: int) -> Iterable[str]:
        """Return all that fits to a span in which nothing begins or ends."""
        held = [each for since, until, each in self._held if since <= begin < until]
        for since, _, each in self._held:
            if each.call.entry <= begin < since and self._is_within(each):
                held.append(each)
        if held and begin >= self._leg.end:
            yield BUSY
            return
        for each in held:
            yield from self._what(each, begin)
        for name, low, high in self._queued:
            if low <= begin < high:
                yield name
        for low, high, name, following in self._holes:
            if held or not low <= begin < high:
                continue
            if name:
                yield name
                continue
            around = around_at(following, low)
            running = chain(self._all.inside(around, execution(following.call)), begin)
            yield from self._between(around, running, begin)
            if self._is_short((low, high), begin, around, following):
                yield UNPROBED
            if any(a <= begin < b for a, b in self._all.interrupts(following, low, high)):
                yield INTERRUPTS
            if self._is_listed(low, following):
                yield LISTED

    def _is_listed(self, since: int, following: Nested) -> bool:
        """Return whether GRO had the packet last, and what follows takes it from GRO's lists."""
        before = [self._all.name(each) for at, _, each in self._held if at <= since]
        steps = [name for name in before if name == GRO or name in RECEIVES]
        return steps[-1:] == [GRO] and self._all.name(following) in FLUSHES

    def _is_within(self, gives: Nested) -> bool:
        """Return whether another call of its thread had the packet when it began."""
        at, thread = gives.call.entry, execution(gives.call)
        return any(
            since <= at < until and each.call.entry <= at and execution(each.call) == thread
            for since, until, each in self._held
            if each is not gives
        )

    def _what(self, held: Nested, at: int) -> Iterable[str]:
        """Return what the thread of a call that has the packet does at a time."""
        running = held
        for running in chain(held.inside, at):
            if id(running) in self._own:
                return  # which is asked for itself
            owners = self._all.series_of(running)
            if owners and self._leg.series not in owners:
                yield OTHERS
                return
        yield _state(running, at)

    def _between(self, around: Nested | None, running: list[Nested], at: int) -> Iterable[str]:
        """Return what a thread does that had the packet before and has it again later."""
        mine = others = task = False
        above = around
        while above is not None and not mine and not others:
            task = task or above.call.context == 0
            mine = self._is_mine(above)
            others = not mine and bool(self._all.series_of(above))
            above = above.parent
        mine = mine or (task and not others)
        for each in running:
            if self._is_mine(each):
                mine, others = True, False
            elif others or self._all.series_of(each):
                yield OTHERS
                return
        last = running[-1] if running else around
        if mine and last is not None:
            yield _state(last, at)
        elif others:
            yield OTHERS

    def _is_short(self, hole: Span, at: int, around: Nested | None, following: Nested) -> bool:
        """Return whether only this thread was recorded, shortly before and shortly after a time."""
        before = [each for since, _, each in self._held if since < hole[1]]
        since, on = hole[0], before[-1].call.end_cpu if before else following.call.cpu
        until, cpu = hole[1], following.call.cpu
        if until - since > SHORT_NS or self._all.switched(on, since, cpu, until):
            calls = self._all.inside(around, execution(following.call))
            number = bisect_right(calls, at, key=lambda each: each.call.entry)
            if number < len(calls) and calls[number].call.entry < until:
                until, cpu = calls[number].call.entry, calls[number].call.cpu
            ended = (calls[n].call for n in range(number - 1, -1, -1))
            ends = ((each.end, each.end_cpu) for each in ended if each.end is not None)
            since, on = max(next(ends, (since, on)), (since, on))
        is_short = since <= at < until <= since + SHORT_NS
        return is_short and not self._all.switched(on, since, cpu, until)

    def _is_mine(self, of: Nested) -> bool:
        return id(of) in self._own or id(of) in self._joined

    def _running(self, at: int) -> int:
        """Return how many threads run a call of the packet itself, or of its socket."""
        held = [each for since, until, each in self._held if since <= at < until]
        held += [
            each
            for since, _, each in self._held
            if each.call.entry <= at < since and self._is_within(each)
        ]
        if not held:
            return 1
        running = 0
        for each in held:
            above = chain(each.inside, at)
            none = not any(self._all.series_of(inner) for inner in above)
            running += none and _state([each, *above][-1], at) == BUSY
        return running


def _state(running: Nested, at: int) -> str:
    stretch = next(one for one in running.stretches if one.begin <= at < one.end)
    if stretch.switched:
        return OFF
    return INTERRUPTS if any(a <= at < b for a, b in stretch.interrupts) else BUSY
