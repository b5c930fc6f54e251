# SPDX-License-Identifier: MIT
"""Find where a clock was set by less than 10 ms.

Input: for each packet, in the order of the file, an interval that contains the clock's offset.  No
straight line passes through all intervals.  Output: where to cut the sequence of packets so that
one straight line passes through each piece, with as few pieces as possible.  A piece must have
MIN_PACKETS packets that no neighbouring piece can have: a line might pass through fewer packets
even if the stamps had random errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .feasible_lines import PAIRS_PER_ERROR, Intervals, Points, corridor_between

MIN_PACKETS = 12  # least packets of a piece
MAX_PIECES = 64  # most pieces of a capture
MIN_FOLLOWERS = 3  # packets after an outlier that must fit the line again
ALONE = 128  # most outliers


class Cut(NamedTuple):
    """The clock was set between packets `last` and `first`; both lines fit the packets between."""

    last: int
    first: int


def cuts(rows: Intervals, steepest: float) -> list[Cut]:
    """Return where the clock was set; an empty list if a piece has under MIN_PACKETS packets.

    A line's slope is at most `steepest` (ns/ns), up or down.  `rows` are in the order of the
    packets, so x may fall where a clock was set back.  One in PAIRS_PER_ERROR intervals may be left
    out.
    """
    lines = _Lines(rows, steepest)
    begins, size = [0], len(rows.x)
    while begins[-1] < size:
        end = lines.longest(begins[-1])
        if end - begins[-1] < MIN_PACKETS or len(begins) > MAX_PIECES:
            return []
        begins.append(end)
    made: list[Cut] = []
    for before, begin, end in zip(begins, begins[1:], begins[2:], strict=False):
        early = lines.earliest(before, begin, end)
        if early - (made[-1].first if made else 0) < MIN_PACKETS:
            return []
        made.append(Cut(early - 1, begin))
    return made


class _Lines:
    """Finds sequences of successive intervals through which one line passes."""

    def __init__(self, rows: Intervals, steepest: float) -> None:
        self._rows, self._steepest = rows, steepest
        self._kept: npt.NDArray[np.bool_] = np.ones(len(rows.x), np.bool_)
        self._left = min(len(rows.x) // PAIRS_PER_ERROR, ALONE)

    def passes(self, begin: int, end: int) -> bool:
        """Return whether one line passes through all intervals from `begin` to `end`."""
        some = begin + np.flatnonzero(self._kept[begin:end])
        some = some[np.argsort(self._rows.x[some], kind="stable")]
        x, low, high = (column[some] for column in self._rows)
        return (
            not len(x)
            or corridor_between(Points(x, high), Points(x, low), self._steepest).torn == 0
        )

    def longest(self, begin: int) -> int:
        """Return the end of the intervals from `begin` on that one line fits, but for outliers."""
        size, end = len(self._rows.x), begin
        while True:
            end = begin + _largest(
                lambda n: self.passes(begin, begin + n), size - begin, end - begin
            )
            if end == size or not self._left:
                return end
            self._kept[end] = False
            if not self.passes(begin, min(end + 1 + MIN_FOLLOWERS, size)):
                self._kept[end] = True
                return end
            self._left -= 1

    def earliest(self, low: int, begin: int, end: int) -> int:
        """Return the least index from which one line passes through all intervals to `end`.

        Returns `low` or more.

        The caller knows that a line passes through the intervals from `begin` to `end`, so the
        result is at most `begin`.
        """
        return begin - _largest(lambda n: self.passes(begin - n, end), begin - low)


def _largest(holds: Callable[[int], bool], most: int, low: int = 0) -> int:
    """Return the largest n up to `most` for which `holds` is true; it is true for all smaller n."""
    step = 1
    while low + step <= most and holds(low + step):
        low, step = low + step, 2 * step
    high = min(low + step, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
