# SPDX-License-Identifier: MIT
"""Find the mark that belongs to the entry of each call, once the marks of returns are known.

Between two returns, the entries of calls and the marks of entries have the same order.  If there
are as many entries as marks between two returns, entries and marks are joined in their order.  If
the numbers of entries and marks differ, some calls are missing in the log, or began before the
count.  In this case, entries and marks are joined by their times.  The marks of returns show how
far the clock was ahead of the instructions, and two marks of the same function are hundreds of
instructions apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...readers.kernel_image.emulator_marks import ExecutedMarks
from ...records.types import Bools, Int64s
from .kernel_log_calls import UNKNOWN, LogCalls

READ_CLOCK = 150  # instructions by which entry and return may differ in how late the clock is read
BEHIND_CALL = (5, 9)  # the call of ftrace is at a function's start, or behind an ENDBR


class _Entries(NamedTuple):
    """Entries of calls, in order of time: the call, and the number of joined returns before it."""

    call: Int64s
    returns: Int64s


class _Marks(NamedTuple):
    """Marks of entries, in order: the row of each, and the number of joined returns before it."""

    row: Int64s
    returns: Int64s


def entry_marks(calls: LogCalls, returned: Int64s, marks: ExecutedMarks) -> Int64s:
    """Return for each call the index in `marks` of its entry's mark; UNKNOWN if there is none.

    `returned` is the row of the mark of each call's return, or UNKNOWN.  A call whose return has no
    mark gets no mark for its entry.
    """
    found = np.full(len(returned), UNKNOWN, np.int64)
    joined = np.flatnonzero(returned != UNKNOWN)
    if not len(joined):
        return found
    entries, made = _entries(calls, joined), _marks(marks, calls, returned[joined])
    _join_by_order(calls, marks, entries, made, found)
    found[returned == UNKNOWN] = UNKNOWN
    ahead = calls.exit_ns[joined] - marks.executed[returned[joined]]
    left = (found[entries.call] == UNKNOWN) & (returned[entries.call] != UNKNOWN)
    wanted = _Entries(entries.call[left], entries.returns[left])
    free = np.isin(made.row, found, invert=True)
    _join_by_time(calls, marks, wanted, _Marks(made.row[free], made.returns[free]), ahead, found)
    return found


def _entries(calls: LogCalls, joined: Int64s) -> _Entries:
    call = np.flatnonzero(calls.entry_ns != UNKNOWN)
    call = call[np.argsort(calls.entry_ns[call], kind="stable")]
    exit_ns = calls.exit_ns[joined]
    return _Entries(call, np.searchsorted(exit_ns, calls.entry_ns[call], side="right"))


def _marks(marks: ExecutedMarks, calls: LogCalls, returned: Int64s) -> _Marks:
    """Return the marks of entries into functions that have calls in the log."""
    functions = np.unique(calls.function[calls.entry_ns != UNKNOWN])
    known = [np.isin(marks.place - behind, functions) for behind in BEHIND_CALL]
    row = np.flatnonzero(~marks.is_exit & np.logical_or(*known))
    return _Marks(row, np.searchsorted(returned, row))


def _join_by_order(
    calls: LogCalls, marks: ExecutedMarks, entries: _Entries, made: _Marks, found: Int64s
) -> None:
    """Join entries with marks between two returns if there are as many entries as marks.

    Each entry and its mark must be of the same function, otherwise none of them is joined.
    """
    size = 1 + max(entries.returns.max(initial=0), made.returns.max(initial=0))
    numbers = [np.bincount(part.returns, minlength=size) for part in (entries, made)]
    same = numbers[0] == numbers[1]
    same[0] = False  # calls before the first return may have begun before the count
    call, returns = (part[same[entries.returns]] for part in entries)
    row = made.row[same[made.returns]]
    right = _is_of(calls, marks, call, row)
    right &= ~np.isin(returns, returns[~right])
    found[call[right]] = row[right]


def _is_of(calls: LogCalls, marks: ExecutedMarks, call: Int64s, row: Int64s) -> Bools:
    """Return for each pair whether the mark `row` is at the entry of the function of `call`."""
    return np.asarray(np.isin(marks.place[row] - calls.function[call], BEHIND_CALL))


def _join_by_time(
    calls: LogCalls, marks: ExecutedMarks, entries: _Entries, free: _Marks, ahead: Int64s,
    found: Int64s,
) -> None:  # fmt: skip
    """Join an entry with the mark at the expected time, or else with its function's only mark.

    `ahead` is how far (ns) the clock was ahead of the instructions at each joined return.
    """
    after = np.minimum(entries.returns, len(ahead) - 1)  # if the CPU was idle before the entry
    before = np.maximum(entries.returns - 1, 0)  # if it was idle behind it
    expected = [calls.entry_ns[entries.call] - ahead[at] for at in (after, before)]
    taken = list[tuple[int, int]]()
    for at, call in enumerate(entries.call.tolist()):
        begin, end = np.searchsorted(free.returns, [entries.returns[at], entries.returns[at] + 1])
        rows = free.row[begin:end]
        rows = rows[_is_of(calls, marks, np.full(len(rows), call), rows)]
        executed = marks.executed[rows]
        near = np.zeros(len(rows), np.bool_)
        for part in expected:
            near |= np.abs(executed - part[at]) <= READ_CLOCK
        inside = (executed >= expected[0][at] - READ_CLOCK) & (
            executed <= expected[1][at] + READ_CLOCK
        )
        chosen = rows[near] if near.any() else rows[inside]
        if len(chosen) == 1:
            taken.append((call, int(chosen[0])))
    rows, counts = np.unique([row for _, row in taken], return_counts=True)
    shared = set(rows[counts > 1].tolist())
    for call, row in taken:
        if row not in shared:
            found[call] = row
