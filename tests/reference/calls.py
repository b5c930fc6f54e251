# SPDX-License-Identifier: MIT
"""What of each call's time is its own: docs/times.md, section "Times of one call".

Input: the records of a log.  Output: calls with their direct inner calls and their time spans.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from .layout import EVENT
from .slots import Call, Event, Log, Loss

Span = tuple[int, int]
MISSED = 2  # enum kbl_lost: of one function, on whatever CPU
HARDIRQ, SOFTIRQ = 2, 1
PAIRS = {EVENT.IRQ_ENTRY: HARDIRQ, EVENT.SOFTIRQ_ENTRY: SOFTIRQ}
ENDS = {EVENT.IRQ_EXIT: HARDIRQ, EVENT.SOFTIRQ_EXIT: SOFTIRQ}


@dataclass(frozen=True)
class Stretch:
    """Time between the calls inside a call: it ran, but for `interrupts`, or was switched out."""

    begin: int
    end: int
    switched: bool
    interrupts: tuple[Span, ...]

    @property
    def ran(self) -> list[Span]:
        """Return when it ran."""
        if self.switched:
            return []
        at, made = self.begin, []
        for begin, end in self.interrupts:
            if begin > at:
                made.append((at, begin))
            at = end
        return [*made, (at, self.end)] if at < self.end else made


@dataclass(eq=False)
class Nested:
    """A call, and what is directly inside it in its thread."""

    call: Call
    parent: Nested | None = None
    inside: list[Nested] = field(default_factory=list)
    stretches: list[Stretch] = field(default_factory=list)
    events: int = 0  # what the events directly inside it count
    gap: bool = False  # records of its CPUs were lost meanwhile

    @property
    def dur(self) -> int | None:
        return None if self.call.end is None else self.call.end - self.call.entry

    @property
    def self_ns(self) -> int | None:
        if self.dur is None or self.gap:
            return None
        return sum(end - begin for one in self.stretches for begin, end in one.ran)

    @cached_property
    def irq_ns(self) -> int:
        own = sum(end - begin for one in self.stretches for begin, end in one.interrupts)
        return own + sum(each.irq_ns for each in self.inside)

    @cached_property
    def off_ns(self) -> int:
        own = sum(one.end - one.begin for one in self.stretches if one.switched)
        return own + sum(each.off_ns for each in self.inside)


def execution(call: Call | Event) -> tuple[int, int]:
    """Return what a call runs in: a thread, or a level of interrupts of a CPU."""
    return (-1, call.pid) if call.context == 0 and call.pid > 0 else (call.context, call.cpu)


class Calls:
    """All calls of a log."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.all = [Nested(call) for call in sorted(log.calls, key=lambda call: call.entry)]
        self.at = {(each.call.cpu, each.call.entry): each for each in self.all}
        self.tops: dict[tuple[int, int], list[Nested]] = {}
        self._open_at: dict[int, Nested | None] = {}
        self._nest()
        self._interrupts = _interrupts(log)
        self._switches = _switches(log)
        for each in self.all:
            each.gap = any(_lost(each.call, loss) for loss in log.losses if loss.reason != MISSED)
            if each.call.end is not None:
                each.stretches = list(self._stretches(each))

    def _nest(self) -> None:
        stacks: dict[tuple[int, int], list[Nested]] = {}
        both: list[tuple[int, int, Nested | Event]] = []
        both += [(each.call.entry, 0, each) for each in self.all]
        both += [(event.ts, 1, event) for event in self.log.written]
        for ts, _, one in sorted(both, key=lambda each: each[:2]):
            of = one.call if isinstance(one, Nested) else one
            stack = stacks.setdefault(execution(of), [])
            while stack and stack[-1].call.end <= ts:  # type: ignore[operator]
                stack.pop()
            if isinstance(one, Event):
                self._open_at[id(one)] = stack[-1] if stack else None
                if stack:
                    stack[-1].events += weight(one)
                continue
            if stack:
                one.parent = stack[-1]
                stack[-1].inside.append(one)
            else:
                self.tops.setdefault(execution(one.call), []).append(one)
            if one.call.end is not None:
                stack.append(one)

    def open_at(self, event: Event) -> Nested | None:
        """Return the innermost call of its thread that an event happened in."""
        return self._open_at[id(event)]

    def _stretches(self, of: Nested) -> Iterator[Stretch]:
        call = of.call
        at, cpu = call.entry, call.cpu
        assert call.end is not None
        for each in of.inside:
            if each.call.end is None:
                continue
            if each.call.entry > at:
                yield self._stretch(call, at, cpu, each.call.entry, each.call.cpu)
            if each.call.end > at:
                at, cpu = each.call.end, each.call.end_cpu
        if call.end > at:
            yield self._stretch(call, at, cpu, call.end, call.end_cpu)

    def _stretch(self, call: Call, begin: int, cpu: int, end: int, on: int) -> Stretch:
        if call.context == 0 and call.pid > 0 and self.switched(cpu, begin, on, end):
            return Stretch(begin, end, True, ())
        return Stretch(begin, end, False, tuple(self.interrupted(call.context, cpu, begin, end)))

    def switched(self, cpu: int, begin: int, on: int, end: int) -> bool:
        """Return whether calls show another thread between a time on one CPU and one on another."""
        times = self._switches.get(cpu, [])
        return cpu != on or bisect_right(times, begin) < bisect_right(times, end)

    def interrupted(self, context: int, cpu: int, begin: int, end: int) -> Iterator[Span]:
        """Yield when higher contexts ran on a CPU between two times."""
        spans = self._interrupts.get((context, cpu), [])
        first = max(bisect_left(spans, (begin, 0)) - 1, 0)
        for low, high in spans[first:]:
            if low >= end:
                break
            if high > begin:
                yield max(low, begin), min(high, end)


