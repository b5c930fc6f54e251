# SPDX-License-Identifier: MIT
"""A CPU that executes calls, instruction by instruction: the log and the marks that it leaves."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

import numpy as np

from skbviewer.analysis.executed_instructions import LogCalls
from skbviewer.readers.kernel_image.emulator_marks import ExecutedMarks

BEGIN, SIZE = -(1 << 40), 4096  # of the first function; of each function
FUNCTIONS, ENTER, LEAVE = 6, 290, 310  # instructions of a probe at an entry and a return
CLOCK = (60, 45)  # of them, before the clock is read
DEEPEST = 5


class Call(NamedTuple):
    """A call as it ran: what the log says of it, and its true instructions."""

    function: int
    entry_ns: int
    exit_ns: int
    executed: int
    own: int
    probes: int
    idle_ns: int


class Run:
    """Executes random calls; `idle` is the share of pauses before a call, `seed` decides all.

    A share of calls, `silent`, has marks, but is not in the log.
    """

    def __init__(self, seed: int, idle: float = 0.02, silent: float = 0) -> None:
        self._random, self._idle, self._silent = random.Random(seed), idle, silent
        self._ahead = 1_000_000  # the clock's lead over the instructions
        self._kernel = self._probe = self._user = self.idle_ns = 0
        self.marks: list[tuple[bool, int, int, int, int]] = []
        self.calls: list[Call] = []  # in the order of their returns
        self.ends: list[int] = []  # the number of calls after each outermost one

    def outermost(self, number: int) -> Run:
        """Execute `number` calls with the calls inside them; returns itself."""
        for _ in range(number):
            self._user += self._random.randrange(5000)
            self._call(0)
            self.ends.append(len(self.calls))
        return self

    def _pause(self) -> None:
        if self._random.random() < self._idle:
            paused = self._random.randrange(1_000, 5_000_000)
            self.idle_ns += paused
            self._ahead += paused

    def _handler(self, place: int, is_exit: bool) -> int:
        """Execute a handler; returns the time that it reads."""
        executed = self._kernel + self._probe + self._user
        self.marks.append((is_exit, executed, self._kernel, self._probe, place))
        read = CLOCK[is_exit] + self._random.randrange(3)
        self._probe += LEAVE if is_exit else ENTER
        return executed + read + self._ahead

    def _call(self, depth: int) -> int:
        """Execute a call; returns the instructions of the outermost logged calls in it."""
        function = BEGIN + SIZE * self._random.randrange(FUNCTIONS)
        self._kernel += 2  # until the call of ftrace
        kernel, probe, idle = self._kernel, self._probe, self.idle_ns
        entry = self._handler(function + self._random.choice((5, 9)), False)
        inner = 0
        for _ in range(self._random.randrange(4) if depth < DEEPEST else 0):
            self._kernel += self._random.randrange(1, 400)
            self._pause()
            inner += self._call(depth + 1)
        self._kernel += self._random.randrange(1, 900)
        executed, probes = self._kernel - kernel, self._probe - probe
        leave = self._handler(0, True)
        paused = self.idle_ns - idle
        if self._random.random() < self._silent:
            return inner
        self.calls.append(Call(function, entry, leave, executed, executed - inner, probes, paused))
        return executed


def log_of(calls: list[Call]) -> LogCalls:
    """Return the log of these calls, all of one thread."""
    zeros = np.zeros(len(calls), np.int64)
    entry, leave, function = (np.array([call[at] for call in calls], np.int64) for at in (1, 2, 0))
    return LogCalls(entry, leave, function, zeros, zeros, zeros, zeros)


def marks_of(marks: list[tuple[bool, int, int, int, int]]) -> ExecutedMarks:
    """Return these marks as they are read from a file."""
    columns = np.array(marks, np.int64).reshape(-1, 5).T
    is_exit, executed, kernel, probe, place = columns
    return ExecutedMarks(
        Path("counts.1"), is_exit == 1, executed, kernel, probe, place, 0, np.arange(len(marks))
    )
