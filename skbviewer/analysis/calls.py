# SPDX-License-Identifier: MIT
"""Turn entry and exit records into calls with duration, self time, depth and parent.

In: a KBL, its series (which pair entries with exits) and legs, what encloses what, and the calls
joined by their socket.  Out: CALL_DTYPE rows by leg and time.  Depth counts enclosing calls of the
same leg in the same execution context.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..matching import Joined, LegTable, Nesting, SeriesTable, execution
from ..records import KernelLog
from .interruptions import MARK_GAP
from .interruptions import find as find_interruptions

ENTRY, EXIT, EVENT = 1, 2, 4
DROP = 7  # kbl.h KBL_EV_DROP

CALL_DTYPE = np.dtype(
    [
        ("leg", "<i8"),
        ("entry", "<i8"),  # index of the ENTRY record
        ("func", "<i4"),
        ("caller", "<i8"),
        ("entry_ns", "<i8"),
        ("exit_ns", "<i8"),  # -1: no exit recorded
        ("dur_ns", "<i8"),  # -1: unknown
        ("self_ns", "<i8"),  # dur_ns less calls and interrupts directly inside; -1: unknown
        ("comp_ns", "<i8"),  # dur_ns less what the probes cost; -1: unknown
        ("comp_err_ns", "<i8"),  # how far comp_ns may be wrong by the calibration; -1: unknown
        ("irq_ns", "<i8"),  # interrupts inside
        ("marks", "u1"),  # interruptions.MARK_*
        ("counter", "<i8"),  # events of the hardware counter; -1: unknown
        ("depth", "<i4"),
        ("parent", "<i8"),  # row of the enclosing call, -1 = none
        ("cpu", "<i4"),
        ("context", "u1"),
        ("flags", "u1"),
        ("pid", "<i8"),
        ("skb", "<i8"),
        ("netns", "<i8"),
        ("ifindex", "<i8"),
        ("sk", "<i8"),
        ("mark", "<i8"),
        ("carried", "<i8"),  # n-th further packet of a list | packets not told << 32; -1: the first
        ("drop_reason", "<i4"),  # kernel's enum skb_drop_reason, -1: not dropped here
    ]
)

Index = npt.NDArray[np.int64]


def build(
    log: KernelLog,
    series: SeriesTable,
    legs: LegTable,
    nesting: Nesting | None = None,
    joined: Joined | None = None,
) -> npt.NDArray[np.void]:
    """The calls of all legs, sorted by (leg, entry record)."""
    records, partner = log.records, series.partner
    entry = np.flatnonzero((records["kind"] == ENTRY) & (legs.of >= 0))
    leg = legs.of[entry]
    if joined is not None:
        entry, leg = np.r_[entry, joined.entry], np.r_[leg, joined.leg]
    order = np.lexsort((entry, leg))
    entry, leg = entry[order], leg[order]
    calls = np.zeros(len(entry), CALL_DTYPE)
    calls["leg"], calls["entry"] = leg, entry
    shared = ("func", "caller", "cpu", "context", "flags", "pid", "netns", "ifindex", "sk", "mark")
    for column in shared:
        calls[column] = records[column][entry]
    calls["carried"] = records["data"][entry]
    has_exit = partner[entry] >= 0
    skb = records["skb"][entry]
    given = (skb == 0) & has_exit & (legs.of[entry] >= 0)
    calls["skb"] = np.where(given, records["skb"][partner[entry]], skb)
    calls["entry_ns"] = records["ts"][entry]
    calls["exit_ns"] = np.where(has_exit, records["ts"][partner[entry]], -1)
    calls["dur_ns"] = np.where(has_exit, calls["exit_ns"] - calls["entry_ns"], -1)
    calls["counter"] = np.where(has_exit, records["counter"][partner[entry]], -1)
    calls["depth"], calls["parent"] = _nesting(log, leg, partner, entry)
    calls["marks"], calls["irq_ns"] = find_interruptions(records, calls, partner)
    calls["self_ns"] = _self_times(calls)
    _compensate(log, nesting or Nesting(records, partner), calls)
    gap = (calls["marks"] & MARK_GAP) != 0
    for column in ("self_ns", "comp_ns", "comp_err_ns"):
        calls[column][gap] = -1  # what is inside them is not known
    calls["drop_reason"] = _drops(log, legs, calls)
    return calls


def _compensate(log: KernelLog, nesting: Nesting, calls: npt.NDArray[np.void]) -> None:
    """T = T' - empty - K * nested (NetSlice, see kbl.h struct kbl_calibration), but not below 0.

    The error is what calls with and without a packet differ by, of itself and of the K inside.
    """
    calls["comp_ns"] = calls["comp_err_ns"] = -1
    known = log.calibration
    if known is None:
        return
    whole = calls["dur_ns"] >= 0
    inside = nesting.inside(_costs(log, known.nested, known.skb_nested, nesting))
    left = calls["dur_ns"] - known.empty - inside[calls["entry"]]
    calls["comp_ns"][whole] = np.maximum(left, 0)[whole]
    apart = abs(known.skb_nested - known.nested)
    unsure = nesting.inside(_costs(log, apart, apart, nesting))[calls["entry"]]
    calls["comp_err_ns"][whole] = (known.error + unsure)[whole]


def _costs(log: KernelLog, nested: int, skb_nested: int, nesting: Nesting) -> Index:
    """What the probe at each entry costs the calls around it; a list's packets cost but once."""
    records = log.records
    carries = (records["skb"] != 0) & (records["kind"] == ENTRY)
    cost = np.where(carries, skb_nested, nested)
    return np.where((records["kind"] == ENTRY) & ~nesting.carried, cost, 0)