def _interrupts(log: Log) -> dict[tuple[int, int], list[Span]]:
    """Return by (context, CPU) the times when a higher context ran there.

    The spans do not touch each other.
    """
    interrupts: list[tuple[int, int, int, int]] = []  # context, CPU, begin, end
    last: dict[tuple[int, int], int] = {}
    for event in sorted(log.events, key=lambda event: event.ts):
        if event.event in PAIRS:
            last[PAIRS[event.event], event.cpu] = event.ts
        elif event.event in ENDS:
            begin = last.pop((ENDS[event.event], event.cpu), None)
            if begin is not None:
                interrupts.append((ENDS[event.event], event.cpu, begin, event.ts))
    interrupts += [
        (call.context, call.end_cpu, call.entry, call.end)
        for call in log.calls
        if call.context > 0 and call.end is not None
    ]
    made: dict[tuple[int, int], list[Span]] = {}
    for context, cpu, begin, end in sorted(interrupts, key=lambda one: one[2]):
        for level in range(context):
            spans = made.setdefault((level, cpu), [])
            if spans and spans[-1][1] >= begin:
                spans[-1] = spans[-1][0], max(spans[-1][1], end)
            else:
                spans.append((begin, end))
    return made


def _switches(log: Log) -> dict[int, list[int]]:
    """Return by CPU the times when calls first show another thread there than before."""
    points: dict[int, list[Span]] = {}
    for call in log.calls:
        points.setdefault(call.cpu, []).append((call.entry, call.pid))
        if call.end is not None:
            points.setdefault(call.end_cpu, []).append((call.end, call.pid))
    made = {}
    for cpu, seen in points.items():
        known = [(ts, pid) for ts, pid in sorted(seen) if pid >= 0]
        made[cpu] = [ts for (_, before), (ts, pid) in pairwise(known) if pid != before]
    return made


def _lost(call: Call, loss: Loss) -> bool:
    """Return whether records of a CPU of a call were lost while it was open."""
    if loss.end < call.entry or (call.end is not None and loss.begin > call.end):
        return False
    return loss.cpu in (call.cpu, call.end_cpu) or call.cpu != call.end_cpu >= 0


def weight(event: Event) -> int:
    """Return the cost of an event as a multiple of the cost of an empty call's probe."""
    return 45 if event.event == EVENT.DROP else 1


