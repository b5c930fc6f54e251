# SPDX-License-Identifier: MIT
"""Assign each call to a row of its lane, so that no box hides another one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records.compiled import compiled
from ...records.types import INT64_MAX, Int64s

MOST_ROWS = 32  # most rows of one lane; deeper calls share the last row
_LOOKED_UP = 1 << 24  # values within this span are ranked by a table, others by sorting


def stack(
    begin: Int64s, dur: npt.NDArray[np.integer], reach: Int64s | None = None
) -> npt.NDArray[np.uint8]:
    """Return the row (from 0) of each span; spans must be sorted by `begin`.

    If an outer and an inner span begin at the same time, the outer one must come first.  A span
    gets the first row in which all earlier spans have ended; earlier spans in the rows below must
    have ended, too.  So the row of a nested call is its depth.  Calls that are not nested (of a
    sleeping task) get as many rows as they need.  `reach` is the result of nothing_stacked(), as
    changed by earlier calls for the same lane.
    """
    row = np.zeros(len(begin), np.uint8)
    if reach is not None or dur.any():
        _stack(begin, dur, nothing_stacked() if reach is None else reach, row)
    return row


def nothing_stacked() -> Int64s:
    """Return `reach` for stack(), for a lane that has no spans yet."""
    return np.full(MOST_ROWS, -INT64_MAX)


@compiled
def _stack(
    begin: Int64s, dur: npt.NDArray[np.integer], reach: Int64s, row: npt.NDArray[np.uint8]
) -> None:
    for span in range(len(begin)):
        at, end = 0, begin[span] + dur[span]
        while at < MOST_ROWS - 1 and begin[span] < reach[at]:
            at += 1
        row[span] = at
        for above in range(at + 1):
            reach[above] = max(reach[above], end)


def ranks(values: npt.NDArray[np.integer]) -> tuple[Int64s, Int64s]:
    """Return the distinct values, rising, and for each of `values` its index among them."""
    if not len(values):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    low, high = int(values.min()), int(values.max())
    if high - low >= _LOOKED_UP:
        distinct, at = np.unique(values, return_inverse=True)
        return distinct.astype(np.int64), at.astype(np.int64)
    offset = values.astype(np.int64) - low
    seen = np.zeros(high - low + 1, np.bool_)
    seen[offset] = True
    return np.flatnonzero(seen) + low, (np.cumsum(seen) - 1)[offset]
