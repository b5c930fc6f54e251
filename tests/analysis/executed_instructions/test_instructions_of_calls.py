# SPDX-License-Identifier: MIT
"""Instructions of calls by a simulated CPU, and what happens if log and marks differ."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.analysis.executed_instructions import LogCalls, Steps, executed_steps

from .simulated_run import Call, Run, log_of, marks_of

SLEPT = 500  # ns: a longer pause means that another thread may have run


def check(calls: list[Call], steps: Steps) -> int:
    """Compare the steps of `calls`; returns how many have some."""
    entry = np.array([call.entry_ns for call in calls], np.int64)
    rows = zip(calls, *(column.tolist() for column in steps.of(entry)), strict=True)
    known = 0
    for call, executed, own, probes in rows:
        known += executed >= 0
        assert executed in (call.executed, -1) and probes in (call.probes, -1)
        assert own in (call.own, -1)
        assert (executed < 0) == (probes < 0)
    return known


@pytest.mark.parametrize("seed", range(5))
def test_all_calls_have_their_instructions(seed: int) -> None:
    run = Run(seed).outermost(400)
    steps = executed_steps(log_of(run.calls), [], marks_of(run.marks))
    assert (steps.left_out, steps.marks_left) == (0, 0)
    assert len(steps.entry_ns) == len(run.calls) > 1000
    awake = sum(call.idle_ns <= SLEPT for call in run.calls)
    assert check(run.calls, steps) == awake < len(run.calls)
    assert int(np.count_nonzero(steps.own >= 0)) > awake  # known around a sleeping callee


@pytest.mark.parametrize("seed", range(5))
def test_a_cpu_that_is_never_idle_leaves_nothing_open(seed: int) -> None:
    run = Run(seed, idle=0).outermost(400)
    steps = executed_steps(log_of(run.calls), [], marks_of(run.marks))
    assert check(run.calls, steps) == len(run.calls)
    assert (steps.own >= 0).all() and (steps.left_out, steps.marks_left) == (0, 0)


@pytest.mark.parametrize("seed", range(5))
def test_a_count_of_a_part_of_the_run(seed: int) -> None:
    run = Run(seed).outermost(300)
    first, after = len(run.marks) // 3, 2 * len(run.marks) // 3
    marks = run.marks[first:after]
    steps = executed_steps(log_of(run.calls), [], marks_of(marks))
    exits = sum(is_exit for is_exit, *_ in run.marks[:first]), sum(mark[0] for mark in marks)
    whole = run.calls[exits[0] : exits[0] + exits[1]]
    assert steps.marks_left == 0 and 0 < steps.left_out < 10  # they began before the count
    assert len(steps.entry_ns) == len(whole) - steps.left_out
    check(whole, steps)


@pytest.mark.parametrize("seed", range(5))
def test_a_log_of_a_part_of_the_count(seed: int) -> None:
    run = Run(seed).outermost(300)
    part = run.calls[run.ends[50] : run.ends[150]]
    steps = executed_steps(log_of(part), [], marks_of(run.marks))
    assert steps.left_out == 0
    assert steps.marks_left == len(run.calls) - len(part)
    assert check(part, steps) > 400
    assert [part.tolist() for part in steps.of(np.array([run.calls[0].entry_ns]))] == 3 * [[-1]]


@pytest.mark.parametrize("seed", range(5))
def test_calls_around_a_loss_are_joined(seed: int) -> None:
    run = Run(seed, idle=0).outermost(300)
    begin, end = run.ends[50], run.ends[60]
    lost, calls = run.calls[begin:end], run.calls[:begin] + run.calls[end:]
    losses = [(lost[0].exit_ns, lost[-1].exit_ns)]
    steps = executed_steps(log_of(calls), losses, marks_of(run.marks))
    assert steps.marks_left == len(lost) and steps.left_out == 0
    assert check(calls, steps) == len(calls)


@pytest.mark.parametrize("seed", range(5))
def test_marks_of_calls_that_are_not_in_the_log(seed: int) -> None:
    """As of functions that are probed for events only."""
    run = Run(seed, idle=0.002, silent=0.02).outermost(400)
    steps = executed_steps(log_of(run.calls), [], marks_of(run.marks))
    exits = sum(is_exit for is_exit, *_ in run.marks)
    assert exits - len(run.calls) > 20
    assert steps.left_out == 0 and steps.marks_left == exits - len(run.calls)
    assert check(run.calls, steps) > 0.9 * len(run.calls)


def test_a_part_of_a_run_that_repeats_itself_is_not_joined() -> None:
    """Where the part belongs cannot be known: all rounds are alike."""
    zeros = np.zeros(900, np.int64)
    exit_ns = np.cumsum(np.tile([1000, 300, 700], 300))
    log = LogCalls(exit_ns - 50, exit_ns, zeros, zeros, zeros, zeros, zeros)
    marks = [(True, int(at), int(at), 0, 0) for at in exit_ns[300:600]]
    assert not len(executed_steps(log, [], marks_of(marks)).entry_ns)


@pytest.mark.parametrize("seed", range(5))
def test_a_log_of_another_run_is_not_joined(seed: int) -> None:
    log = log_of(Run(seed).outermost(200).calls)
    steps = executed_steps(log, [], marks_of(Run(seed + 100).outermost(200).marks))
    assert not len(steps.entry_ns)


def test_a_clock_that_does_not_count_instructions_is_not_joined() -> None:
    run = Run(3).outermost(200)
    slower = [
        call._replace(entry_ns=call.entry_ns * 3, exit_ns=call.exit_ns * 3) for call in run.calls
    ]
    assert not len(executed_steps(log_of(slower), [], marks_of(run.marks)).entry_ns)


def test_few_calls_are_not_joined() -> None:
    run = Run(3).outermost(200)
    assert not len(executed_steps(log_of(run.calls[50:59]), [], marks_of(run.marks)).entry_ns)
    assert not len(executed_steps(log_of([]), [], marks_of(run.marks)).entry_ns)
    assert not len(executed_steps(log_of(run.calls), [], marks_of(run.marks[:1])).entry_ns)


def test_a_call_around_one_without_a_mark_has_no_own_steps() -> None:
    run = Run(4, idle=0).outermost(200)
    at = next(i for i, mark in enumerate(run.marks) if i > 300 and not mark[0])
    hidden = [*run.marks[:at], *run.marks[at + 1 :]]
    steps = executed_steps(log_of(run.calls), [], marks_of(hidden))
    assert steps.left_out == 1 and check(run.calls, steps) == len(run.calls) - 1
    assert int(np.count_nonzero(steps.own < 0)) <= 1
