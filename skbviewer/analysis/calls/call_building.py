# SPDX-License-Identifier: MIT
"""Turn entry and exit records into calls with duration, self time, depth and parent.

Input: a KBL, its series and legs, the nesting, and the calls joined by their socket.  Output:
CALL_DTYPE rows by leg and time.  Depth counts enclosing calls of the same leg in the same execution
context.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...matching import Joined, LegTable, Nesting, Rows, SeriesTable, found, passing
from ...records import KernelLog, Records, Scratch, narrow, part, scratch_of
from ...records.compiled import allocation_free
from ...records.kernel_events import DROP
from ...records.types import Int32s, Int64s, UInt8s
from .call_finder import Finder
from .call_table import CallTable, Column, row_at
from .interrupt_times import interrupts
from .interruptions import find as find_interruptions
from .lost_spans import losses
from .own_times import Between
from .probe_compensation import compensated
from .probed_calls import nobody_asks, probed
from .task_switches import switches

ENTRY, EVENT = 1, 4  # kbl.h enum kbl_kind


NONE = Joined(np.zeros(0, np.int64), np.zeros(0, np.int64))


def build(
    log: KernelLog,
    series: SeriesTable,
    legs: LegTable,
    nesting: Nesting | None = None,
    joined: Joined | None = None,
) -> CallTable:
    """Return the calls of all legs, sorted by (leg, ENTRY record).

    Without `joined`, no calls are joined by their sockets.
    """
    records, nesting = log.records, nesting or Nesting(log.records)
    leg, entry = _by_leg(records, legs, joined or NONE)
    calls = CallTable(records, legs.of, leg, entry)
    calls["parent"] = _parents(Finder(nesting, legs, calls), calls)
    calls["depth"] = _depth(calls.stored("parent"), calls.scratch)
    gaps = losses(log)
    known = log.calibration
    probes = probed(records, nesting) if known is not None else nobody_asks()
    calls["dur_ns"] = calls.by_parts(lambda rows: calls.part("dur_ns", rows))
    calls.between = Between(interrupts(records, probes), switches(records))
    came_between = find_interruptions(records, nesting, gaps, calls, calls.between)
    calls["marks"], calls["self_ns"], calls["irq_ns"], calls["off_ns"] = came_between[:4]
    in_interrupts = came_between[4:]
    del came_between
    calls["comp_ns"] = calls["comp_err_ns"] = np.full(len(calls), -1, np.int8)
    if known is not None:
        calls["comp_ns"], calls["comp_err_ns"] = compensated(
            known, nesting, probes, in_interrupts, calls
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
        made[rows] = finder.around(leg[rows], entry[rows], none, none.astype(np.bool_))
    return made


def _by_leg(records: Records, legs: LegTable, joined: Joined) -> tuple[Int32s, Int32s]:
    """Return the leg and ENTRY of each call, sorted by both."""
    begin = np.zeros(len(legs.rows) + 1, np.int32)
    np.add.at(begin, joined.leg + 1, 1)
    for some in passing(records):
        _count(Rows(records, some)["kind"], legs.of[some], begin)
    np.cumsum(begin, out=begin)
    scratch, size, done = scratch_of(records), int(begin[-1]), np.zeros(1, np.int64)
    leg, entry = scratch.take(size, np.int32), scratch.take(size, np.int32)
    for some in passing(records):
        calls = np.flatnonzero(Rows(records, some)["kind"] == ENTRY)
        _place(some.start, calls, legs.of[some], *joined, begin, leg, entry, done)
    return leg, entry


@allocation_free
def _count(kind: UInt8s, of: Int32s, begin: Int32s) -> None:
    """Count the calls of each leg in `begin`, one index after the leg's own."""
    for i in range(len(kind)):  # without a branch, which would often be mispredicted
        begin[of[i] + 1] += (kind[i] == ENTRY) & (of[i] >= 0)


@allocation_free
def _place(
    first: int,
    calls: Int64s,
    of: Int32s,
    joined: Int64s,
    joined_leg: Int64s,
    begin: Int32s,
    leg: Int32s,
    entry: Int32s,
    done: Int64s,
) -> None:
    """Put calls at the next place of their leg; `done` counts the joined calls placed so far."""
    for i in calls:
        mine = np.int64(of[i])
        while True:
            further = done[0] < len(joined) and joined[done[0]] == first + i
            if mine < 0 and further:
                mine = joined_leg[done[0]]
                done[0] += 1
            if mine < 0:
                break
            at = begin[mine]
            leg[at], entry[at] = mine, first + i
            begin[mine] += 1
            mine = np.int64(-1)


def _depth(parent: Int32s, scratch: Scratch) -> Column:
    """Return the number of calls around each call."""
    depth = scratch.full(len(parent), np.int32, -1)
    _count_above(parent, depth)
    return narrow(depth)


@allocation_free
def _count_above(parent: Int32s, depth: Int32s) -> None:
    """Fill `depth`, which is -1: for each call, and for calls above it that have none yet."""
    for i in range(len(parent)):
        if parent[i] < i:  # nearly always
            depth[i] = depth[parent[i]] + 1 if parent[i] >= 0 else 0
            continue
        above, steps = np.int64(i), np.int64(0)
        while above >= 0 and depth[above] < 0 and steps < len(parent):
            above, steps = np.int64(parent[above]), steps + 1
        known = np.int64(depth[above]) if above >= 0 else np.int64(-1)
        at = np.int64(i)
        for left in range(steps, 0, -1):
            depth[at] = known + left
            at = np.int64(parent[at])


def _drops(log: KernelLog, legs: LegTable, calls: CallTable) -> Column:
    """Return the reasons of DROP events, each at the last call of its leg that began before it."""
    reason, records = calls.scratch.full(len(calls), np.int32, -1), log.records

    def is_drop(some: slice) -> npt.NDArray[np.bool_]:
        event = (part(records, "kind", some) == EVENT) & (part(records, "event", some) == DROP)
        return np.asarray(event & (legs.of[some] >= 0))

    drops = found(records, is_drop)
    reasons = (part(records, "data", drops) & 0xFFFFFFFF).astype(np.int32)
    _note_drops(calls.stored("leg"), calls.stored("entry"), legs.of[drops], drops, reasons, reason)
    return narrow(reason)


@allocation_free
def _note_drops(
    leg: Int32s, entry: Int32s, wanted: Int32s, before: Int64s, reasons: Int32s, reason: Int32s
) -> None:
    """Write reasons into `reason`; `leg` and `entry` are sorted together."""
    for i in range(len(wanted)):
        low = row_at(np.int64(wanted[i]), before[i], leg, entry)
        if low > 0 and leg[low - 1] == wanted[i]:
            reason[low - 1] = reasons[i]
