# SPDX-License-Identifier: MIT
"""Assign each call a row in its lane so that no box hides another: arrays in, arrays out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records.types import Int64s

MOST_ROWS = 32  # most rows of one lane; deeper calls share the last row
_LOOKED_UP = 1 << 24  # values within this span are ranked by a table, others by sorting


def stack(begin: Int64s, dur: npt.NDArray[np.integer]) -> npt.NDArray[np.uint8]:
    """Return the rows (from 0) of spans that begin at `begin`, in which order they are.

    If an outer and an inner span begin together, the outer one comes first.  A span gets the first
    row whose earlier spans have all ended.  So nested calls get their depth as their row, and other
    calls (of a sleeping task) as many rows as they need.
    """
    row = np.zeros(len(begin), np.uint8)
    if not dur.any():
        return row
    reach = np.maximum.accumulate(begin + dur)
    left = np.flatnonzero(begin[1:] < reach[:-1]) + 1
    for number in range(1, MOST_ROWS):
        if not len(left):
            break
        row[left] = number
        reach = np.maximum.accumulate(begin[left] + dur[left])
        left = left[1:][begin[left[1:]] < reach[:-1]]
    return row


def ranks(values: npt.NDArray[np.integer]) -> tuple[Int64s, Int64s]:
    """Return the distinct values, sorted, and for each element of `values` its index among them."""
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
