# SPDX-License-Identifier: MIT
"""Find the mark of each return of a kernel log.

The emulator's clock advances one ns per instruction, except while its CPU is idle.  So returns and
their marks, which have the same order, are as far apart in ns as in instructions, as a rule.
Between two losses of records, no return is missing, so one shift joins all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ...records.types import Int64s
from .log_calls import UNKNOWN

MOST_DELAY = 500  # instructions from a mark to the reading of the clock: at most 270 were seen
ALIKE = 4  # ns by which two distances between the same two moments differ, as a rule
SAMPLES = 1000  # distances that are looked for
MOST_VOTES = 1 << 21  # places where they are found; common distances are left out first
LEAST_CALLS = 10  # fewer returns between two losses are not joined
MOSTLY = 0.8  # the least share of distances that must be alike


def exit_marks(exit_ns: Int64s, executed: Int64s, losses: Sequence[tuple[int, int]]) -> Int64s:
    """Return for each return the index of its mark; UNKNOWN if it has none.

    `exit_ns` are the times of returns, rising; `executed` are the instructions until each mark of a
    return, rising; `losses` are the times (begin, end) in which records were lost.
    """
    found = np.full(len(exit_ns), UNKNOWN, np.int64)
    edges = np.unique(np.array([*losses], np.int64).ravel())
    cuts = [0, *np.searchsorted(exit_ns, edges, side="right").tolist(), len(exit_ns)]
    mark, ahead = 0, None  # the first mark that is left; how far the clock was ahead of it
    for begin, end in pairwise(cuts):
        times, left = exit_ns[begin:end], executed[mark:]
        first = _first_record(times, left)
        if first is None:
            continue
        some = slice(max(first, 0), min(first + len(left), len(times)))
        marks = np.arange(some.start, some.stop) - first
        now = times[some] - left[marks]
        if ahead is not None and now[0] < ahead - MOST_DELAY:
            continue
        found[begin + some.start : begin + some.stop] = mark + marks
        mark, ahead = mark + int(marks[-1]) + 1, int(now[-1])
    return found


def _first_record(times: Int64s, marks: Int64s) -> int | None:
    """Return which of `times` belongs to the first mark, perhaps one before the first time.

    None if times and marks do not correspond.
    """
    between, apart = np.diff(times), np.diff(marks)
    shifts = _votes(between, apart) if len(apart) < len(between) else -_votes(apart, between)
    if not len(shifts):
        return None
    values, votes = np.unique(shifts, return_counts=True)
    first = int(values[np.argmax(votes)])
    begin, end = max(first, 0), min(first + len(marks), len(times))
    if end - begin < LEAST_CALLS:
        return None
    idle = between[begin : end - 1] - apart[begin - first : end - 1 - first]
    is_right = np.mean(np.abs(idle) <= ALIKE) >= MOSTLY and int(idle.min()) >= -MOST_DELAY
    return first if is_right else None


def _votes(long: Int64s, short: Int64s) -> Int64s:
    """Return the shifts by which distances in `short` are like distances in `long`."""
    order = np.argsort(long, kind="stable")
    samples = np.unique(np.linspace(0, max(len(short) - 1, 0), SAMPLES).astype(np.int64))
    samples = samples[: len(short)]
    first = np.searchsorted(long[order], short[samples] - ALIKE)
    after = np.searchsorted(long[order], short[samples] + ALIKE, side="right")
    rare = np.argsort(after - first, kind="stable")
    rare = rare[np.cumsum((after - first)[rare]) <= MOST_VOTES]
    found = [order[first[at] : after[at]] - samples[at] for at in rare.tolist()]
    return np.concatenate([np.zeros(0, np.int64), *found])
