# SPDX-License-Identifier: MIT
"""Find legs that may lack records, because records were lost or probes missed calls.

If a leg may lack records, its numbers are not shown.

Input: a KBL, its lifetimes, legs, calls and events, and the nesting.  Output: a flag for each leg.
A lost record may belong to any leg that was active at the time, because a packet may be anywhere.
The record of a call is written when the call returns, so a loss may also have swallowed calls that
began before the loss.  A lost call is revealed by recorded inner calls, or by events that are in no
recorded call.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...matching import RX, TX, LegTable, Nesting, SeriesTable, rows_where, sample_of
from ...records import ColumnTable, KernelLog, part
from ...records.kernel_events import Trait, numbers_with
from ...records.types import Bools, Int64s
from ..calls.call_table import CallTable
from ..calls.record_loss_times import Losses, Spans, spans_of
from .lost_callers import legs_with_lost_caller, legs_with_missed_caller
from .missed_probe_hit_loops import Windows
from .missed_probe_hits import may_lack, windows_of
from .open_ended_legs import open_ended

ENTRY, TASK = 1, 0  # kbl.h enum kbl_kind; context
LASTS_NS = 20_000_000  # longest duration of a call around an event
EVENTS, CONTEXTS = 256, 4
LIVES = numbers_with(Trait.BIRTH, Trait.FREE, Trait.RELEASE)


def leg_gaps(
    log: KernelLog,
    lost: Losses,
    series: SeriesTable,
    legs: LegTable,
    nesting: Nesting,
    calls: CallTable,
    events: ColumnTable,
) -> Bools:
    """Return for each leg whether some of its records may be lost (docs/matching.md says when).

    `lost` are the reported losses of `log`; the other tables were made from its records.  In a log
    that has points only, all legs lack records, because no return is recorded.
    """
    if not log.returns:
        return np.ones(len(legs.rows), np.bool_)
    gap, windows = begun_late(log, np.asarray(legs.rows["kind"])), windows_of(log)
    if not (len(lost.ts) or len(windows.first)) or not len(gap):
        return gap
    last = _last(legs, calls)
    if len(lost.ts):
        spans = spans_of(lost)
        gap |= _meanwhile(legs, last, spans)
        gap |= open_ended(log, series, legs, spans)
        gap[legs_with_lost_caller(log, nesting, calls, spans)] = True
        gap[_outside(log, events, spans)] = True
        gap[legs.of[_threadless(log, legs)]] = True
    if len(windows.first):
        gap |= may_lack(log, windows, legs, last, calls)
        gap |= open_ended(log, series, legs, _of_lives(log, windows))
        gap[legs_with_missed_caller(log, nesting, calls, windows)] = True
    return gap


def begun_late(log: KernelLog, kind: npt.NDArray[np.generic]) -> Bools:
    """Return for each leg whether legs of its `kind` begin before their first record.

    A recorder that samples packets cannot record a sent packet before its headers are written.
    """
    sample = sample_of(log.meta)
    late = sample is not None and sample.of_packets
    return np.asarray((kind == TX) & late)


def _last(legs: LegTable, calls: CallTable) -> Int64s:
    """Return the time (ns) of each leg's last record, or of its last return if that is later."""
    last = legs.last_ns.copy()
    for rows in calls.passing():
        ends = np.maximum(calls.part("exit_ns", rows), calls.part("entry_ns", rows))
        np.maximum.at(last, calls.part("leg", rows), ends)
    return last


def _of_lives(log: KernelLog, windows: Windows) -> Spans:
    """Return when probes missed calls that would show the birth or end of a lifetime."""
    wanted = [p.id for p in log.probes.values() if p.event in LIVES]
    size = np.diff(windows.at)
    first, last = np.repeat(windows.first, size), np.repeat(windows.last, size)
    rows = np.flatnonzero(np.isin(windows.func, wanted))
    return Spans(list(zip(first[rows].tolist(), last[rows].tolist(), strict=True)))


def _meanwhile(legs: LegTable, last: Int64s, spans: Spans) -> Bools:
    """Return for each leg whether records were lost from its begin to the time `last` (ns).

    Losses before the next leg of the same lifetime count, too, because the next leg may have begun
    earlier, or a receiving leg may have lasted longer.
    """
    begin = np.asarray(legs.rows["begin_ns"], np.int64)
    gap = spans.meet(begin, last)
    series = legs.rows["series"]
    between = np.flatnonzero(series[1:] == series[:-1])
    between = between[spans.meet(np.minimum(last[between], begin[between + 1]), begin[between + 1])]
    gap[between + 1] = True
    gap[between[np.asarray(legs.rows["kind"])[between] == RX]] = True
    return gap


def _outside(log: KernelLog, events: ColumnTable, spans: Spans) -> Int64s:
    """Return the legs with an event outside all calls, if most events of its kind are in a call.

    Kinds of events are distinguished by context, too, because interrupts handle packets differently
    from processes.
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


def _threadless(log: KernelLog, legs: LegTable) -> Int64s:
    """Return the calls (record numbers) in legs whose thread is unknown, as it is after a gap.

    If the thread of a call is unknown, the calls around the call are unknown, too.
    """

    def wanted(some: slice) -> Bools:
        kind, context, pid = (part(log.records, n, some) for n in ("kind", "context", "pid"))
        return np.asarray((kind == ENTRY) & (context == TASK) & (pid < 0) & (legs.of[some] >= 0))

    return rows_where(log.records, wanted)
