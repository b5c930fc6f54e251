# SPDX-License-Identifier: MIT
"""Turn entry and exit records into calls with duration, self time, depth and parent.

Input: a KBL, its skb lifetimes and legs, the nesting, and the calls that belong to a leg by their
socket.  Output: rows of CALL_DTYPE, sorted by leg and time.  The depth of a call is the number of
calls around it that belong to the same leg and run in the same execution context.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...matching import Joined, LegTable, Nesting, Rows, SeriesTable, record_blocks, rows_where
from ...records import KernelLog, Records, Scratch, narrow, part, scratch_of
from ...records.kernel_events import DROP
from ...records.types import Int32s
from .call_building_loops import ENTRY, EVENT, count_above, count_calls, note_drops, place_calls
from .call_finder import Finder
from .call_table import CallTable, Column
from .interrupt_times import interrupts
from .interruptions import MARK_INNER
from .interruptions import find_interruptions as find_interruptions
from .probe_compensation import compensated_durations
from .probe_cost_per_record import Costs
from .record_loss_times import losses
from .self_times import Between
from .task_switches import switches

NONE = Joined(np.zeros(0, np.int64), np.zeros(0, np.int64))


def build(
    log: KernelLog,
    series: SeriesTable,
    legs: LegTable,
    nesting: Nesting | None = None,
    joined: Joined | None = None,
    inner: Int32s | None = None,
) -> CallTable:
    """Return the calls of all legs of `log` with their times, sorted by leg and ENTRY record.

    If `nesting` is None, it is computed here.  `joined` are the calls that belong to a leg by their
    socket; None means no calls.  `inner` are the ENTRY records of calls without an skb, rising.
    """
    records, nesting = log.records, nesting or Nesting(log.records)
    leg, entry = _by_leg(records, legs, joined or NONE)
    calls = CallTable(records, legs.of, leg, entry)
    calls["parent"] = _parents(Finder(nesting, legs, calls), calls)
    calls["depth"] = _depth(calls.stored("parent"), calls.scratch)
    gaps = losses(log)
    known = log.calibration
    costs = Costs(records, nesting, known)
    calls["dur_ns"] = calls.by_parts(lambda rows: calls.part("dur_ns", rows))
    calls.between = Between(interrupts(records, costs), switches(records))
    came_between = find_interruptions(records, nesting, gaps, calls, calls.between)
    calls["marks"], calls["self_ns"], calls["irq_ns"], calls["off_ns"] = came_between[:4]
    in_interrupts = came_between[4:]
    del came_between
    if inner is not None:
        calls["marks"] = calls.stored("marks") | np.where(
            _are_among(calls, inner), MARK_INNER, 0
        ).astype(np.uint8)
    calls["comp_ns"] = calls["comp_err_ns"] = np.full(len(calls), -1, np.int8)
    if known is not None:
        calls["comp_ns"], calls["comp_err_ns"] = compensated_durations(
            known, nesting, costs, in_interrupts, calls
        )
    calls["drop_reason"] = _drops(log, legs, calls)
    return calls


def _parents(finder: Finder, calls: CallTable) -> Int32s:
    made, leg, entry = (
        calls.scratch.take(len(calls), np.int32),
        *map(calls.stored, ("leg", "entry")),
    )
    none = np.zeros(0, np.int32)
    for rows in calls.passing():
        made[rows] = finder.innermost_calls(leg[rows], entry[rows], none, none.astype(np.bool_))
    return made


def _by_leg(records: Records, legs: LegTable, joined: Joined) -> tuple[Int32s, Int32s]:
    """Return two columns, the leg and the ENTRY record of each call, sorted by both."""
    begin = np.zeros(len(legs.rows) + 1, np.int32)
    np.add.at(begin, joined.leg + 1, 1)
    for some in record_blocks(records):
        count_calls(Rows(records, some)["kind"], legs.of[some], begin)
    np.cumsum(begin, out=begin)
    scratch, size, done = scratch_of(records), int(begin[-1]), np.zeros(1, np.int64)
    leg, entry = scratch.take(size, np.int32), scratch.take(size, np.int32)
    for some in record_blocks(records):
        calls = np.flatnonzero(Rows(records, some)["kind"] == ENTRY)
        place_calls(some.start, calls, legs.of[some], *joined, begin, leg, entry, done)
    return leg, entry


def _depth(parent: Int32s, scratch: Scratch) -> Column:
    """Return the number of calls around each call."""
    depth = scratch.full(len(parent), np.int32, -1)
    count_above(parent, depth)
    return narrow(depth)


def _are_among(calls: CallTable, records: Int32s) -> npt.NDArray[np.bool_]:
    """Return for each call whether its ENTRY is one of the sorted `records`."""
    found = np.zeros(len(calls.records), np.bool_)
    found[records] = True
    return np.asarray(found[calls.stored("entry")])


def _drops(log: KernelLog, legs: LegTable, calls: CallTable) -> Column:
    """Return for each call the reason for which it dropped its packet; -1 if it did not drop one.

    Calls without an skb drop no packet.  A drop counts for the last call of its leg that began
    before the drop.
    """
    reason, records = calls.scratch.full(len(calls), np.int32, -1), log.records

    def is_drop(some: slice) -> npt.NDArray[np.bool_]:
        event = (part(records, "kind", some) == EVENT) & (part(records, "event", some) == DROP)
        return np.asarray(event & (legs.of[some] >= 0))

    drops = rows_where(records, is_drop)
    reasons = (part(records, "data", drops) & 0xFFFFFFFF).astype(np.int32)
    inner = (calls.stored("marks") & MARK_INNER) != 0
    note_drops(
        calls.stored("leg"), calls.stored("entry"), inner, legs.of[drops], drops, reasons, reason
    )
    return narrow(reason)
