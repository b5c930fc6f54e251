# SPDX-License-Identifier: MIT
"""Find the marks of returns one after the other, where some marks have no return in the log.

A function that is probed only for its events has a mark at each return, but a record only if there
was an event.  So the next return is searched where its distance says; if the CPU was idle, at the
first mark that also has the next returns behind it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...records.types import Int64s

ALIKE = 4  # ns by which two distances between the same two moments differ, as a rule
ADJUSTED = 10_000  # the kernel adjusts its clock: by 27 in a million was seen
BEHIND = 5  # returns that must be behind the one that is searched
MOST_IDLE = 40  # returns in a row with an idle CPU between them
MOST_LATE = 5  # returns in a row whose clock may have been read late


class Pairs(NamedTuple):
    """Indices of returns and of their marks, both rising."""

    record: Int64s
    mark: Int64s


def pairs_by_search(times: Int64s, marks: Int64s, shift: int) -> Pairs | None:
    """Return the pairs around returns that `shift` joins; None if it joins none.

    `times` are those of returns, `marks` the instructions until their marks, both rising; `shift`
    is the index of the return of mark 0, perhaps before the first return.
    """
    seed = _seed(times, marks, shift)
    if seed is None:
        return None
    record, mark = seed
    onward = [*_follow(times[record:].tolist(), marks[mark:].tolist())]
    # The same backwards: times and marks with their signs changed rise.
    back = [*_follow((-times[record::-1]).tolist(), (-marks[mark::-1]).tolist())]
    found = [(record - of, mark - at) for of, at in reversed(back[1:])]
    found += [(record + of, mark + at) for of, at in onward]
    records, at = np.array(found, np.int64).T
    return _filled(Pairs(records, at))


def _filled(pairs: Pairs) -> Pairs:
    """Add returns that were left out, if there are as many marks between the pairs around them."""
    returns, made = np.diff(pairs.record, append=pairs.record[-1] + 1), np.diff(pairs.mark)
    missing = np.where(returns == np.append(made, 1), returns, 1)
    ahead = np.arange(missing.sum()) - np.repeat(np.cumsum(missing) - missing, missing)
    return Pairs(*(np.repeat(part, missing) + ahead for part in pairs))


def _seed(times: Int64s, marks: Int64s, shift: int) -> tuple[int, int] | None:
    """Return a return and its mark behind which several distances are alike."""
    record = np.arange(max(shift, 0), min(shift + len(marks), len(times)))
    if len(record) <= BEHIND:
        return None
    idle = np.diff(times[record]) - np.diff(marks[record - shift])
    alike = np.abs(idle) <= ALIKE
    runs = np.convolve(alike, np.ones(BEHIND, np.int64), "valid")
    at = np.flatnonzero(runs == BEHIND)
    return (int(record[at[0]]), int(record[at[0]]) - shift) if len(at) else None


def _follow(times: list[int], marks: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs (return, mark) that follow the first return, which has the first mark."""
    record = mark = 0
    while True:
        yield record, mark
        found = _next(times, marks, record, mark) or _after_idle(times, marks, record, mark)
        if found is None:
            return
        record, mark = found


def _next(times: list[int], marks: list[int], record: int, mark: int) -> tuple[int, int] | None:
    """Return the next return at whose distance there is a mark, and that mark."""
    for of in range(record + 1, min(record + 1 + MOST_LATE, len(times))):
        at = _mark_at(marks, marks[mark] + times[of] - times[record])
        if at > mark:
            return of, at
    return None


def _after_idle(
    times: list[int], marks: list[int], record: int, mark: int
) -> tuple[int, int] | None:
    """Return the next return and its mark: the first one that has the next returns behind it.

    A return behind which the CPU is idle again soon is left out.
    """
    for of in range(record + 1, min(record + 1 + MOST_IDLE, len(times) - BEHIND)):
        behind = [time - times[of] for time in times[of + 1 : of + 1 + BEHIND]]
        distance = times[of] - times[record]
        last = bisect_left(marks, marks[mark] + distance + ALIKE + distance // ADJUSTED)
        for at in range(mark + 1, last):
            if all(_mark_at(marks, marks[at] + apart) >= 0 for apart in behind):
                return of, at
    return None


def _mark_at(marks: list[int], executed: int) -> int:
    """Return the mark at a number of instructions; -1 if there is none."""
    at = bisect_left(marks, executed - ALIKE)
    return at if at < len(marks) and marks[at] <= executed + ALIKE else -1
