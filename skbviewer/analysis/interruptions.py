# SPDX-License-Identifier: MIT
"""What came between the entry and the exit of a call: interrupts, other tasks, CPUs, lost records.

In: the records of a KBL, what encloses what, its losses and its calls.  Out: for each call MARK_*
bits, its own time, the time that interrupts took inside it or in which its thread was switched out,
and how many probed calls were in those interrupts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..matching import Nesting, whole
from ..records import Records, part
from .call_table import CallTable, Column
from .losses import Losses
from .own_times import Between, own_times
from .switches import MARK_MIGRATED, MARK_SLEPT

__all__ = ["MARK_GAP", "MARK_INTERRUPTED", "MARK_MIGRATED", "MARK_SLEPT", "Interruptions", "find"]

TASK = 0  # context
MARK_INTERRUPTED = 4
MARK_GAP = 8  # records of its CPUs were lost meanwhile: what is inside it is not known

Index = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]


class Interruptions(NamedTuple):
    """Of each call: MARK_* bits; ns of its own (-1: unknown); ns of interrupts and in which its
    thread was switched out, in it and in the calls inside it.

    `probed` and `with_skb` are how many probed calls those interrupts made (0 where nobody asks).
    """

    marks: Bytes
    self_ns: Column
    irq_ns: Column
    off_ns: Column
    probed: Column
    with_skb: Column


def find(
    records: Records,
    nesting: Nesting,
    losses: Losses,
    calls: CallTable,
    between: Between,
) -> Interruptions:
    """Of `calls`, which may be further packets of a list: these have what its call has."""
    own, switched = own_times(records, nesting, between), between.switched
    marks = calls.room.take(len(calls), np.uint8)
    pid = whole(records, "pid", "i4")
    for rows in calls.passing():
        entry = calls.part("entry", rows)
        is_task = (calls.part("context", rows) == TASK) & (pid[entry] > 0)
        marks[rows] = np.where(
            is_task & (calls.part("dur_ns", rows) >= 0), switched.marks[entry], 0
        )
    _note_gaps(records, losses, calls, marks)

    def of(name: str) -> Column:
        return calls.by_parts(lambda rows: _of_rows(getattr(own, name), nesting, calls, rows))

    def self_ns(rows: slice) -> Column:
        known = (calls.part("dur_ns", rows) >= 0) & ((marks[rows] & MARK_GAP) == 0)
        return np.where(known, _of_rows(own.self_ns, nesting, calls, rows), -1)

    irq_ns = of("irq_ns")
    for rows in calls.passing():
        marks[rows] |= np.where(irq_ns[rows] > 0, MARK_INTERRUPTED, 0).astype(np.uint8)
    off_ns = of("off_ns")
    probed = of("probed"), of("with_skb")
    return Interruptions(marks, calls.by_parts(self_ns), irq_ns, off_ns, *probed)


def _of_rows(values: Column, nesting: Nesting, calls: CallTable, rows: slice) -> Column:
    """What is known of each row's ENTRY; of a list's further packet of the call given the list."""
    if not len(values):
        return np.zeros(rows.stop - rows.start, np.int8)
    entry = calls.part("entry", rows)
    given = nesting.parent[entry]
    return np.asarray(values[np.where(nesting.carried[entry] & (given >= 0), given, entry)])


def _note_gaps(records: Records, losses: Losses, calls: CallTable, marks: Bytes) -> None:
    """Mark calls on a CPU that lost records between their entry and exit.

    Of one that changed its CPU nobody knows where it was meanwhile: any CPU's losses count.
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
