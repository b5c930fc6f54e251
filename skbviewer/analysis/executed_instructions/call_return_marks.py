# SPDX-License-Identifier: MIT
"""Find the mark that belongs to each return in a kernel log.

The emulator's clock advances by 1 ns with each instruction, except while its CPU is idle.  Returns
and their marks have the same order.  Two returns are usually as many ns apart as their marks are
instructions apart.  Between two losses of records, no return is missing.  If each mark between two
losses has a return, a single shift joins all of these marks and returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ...records.types import Int64s
from .kernel_log_calls import UNKNOWN
from .return_mark_search import ADJUSTED, ALIKE, Pairs, pairs_by_search

MOST_DELAY = 500  # instructions from a mark to the reading of the clock: at most 270 were seen
SAMPLES = 1000  # distances that are looked for
IN_A_ROW = 3  # distances that must be alike to count
MOST_VOTES = 1 << 21  # places where they are found; common distances are left out first
MOST_SHIFTS = 16  # that are tried, those with most votes first
LEAST_CALLS = 10  # fewer returns between two losses are not joined
MOSTLY = 0.8  # the least share of distances that must be alike


def exit_marks(exit_ns: Int64s, executed: Int64s, losses: Sequence[tuple[int, int]]) -> Int64s:
    """Return for each return the index of its mark; UNKNOWN if it has none.

    `exit_ns` are the times of returns, in ascending order.  `executed` is, for each mark that the
    emulator wrote at a return, the number of instructions executed before; in ascending order.
    `losses` are the times (begin, end) in which records were lost.
    """
    found = np.full(len(exit_ns), UNKNOWN, np.int64)
    edges = np.unique(np.array([*losses], np.int64).ravel())
    cuts = [0, *np.searchsorted(exit_ns, edges, side="right").tolist(), len(exit_ns)]
    mark, ahead = 0, None  # the first mark that is left; how far the clock was ahead of it
    for begin, end in pairwise(cuts):
        times, left = exit_ns[begin:end], executed[mark:]
        pairs = _pairs(times, left)
        if pairs is None:
            continue
        now = times[pairs.record] - left[pairs.mark]
        if ahead is not None and now[0] < ahead - MOST_DELAY:
            continue
        found[begin + pairs.record] = mark + pairs.mark
        mark, ahead = mark + int(pairs.mark[-1]) + 1, int(now[-1])
    return found


def _pairs(times: Int64s, marks: Int64s) -> Pairs | None:
    """Return pairs of returns and their marks; None if returns and marks do not correspond."""
    shifts = _shifts(times, marks)
    shifted = [pairs for pairs in (_shifted(times, marks, shift) for shift in shifts) if pairs]
    right = [pairs for pairs in shifted if _is_right(times, marks, pairs)]
    if not right:
        right = [
            pairs
            for pairs in (pairs_by_search(times, marks, shift) for shift in shifts)
            if pairs is not None and _is_right(times, marks, pairs)
        ]
    most = max((len(pairs.record) for pairs in right), default=0)
    best = {pairs.mark.tobytes(): pairs for pairs in right if len(pairs.record) == most}
    return next(iter(best.values())) if len(best) == 1 else None


def _shifted(times: Int64s, marks: Int64s, first: int) -> Pairs | None:
    """Return the pairs if mark 0 belongs to the return with the index `first`; None if too few."""
    record = np.arange(max(first, 0), min(first + len(marks), len(times)))
    return Pairs(record, record - first) if len(record) >= LEAST_CALLS else None


def _is_right(times: Int64s, marks: Int64s, pairs: Pairs) -> bool:
    """Return whether pairs fit: most distances are alike, and no return is before its mark.

    The pairs must also contain most of the returns that may have marks.
    """
    if len(pairs.record) < LEAST_CALLS:
        return False
    between, apart = np.diff(times[pairs.record]), np.diff(marks[pairs.mark])
    idle = between - apart
    begin, end = int(pairs.record[0]), int(pairs.record[-1]) + 1
    before = min(begin, int(pairs.mark[0]))
    after = min(len(times) - end, len(marks) - 1 - int(pairs.mark[-1]))
    return (
        float(np.mean(np.abs(idle) <= ALIKE)) >= MOSTLY
        and bool((idle >= -MOST_DELAY - between // ADJUSTED).all())
        and len(pairs.record) >= MOSTLY * (before + end - begin + after)
    )


def _shifts(times: Int64s, marks: Int64s) -> list[int]:
    """Return the shifts for which most distances are alike.

    A negative shift means that mark 0 belongs to a return before the first recorded one.  A shift
    is the index of the return that has mark 0.
    """
    between, apart = np.diff(times), np.diff(marks)
    shifts = _votes(between, apart) if len(apart) < len(between) else -_votes(apart, between)
    values, votes = np.unique(shifts, return_counts=True)
    order = np.argsort(-votes, kind="stable")[:MOST_SHIFTS]
    return [int(value) for value in values[order[2 * votes[order] >= votes.max(initial=0)]]]


def _votes(long: Int64s, short: Int64s) -> Int64s:
    """Return shifts at which three consecutive distances of both arrays are alike."""
    order = np.argsort(long, kind="stable")
    last = len(short) - IN_A_ROW
    if last < 0:
        return np.zeros(0, np.int64)
    samples = np.unique(np.linspace(0, last, SAMPLES).astype(np.int64))
    first = np.searchsorted(long[order], short[samples] - ALIKE)
    after = np.searchsorted(long[order], short[samples] + ALIKE, side="right")
    rare = np.argsort(after - first, kind="stable")
    rare = rare[np.cumsum((after - first)[rare]) <= MOST_VOTES]
    places = [order[first[at] : after[at]] for at in rare.tolist()]
    sample = np.repeat(samples[rare], [len(found) for found in places])
    place = np.concatenate([np.zeros(0, np.int64), *places])
    alike = place + IN_A_ROW <= len(long)
    for more in range(1, IN_A_ROW):
        apart = long[np.minimum(place + more, len(long) - 1)] - short[sample + more]
        alike &= np.abs(apart) <= ALIKE
    return np.asarray((place - sample)[alike], np.int64)
