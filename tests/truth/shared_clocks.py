# SPDX-License-Identifier: MIT
"""Relate two guests' clocks by the times that each read in shared memory (meet.c).

CLOCK_MONOTONIC of each guest runs at a constant rate, and so f(x), the first guest's time as the
second's shows x, is a line.  The second had shown x before the first showed y: so f(x) <= y.  The
first had shown y before the second showed x: so f(x) >= y.  All lines for which that holds make a
polygon of (height, slope), whose corners bound f at any time.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
STEEP = 2e-3  # greatest difference of the rates: calibration, and adjtimex in the guests
FAR_NS = 1e12


class Line(NamedTuple):
    """The possible f: by corner, f(x) = x + apart_ns + height + slope * (x - at_ns), in ns."""

    at_ns: int
    apart_ns: int
    height: Floats
    slope: Floats

    def between(self, times: Ints) -> tuple[Ints, Ints]:
        """Return the earliest and the latest of the first guest's times by the second's times."""
        later = (times - self.at_ns).astype(np.float64)
        found = self.height[:, None] + self.slope[:, None] * later
        base = times + self.apart_ns
        least = base + np.floor(found.min(axis=0)).astype(np.int64)
        return least, base + np.ceil(found.max(axis=0)).astype(np.int64)


def seen(clocks: Path, other: int) -> Ints:
    """Return rows (theirs, mine) of what a guest saw of the guest `other`."""
    rows = np.loadtxt(clocks, dtype=np.int64, ndmin=2)
    return np.asarray(rows[rows[:, 0] == other, 1:], np.int64)


def line(first: Ints, second: Ints) -> Line:
    """Return how the first guest's clock relates to the second's, by what each saw of the other.

    Raises ValueError if the readings contradict each other.
    """
    at = int(first[0, 0])
    apart = int(first[0, 1] - at)
    below = (first[:, 0], first[:, 1])  # f(theirs) <= mine
    above = (second[:, 1], second[:, 0])  # f(mine) >= theirs
    corners = np.array(
        [(-FAR_NS, -STEEP), (FAR_NS, -STEEP), (FAR_NS, STEEP), (-FAR_NS, STEEP)], np.float64
    )
    for sign, (x, y) in ((1, below), (-1, above)):
        for later, most in zip(x - at, y - x - apart, strict=True):
            corners = _cut(corners, sign, float(later), float(most))
            if not len(corners):
                raise ValueError("the clocks contradict each other: a rate was not constant")
    return Line(at, apart, corners[:, 0], corners[:, 1])


def _cut(corners: Floats, sign: int, x: float, y: float) -> Floats:
    """Keep the part of a convex polygon in which sign * (height + slope * x) <= sign * y."""
    over = sign * (corners[:, 0] + corners[:, 1] * x - y)
    kept = []
    for number, after in enumerate(np.roll(over, -1)):
        here, there = corners[number], corners[(number + 1) % len(corners)]
        if over[number] <= 0:
            kept.append(here)
        if (over[number] <= 0) != (after <= 0):
            kept.append(here + (there - here) * (over[number] / (over[number] - after)))
    return np.array(kept, np.float64).reshape(-1, 2)
