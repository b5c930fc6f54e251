# SPDX-License-Identifier: MIT
"""What CPUs and queues did over time, as named spans for the lanes of a timeline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ....records.kbl_layout import KblEvent
from ....records.types import Int64s
from ...scope import Scope
from ...words.event_text import PAGE_BITS, SOFTIRQS, fault_text
from .begin_end_events import pairs_of
from .lock_waits import lock_waits, waiting_functions
from .queue_table import MASK32, queues_of
from .thread_times import ran

# A session without any of them has no such lanes.
EVENTS = (
    *(KblEvent.SCHED_SWITCH, KblEvent.LOCK_WAIT, KblEvent.QUEUE_LENGTH, KblEvent.SOCK_LENGTH),
    *(KblEvent.IRQ_ENTRY, KblEvent.SOFTIRQ_ENTRY, KblEvent.PAGE_FAULT),
)


class NamedSpans(NamedTuple):
    """The spans of one lane, such as "CPU 0: threads" of a log.

    `event` is the event (0-based row) that began each span; `name` is an index of `names`.  Times
    are in ns on the log's clock.
    """

    title: str
    source: int
    key: int  # the CPU; -1: the lane is of no CPU
    begin: Int64s
    end: Int64s
    event: Int64s
    name: Int64s
    names: list[str]


def named_spans(scope: Scope) -> list[NamedSpans]:
    """Return the lanes that the events of a session fill, by log, CPU and kind.

    Raises Cancelled.
    """
    lanes = [*_threads(scope), *_interrupts(scope), *_locks(scope), *_faults(scope)]
    lanes.sort(key=lambda lane: (lane.source, lane.key))
    return [*lanes, *_lengths(scope)]


def _threads(scope: Scope) -> Iterator[NamedSpans]:
    spans = ran(scope)
    spans = spans.selected(spans.pid != 0)
    used, name = np.unique(np.stack([spans.source, spans.pid]), axis=1, return_inverse=True)
    names = [
        f"{scope.kernels[source].names.tasks.get(pid, 'thread')} ({pid})"
        for source, pid in used.T.tolist()
    ]
    of = (spans.source, spans.cpu, spans.begin, spans.end, spans.event)
    yield from _by_cpu("threads", *of, name.reshape(-1), names)


def _interrupts(scope: Scope) -> Iterator[NamedSpans]:
    irqs = pairs_of(scope, int(KblEvent.IRQ_ENTRY), int(KblEvent.IRQ_EXIT), "cpu")
    softirqs = pairs_of(scope, int(KblEvent.SOFTIRQ_ENTRY), int(KblEvent.SOFTIRQ_EXIT), "cpu")
    kinds = np.repeat([0, 1], [len(irqs.data), len(softirqs.data)])
    data = np.stack([kinds, np.concatenate([irqs.data, softirqs.data])])
    used, name = np.unique(data, axis=1, return_inverse=True)
    names = [_interrupt(*one) for one in used.T.tolist()]
    source, cpu, begin, ns, event = (
        np.concatenate(both)
        for both in (
            (irqs.source, softirqs.source),
            (irqs.cpu, softirqs.cpu),
            (irqs.begin, softirqs.begin),
            (irqs.ns, softirqs.ns),
            (irqs.event, softirqs.event),
        )
    )
    of = (source, cpu, begin, begin + ns, event)
    yield from _by_cpu("interrupts", *of, name.reshape(-1), names)


def _interrupt(is_softirq: int, number: int) -> str:
    if not is_softirq:
        return f"interrupt {number}"
    return SOFTIRQS[number] if 0 <= number < len(SOFTIRQS) else f"softirq {number}"


def _locks(scope: Scope) -> Iterator[NamedSpans]:
    waits = lock_waits(scope)
    texts = [f"lock in {one or 'an unknown function'}" for one in waiting_functions(scope, waits)]
    names = sorted(set(texts))
    name = np.searchsorted(names, texts).astype(np.int64) if texts else waits.begin
    of = (waits.source, waits.cpu, waits.begin, waits.end, waits.event)
    yield from _by_cpu("waits for locks", *of, name, names)


def _faults(scope: Scope) -> Iterator[NamedSpans]:
    """Yield lanes with the page faults on each CPU.

    A log has only the time at which a page fault happened, so the span of a fault is 1 ns.
    """
    rows = np.flatnonzero(scope.columns.array("event", "event") == int(KblEvent.PAGE_FAULT))
    source, cpu, ts, data = (scope.of_event(name, rows) for name in ("source", "cpu", "ts", "data"))
    codes, name = np.unique(data & PAGE_BITS, return_inverse=True)
    names = [fault_text(code) for code in codes.tolist()]
    yield from _by_cpu("page faults", source, cpu, ts, ts + 1, rows, name.reshape(-1), names)


def _lengths(scope: Scope) -> Iterator[NamedSpans]:
    """Yield a lane for each queue; a span shows a length above 0 until the next length."""
    rows, named = queues_of(scope)
    packets, ts = scope.of_event("data", rows) & MASK32, scope.of_event("ts", rows)
    places = sorted(set(named), key=lambda queue: (queue[1], queue[0]))
    number = {queue: at for at, queue in enumerate(places)}
    group = np.array([number[queue] for queue in named], np.int64)
    for at, (queue, source) in enumerate(places):
        mine = np.flatnonzero(group == at)
        mine = mine[np.argsort(ts[mine], kind="stable")]
        shown = np.flatnonzero(packets[mine[:-1]] > 0) if len(mine) else mine
        used, name = np.unique(packets[mine[shown]], return_inverse=True)
        names = [f"{count} in the queue" for count in used.tolist()]
        begin, end, event = ts[mine[shown]], ts[mine[shown + 1]], rows[mine[shown]]
        yield NamedSpans(f"queue: {queue}", source, -1, begin, end, event, name, names)


def _by_cpu(
    what: str, source: Int64s, cpu: Int64s, begin: Int64s, end: Int64s, event: Int64s,
    name: Int64s, names: list[str],
) -> Iterator[NamedSpans]:  # fmt: skip
    keys = np.stack([source, cpu], axis=1)
    for log, number in np.unique(keys, axis=0).tolist():
        mine = np.flatnonzero((source == log) & (cpu == number))
        mine = mine[np.argsort(begin[mine], kind="stable")]
        of = (begin[mine], end[mine], event[mine], name[mine])
        yield NamedSpans(f"CPU {number}: {what}", log, number, *of, names)
