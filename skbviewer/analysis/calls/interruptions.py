# SPDX-License-Identifier: MIT
"""What interrupted a call: interrupts, other tasks, moves to another CPU.

Input: the records of a KBL, the nesting, losses of records, and calls.  Output for each call:
MARK_* bits, its self time, the time in which interrupts ran, the time in which its thread was
switched out, and what probes and events cost in the interrupts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...matching import Nesting, whole
from ...records import Records, part
from ...records.types import Int32s, UInt8s
from .call_table import CallTable, Column
from .record_loss_times import Losses
from .self_times import Between, self_times
from .task_switch_loops import MARK_MIGRATED, MARK_SLEPT

__all__ = [
    "MARK_GAP",
    "MARK_INNER",
    "MARK_INTERRUPTED",
    "MARK_MIGRATED",
    "MARK_SLEPT",
    "Interruptions",
    "find_interruptions",
]

TASK = 0  # context
MARK_INTERRUPTED = 4
MARK_INNER = 16  # its function has no skb: recorded only inside a recorded call
MARK_GAP = 8  # its CPUs lost records meanwhile, so some inner calls may be unknown


class Interruptions(NamedTuple):
    """Columns with an element for each call; times are in ns, and an unknown self time is -1.

    `marks` has MARK_* bits.  `irq_ns` is the time in which interrupts ran, and `off_ns` the time in
    which the thread was switched out, both also during inner calls.  `probes_ns` and `events_ns`
    are what probes and events cost in interrupts; 0 without a calibration.
    """

    marks: UInt8s
    self_ns: Column
    irq_ns: Column
    off_ns: Column
    probes_ns: Column
    events_ns: Column


def find_interruptions(
    records: Records,
    nesting: Nesting,
    losses: Losses,
    calls: CallTable,
    between: Between,
) -> Interruptions:
    """Return how interrupts, thread switches and lost records affected `calls`.

    `between` holds the times of interrupts and switches.  All packets of a list that was passed to
    a call get the interruptions of this call.
    """
    own, switched = self_times(records, nesting, between), between.switched
    marks = calls.scratch.take(len(calls), np.uint8)
    pid, owner = whole(records, "pid", "i4"), calls.scratch.take(len(calls), np.int32)
    for rows in calls.passing():
        entry = calls.part("entry", rows)
        owner[rows] = nesting.owner(entry)
        is_task = (calls.part("context", rows) == TASK) & (pid[entry] > 0)
        marks[rows] = np.where(
            is_task & (calls.part("dur_ns", rows) >= 0), switched.marks[entry], 0
        )
    _note_gaps(records, losses, calls, marks)

    def of(name: str) -> Column:
        return calls.by_parts(lambda rows: _of_rows(getattr(own, name), owner[rows]))

    def self_ns(rows: slice) -> Column:
        known = (calls.part("dur_ns", rows) >= 0) & ((marks[rows] & MARK_GAP) == 0)
        return np.where(known, _of_rows(own.self_ns, owner[rows]), -1)

    irq_ns = of("irq_ns")
    for rows in calls.passing():
        marks[rows] |= np.where(irq_ns[rows] > 0, MARK_INTERRUPTED, 0).astype(np.uint8)
    off_ns = of("off_ns")
    costs = of("probes_ns"), of("events_ns")
    return Interruptions(marks, calls.by_parts(self_ns), irq_ns, off_ns, *costs)


def _of_rows(values: Column, owner: Int32s) -> Column:
    """Return the value of each record in `owner`; see Nesting.owner()."""
    if not len(values):
        return np.zeros(len(owner), np.int8)
    return np.asarray(values[owner])


def _note_gaps(records: Records, losses: Losses, calls: CallTable, marks: UInt8s) -> None:
    """Mark the calls during which their CPU lost records.

    If a call moved to another CPU, losses of all CPUs count, because it is unknown where the call
    ran.
    """
    if not len(losses.ts):
        return
    ts, dur, lost_on = (column.tolist() for column in (losses.ts, losses.dur, losses.cpu))
    for rows in calls.passing():
        cpu, enter, leave = (calls.part(name, rows) for name in ("cpu", "entry_ns", "exit_ns"))
        left_on = part(records, "exit_cpu", calls.part("entry", rows))  # -1: open
        moved = ((marks[rows] & MARK_MIGRATED) != 0) | ((left_on >= 0) & (left_on != cpu))
        for end, lasted, number in zip(ts, dur, lost_on, strict=True):
            ends = np.where(leave >= 0, leave, end)
            across = ((cpu == number) | moved) & (enter <= end) & (ends >= end - max(lasted, 0))
            marks[rows][across] |= MARK_GAP
