# SPDX-License-Identifier: MIT
"""Turn entry and exit records into calls with duration, self time, depth and parent.

In: a KBL, its series and legs, what encloses what, and the calls joined by their socket.  Out:
CALL_DTYPE rows by leg and time.  Depth counts enclosing calls of the same leg in the same execution
context.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..matching import Joined, LegTable, Nesting, SeriesTable, blocks
from ..records import KernelLog, part
from .call_finder import Finder
from .call_table import CallTable, Column
from .interruptions import MARK_GAP
from .interruptions import find as find_interruptions

ENTRY, EVENT = 1, 4  # kbl.h enum kbl_kind
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
    records, nesting = log.records, nesting or Nesting(log.records)
    entry = np.flatnonzero((records["kind"] == ENTRY) & (legs.of >= 0))
    leg = legs.of[entry].astype(np.int64)
    if joined is not None and len(joined.entry):
        entry, leg = np.r_[entry, joined.entry], np.r_[leg, joined.leg]
    leg, entry = _by_leg(leg, entry)
    calls = CallTable(records, legs.of, leg, entry)
    finder = Finder(nesting, legs, calls)
    del leg, entry
    calls["parent"] = calls.by_parts(
        lambda rows: finder.around(calls.part("leg", rows), calls.part("entry", rows))
    )
    calls["dur_ns"] = calls.by_parts(lambda rows: calls.part("dur_ns", rows))
    calls["depth"] = _depth(calls["parent"].astype(np.int32))
    calls["marks"], calls["irq_ns"] = find_interruptions(records, calls)
    calls["self_ns"] = _self_times(calls)
    calls["comp_ns"], calls["comp_err_ns"] = _compensated(log, nesting, calls)
    calls["drop_reason"] = _drops(log, legs, calls)
    return calls


def _by_leg(leg: Index, entry: Index) -> tuple[Index, Index]:
    """Both in the order of (leg, entry); together they are below 2**63."""
    bits = int(entry.max(initial=0)).bit_length()
    key = (leg << bits) | entry
    key.sort(kind="stable")  # legs are nearly in order of time
    return key >> bits, key & ((1 << bits) - 1)


def _compensated(log: KernelLog, nesting: Nesting, calls: CallTable) -> tuple[Column, Column]:
    """T = T' - empty - K * nested (NetSlice, see kbl.h struct kbl_calibration), but not below 0.

    The error is what calls with and without a packet differ by, of itself and of the K inside.
    """
    known = log.calibration
    if known is None:
        return np.full(len(calls), -1, np.int8), np.full(len(calls), -1, np.int8)
    probed = (log.records["kind"] == ENTRY) & ~nesting.carried  # a list's packets cost but once
    every = nesting.inside(probed)
    with_skb = nesting.inside(probed & (log.records["skb"] != 0))

    def left(rows: slice) -> Column:
        entry, duration = calls.part("entry", rows), calls.part("dur_ns", rows)
        inside = every[entry] * np.int64(known.nested)
        inside += with_skb[entry] * np.int64(known.skb_nested - known.nested)
        left = np.maximum(duration - known.empty - inside, 0)
        return np.where(_is_known(calls, rows), left, -1)

    def unsure(rows: slice) -> Column:
        wrong = every[calls.part("entry", rows)] * np.int64(abs(known.skb_nested - known.nested))
        return np.where(_is_known(calls, rows), known.error + wrong, -1)

    return calls.by_parts(left), calls.by_parts(unsure)


def _is_known(calls: CallTable, rows: slice) -> npt.NDArray[np.bool_]:
    """Calls of which it is known how long they took and what is inside them."""
    known = (calls.part("dur_ns", rows) >= 0) & ((calls.part("marks", rows) & MARK_GAP) == 0)
    return np.asarray(known, np.bool_)


def _depth(parent: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """How many calls are around each: a call and those above it are told by ever longer steps."""
    depth = (parent >= 0).astype(np.int32)
    left = np.flatnonzero(parent >= 0)
    above = parent.copy()
    while len(left):
        next_ = above[left]
        depth[left] += depth[next_]
        above[left] = above[next_]
        left = left[above[left] >= 0]
    return depth


def _self_times(calls: CallTable) -> Column:
    inside = calls["irq_ns"].copy()
    for rows in blocks(len(calls)):
        parent, duration = calls.part("parent", rows), calls.part("dur_ns", rows)
        child = np.flatnonzero((parent >= 0) & (duration > 0))
        own = duration[child] - calls.part("irq_ns", rows)[child]  # the interrupts stand above
        np.add.at(inside, parent[child], own)

    def made(rows: slice) -> Column:
        left = np.maximum(calls.part("dur_ns", rows) - inside[rows], 0)
        return np.where(_is_known(calls, rows), left, -1)

    return calls.by_parts(made)


def _drops(log: KernelLog, legs: LegTable, calls: CallTable) -> Index:
    """Reason of the DROP events, each at the call of its leg entered last before it."""
    reason = np.full(len(calls), -1, np.int64)
    records = log.records
    drops = np.flatnonzero((records["kind"] == EVENT) & (records["event"] == DROP) & (legs.of >= 0))
    if not len(drops) or not len(calls):
        return reason
    span = len(records) + 1
    leg = calls["leg"]
    wanted = legs.of[drops].astype(np.int64) * span + drops
    row = np.searchsorted(leg * span + calls["entry"], wanted) - 1
    same = (row >= 0) & (leg[row] == legs.of[drops])
    reason[row[same]] = part(records, "data", drops[same]) & 0xFFFFFFFF
    return reason
