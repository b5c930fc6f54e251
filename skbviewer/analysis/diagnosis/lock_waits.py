# SPDX-License-Identifier: MIT
"""Waits for locks in the calls of the chosen packets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.kbl_layout import KblEvent
from ...records.types import Bools, Int64s
from ..stats.machine.lock_waits import LockWaits, lock_waits, waiting_functions
from ..words.event_text import LOCK_BITS, LOCK_MASK
from .cpu_occupants import thread_name
from .rule_inputs import Case

SPINS = 1  # kbl.h KBL_LOCK_SPIN
NAMED = 3  # most threads that a sentence names


class Locks(NamedTuple):
    """Waits for locks, with the leg, the call (0-based row; -1: none) and the packet that waited.

    `row` is the packet, as an index of Case.rows.  `functions` are the names of the functions that
    waited.
    """

    waits: LockWaits
    leg: Int64s
    call: Int64s
    row: Int64s
    functions: list[str]

    def selected(self, which: Bools | Int64s) -> Locks:
        """Return the waits that `which` (flags or indices) selects."""
        at = np.flatnonzero(which) if which.dtype == np.bool_ else which
        functions = [self.functions[one] for one in at.tolist()]
        return Locks(self.waits.selected(at), self.leg[at], self.call[at], self.row[at], functions)

    def of_packets(self, count: int) -> Int64s:
        """Return how long each of `count` packets waited for locks, in ns."""
        ns = np.zeros(count, np.int64)
        np.add.at(ns, self.row, self.waits.ns)
        return ns

    def longest_of(self, row: int) -> int:
        """Return the index of the longest wait of the packet `row`."""
        mine = np.flatnonzero(self.row == row)
        return int(mine[np.argmax(self.waits.ns[mine])])

    @property
    def asleep(self) -> Locks:
        """Return the waits at whose end the thread was sleeping and not spinning."""
        return self.selected((self.waits.data >> LOCK_BITS & SPINS) == 0)


def locks_of(case: Case) -> Locks:
    """Return the waits for locks in the calls of the chosen packets."""
    scope = case.scope.unlimited
    waits = lock_waits(scope)
    leg = scope.of_event("leg", waits.event) - 1
    inside = np.flatnonzero(leg >= 0)
    place, row = case.packets_of(leg[inside])
    mine = inside[place]
    waits = waits.selected(mine)
    call = scope.of_event("call", waits.event) - 1
    return Locks(waits, leg[mine], call, row, waiting_functions(scope, waits))


def holders(case: Case, locks: Locks, at: int) -> str:
    """Return a sentence about the threads that got the lock during a wait, or else before it.

    `at` is the index of the wait.  Only threads that had to wait for the lock are recorded.  The
    sentence is "" if no other thread had to wait.
    """
    one = locks.waits.selected(np.array([at]))
    begin, end, source = int(one.begin[0]), int(one.end[0]), int(one.source[0])
    event, scope = case.event("event"), case.scope
    rows = np.flatnonzero(event == int(KblEvent.LOCK_GOT))
    data, ts, pid, cpu = (scope.of_event(name, rows) for name in ("data", "ts", "pid", "cpu"))
    same = (data & LOCK_MASK) == int(one.lock[0])
    same &= (scope.of_event("source", rows) == source) & (ts < end)
    same &= (pid != int(one.pid[0])) | (cpu != int(one.cpu[0]))
    during = np.flatnonzero(same & (ts > begin))
    before = np.flatnonzero(same & (ts <= begin))
    if not len(during) and not len(before):
        return ""
    leg = int(locks.leg[at])
    found = during if len(during) else before[np.argmax(ts[before])][None]
    named = [
        thread_name(case, leg, int(pid[row]), int(cpu[row])) for row in found[np.argsort(ts[found])]
    ]
    listed = ", ".join(list(dict.fromkeys(named))[:NAMED])
    if len(during):
        return f" Meanwhile {listed} got the lock."
    return f" Before this wait, {listed} was the last thread that waited for the lock and got it."
