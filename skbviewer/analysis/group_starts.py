# SPDX-License-Identifier: MIT
"""Where the rows of each group begin, in a table that is sorted by the number of the group."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..records.types import Int64s

Array = npt.NDArray[Any]


def group_bounds(of: Array, groups: int) -> Int64s | None:
    """Return `groups` + 1 bounds: group k has the rows from bounds[k] to bounds[k + 1] - 1.

    `of` has the group of each row, and must rise.  Rows with negative numbers come first, and are
    in no group.  Returns None if the rows are not sorted, or if a number is `groups` or more.  A
    binary search for each group would take several times as long, and so would counting the rows of
    each group.
    """
    first = np.flatnonzero(of[1:] != of[:-1]) + 1
    first = np.concatenate([np.zeros(min(len(of), 1), np.int64), first])
    number = of[first].astype(np.int64)
    if np.any(number[1:] < number[:-1]) or (len(number) and number[-1] >= groups):
        return None
    size = np.diff(first, append=len(of))
    before = int(size[number < 0].sum())
    bounds = np.zeros(groups + 1, np.int64)
    bounds[0] = before
    bounds[number[number >= 0] + 1] = size[number >= 0]
    np.cumsum(bounds, out=bounds)
    return bounds
