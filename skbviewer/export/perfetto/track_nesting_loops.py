# SPDX-License-Identifier: MIT
"""Divide slices into levels on which they nest, and order the slices' starts and ends."""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, compiled
from ...records.types import LATEST_NS, Int64s

BEGIN, END, INSTANT = range(3)
DEEPEST = 1024  # slices inside each other on one track; deeper ones get another track


@compiled
def assign(track: Int64s, begin: Int64s, end: Int64s, level: Int64s) -> np.int64:
    """Write each slice's level into `level`; return how many levels a track needs at most.

    Slices are sorted by track, then by begin, then by end, the latest end first. A slice gets the
    first level on which it lies inside all slices that are open at its begin.
    """
    count, most, open_ends = len(track), np.int64(0), np.empty(DEEPEST, np.int64)
    left, here = count, np.int64(0)
    level[:] = -1
    while left > 0:
        depth, last = np.int64(0), np.int64(-1)
        for i in range(count):
            if level[i] >= 0:
                continue
            if track[i] != last:
                depth, last = np.int64(0), track[i]
            while depth > 0 and open_ends[depth - 1] <= begin[i]:
                depth -= 1
            if depth == DEEPEST or (depth > 0 and open_ends[depth - 1] < end[i]):
                continue
            open_ends[depth] = end[i]
            depth += 1
            level[i] = here
            left -= 1
        here += 1
        most = here
    return np.int64(most)


@compiled
def _ends_until(
    time: Int, stack: Int64s, depth: Int, end: Int64s, at: Int, kind: Int64s, row: Int64s,
    when: Int64s,
) -> tuple[np.int64, np.int64]:  # fmt: skip
    """Write the ends of slices up to `time`; return how many slices are open, and the new `at`."""
    left, place = np.int64(depth), np.int64(at)
    while left > 0 and end[stack[left - 1]] <= time:
        left -= 1
        kind[place], row[place], when[place] = END, stack[left], end[stack[left]]
        place += 1
    return left, place


@compiled
def events(
    track: Int64s, begin: Int64s, end: Int64s, kind: Int64s, row: Int64s, when: Int64s
) -> None:
    """Write the starts and ends of all slices, one track after the other, in order of time.

    Slices nest, and are sorted by track, then by begin, then by end, the latest end first.  The
    loop fills `kind`, `row` and `when`, which have two elements for each slice.
    """
    stack, depth, at, last = np.empty(DEEPEST, np.int64), np.int64(0), np.int64(0), np.int64(-1)
    never = np.int64(LATEST_NS)
    for i in range(len(track)):
        until = begin[i]
        if track[i] != last:
            until, last = never, track[i]
        depth, at = _ends_until(until, stack, depth, end, at, kind, row, when)
        kind[at], row[at], when[at] = BEGIN, np.int64(i), begin[i]
        at += 1
        stack[depth] = i
        depth += 1
    _ends_until(never, stack, depth, end, at, kind, row, when)
