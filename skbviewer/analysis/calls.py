# SPDX-License-Identifier: MIT
"""Turn entry and exit records into calls with duration, self time, depth and parent.

In: a KBL, its series (which pair entries with exits) and legs, what encloses what, and the calls
joined by their socket.  Out: CALL_DTYPE rows by leg and time.  Depth counts enclosing calls of the
same leg in the same execution context.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..matching import Joined, LegTable, Nesting, SeriesTable, contexts, fits
from ..records import KernelLog
from .call_table import CallTable
from .interruptions import MARK_GAP
from .interruptions import find as find_interruptions

ENTRY, EXIT, EVENT = 1, 2, 4
DROP = 7  # kbl.h KBL_EV_DROP

Index = npt.NDArray[np.int64]


def build(
    log: KernelLog,
    series: SeriesTable,
    legs: LegTable,
    nesting: Nesting | None = None,
    joined: Joined | None = None,
) -> CallTable:
    """The calls of all legs, sorted by (leg, entry record)."""
    records, partner = log.records, series.partner
    entry = np.flatnonzero((records["kind"] == ENTRY) & (legs.of >= 0))
    leg = legs.of[entry]
    if joined is not None:
        entry, leg = np.r_[entry, joined.entry], np.r_[leg, joined.leg]
    order = _by_leg(leg, entry)
    entry, leg = entry[order], leg[order]
    calls = CallTable(records, partner, legs.of, leg, entry)
    calls["depth"], calls["parent"] = _nesting(log, leg, partner, entry)
    calls["marks"], calls["irq_ns"] = find_interruptions(records, calls, partner)
    gap = (calls["marks"] & MARK_GAP) != 0
    times = {"self_ns": _self_times(calls)}
    times |= _compensated(log, nesting or Nesting(records, partner), calls)
    for column, values in times.items():
        values[gap] = -1  # what is inside them is not known
        calls[column] = values
    calls["drop_reason"] = _drops(log, legs, calls)
    return calls


def _by_leg(leg: Index, entry: Index) -> Index:
    """The order of (leg, entry)."""
    span = int(entry.max(initial=0)) + 1
    if not fits(int(leg.max(initial=0)) + 1, span):
        return np.lexsort((entry, leg))
    return np.argsort(leg * span + entry, kind="stable")  # legs are nearly in order of time


def _compensated(log: KernelLog, nesting: Nesting, calls: CallTable) -> dict[str, Index]:
    """T = T' - empty - K * nested (NetSlice, see kbl.h struct kbl_calibration), but not below 0.

    The error is what calls with and without a packet differ by, of itself and of the K inside.
    """
    known, unknown = log.calibration, np.full(len(calls), -1, np.int64)
    if known is None:
        return {"comp_ns": unknown, "comp_err_ns": unknown.copy()}
    duration, entry = calls["dur_ns"], calls["entry"]
    inside = nesting.inside(_costs(log, known.nested, known.skb_nested, nesting))[entry]
    left = np.maximum(duration - known.empty - inside, 0)
    apart = abs(known.skb_nested - known.nested)
    unsure = nesting.inside(_costs(log, apart, apart, nesting))[entry]
    return {
        "comp_ns": np.where(duration >= 0, left, -1),
        "comp_err_ns": np.where(duration >= 0, known.error + unsure, -1),
    }


def _costs(log: KernelLog, nested: int, skb_nested: int, nesting: Nesting) -> Index:
    """What the probe at each entry costs the calls around it; a list's packets cost but once."""
    records = log.records
    carries = (records["skb"] != 0) & (records["kind"] == ENTRY)
    cost = np.where(carries, skb_nested, nested)
    return np.where((records["kind"] == ENTRY) & ~nesting.carried, cost, 0)


def _nesting(log: KernelLog, of: Index, partner: Index, entry: Index) -> tuple[Index, Index]:
    """Depth and parent row of each entry."""
    count, paired = len(entry), np.flatnonzero(partner[entry] >= 0)
    if not count:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    point = np.concatenate([entry, partner[entry[paired]]])
    step = np.zeros(len(point), np.int8)  # a call without an end encloses nothing
    step[paired], step[count:] = 1, -1
    context = contexts(log.records)[entry]
    group = of * (int(context.max()) + 1) + context  # legs and contexts are fewer than records
    group = np.concatenate([group, group[paired]])
    span = len(log.records)
    if fits(int(group.max()) + 1, span):
        order = np.argsort(group * span + point, kind="stable")
    else:
        order = np.lexsort((point, group))
    group, step = group[order], step[order]
    first = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    before = np.cumsum(step) - step
    before -= np.repeat(before[first], np.diff(first, append=len(point)))
    at = np.flatnonzero(order < count)
    depth, place = np.zeros(count, np.int64), np.zeros(count, np.int64)
    depth[order[at]] = before[at]
    place[order[at]] = np.repeat(np.arange(len(first)), np.diff(first, append=len(point)))[at]
    return depth, _parents(place, depth, entry, paired)


def _parents(group: Index, depth: Index, entry: Index, paired: Index) -> Index:
    """For each row the latest earlier row one level up in its group."""
    parent = np.full(len(entry), -1, np.int64)
    inner = np.flatnonzero(depth > 0)
    if not len(inner):
        return parent
    place = group * (int(depth.max()) + 1) + depth
    span = int(entry.max()) + 1
    key = place[paired] * span + entry[paired]
    order = np.argsort(key)
    found = np.searchsorted(key[order], (place[inner] - 1) * span + entry[inner]) - 1
    parent[inner] = paired[order[found]]
    return parent


def _self_times(calls: CallTable) -> Index:
    inside, duration, parent = calls["irq_ns"].copy(), calls["dur_ns"], calls["parent"]
    child = np.flatnonzero((parent >= 0) & (duration > 0))
    own = duration[child] - inside[child]  # the interrupts in it stand above
    np.add.at(inside, parent[child], own)
    return np.where(duration >= 0, np.maximum(duration - inside, 0), -1)


def _drops(log: KernelLog, legs: LegTable, calls: CallTable) -> Index:
    """Reason of the DROP events, each at the call of its leg entered last before it."""
    reason = np.full(len(calls), -1, np.int64)
    records = log.records
    drops = np.flatnonzero((records["kind"] == EVENT) & (records["event"] == DROP) & (legs.of >= 0))
    if not len(drops) or not len(calls):
        return reason
    span = len(records) + 1
    leg = calls["leg"]
    row = np.searchsorted(leg * span + calls["entry"], legs.of[drops] * span + drops) - 1
    same = (row >= 0) & (leg[row] == legs.of[drops])
    reason[row[same]] = records["data"][drops[same]] & 0xFFFFFFFF
    return reason
