# SPDX-License-Identifier: MIT
"""Which calls are directly inside which, compared with a walk over entries and returns."""

from __future__ import annotations

import random

import numpy as np

from skbviewer.analysis.executed_instructions import LogCalls
from skbviewer.analysis.executed_instructions.surrounding_calls import surrounding_calls

Row = tuple[int, int, int, int]  # entry, exit, context, thread


def log_of(rows: list[Row]) -> LogCalls:
    rows = sorted(rows, key=lambda row: row[1])
    entry, leave, context, thread = np.array(rows, np.int64).T
    zeros = np.zeros(len(rows), np.int64)
    return LogCalls(entry, leave, zeros, context, thread, zeros, zeros)


def around(rows: list[Row]) -> list[tuple[Row, Row | None, bool]]:
    """Return each call with the call around it, and whether it is unclear."""
    log = log_of(rows)
    found = surrounding_calls(log)
    made = [*zip(*(part.tolist() for part in (log.entry_ns, log.exit_ns, log.context, log.thread)),
                 strict=True)]  # fmt: skip
    return [
        (row, None if at < 0 else made[at], bool(unclear))
        for row, at, unclear in zip(made, found.row.tolist(), found.unclear.tolist(), strict=True)
    ]


def test_nested_calls_of_interrupts_on_one_thread() -> None:
    """A stack of the calls that are open says what is inside what."""
    of = random.Random(5)
    rows: list[Row] = []
    stack, parents = list[tuple[int, int]](), dict[int, int | None]()
    for now in range(1, 4001):
        context = stack[-1][1] if stack else 0
        if stack and (len(stack) > 8 or of.random() < 0.5):
            entry, context = stack.pop()
            rows.append((entry, now, context, 77 if context == 0 else -context))
        else:
            context = min(3, context + (of.random() < 0.2))
            parents[now] = stack[-1][0] if stack else None
            stack.append((now, context))
    for row, parent, unclear in around(rows):
        wanted = parents[row[0]]
        is_open = wanted is not None and wanted in {entry for entry, _ in stack}
        assert is_open or (parent[0] if parent else None) == wanted
        assert not unclear


def test_an_interrupt_of_one_of_two_threads_is_unclear() -> None:
    sleeping, running = (10, 90, 0, 1), (30, 80, 0, 2)
    before, interrupt, inside = (12, 20, 0, 1), (40, 50, 1, -1), (42, 48, 1, -1)
    rows = around([sleeping, running, before, interrupt, inside])
    found = {row: (parent, unclear) for row, parent, unclear in rows}
    assert found[before] == (sleeping, False)
    assert found[interrupt] == (None, False) and found[inside] == (interrupt, False)
    assert found[sleeping] == (None, True) and found[running] == (None, True)


def test_an_interrupt_of_an_interrupt_is_inside_that() -> None:
    task, softirq, hardirq = (10, 90, 0, 1), (20, 60, 1, -1), (30, 40, 2, -2)
    other = (5, 95, 0, 2)
    found = {row: parent for row, parent, _ in around([task, softirq, hardirq, other])}
    assert found[hardirq] == softirq


def test_returns_without_an_entry_are_in_no_call() -> None:
    rows = around([(10, 90, 0, 1), (-1, 50, 0, 1), (20, 40, 0, 1)])
    assert [(row[0], parent and parent[0]) for row, parent, _ in rows] == [
        (20, 10), (-1, None), (10, None)
    ]  # fmt: skip
