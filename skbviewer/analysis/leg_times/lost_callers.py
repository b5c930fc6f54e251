# SPDX-License-Identifier: MIT
"""Find legs with a call whose caller is probed but not recorded: the caller's call was lost.

Input: a KBL, the nesting, its calls, and when records were lost or calls were missed.  Output: the
numbers of the legs in which a call was lost.
"""

from __future__ import annotations

import numpy as np

from ...matching import IntIndex, Nesting, rows_where, whole
from ...records import KernelLog, part
from ...records.compiled import allocation_free
from ...records.types import Bools, Int32s, Int64s
from ..calls.call_table import CallTable
from ..calls.record_loss_times import Spans
from .missed_probe_hit_loops import Windows
from .open_ended_leg_loops import REACH_NS

ENTRY = 1  # kbl.h enum kbl_kind
INSIDE_NS = 20_000_000  # longest time from the start of a call to an inner call


def legs_with_lost_caller(
    log: KernelLog, nesting: Nesting, calls: CallTable, spans: Spans
) -> Int64s:
    """Return the legs in which a call around a recorded call may have been lost.

    `spans` are the times in which records were lost.  The record of a call is written when the call
    returns.  So an outer call was lost if it returned while records were lost.
    """
    near = rows_where(log.records, lambda some: _are_calls_before(log, some, spans))
    return _legs(log, nesting, calls, near, _callers(log, near))


def legs_with_missed_caller(
    log: KernelLog, nesting: Nesting, calls: CallTable, windows: Windows
) -> Int64s:
    """Return the legs in which a probe missed a call around a recorded call.

    `windows` are the times in which probes missed calls, with the functions of these probes.
    """
    near = rows_where(log.records, lambda some: _are_calls_behind(log, some, windows))
    func = _callers(log, near)
    ts = np.array(part(log.records, "ts", near), np.int64)
    size = np.diff(windows.at)
    first, last = np.repeat(windows.first, size), np.repeat(windows.last, size)
    order = np.argsort(func, kind="stable")
    missed = np.unique(windows.func)
    low, high = (np.searchsorted(func[order], missed, side) for side in ("left", "right"))
    was_missed = np.zeros(len(near), np.bool_)
    for one, begin, end in zip(missed.tolist(), low.tolist(), high.tolist(), strict=True):
        rows, own = order[begin:end], windows.func == one
        spans = Spans(list(zip(first[own].tolist(), last[own].tolist(), strict=True)))
        was_missed[rows] = spans.meet(ts[rows] - INSIDE_NS, ts[rows])
    return _legs(log, nesting, calls, near, np.where(was_missed, func, -1).astype(np.int32))


def _legs(log: KernelLog, nesting: Nesting, calls: CallTable, near: Int64s, func: Int32s) -> Int64s:
    """Return the legs that have a call in `near`, or inside it, whose caller is not recorded.

    func[i] is the function that called near[i]; -1: unknown.  The caller of near[i] is not recorded
    if no call of func[i] around near[i] is recorded.
    """
    records = log.records
    caller, missing = np.full(len(records), -1, np.int32), np.zeros(len(records), np.bool_)
    caller[near] = func
    _miss(nesting.parent, whole(records, "func", "i4"), caller, missing)
    legs = [calls.part("leg", rows)[missing[calls.part("entry", rows)]] for rows in calls.passing()]
    return np.concatenate([np.zeros(0, np.int64), *legs])


def _callers(log: KernelLog, near: Int64s) -> Int32s:
    """Return the probe on the function that called each of the calls in `near`.

    The result is -1 if the function has no probe or is unknown.
    """
    callers = IntIndex()
    number = callers.numbers_of(np.array(part(log.records, "caller", near), np.int64))
    probes = {p.name: p.id for p in log.probes.values() if p.address}
    known = callers.numbers_of(np.array(list(log.symbols), np.int64))
    by_caller = np.full(callers.count + 1, -1, np.int32)  # the last is for unknown callers
    by_caller[known] = [probes.get(name.split("+")[0], -1) for name in log.symbols.values()]
    return by_caller[number]


def _are_calls_before(log: KernelLog, some: slice, spans: Spans) -> Bools:
    """Return for each record whether it is a call that returned shortly before a loss."""
    ts, leave = (part(log.records, name, some).astype(np.int64) for name in ("ts", "exit_ts"))
    leave = np.maximum(ts, leave)
    is_call = part(log.records, "kind", some) == ENTRY
    return np.asarray(is_call & spans.meet(leave, leave + REACH_NS))


def _are_calls_behind(log: KernelLog, some: slice, windows: Windows) -> Bools:
    """Return for each record whether it is a call that began in a window or shortly after one."""
    ts = part(log.records, "ts", some).astype(np.int64)
    spans = Spans(list(zip(windows.first.tolist(), windows.last.tolist(), strict=True)))
    is_call = part(log.records, "kind", some) == ENTRY
    return np.asarray(is_call & spans.meet(ts - INSIDE_NS, ts))


@allocation_free
def _miss(parent: Int32s, func: Int32s, caller: Int32s, missing: Bools) -> None:
    """Set missing[i] if the function that called record i has no recorded call around the record.

    caller[i] is the function that called record i.  If caller[i] is -1 (unknown), missing[i] stays
    unset.  If missing[i] is set, missing[j] is set for all records j inside record i, too.
    """
    for i in range(len(parent)):
        up = np.int64(parent[i])
        missing[i] = up >= 0 and missing[up]
        if caller[i] >= 0:
            while up >= 0 and func[up] != caller[i]:
                up = np.int64(parent[up])
            missing[i] = missing[i] or up < 0
