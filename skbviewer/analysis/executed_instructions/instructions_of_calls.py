# SPDX-License-Identifier: MIT
"""The instructions that calls executed: with inner calls, without them, and by probes.

Between the marks of entry and return, the emulator added each instruction in the kernel to one of
two sums: the kernel's own instructions, or those of the probes.  Instructions of programs are in
neither sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...readers.kernel_image.emulator_marks import ExecutedMarks
from ...records.types import Bools, Int64s
from .call_return_marks import MOST_DELAY
from .kernel_log_calls import UNKNOWN, LogCalls
from .marks_of_calls import MarkedCalls, marked_calls
from .surrounding_calls import surrounding_calls


class Steps(NamedTuple):
    """The executed instructions of one log's calls that have marks, sorted by entry time (ns).

    `executed` are the kernel's instructions between entry and return.  `own` are those of the
    `executed` instructions that ran outside the recorded inner calls.  `probes` are the
    instructions of probes between entry and return.  Instructions of interrupts between entry and
    return count, too.  `executed` and `probes` are UNKNOWN if another thread may have run during
    the call, and `own` is UNKNOWN if it may have run outside the inner calls.

    `left_out` is the number of calls without marks that returned during the count.  `marks_left` is
    the number of marks of returns without a call.
    """

    entry_ns: Int64s
    executed: Int64s
    own: Int64s
    probes: Int64s
    left_out: int
    marks_left: int

    def of(self, entry_ns: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        """Return `executed`, `own` and `probes` of the calls that began at `entry_ns`."""
        if not len(self.entry_ns):
            none = np.full(len(entry_ns), UNKNOWN, np.int64)
            return none, none, none
        at = np.minimum(np.searchsorted(self.entry_ns, entry_ns), len(self.entry_ns) - 1)
        known = self.entry_ns[at] == entry_ns
        executed, own, probes = (
            np.where(known, part[at], UNKNOWN) for part in (self.executed, self.own, self.probes)
        )
        return executed, own, probes


class _Between(NamedTuple):
    """What was executed between the two marks of each call; `known` says whether both marks exist.

    `idle` is how much (ns) the clock gained on the instructions, because the CPU was idle or the
    clock was read late.
    """

    known: Bools
    kernel: Int64s
    probes: Int64s
    idle: Int64s


def executed_steps(
    calls: LogCalls, losses: Sequence[tuple[int, int]], marks: ExecutedMarks
) -> Steps:
    """Return the executed instructions of the calls of one log.

    `losses` are the times (begin, end) in which the log lost records, in ns.
    """
    return steps_of(calls, marks, marked_calls(calls, losses, marks))


def steps_of(calls: LogCalls, marks: ExecutedMarks, marked: MarkedCalls) -> Steps:
    """Return the executed instructions of `calls`, whose marks are `marked`."""
    between = _between(calls, marks, marked)
    own = _own(calls, between)
    alone = between.known & (calls.off_ns <= 0) & (between.idle <= MOST_DELAY)
    rows = np.flatnonzero(between.known)
    rows = rows[np.argsort(calls.entry_ns[rows], kind="stable")]
    counted = np.flatnonzero(marked.returned != UNKNOWN)
    during = slice(int(counted[0]), int(counted[-1]) + 1) if len(counted) else slice(0)
    calls_during = int(np.count_nonzero(calls.entry_ns[during] != UNKNOWN))
    executed, probes = (
        np.where(alone, part, UNKNOWN)[rows] for part in (between.kernel, between.probes)
    )
    left_out = calls_during - len(rows)
    marks_left = int(np.count_nonzero(marks.is_exit)) - len(counted)
    return Steps(calls.entry_ns[rows], executed, own[rows], probes, left_out, marks_left)


def _between(calls: LogCalls, marks: ExecutedMarks, marked: MarkedCalls) -> _Between:
    entered, returned = marked
    known = entered != UNKNOWN
    made = [np.zeros(len(known), np.int64) for _ in range(3)]
    for part, sums in zip(made, (marks.kernel, marks.probe, marks.executed), strict=True):
        part[known] = sums[returned[known]] - sums[entered[known]]
    kernel, probes, executed = made
    idle = np.where(known, calls.exit_ns - calls.entry_ns - executed, 0)
    return _Between(known, kernel, probes, idle)


def _own(calls: LogCalls, between: _Between) -> Int64s:
    """Return how many instructions the kernel executed in each call outside its inner calls.

    The number is UNKNOWN if records were lost during the call, or if an inner call has no marks.
    """
    around = surrounding_calls(calls)
    inner = np.flatnonzero(around.row != UNKNOWN)
    outer = around.row[inner]

    def outside(values: Int64s) -> Int64s:
        left = values.copy()
        np.subtract.at(left, outer, values[inner])
        return left

    own, idle = outside(between.kernel), outside(between.idle)
    off = outside(np.where(calls.context == 0, np.maximum(calls.off_ns, 0), 0))
    is_right = between.known & (calls.self_ns != UNKNOWN) & ~around.unclear
    is_right &= (off <= 0) & (idle <= MOST_DELAY)
    is_right[outer[~between.known[inner]]] = False
    return np.where(is_right, own, UNKNOWN)
