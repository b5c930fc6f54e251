# SPDX-License-Identifier: MIT
"""Of which legs records may have been lost, or hits missed: no number is shown of those.

In: a KBL, its series, legs, calls and events, and what encloses what.  Out: a flag for each leg.
What a CPU lost may be of any leg that was under way meanwhile, for a packet may be anywhere.  A
call is written when it returns, so a loss may also have swallowed calls around what is told before
it: of those their callees tell, or that events happened outside of any call.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..matching import RX, LegTable, Nesting, SeriesTable, found
from ..records import ColumnTable, KernelLog, part
from .call_table import CallTable
from .leg_ends import open_ended
from .losses import Losses, Spans, spans_of
from .missed_hits import Windows, may_lack, windows_of
from .uncalled import swallowed, unseen

ENTRY, TASK = 1, 0  # kbl.h enum kbl_kind; context
LASTS_NS = 20_000_000  # so long a call lasts that an event happened in
EVENTS, CONTEXTS = 256, 4
LIVES = (1, 2, 3, 4, 5, 6, 7)  # kbl.h enum kbl_event: ALLOC to DROP

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def leg_gaps(
    log: KernelLog,
    lost: Losses,
    series: SeriesTable,
    legs: LegTable,
    nesting: Nesting,
    calls: CallTable,
    events: ColumnTable,
) -> Flags:
    """Whether records of each leg may have been lost (docs/matching.md says when)."""
    gap, windows = np.zeros(len(legs.rows), np.bool_), windows_of(log)
    if not (len(lost.ts) or len(windows.first)) or not len(gap):
        return gap
    last = _last(legs, calls)
    if len(lost.ts):
        spans = spans_of(lost)
        gap |= _meanwhile(legs, last, spans)
        gap |= open_ended(log, series, legs, spans)
        gap[swallowed(log, nesting, calls, spans)] = True
        gap[_outside(log, events, spans)] = True
        gap[legs.of[_threadless(log, legs)]] = True
    if len(windows.first):
        gap |= may_lack(log, windows, legs, last, calls)
        gap |= open_ended(log, series, legs, _of_lives(log, windows))
        gap[unseen(log, nesting, calls, windows)] = True
    return gap


def _last(legs: LegTable, calls: CallTable) -> Index:
    """When the last record of each leg was, or its last call returned."""
    last = legs.last_ns.copy()
    for rows in calls.passing():
        ends = np.maximum(calls.part("exit_ns", rows), calls.part("entry_ns", rows))
        np.maximum.at(last, calls.part("leg", rows), ends)
    return last


def _of_lives(log: KernelLog, windows: Windows) -> Spans:
    """When functions were missed that show the birth of a life, or its end."""
    wanted = [p.id for p in log.probes.values() if p.event in LIVES]
    size = np.diff(windows.at)
    first, last = np.repeat(windows.first, size), np.repeat(windows.last, size)
    rows = np.flatnonzero(np.isin(windows.func, wanted))
    return Spans(list(zip(first[rows].tolist(), last[rows].tolist(), strict=True)))


def _meanwhile(legs: LegTable, last: Index, spans: Spans) -> Flags:
    """From the first record of a leg to the `last` one; before the next leg of its series, too.

    That one may have begun earlier, and one that receives may have lasted longer.
    """
    begin = np.asarray(legs.rows["begin_ns"], np.int64)
    gap = spans.meet(begin, last)
    series = legs.rows["series"]
    between = np.flatnonzero(series[1:] == series[:-1])
    between = between[spans.meet(np.minimum(last[between], begin[between + 1]), begin[between + 1])]
    gap[between + 1] = True
    gap[between[np.asarray(legs.rows["kind"])[between] == RX]] = True
    return gap


def _outside(log: KernelLog, events: ColumnTable, spans: Spans) -> Index:
    """Legs with an event that is in none of its calls, though most of its kind are in one.

    Of its kind and context: what a process does with a packet is not what an interrupt does.
    """
    leg, event, call = (events.stored(name) for name in ("leg", "event", "call"))
    context = part(log.records, "context", events.stored("record")).astype(np.int64)
    kind = event + EVENTS * np.minimum(context, CONTEXTS - 1)
    known = np.bincount(kind[(leg >= 0) & (call >= 0)], minlength=EVENTS * CONTEXTS)
    lone = (leg >= 0) & (call < 0)
    rare = known > np.bincount(kind[lone], minlength=EVENTS * CONTEXTS)
    rows = np.flatnonzero(lone & rare[kind])
    ts = part(log.records, "ts", events.stored("record")[rows]).astype(np.int64)
    return leg[rows[spans.meet(ts, ts + LASTS_NS)]].astype(np.int64)


def _threadless(log: KernelLog, legs: LegTable) -> Index:
    """Calls in legs whose thread is not told: behind a hole nobody knows what they lie in."""

    def wanted(some: slice) -> Flags:
        kind, context, pid = (part(log.records, n, some) for n in ("kind", "context", "pid"))
        return np.asarray((kind == ENTRY) & (context == TASK) & (pid < 0) & (legs.of[some] >= 0))

    return found(log.records, wanted)
