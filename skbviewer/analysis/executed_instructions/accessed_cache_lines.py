# SPDX-License-Identifier: MIT
"""Which cache lines each call read and wrote: accesses between marks, joined with calls.

The emulator counted, between one mark and the next, the accesses by instructions of chosen
functions.  The accesses between two marks count for the call of the function that was open between
them.  If several calls of the function were open, accesses count for the last one, which
interrupted the others or was called by them.  If the last open call may have been switched out,
accesses count for no call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ...readers.kernel_image.emulator_cache_lines import ExecutedTouches
from ...readers.kernel_image.emulator_marks import ExecutedMarks
from ...records.types import Int64s
from .call_entry_marks import BEHIND_CALL
from .kernel_log_calls import UNKNOWN, LogCalls
from .marks_of_calls import MarkedCalls

TASK = 0  # context
NEVER = 1 << 62


class TouchedLines(NamedTuple):
    """The loads and stores of the calls of one log, by cache line.

    `entry_ns` are the entry times of calls whose accesses are known, rising.  The accesses of call
    `at` are the rows first[at] : first[at + 1] of `line` (signed address, rising within a call),
    `loads` and `stores`.  `left_out` is the number of accesses that do not count for any call.
    """

    entry_ns: Int64s
    first: Int64s
    line: Int64s
    loads: Int64s
    stores: Int64s
    left_out: int

    def calls_of(self, entry_ns: Int64s) -> Int64s:
        """Return the index of the call that began at each of `entry_ns`; UNKNOWN if none did."""
        if not len(self.entry_ns):
            return np.full(len(entry_ns), UNKNOWN, np.int64)
        at = np.minimum(np.searchsorted(self.entry_ns, entry_ns), len(self.entry_ns) - 1)
        return np.where(self.entry_ns[at] == entry_ns, at, UNKNOWN)


class _Span(NamedTuple):
    """The first and the last mark between which a call of one function was open.

    `call` is the row of the call.  `call` is UNKNOWN if the call is not in the log, or if its entry
    has no mark.
    """

    begin: int
    end: int
    call: int
    thread: int
    context: int


class _Piece(NamedTuple):
    """From mark `begin` on, accesses count for `call`; `unclear` are calls that it may be."""

    begin: int
    call: int
    unclear: tuple[int, ...]


def touched_lines(
    calls: LogCalls, marks: ExecutedMarks, marked: MarkedCalls, touches: ExecutedTouches
) -> TouchedLines:
    """Return the accesses of the calls of one log; `marked` are the marks of these calls."""
    owner = np.full(len(touches.made), UNKNOWN, np.int64)  # of each row
    known = np.zeros(len(calls.entry_ns), np.bool_)
    for function in np.unique(touches.function).tolist():
        rows = np.flatnonzero(touches.function == function)
        spans = [*_spans(calls, marks, marked, function)]
        pieces = [_Piece(0, UNKNOWN, ()), *_pieces(spans)]
        of = np.searchsorted([piece.begin for piece in pieces], touches.made[rows], "right") - 1
        owner[rows] = np.array([piece.call for piece in pieces], np.int64)[of]
        known[[span.call for span in spans if span.call != UNKNOWN]] = True
        unclear = {call for at in np.unique(of).tolist() for call in pieces[at].unclear}
        known[[*unclear]] = False
    owner[owner != UNKNOWN] = np.where(known, np.arange(len(known)), UNKNOWN)[
        owner[owner != UNKNOWN]
    ]
    return _sorted(calls.entry_ns, np.flatnonzero(known), owner, touches)


def _spans(
    calls: LogCalls, marks: ExecutedMarks, marked: MarkedCalls, function: int
) -> Iterator[_Span]:
    """Yield for each call of the function the marks between which it was open, in any order."""
    mine = (calls.function == function) & (marked.returned != UNKNOWN)
    for row in np.flatnonzero(mine).tolist():
        end, entered = int(marks.made[marked.returned[row]]), int(marked.entered[row])
        if entered == UNKNOWN:
            yield _Span(0, end, UNKNOWN, -NEVER - row, TASK)
        else:
            begin = int(marks.made[entered]) + 1
            yield _Span(begin, end, row, int(calls.thread[row]), int(calls.context[row]))
    entries = np.flatnonzero(~marks.is_exit & np.isin(marks.place - function, BEHIND_CALL))
    for row in np.setdiff1d(entries, marked.entered).tolist():
        yield _Span(int(marks.made[row]) + 1, NEVER, UNKNOWN, -2 * NEVER - row, TASK)


def _pieces(spans: Sequence[_Span]) -> Iterator[_Piece]:
    """Yield a piece for each mark at which the set of open calls changes."""
    changes = [(span.begin, True, span) for span in spans]
    changes += [(span.end + 1, False, span) for span in spans]
    changes.sort(key=lambda change: (change[0], change[1], change[2].begin, -change[2].end))
    opened = list[_Span]()
    for begin, some in groupby(changes, key=lambda change: change[0]):
        for _, opens, span in some:
            if opens:
                opened.append(span)
            else:
                opened.remove(span)
        yield _piece(begin, opened)


def _piece(begin: int, opened: Sequence[_Span]) -> _Piece:
    if not opened:
        return _Piece(begin, UNKNOWN, ())
    last = opened[-1]
    others = any(one.thread != last.thread and last.context <= one.context for one in opened)
    if last.call != UNKNOWN and not others:
        return _Piece(begin, last.call, ())
    return _Piece(begin, UNKNOWN, tuple(one.call for one in opened if one.call != UNKNOWN))


def _sorted(
    entry_ns: Int64s, calls: Int64s, owner: Int64s, touches: ExecutedTouches
) -> TouchedLines:
    """Return the accesses of `calls`, rows of `entry_ns`; `owner` is the call of each access."""
    calls = calls[np.argsort(entry_ns[calls], kind="stable")]
    place = np.full(len(entry_ns), UNKNOWN, np.int64)
    place[calls] = np.arange(len(calls))
    rows = np.flatnonzero((owner != UNKNOWN) & (touches.loads + touches.stores > 0))
    of, line = place[owner[rows]], touches.line[rows]
    order = np.lexsort((line, of))
    of, line, rows = of[order], line[order], rows[order]
    begins = np.ones(len(rows), np.bool_)
    begins[1:] = (np.diff(of) != 0) | (np.diff(line) != 0)
    starts = np.flatnonzero(begins)
    loads, stores = (
        np.add.reduceat(part[rows], starts) if len(starts) else np.zeros(0, np.int64)
        for part in (touches.loads, touches.stores)
    )
    first = np.searchsorted(of[starts], np.arange(len(calls) + 1))
    left = owner == UNKNOWN
    left_out = int(touches.loads[left].sum() + touches.stores[left].sum())
    return TouchedLines(entry_ns[calls], first, line[starts], loads, stores, left_out)
