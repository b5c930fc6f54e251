# SPDX-License-Identifier: MIT
"""Finds where the records of a file begin, when each tells only how long it is.

Many places of the file are guessed to be a beginning and all are walked from at once.  A walk
counts only if the one before it ends exactly where it began; where it does not, records are walked
one by one until they meet one that was visited.  So the result is that of a plain walk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .wire import Ints, Mask

LANES = 1024
WORTHWHILE = 1 << 20  # bytes below which a plain walk is as fast
WINDOW = 1 << 9  # bytes searched for a beginning at first
WIDEST_WINDOW = 1 << 17

Length = Callable[[Ints], Ints]  # of the record at each place; 0 where none can be
Likely = Callable[[Ints], Mask]  # whether a record seems to begin at each place


class Walk(NamedTuple):
    """Where records begin, and where the walk ended: at a place without a record, or `end`."""

    offsets: Ints
    at: int


class _Lanes(NamedTuple):
    """The records visited: lanes and places of each step; each lane made so many steps."""

    start: Ints
    visited: list[tuple[Ints, Ints]]
    steps: Ints
    stopped: Ints  # where each lane ended

    def chained(self) -> Ints:
        """The places of all lanes, one lane behind the other."""
        before = np.cumsum(self.steps) - self.steps
        made = np.empty(int(self.steps.sum()), np.int64)
        for step, (lane, place) in enumerate(self.visited):
            made[before[lane] + step] = place
        return made

    def matrix(self) -> Ints:
        """The places as (step, lane); what lies behind a lane's steps means nothing."""
        made = np.zeros((len(self.visited), len(self.start)), np.int64)
        for step, (lane, place) in enumerate(self.visited):
            made[step, lane] = place
        return made


def walk(begin: int, end: int, length: Length, likely: Likely, lanes: int = LANES) -> Walk:
    """Walk the records from byte `begin` up to `end`."""
    starts = _starts(begin, end, likely, lanes)
    return _joined(_run(starts, end, length), end, length)


def _starts(begin: int, end: int, likely: Likely, lanes: int) -> Ints:
    """`begin`, and about one likely beginning in each of so many equal parts."""
    parts = np.linspace(begin, end, lanes + 1, dtype=np.int64)[1:-1]
    found = [np.array([begin])]
    window = WINDOW
    while len(parts) and window <= WIDEST_WINDOW:
        missing = []
        for some in np.array_split(parts, max(1, len(parts) * window >> 20)):
            places = some[:, None] + np.arange(window)
            good = likely(np.minimum(places, end - 1).reshape(-1)).reshape(places.shape)
            has = good.any(axis=1)
            found.append(some[has] + good[has].argmax(axis=1))
            missing.append(some[~has])
        parts = np.concatenate(missing)
        window *= 8
    starts = np.unique(np.concatenate(found))
    return starts[starts < end]


def _run(starts: Ints, end: int, length: Length) -> _Lanes:
    """Step all lanes until each has reached the next one's start."""
    goals = np.r_[starts[1:], end]
    count = np.zeros(len(starts), np.int64)
    stopped = starts.copy()
    active = np.arange(len(starts))
    at, goal = starts, goals
    steps: list[tuple[Ints, Ints]] = []
    while len(active):
        size = length(at)
        good = size > 0
        if not good.all():
            stopped[active[~good]] = at[~good]
            active, at, size, goal = active[good], at[good], size[good], goal[good]
        steps.append((active, at))
        count[active] += 1
        at = at + size
        on = at < goal
        if not on.all():
            stopped[active[~on]] = at[~on]
            active, at, goal = active[on], at[on], goal[on]
    return _Lanes(starts, steps, count, stopped)


def _joined(lanes: _Lanes, end: int, length: Length) -> Walk:
    """The one chain from the first start; lanes that it does not pass through are left out."""
    if np.array_equal(lanes.stopped, [*lanes.start[1:], end]):  # each met the next
        return Walk(lanes.chained(), end)
    offsets = lanes.matrix()
    parts: list[Ints] = []
    lane, first = 0, 0  # the chain goes through this lane from its record number `first` on
    while True:
        parts.append(offsets[first : lanes.steps[lane], lane])
        at = int(lanes.stopped[lane])
        singles: list[int] = []
        while True:
            if at >= end:
                parts.append(np.array(singles, np.int64))
                return Walk(np.concatenate(parts), at)
            lane = int(np.searchsorted(lanes.start, at, "right")) - 1
            visited = offsets[: lanes.steps[lane], lane]
            first = int(np.searchsorted(visited, at))
            if first < len(visited) and visited[first] == at:
                break
            size = int(length(np.array([at]))[0])
            if not size:
                parts.append(np.array(singles, np.int64))
                return Walk(np.concatenate(parts), at)
            singles.append(at)
            at += size
        parts.append(np.array(singles, np.int64))