class Costs:
    """What the probes and events inside each call cost (counter-and-calibration.md)."""

    def __init__(self, calls: Calls) -> None:
        calibration = calls.log.calibration
        assert calibration is not None
        self.empty, self.nested = calibration["tau_empty"], calibration["tau_nested"]
        self.skb_empty = calibration["tau_skb_empty"] or self.empty
        self.skb_nested = calibration["tau_skb_nested"] or self.nested
        self._known: dict[int, tuple[int, int, int]] = {}
        self._higher: dict[tuple[int, int], list[tuple[int, bool]]] = {}
        self._events: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for event in sorted(calls.log.written, key=lambda event: event.ts):
            for level in range(event.context):
                at = self._events.setdefault((level, event.cpu), [])
                at.append((event.ts, weight(event)))
        for each in calls.all:
            if each.call.context > 0 and each.call.end is not None:
                for level in range(each.call.context):
                    calls_at = self._higher.setdefault((level, each.call.end_cpu), [])
                    calls_at.append((each.call.entry, each.call.skb != 0))

    def of(self, nested: Nested, shown: bool) -> int | None:
        """Return duration without them, but not below 0; `shown`: its row has a packet."""
        if nested.dur is None or nested.gap:
            return None
        return max(nested.dur - sum(self._taken(nested, shown)), 0)

    def error(self, nested: Nested, shown: bool) -> int | None:
        """Return the largest of three bounds on the error of a duration without the probes, ns.

        All of the events' cost is added to the first two: the difference between calls with and
        without a packet, and half of the probes' cost.  The third is the costs' excess over the
        duration.
        """
        if nested.dur is None or nested.gap:
            return None
        probes, events = self._taken(nested, shown)
        wrong = max(abs(self.skb_empty - self.empty), (probes + 1) // 2) + events
        return max(wrong, probes + events - nested.dur)

    def _taken(self, nested: Nested, shown: bool) -> tuple[int, int]:
        """Return what probes cost, and what events cost."""
        plain, with_skb, events = self._inside(nested)
        own = self.skb_empty if shown else self.empty
        probes = own + plain * self.nested + with_skb * self.skb_nested
        return probes, events * max(self.skb_empty, self.empty)

    def _inside(self, nested: Nested) -> tuple[int, int, int]:
        """Return what is inside the call and its interrupts.

        These are the numbers of probed calls without and with a packet, and the weight of events.
        """
        if id(nested) in self._known:
            return self._known[id(nested)]
        made = [0, 0, nested.events]
        cpu = nested.call.cpu
        for one in nested.stretches:
            if not one.interrupts:
                continue
            place = nested.call.context, self._cpu(nested, one, cpu)
            at, events = self._higher.get(place, []), self._events.get(place, [])
            for begin, end in one.interrupts:
                low = bisect_left(at, (begin, False))
                high = bisect_left(at, (end, False))
                for _, shown in at[low:high]:
                    made[shown] += 1
                low, high = bisect_left(events, (begin, 0)), bisect_left(events, (end, 0))
                made[2] += sum(number for _, number in events[low:high])
        for each in nested.inside:
            made[each.call.skb != 0] += 1
            made = [a + b for a, b in zip(made, self._inside(each), strict=True)]
        self._known[id(nested)] = made[0], made[1], made[2]
        return self._known[id(nested)]

    @staticmethod
    def _cpu(nested: Nested, stretch: Stretch, cpu: int) -> int:
        """Return where a stretch began."""
        for each in nested.inside:
            if each.call.end is not None and each.call.end <= stretch.begin:
                cpu = each.call.end_cpu
        return cpu


def ends(of: Nested) -> set[int]:
    """Return where anything in a call begins or ends."""
    made = {of.call.entry, of.call.entry if of.call.end is None else of.call.end}
    for one in of.stretches:
        made |= {one.begin, one.end, *(each for span in one.interrupts for each in span)}
    for each in of.inside:
        made |= ends(each)
    return made


def chain(calls: Sequence[Nested], at: int) -> list[Nested]:
    """Return the calls that are open at the time `at`, outermost first; `calls` are in order."""
    number = bisect_right(calls, at, key=lambda each: each.call.entry)
    for each in (calls[n] for n in range(number - 1, -1, -1)):
        if each.call.end is None:
            continue
        return [each, *chain(each.inside, at)] if at < each.call.end else []
    return []


def around_at(following: Nested, at: int) -> Nested | None:
    """Return the innermost call around another that was open at a time before."""
    above = following.parent
    while above is not None and above.call.entry > at:
        above = above.parent
    return above
