# SPDX-License-Identifier: MIT
"""Accesses between marks, joined with calls: invented calls whose accesses are known by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from skbviewer.analysis.executed_instructions import LogCalls, TouchedLines, touched_lines
from skbviewer.analysis.executed_instructions.kernel_log_calls import UNKNOWN
from skbviewer.analysis.executed_instructions.marks_of_calls import MarkedCalls
from skbviewer.readers.kernel_image.emulator_cache_lines import ExecutedTouches
from skbviewer.readers.kernel_image.emulator_marks import ExecutedMarks

F, G = -8000, -4000  # addresses of functions
TASK, SOFTIRQ = 0, 1

Call = tuple[int, int, int, int, int]  # function, mark of entry, mark of return, context, thread
Touch = tuple[int, int, int, int, int]  # marks before, function, line, loads, stores


def lines_of(calls: list[Call], touches: list[Touch], more: int = UNKNOWN) -> TouchedLines:
    """Return the accesses of calls, whose times of entry are 100 + the mark of their entry.

    `more` is the mark of an entry into F that is of none of them.
    """
    function, entered, returned, context, thread = np.array(calls, np.int64).T
    zeros = np.zeros(len(calls), np.int64)
    entry_ns = np.where(entered == UNKNOWN, 1, 100 + entered)
    log = LogCalls(entry_ns, 100 + returned, function, context, thread, zeros, zeros)
    sums = np.arange(int(returned.max()) + 1, dtype=np.int64)
    is_exit, place = np.ones(len(sums), np.bool_), np.zeros(len(sums), np.int64)
    entries = [(at, mark) for at, mark in zip(function, entered, strict=True) if mark != UNKNOWN]
    for at, mark in [*entries, (F, more)] if more != UNKNOWN else entries:
        is_exit[mark], place[mark] = False, at + 5
    marks = ExecutedMarks(Path(), is_exit, sums, sums, sums, place, 0, sums)
    made, of, line, loads, stores = np.array(touches, np.int64).T
    rows = ExecutedTouches(Path(), made, of, line, loads, stores, 0)
    return touched_lines(log, marks, MarkedCalls(entered, returned), rows)


def of_call(lines: TouchedLines, mark: int) -> list[tuple[int, int, int]] | None:
    """Return line, loads and stores of the call with this mark of its entry; None: unknown."""
    (at,) = lines.calls_of(np.array([100 + mark], np.int64)).tolist()
    if at == UNKNOWN:
        return None
    rows = slice(int(lines.first[at]), int(lines.first[at + 1]))
    columns = (part[rows].tolist() for part in (lines.line, lines.loads, lines.stores))
    return [*zip(*columns, strict=True)]


def test_accesses_are_those_between_entry_and_return() -> None:
    calls = [(F, 1, 4, TASK, 7), (G, 2, 3, TASK, 7), (F, 5, 6, TASK, 7)]
    touches = [(1, F, 64, 9, 9), (2, F, 64, 1, 0), (3, G, 64, 0, 5), (4, F, 64, 2, 1),
               (4, F, 0, 0, 1), (5, F, 0, 8, 0), (6, F, 128, 1, 1)]  # fmt: skip
    lines = lines_of(calls, touches)
    assert of_call(lines, 1) == [(0, 0, 1), (64, 3, 1)]
    assert of_call(lines, 2) == [(64, 0, 5)]
    assert of_call(lines, 5) == [(128, 1, 1)]
    assert lines.left_out == 18 + 8  # before the first call and between two


def test_a_function_that_calls_itself_or_is_interrupted_by_itself() -> None:
    for context, thread in ((TASK, 7), (SOFTIRQ, -9)):
        calls = [(F, 0, 3, TASK, 7), (F, 1, 2, context, thread)]
        lines = lines_of(calls, [(1, F, 0, 1, 0), (2, F, 0, 10, 0), (3, F, 0, 100, 0)])
        assert of_call(lines, 0) == [(0, 101, 0)] and of_call(lines, 1) == [(0, 10, 0)]
        assert lines.left_out == 0


def test_two_threads_in_a_function_have_unknown_accesses() -> None:
    calls = [(F, 0, 3, TASK, 7), (F, 1, 4, TASK, 8), (F, 5, 6, TASK, 8)]
    touches = [(1, F, 0, 1, 0), (2, F, 0, 10, 0), (4, F, 0, 100, 0), (6, F, 0, 3, 0)]
    lines = lines_of(calls, touches)
    assert of_call(lines, 0) is None and of_call(lines, 1) is None
    assert of_call(lines, 5) == [(0, 3, 0)]
    assert lines.left_out == 111


def test_two_threads_without_an_access_while_both_are_in_the_function() -> None:
    calls = [(F, 0, 3, TASK, 7), (F, 1, 2, TASK, 8)]
    lines = lines_of(calls, [(1, F, 0, 1, 0), (3, F, 0, 100, 0)])
    assert of_call(lines, 0) == [(0, 101, 0)] and of_call(lines, 1) == []


def test_a_call_that_began_before_the_count_may_have_the_accesses() -> None:
    calls = [(F, UNKNOWN, 4, TASK, 7), (F, 1, 2, TASK, 8), (F, 5, 6, TASK, 8)]
    touches = [(0, F, 0, 1, 0), (2, F, 0, 10, 0), (6, F, 0, 100, 0)]
    lines = lines_of(calls, touches)
    assert of_call(lines, 1) is None
    assert of_call(lines, 5) == [(0, 100, 0)]
    assert lines.left_out == 11


def test_a_mark_whose_call_is_not_in_the_log_makes_later_calls_of_tasks_unknown() -> None:
    calls = [(F, 0, 1, TASK, 7), (F, 3, 4, TASK, 7), (F, 5, 6, SOFTIRQ, -9)]
    touches = [(1, F, 0, 1, 0), (4, F, 0, 10, 0), (6, F, 0, 100, 0)]
    assert of_call(lines_of(calls, touches), 3) == [(0, 10, 0)]
    lines = lines_of(calls, touches, more=2)
    assert of_call(lines, 0) == [(0, 1, 0)] and of_call(lines, 5) == [(0, 100, 0)]
    assert of_call(lines, 3) is None and lines.left_out == 10


def test_a_function_without_accesses_is_known_if_it_was_chosen() -> None:
    calls = [(F, 0, 1, TASK, 7), (G, 2, 3, TASK, 7)]
    lines = lines_of(calls, [(0, F, 0, 0, 0)])
    assert of_call(lines, 0) == [] and of_call(lines, 2) is None