def _nesting(log: KernelLog, of: Index, partner: Index, entry: Index) -> tuple[Index, Index]:
    """Depth and parent row of each entry."""
    paired = np.flatnonzero(partner[entry] >= 0)
    point = np.concatenate([entry, partner[entry[paired]]])
    row = np.concatenate([np.arange(len(entry)), paired])
    opens = np.zeros(len(entry), np.int64)
    opens[paired] = 1  # a call without an end encloses nothing
    step = np.concatenate([opens, -np.ones(len(paired), np.int64)])
    where = np.concatenate(
        [execution(log.records)[entry]] + [execution(log.records)[entry[paired]]]
    )
    leg = np.concatenate([of, of[paired]])
    order = np.lexsort((point, where, leg))
    new = np.r_[True, (np.diff(leg[order]) != 0) | (np.diff(where[order]) != 0)][: len(order)]
    running = np.cumsum(step[order])
    is_entry = np.zeros(len(point), np.bool_)
    is_entry[: len(entry)] = True
    is_entry = is_entry[order]
    before = running - step[order]
    base = before[new][np.cumsum(new) - 1] if len(order) else before
    depth = np.zeros(len(entry), np.int64)
    depth[row[order][is_entry]] = (before - base)[is_entry]
    group = np.zeros(len(entry), np.int64)
    group[row[order][is_entry]] = (np.cumsum(new) - 1)[is_entry]
    return depth, _parents(group, depth, entry, paired)


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


def _self_times(calls: npt.NDArray[np.void]) -> Index:
    inside = calls["irq_ns"].copy()
    child = np.flatnonzero((calls["parent"] >= 0) & (calls["dur_ns"] > 0))
    own = calls["dur_ns"][child] - calls["irq_ns"][child]  # the interrupts in it stand above
    np.add.at(inside, calls["parent"][child], own)
    return np.where(calls["dur_ns"] >= 0, np.maximum(calls["dur_ns"] - inside, 0), -1)


def _drops(log: KernelLog, legs: LegTable, calls: npt.NDArray[np.void]) -> Index:
    """Reason of the DROP events, each at the call of its leg entered last before it."""
    reason = np.full(len(calls), -1, np.int64)
    records = log.records
    drops = np.flatnonzero((records["kind"] == EVENT) & (records["event"] == DROP) & (legs.of >= 0))
    if not len(drops) or not len(calls):
        return reason
    span = len(records) + 1
    key = calls["leg"] * span + calls["entry"]
    row = np.searchsorted(key, legs.of[drops] * span + drops) - 1
    same = (row >= 0) & (calls["leg"][row] == legs.of[drops])
    reason[row[same]] = records["data"][drops[same]] & 0xFFFFFFFF
    return reason
