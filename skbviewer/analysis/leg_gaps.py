# SPDX-License-Identifier: MIT
"""Of which legs records may have been lost: no number is told of those.

In: a KBL, its series, legs, calls and events, and what encloses what.  Out: a flag for each leg.
What a CPU lost may be of any leg that was under way meanwhile, for a packet may be anywhere.  A
call is written when it returns, so a loss may also have swallowed calls around what is told before
it: of those their callees tell, or that events happened outside of any call.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..matching import RX, LegTable, Nesting, Numbering, SeriesTable, found, whole
from ..records import ColumnTable, KernelLog, part
from ..records.compiled import lean
from .call_table import CallTable
from .leg_ends import REACH_NS, open_ended
from .losses import Losses, Spans, spans_of

ENTRY, TASK = 1, 0  # kbl.h enum kbl_kind; context
LASTS_NS = 20_000_000  # so long a call lasts that an event happened in
EVENTS, CONTEXTS = 256, 4

Index = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
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
    gap = np.zeros(len(legs.rows), np.bool_)
    if not len(lost.ts) or not len(gap):
        return gap
    spans = spans_of(lost)
    gap |= _meanwhile(legs, calls, spans)
    gap |= open_ended(log, series, legs, spans)
    gap[_uncalled(log, nesting, calls, spans)] = True
    gap[_outside(log, events, spans)] = True
    gap[legs.of[_threadless(log, legs)]] = True
    return gap


def _meanwhile(legs: LegTable, calls: CallTable, spans: Spans) -> Flags:
    """From the first record of a leg to the last one; before the next leg of its series, too.

    That one may have begun earlier, and one that receives may have lasted longer.
    """
    begin, last = np.asarray(legs.rows["begin_ns"], np.int64), legs.last_ns.copy()
    for rows in calls.passing():
        ends = np.maximum(calls.part("exit_ns", rows), calls.part("entry_ns", rows))
        np.maximum.at(last, calls.part("leg", rows), ends)
    gap = spans.meet(begin, last)
    series = legs.rows["series"]
    between = np.flatnonzero(series[1:] == series[:-1])
    between = between[spans.meet(np.minimum(last[between], begin[between + 1]), begin[between + 1])]
    gap[between + 1] = True
    gap[between[np.asarray(legs.rows["kind"])[between] == RX]] = True
    return gap


def _uncalled(log: KernelLog, nesting: Nesting, calls: CallTable, spans: Spans) -> Index:
    """Legs with a call, or one around it, that a probed function called of which no call is told.

    That one returned when records were lost.
    """
    records, callers = log.records, Numbering()
    near = found(records, lambda some: _are_calls_before(log, some, spans))
    number = callers.of(np.array(part(records, "caller", near), np.int64))
    probes = {p.name: p.id for p in log.probes.values() if p.address}
    known = callers.of(np.array(list(log.symbols), np.int64))
    by_caller = np.full(callers.count + 1, -1, np.int32)  # the last is of callers not told
    by_caller[known] = [probes.get(name.split("+")[0], -1) for name in log.symbols.values()]
    caller, missing = np.full(len(records), -1, np.int32), np.zeros(len(records), np.bool_)
    caller[near] = by_caller[number]
    _miss(nesting.parent, whole(records, "func", "i4"), caller, missing)
    legs = [calls.part("leg", rows)[missing[calls.part("entry", rows)]] for rows in calls.passing()]
    return np.concatenate([np.zeros(0, np.int64), *legs])


def _are_calls_before(log: KernelLog, some: slice, spans: Spans) -> Flags:
    """Which records are calls that returned not long before a loss."""
    ts, leave = (part(log.records, name, some).astype(np.int64) for name in ("ts", "exit_ts"))
    leave = np.maximum(ts, leave)
    is_call = part(log.records, "kind", some) == ENTRY
    return np.asarray(is_call & spans.meet(leave, leave + REACH_NS))


@lean
def _miss(parent: Small, func: Small, caller: Small, missing: Flags) -> None:
    """Set `missing` of records whose `caller` (a function, -1: any) has no call around them.

    And of all inside them.
    """
    for i in range(len(parent)):
        up = np.int64(parent[i])
        missing[i] = up >= 0 and missing[up]
        if caller[i] >= 0:
            while up >= 0 and func[up] != caller[i]:
                up = np.int64(parent[up])
            missing[i] = missing[i] or up < 0


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
