# SPDX-License-Identifier: MIT
"""Sort rows by small group numbers, without the temporary arrays that numpy's sorting needs.

Sorting 20 million rows takes 80 MB in this way, and 480 MB with numpy.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ...records.compiled import compiled
from ...records.types import Int32s, Int64s

Groups: TypeAlias = npt.NDArray[np.integer]


def group_order(group: Groups, groups: int) -> tuple[Int32s, Int64s]:
    """Return indices that sort rows by `group`; rows of a group keep their order.

    `group` has numbers from 0 to `groups` - 1.  A second array has the index at which each group
    begins in the sorted rows.  The last element of the second array is the number of rows.
    """
    small: Groups = group.astype(narrow_type(groups), copy=False)
    starts = np.zeros(groups + 1, np.int64)
    _count(small, starts)
    np.cumsum(starts, out=starts)
    order = np.empty(len(small), np.int32)
    _place(small, starts[:-1].copy(), order)
    return order, starts


def narrow_type(count: int) -> type[np.uint16] | type[np.int32]:
    """Return a narrow type that can hold the numbers from 0 to `count` - 1."""
    return np.uint16 if count <= 1 << 16 else np.int32


def order_by(group: Groups, begin: Int64s) -> Int32s:
    """Return indices that sort rows by `group` (0 or more), then by `begin`; stable."""
    order, starts = group_order(group, int(group.max()) + 1 if len(group) else 0)
    for low, high in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        mine = order[low:high]
        if not _is_ordered(begin, mine):
            order[low:high] = mine[np.argsort(begin[mine], kind="stable")]
    return order


@compiled
def _count(group: Groups, starts: Int64s) -> None:
    """Count the rows of each group g in starts[g + 1]."""
    for row in range(len(group)):
        starts[group[row] + 1] += 1


@compiled
def _place(group: Groups, place: Int64s, order: Int32s) -> None:
    for row in range(len(group)):
        order[place[group[row]]] = row
        place[group[row]] += 1


@compiled
def _is_ordered(begin: Int64s, order: Int32s) -> bool:
    at = 1
    while at < len(order) and begin[order[at - 1]] <= begin[order[at]]:
        at += 1
    return at >= len(order)
