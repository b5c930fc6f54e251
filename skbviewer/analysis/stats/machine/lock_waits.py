# SPDX-License-Identifier: MIT
"""Waits for locks, from the kernel's events about contended locks.

A wait begins with one or more events (a thread first spins, then sleeps), and ends with one event.
Waits that did not end are left out, and so are waits during which records were lost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....records.kbl_layout import KblEvent
from ....records.types import Bools, Int64s
from ...scope import Scope
from ...words.event_text import LOCK_MASK

# Functions of the locks themselves, and of what records the wait.
OF_LOCKS = (
    *("kbl_", "__traceiter_", "queued_", "native_queued_", "__pv_queued_", "_raw_", "__raw_"),
    *("do_raw_", "mutex_", "__mutex_", "ww_mutex_", "__ww_mutex_", "rwsem_", "down_", "__down_"),
    *("rt_mutex_", "__rt_mutex_", "rt_spin_", "rtlock_", "percpu_", "__percpu_", "down+", "up_"),
)
MOST_FRAMES = 12  # struct kbl_ext_stack: two slots


class LockWaits(NamedTuple):
    """Waits: the event (0-based row) that began each; log, CPU, thread; the lock; times (ns)."""

    event: Int64s
    source: Int64s
    cpu: Int64s
    pid: Int64s
    data: Int64s  # as in the wait's last event that is a begin: the lock's address and kind
    begin: Int64s
    end: Int64s

    @property
    def ns(self) -> Int64s:
        """Return the length of each wait, ns."""
        return np.asarray(self.end - self.begin, np.int64)

    @property
    def lock(self) -> Int64s:
        """Return the lower bits of the address of the lock that each wait was for."""
        return np.asarray(self.data & LOCK_MASK, np.int64)

    def selected(self, which: Bools | Int64s) -> LockWaits:
        """Return the waits that `which` (flags or indices) selects."""
        return LockWaits(*(column[which] for column in self))


def lock_waits(scope: Scope) -> LockWaits:
    """Return the waits for locks that began in the range of time, sorted by log and thread.

    Raises Cancelled.
    """
    scope.progress.report("Counting", 0, 0)
    rows = _rows(scope)
    event = scope.of_event("event", rows)
    source, ts, cpu, pid, data, context = (
        scope.of_event(name, rows) for name in ("source", "ts", "cpu", "pid", "data", "context")
    )
    # An interrupt, and the idle task, wait on their CPU; a thread may sleep, and go on elsewhere.
    who = np.where((context == 0) & (pid > 0), pid, -1 - cpu)
    order = np.lexsort((rows, ts, data & LOCK_MASK, context, who, source))
    rows, event, source, ts, cpu, pid, data = (
        column[order] for column in (rows, event, source, ts, cpu, pid, data)
    )
    key = np.stack([source, who[order], context[order], data & LOCK_MASK])
    same = np.r_[False, (key[:, 1:] == key[:, :-1]).all(axis=0)] if len(rows) else np.zeros(0, "?")
    begins = np.asarray(event == int(KblEvent.LOCK_WAIT))
    before = np.r_[False, begins[:-1]] if len(rows) else begins
    first = np.flatnonzero(begins & ~(same & before))
    ends = np.flatnonzero(~begins & same & before)
    at = first[np.searchsorted(first, ends) - 1] if len(ends) else ends
    last = data[ends - 1]  # how the wait went on at last
    waits = LockWaits(rows[at], source[at], cpu[at], pid[at], last, ts[at], ts[ends])
    waits = waits.selected(scope.in_range(waits.source, waits.begin))
    return waits.selected(~scope.lost_between(waits.source, waits.begin, waits.end))


def _rows(scope: Scope) -> Int64s:
    """Return the rows (0-based, rising) of events about locks; an open session keeps them."""

    def find() -> Int64s:
        found = [np.zeros(0, np.int64)]
        for first, (event,) in scope.columns.pieces("event", "event"):
            mine = (event == int(KblEvent.LOCK_WAIT)) | (event == int(KblEvent.LOCK_GOT))
            found.append(np.flatnonzero(mine) + first)
        return np.concatenate(found)

    if scope.fields is None:
        return find()
    rows: Int64s = scope.fields.cached("events of locks", find)
    return rows


def waiting_functions(scope: Scope, waits: LockWaits) -> list[str]:
    """Return for each wait the function that needed the lock: "rtnl_lock"; "" if unknown."""
    frames = scope.details.frames()
    order = np.argsort(frames[:, 0], kind="stable")
    event, address = frames[order, 0], frames[order, 1]
    low = np.searchsorted(event, waits.event + 1)
    high = np.searchsorted(event, waits.event + 1, "right")
    known: dict[tuple[int, tuple[int, ...]], str] = {}
    made = []
    for source, a, b in zip(waits.source.tolist(), low.tolist(), high.tolist(), strict=True):
        key = source, tuple(address[a : min(b, a + MOST_FRAMES)].tolist())
        if key not in known:
            known[key] = _function(scope, *key)
        made.append(known[key])
    return made


def _function(scope: Scope, source: int, stack: tuple[int, ...]) -> str:
    names = scope.kernels[source].names
    symbols = [names.symbol(address) for address in stack]
    found = next((one for one in symbols if not one.startswith(OF_LOCKS)), "")
    return found.split("+")[0]
