# SPDX-License-Identifier: MIT
"""Calls of one thread, or of one CPU's interrupts, lie inside each other or apart."""

from __future__ import annotations

import numpy as np

from skbviewer.records import kbl_layout as layout
from tests.lab.columns import I64, Columns, field
from tests.lab.kbl_check import Kind


def threads(records: Columns) -> I64:
    """Return the thread of each record: that of the last TASK event before it on its CPU.

    0 where it is unknown: before the first, and after a loss until the next.
    """
    event = records.kind == Kind.EVENT
    task = event & (records.second == layout.KblEvent.TASK)
    forget = (records.kind == Kind.LOST) & (records.second == layout.KblLost.BUFFER)
    forget[1:] |= np.diff(records.cpu) != 0
    forget[0] = True
    pid = np.zeros(len(records.kind), np.int64)
    pid[task] = field(records.slots[records.at[task]], layout.KBL_EVENT_SLOT, "pid")
    known = np.where(task | forget, np.arange(len(pid)), 0)
    filled = pid[np.maximum.accumulate(known)]
    return filled


def crossing(records: Columns) -> list[tuple[int, int]]:
    """Return pairs of head indices of calls that overlap without being nested."""
    call = np.flatnonzero(records.kind == Kind.CALL)
    pid, context = threads(records)[call], records.context[call]
    # An idle thread is not one: each CPU has its own.  An interrupt stays on its CPU.
    cpu = np.where((context == layout.KblContext.TASK) & (pid != 0), -1, records.entry_cpu[call])
    pid = np.where(context == layout.KblContext.TASK, pid, 0)
    ts, end = records.ts[call], records.end[call]
    order = np.lexsort((-end, ts, cpu, context, pid))
    place = np.stack([pid, context, cpu], axis=1)[order]
    fresh = np.append(True, (np.diff(place, axis=0) != 0).any(axis=1)).tolist()
    found: list[tuple[int, int]] = []
    stack: list[tuple[int, int]] = []
    for i, new, begin, stop in zip(
        call[order].tolist(), fresh, ts[order].tolist(), end[order].tolist(), strict=True
    ):
        if new:
            stack = []
        while stack and stack[-1][1] <= begin:
            stack.pop()
        if stack and stop > stack[-1][1]:
            found.append((stack[-1][0], i))
        stack.append((i, stop))
    return found
