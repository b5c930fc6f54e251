# SPDX-License-Identifier: MIT
"""Find the marks of returns one by one, for logs in which some marks have no return.

A function that is probed only for its events has a mark at each return, but a record only if an
event happened.  The mark of the next return is searched at the distance that follows from the
return's time.  If the CPU was idle, the mark is the first one after which the next returns also
have marks.
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
    """Indices of returns in `record`, and of their marks in `mark`; both rise."""

    record: Int64s
    mark: Int64s


def pairs_by_search(times: Int64s, marks: Int64s, shift: int) -> Pairs | None:
    """Search pairs from a return that `shift` joins with its mark; None if `shift` joins none.

    `times` are the times of returns, and `marks` the instructions before marks; both rise.  `shift`
    is the index of the return that has mark 0; it may be negative.
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
    """Add returns that are missing between two pairs, if as many marks are missing between them."""
    returns, made = np.diff(pairs.record, append=pairs.record[-1] + 1), np.diff(pairs.mark)
    missing = np.where(returns == np.append(made, 1), returns, 1)
    ahead = np.arange(missing.sum()) - np.repeat(np.cumsum(missing) - missing, missing)
    return Pairs(*(np.repeat(part, missing) + ahead for part in pairs))


def _seed(times: Int64s, marks: Int64s, shift: int) -> tuple[int, int] | None:
    """Return the first return and mark after which several distances are alike, or None."""
    record = np.arange(max(shift, 0), min(shift + len(marks), len(times)))
    if len(record) <= BEHIND:
        return None
    idle = np.diff(times[record]) - np.diff(marks[record - shift])
    alike = np.abs(idle) <= ALIKE
    runs = np.convolve(alike, np.ones(BEHIND, np.int64), "valid")
    at = np.flatnonzero(runs == BEHIND)
    return (int(record[at[0]]), int(record[at[0]]) - shift) if len(at) else None


def _follow(times: list[int], marks: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs (return, mark) from the first return and the first mark on."""
    record = mark = 0
    while True:
        yield record, mark
        found = _next(times, marks, record, mark) or _after_idle(times, marks, record, mark)
        if found is None:
            return
        record, mark = found


def _next(times: list[int], marks: list[int], record: int, mark: int) -> tuple[int, int] | None:
    """Return the next return that has a mark at the same distance, and this mark, or None."""
    for of in range(record + 1, min(record + 1 + MOST_LATE, len(times))):
        at = _mark_at(marks, marks[mark] + times[of] - times[record])
        if at > mark:
            return of, at
    return None


def _after_idle(
    times: list[int], marks: list[int], record: int, mark: int
) -> tuple[int, int] | None:
    """Return the next return and its mark after the CPU was idle.

    The mark is the first one after which the next returns also have marks.

    If the CPU is idle again soon after a return, this return is left out.
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
    """Return the index of the mark after `executed` instructions; -1 if there is none."""
    at = bisect_left(marks, executed - ALIKE)
    return at if at < len(marks) and marks[at] <= executed + ALIKE else -1
