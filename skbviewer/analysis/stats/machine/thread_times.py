# SPDX-License-Identifier: MIT
"""When threads ran, waited for a CPU, and slept, from the scheduler's events.

Input: the events of a session.  Output: spans of time, on the clocks of the logs.  Spans during
which records were lost are left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....records.kbl_layout import KblEvent
from ....records.types import Bools, Int64s
from ...scope import Scope

MASK32 = 0xFFFFFFFF
READY, TAKEN, CAME, LEFT = 0, 1, 2, 3  # woken; lost its CPU; got a CPU; went to sleep


class ThreadSpans(NamedTuple):
    """Spans of threads: log, CPU at the end, thread, begin and end (ns on the log's clock).

    `event` is the event (0-based row) that began each span.
    """

    source: Int64s
    cpu: Int64s
    pid: Int64s
    begin: Int64s
    end: Int64s
    event: Int64s

    @property
    def ns(self) -> Int64s:
        """Return the length of each span, ns."""
        return np.asarray(self.end - self.begin, np.int64)

    def selected(self, which: Bools | Int64s) -> ThreadSpans:
        """Return the spans that `which` (flags or indices) selects."""
        return ThreadSpans(*(column[which] for column in self))


def ran(scope: Scope) -> ThreadSpans:
    """Return when threads had a CPU; thread 0 is the idle task.

    The spans are in order of log, CPU and time.
    """
    rows = np.flatnonzero(scope.columns.array("event", "event") == int(KblEvent.SCHED_SWITCH))
    source, cpu, ts = (scope.of_event(name, rows) for name in ("source", "cpu", "ts"))
    order = np.lexsort((rows, ts, cpu, source))
    source, cpu, ts, rows = source[order], cpu[order], ts[order], rows[order]
    comes, leaves = scope.of_event("data", rows) & MASK32, scope.of_event("pid", rows)
    same = (source[1:] == source[:-1]) & (cpu[1:] == cpu[:-1]) & (comes[:-1] == leaves[1:])
    at = np.flatnonzero(same)
    return _whole(scope, ThreadSpans(source[at], cpu[at], comes[at], ts[at], ts[at + 1], rows[at]))


def waited(scope: Scope) -> ThreadSpans:
    """Return when threads waited for a CPU, after they were woken or after they lost a CPU."""
    return _between(scope, (READY, TAKEN), CAME)


def slept(scope: Scope) -> ThreadSpans:
    """Return when threads slept, until another thread or an interrupt woke them."""
    return _between(scope, (LEFT,), READY)


def _between(scope: Scope, begins: tuple[int, ...], ends: int) -> ThreadSpans:
    """Return the spans that begin with a step in `begins`, if the thread's next step is `ends`."""
    source, pid, ts, cpu, step, rows = _steps(scope)
    same = (source[1:] == source[:-1]) & (pid[1:] == pid[:-1])
    # A thread that is woken twice waits since the first time.
    again = same & (step[1:] == READY) & np.isin(step[:-1], (READY, TAKEN))
    kept = np.r_[np.zeros(min(len(step), 1), np.int64), np.flatnonzero(~again) + 1]
    source, pid, ts, cpu, step, rows = (
        column[kept] for column in (source, pid, ts, cpu, step, rows)
    )
    same = (source[1:] == source[:-1]) & (pid[1:] == pid[:-1])
    at = np.flatnonzero(same & np.isin(step[:-1], begins) & (step[1:] == ends))
    return _whole(
        scope, ThreadSpans(source[at], cpu[at + 1], pid[at], ts[at], ts[at + 1], rows[at])
    )


def _steps(scope: Scope) -> tuple[Int64s, ...]:
    """Return log, thread, time, CPU, step and event of each step, sorted by the first three."""
    event = scope.columns.array("event", "event")
    switch = np.flatnonzero(event == int(KblEvent.SCHED_SWITCH))
    wake = np.flatnonzero(event == int(KblEvent.WAKE))
    data = scope.of_event("data", switch)
    left = np.where(data >> 32 & MASK32, LEFT, TAKEN)
    rows = np.concatenate([switch, switch, wake])
    pid = [scope.of_event("pid", switch), data & MASK32, scope.of_event("data", wake) & MASK32]
    step = [left, np.full(len(switch), CAME), np.full(len(wake), READY)]
    who, what = np.concatenate(pid), np.concatenate(step)
    real = who != 0  # each CPU has its own thread 0
    rows, who, what = rows[real], who[real], what[real]
    source, ts, cpu = (scope.of_event(name, rows) for name in ("source", "ts", "cpu"))
    order = np.lexsort((rows, ts, who, source))
    return source[order], who[order], ts[order], cpu[order], what[order], rows[order]


def _whole(scope: Scope, spans: ThreadSpans) -> ThreadSpans:
    """Return the spans that begin in the range of time and during which no records were lost."""
    spans = spans.selected(scope.in_range(spans.source, spans.begin))
    return spans.selected(~scope.lost_between(spans.source, spans.begin, spans.end))
