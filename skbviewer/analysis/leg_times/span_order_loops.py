# SPDX-License-Identifier: MIT
"""Sort the starts and ends of a leg's spans by time: a compiled part of leg_time_loops.py.

Input: painted spans (call_time_loops.py).  Output: `order`, which has times in the row TIME and
numbers in the row NUMBER.
"""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free, compiled
from ...records.types import Int64s
from .call_time_loops import BEGIN, END, PAINT

TIME, NUMBER = range(2)  # rows of `order`
FEW = 64  # up to so many times, an insertion sort is faster than numpy's


@allocation_free
def list_times(end: Int, paint: Int64s, counts: Int64s, order: Int64s) -> None:
    """Write starts and ends of painted spans into `order`, and after them the time `end` (ns).

    The start of span k has the number 2 k, and its end 2 k + 1. counts[PAINT] is the number of
    spans.
    """
    count = counts[PAINT]
    for k in range(count):
        order[TIME, 2 * k], order[TIME, 2 * k + 1] = paint[BEGIN, k], paint[END, k]
    order[TIME, 2 * count] = end
    for number in range(2 * count + 1):
        order[NUMBER, number] = number


@allocation_free
def sort_times(count: Int, order: Int64s) -> None:
    """Sort the first `count` columns of `order` by time; fast for nearly sorted columns."""
    for i in range(1, count):
        time, number, at = order[TIME, i], order[NUMBER, i], np.int64(i)
        while at > 0 and order[TIME, at - 1] > time:
            order[TIME, at], order[NUMBER, at] = order[TIME, at - 1], order[NUMBER, at - 1]
            at -= 1
        order[TIME, at], order[NUMBER, at] = time, number


@compiled
def sort_many(count: Int, order: Int64s) -> None:
    """Sort the first `count` columns of `order` by time; fast for many columns.

    Single numbers are assigned here, because numba takes seconds to compile the assignment of an
    array to a part of another array.
    """
    times = order[TIME, :count].copy()
    row = np.argsort(times)
    for at in range(count):
        order[TIME, at], order[NUMBER, at] = times[row[at]], row[at]
