# SPDX-License-Identifier: MIT
"""Find where a clock was set, and which measured differences of two clocks are wrong.

Input: differences of two clocks, in the order of a capture.  If a clock is set, all later
differences change.  If a packet is late, or matched wrongly, only its own difference changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Int64s
from ..arrays.medians import median

STEP_NS = 10_000_000  # smaller steps count as noise: ntpd and chrony step by more (128 ms, 1 s)
NOISES = 20
SLEW = 5e-4  # adjtimex(2): a clock that is not set moves by at most this
MIN_RUN = 3  # packets that must agree to count as a run
LATE_NS = STEP_NS // 2  # a packet may be so much later in the file than its stamp says
END = 9  # pairs at the end of a run whose median is its level


def runs(difference: Int64s, kernel_ns: Int64s, packet: Int64s) -> Int64s:
    """Return the number of the run to which each pair belongs, from 0; -1 for outliers.

    A run is a sequence of pairs that agree with one clock.  By pair: `difference` is the difference
    of the two clocks, and `kernel_ns` the time on the log's clock (ns).  Pairs are sorted by
    `packet`; a packet may have several pairs.  If there are never MIN_RUN successive packets that
    agree with one clock, all pairs are one run.
    """
    count, nth = len(difference), np.cumsum(np.r_[False, packet[1:] != packet[:-1]])
    leap = np.abs(np.diff(difference))
    noise = median(leap) if len(leap) else 0.0
    allowed = max(STEP_NS, min(NOISES * noise, 100 * STEP_NS))
    gap = np.abs(np.diff(kernel_ns)) * SLEW
    piece = np.cumsum(np.r_[False, leap > allowed + gap])
    found = np.full(count, -1, np.int64)
    begins = np.searchsorted(piece, np.arange(int(piece[-1]) + 2)) if count else np.zeros(1, int)
    pieces = list(zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True))
    number = -1
    stands = _Standing(difference, kernel_ns, allowed)
    for low, high in pieces:
        goes_on = number >= 0 and stands.near(low, high)
        if not goes_on and nth[high - 1] - nth[low] + 1 < MIN_RUN:
            continue
        number += not goes_on
        found[low:high] = number
        stands.set_level(max(low, high - END), high)
    number = -1
    for low, high in reversed(pieces):  # outliers that belong to the run after them
        if found[low] >= 0:
            number = int(found[low])
        elif number >= 0 and stands.near(low, high):
            found[low:high] = number
        else:
            continue
        stands.set_level(low, min(low + END, high))
    return found if (found >= 0).any() else np.zeros(count, np.int64)


class _Standing:
    """The current level of a run: a difference of the clocks, and the time of this difference."""

    def __init__(self, difference: Int64s, kernel_ns: Int64s, allowed: float) -> None:
        self._difference, self._kernel_ns, self._allowed = difference, kernel_ns, allowed
        self._level, self._seen = 0.0, 0

    def set_level(self, low: int, high: int) -> None:
        """Set the level from the pairs `low` to `high`."""
        self._level = median(self._difference[low:high])
        self._seen = int(self._kernel_ns[(low + high) // 2])

    def near(self, low: int, high: int) -> bool:
        """Return whether the pairs `low` to `high` may belong to the run."""
        away = SLEW * abs(int(self._kernel_ns[low]) - self._seen) + self._allowed
        level = median(self._difference[low : min(low + END, high)])
        return abs(level - self._level) <= away


class Border(NamedTuple):
    """Where a clock was set: the first packet after it has an index from `first` to `surely`."""

    first: int
    surely: int


def borders(packet: Int64s, captured: Int64s, difference: Int64s, run: Int64s) -> list[Border]:
    """Return where each run begins; the first run begins with the capture.

    `captured` are the times of all packets; runs() explains the other arrays.  Between the last
    pair before a step and the first pair after it, the capture's time jumps by the step plus the
    time between two packets.  In the order of the file, a packet is at most LATE_NS earlier than a
    packet before it.
    """
    found = [Border(0, 0)]
    for number in range(1, int(run.max()) + 1):
        before, after = np.flatnonzero(run == number - 1), np.flatnonzero(run == number)
        step = int(difference[after[0]] - difference[before[-1]])
        low, high = int(packet[before[-1]]), int(packet[after[0]])
        where = low + 1 + _where_set(np.diff(captured[low : high + 1]), step)
        found.append(Border(int(where[0]), int(where[-1])) if len(where) else Border(high, high))
    return found


def _where_set(leaps: Int64s, step: int) -> Int64s:
    """Return the indices of the jumps in `leaps` that may be the step by `step` ns."""
    possible = leaps - step >= -LATE_NS
    back = possible & (leaps < -LATE_NS)
    chosen = back if back.any() else possible if possible.any() else np.ones(len(leaps), np.bool_)
    return np.flatnonzero(chosen)
