# SPDX-License-Identifier: MIT
"""Divide the time of each packet; a nanosecond in which several of its legs ran counts once.

Input: the legs of a log, how they spent their time, and which legs form a group.  Output: the sums
of each group.
"""

from __future__ import annotations

import numpy as np

from ...matching import LegTable
from ...records import Scratch
from ...records.types import Bools, Int64s
from ..words.wait_kinds import RANKS
from .busy_and_wait_times import Spent
from .packet_time_loops import SpentLegs, sum_groups


def spent_legs(legs: LegTable, spent: Spent, gap: Bools, scratch: Scratch) -> SpentLegs:
    """Return the times and the waits of all legs in a log, as columns for compiled loops.

    `gap` marks legs that lack records.  Large columns are stored in `scratch`.
    """
    count = len(legs.rows)
    begin, end = (np.array(legs.rows[name], np.int64) for name in ("begin_ns", "end_ns"))
    at = np.searchsorted(spent.leg, np.arange(count + 1)).astype(np.int32)
    columns = begin, end, spent.busy_ns, spent.unknown_ns, spent.cpu_ns, np.array(gap)
    waits = at, spent.kind, spent.begin_ns, spent.end_ns
    return SpentLegs(*(scratch.keep(np.ascontiguousarray(one)) for one in (*columns, *waits)))


def sums(group: Int64s, leg: Int64s, legs: SpentLegs, count: int) -> Int64s:
    """Return the times (ns) of `count` groups of legs, as an array (KERNEL_NS to CPU_NS, group).

    group[i] is the group of leg[i]; both arrays are sorted by group.  A time is -1 if it is
    unknown, or if the group has no leg.
    """
    made = np.full((4, count), -1, np.int64)
    most = int(np.bincount(group, minlength=1).max(initial=0)) if len(group) else 0
    size = np.diff(legs.at)
    sum_groups(
        np.ascontiguousarray(group, np.int64), np.ascontiguousarray(leg, np.int64), legs, made,
        np.empty(most + 1, np.int64), np.zeros(RANKS, np.int64), int(size.max(initial=0)),
    )  # fmt: skip
    return made
