# SPDX-License-Identifier: MIT
"""Find what used a CPU between two times, as far as recorded calls show it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Int64s
from .rule_inputs import Case

TASK, SOFTIRQ = 0, 1
CONTEXTS = ("", "the softirq", "interrupts", "NMIs")
MAX_CALLS = 5000  # most calls that are read


class Occupant(NamedTuple):
    """A thread or interrupt on a CPU: time in recorded functions (ns), longest function, a call.

    `call` is the id of a call of the function that took longest.  A thread may have slept in its
    functions, so it may have had the CPU for less time than they took.
    """

    who: str
    ns: int
    function: str
    call: int
    is_thread: bool


def occupants(case: Case, leg: int, cpu: int, begin: int, end: int) -> list[Occupant]:
    """Return what used the CPU `cpu` of the leg's host from `begin` to `end` (ns), longest first.

    Calls of the leg itself are left out.  While an interrupt runs, the interrupted thread does not
    count.  Calls whose exit was not recorded are left out.
    """
    calls, columns = _calls_during(case, begin, end), case.scope.columns
    of = case.leg_of(calls)
    same = case.scope.sources_of(of) == case.source(leg)
    calls = calls[same & (case.of_call("dur_ns", calls) > 0) & (of != leg)]
    calls = calls[columns.take("call", "cpu", calls) == cpu][:MAX_CALLS]
    entry, dur = case.of_call("entry_ns", calls), case.of_call("dur_ns", calls)
    context = np.asarray(columns.take("call", "context", calls), np.int64)
    pid = np.asarray(columns.take("call", "pid", calls), np.int64)
    low, high = np.maximum(entry, begin), np.minimum(entry + dur, end)
    made, taken = [], np.zeros((2, 0), np.int64)
    for level in sorted(set(context.tolist()), reverse=True):
        at_level = context == level
        for thread in sorted(set(pid[at_level].tolist())) if level == TASK else [None]:
            mine = np.flatnonzero(at_level & ((pid == thread) | (level != TASK)))
            spans = _union(low[mine], high[mine])
            ns = int((spans[1] - spans[0]).sum()) - _common(spans, taken)
            longest = mine[np.argmax((high - low)[mine])]
            named = _who(case, leg, level, int(pid[longest]), cpu)
            function = case.function(int(calls[longest]))
            call = int(calls[longest]) + 1
            made.append(Occupant(named, ns, function, call, level == TASK))
        spans = _union(low[at_level], high[at_level])
        taken = _union(np.r_[taken[0], spans[0]], np.r_[taken[1], spans[1]])
    return sorted((one for one in made if one.ns > 0), key=lambda one: -one.ns)


def _calls_during(case: Case, begin: int, end: int) -> Int64s:
    """Return the calls (0-based rows, rising) that any log has between `begin` and `end` (ns)."""
    columns = case.scope.columns
    rows = columns.rows_during("call", "entry_ns", ("entry_ns", "dur_ns"), (begin, end))
    entry, dur = (
        np.asarray(columns.near("call", name, rows), np.int64) for name in ("entry_ns", "dur_ns")
    )
    return np.asarray(rows[(entry < end) & (entry + dur > begin)], np.int64)


def thread_name(case: Case, leg: int, pid: int, cpu: int) -> str:
    """Return the name and number of thread `pid` on `cpu` in the leg's log, as "iperf3 (178)"."""
    named = case.scope.kernels[case.source(leg)].names.task(pid, cpu)
    return f"{named} ({pid})" if named else f"thread {pid}"


def _who(case: Case, leg: int, level: int, pid: int, cpu: int) -> str:
    if level == TASK:
        return thread_name(case, leg, pid, cpu)
    name = case.scope.kernels[case.source(leg)].names.task(pid, cpu)
    return f"{CONTEXTS[level]} in {name}" if name.startswith("ksoftirqd") else CONTEXTS[level]


def _union(begin: Int64s, end: Int64s) -> Int64s:
    """Return the union of the spans from `begin` to `end`, as two rows: begins and ends."""
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], end[order]
    if not len(begin):
        return np.zeros((2, 0), np.int64)
    until = np.maximum.accumulate(end)
    first = np.flatnonzero(np.r_[True, begin[1:] > until[:-1]])
    return np.stack([begin[first], until[np.r_[first[1:] - 1, len(begin) - 1]]])


def _common(a: Int64s, b: Int64s) -> int:
    """Return how long (ns) spans of `a` and of `b` overlap; each has two rows: begins and ends."""
    both = _union(np.r_[a[0], b[0]], np.r_[a[1], b[1]])
    return int(sum((s[1] - s[0]).sum() for s in (a, b)) - (both[1] - both[0]).sum())
