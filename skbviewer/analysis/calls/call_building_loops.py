# SPDX-License-Identifier: MIT
"""Write calls into the rows of their legs, and compute depths, in loops for call_building.py."""

from __future__ import annotations

import numpy as np

from ...records.compiled import allocation_free
from ...records.types import Bools, Int32s, Int64s, UInt8s
from .call_table import row_at

ENTRY, EVENT = 1, 4  # kbl.h enum kbl_kind


@allocation_free
def count_calls(kind: UInt8s, of: Int32s, begin: Int32s) -> None:
    """Add the number of each leg's calls to begin[leg + 1].

    For each record of a block, `kind` is its kind, and `of` is its leg (-1: none).
    """
    for i in range(len(kind)):  # without a branch, which would often be mispredicted
        begin[of[i] + 1] += (kind[i] == ENTRY) & (of[i] >= 0)


@allocation_free
def place_calls(
    first: int,
    calls: Int64s,
    of: Int32s,
    joined: Int64s,
    joined_leg: Int64s,
    begin: Int32s,
    leg: Int32s,
    entry: Int32s,
    done: Int64s,
) -> None:
    """Write each call into the next free row of its leg, in the columns `leg` and `entry`.

    `calls` are indices of ENTRY records in a block that begins at record `first`.  `of` is the leg
    of each record of the block (-1: none).  `joined` are the ENTRY records of calls that belong to
    a leg by their socket, and `joined_leg` are these legs. done[0] is how many of the calls
    `joined` have been written.  `begin` is the next free row of each leg; this function increases
    it.
    """
    for i in calls:
        mine = np.int64(of[i])
        while True:
            further = done[0] < len(joined) and joined[done[0]] == first + i
            if mine < 0 and further:
                mine = joined_leg[done[0]]
                done[0] += 1
            if mine < 0:
                break
            at = begin[mine]
            leg[at], entry[at] = mine, first + i
            begin[mine] += 1
            mine = np.int64(-1)


@allocation_free
def count_above(parent: Int32s, depth: Int32s) -> None:
    """Fill `depth`, initially -1, with the number of calls around each call.

    `parent` is the row of the innermost call around each call (-1: none).
    """
    for i in range(len(parent)):
        if parent[i] < i:  # nearly always
            depth[i] = depth[parent[i]] + 1 if parent[i] >= 0 else 0
            continue
        above, steps = np.int64(i), np.int64(0)
        while above >= 0 and depth[above] < 0 and steps < len(parent):
            above, steps = np.int64(parent[above]), steps + 1
        known = np.int64(depth[above]) if above >= 0 else np.int64(-1)
        at = np.int64(i)
        for left in range(steps, 0, -1):
            depth[at] = known + left
            at = np.int64(parent[at])


@allocation_free
def note_drops(
    leg: Int32s,
    entry: Int32s,
    inner: Bools,
    wanted: Int32s,
    before: Int64s,
    reasons: Int32s,
    reason: Int32s,
) -> None:
    """Write the reason of each drop into `reason`, at the last call of its leg before the drop.

    For each drop, `wanted` is its leg, `before` its record, and `reasons` its reason.  Each call
    has its `leg` and `entry` (both sorted), and is `inner` if it has no skb; inner calls are
    skipped.
    """
    for i in range(len(wanted)):
        low = row_at(np.int64(wanted[i]), before[i], leg, entry)
        while low > 0 and leg[low - 1] == wanted[i] and inner[low - 1]:
            low -= 1
        if low > 0 and leg[low - 1] == wanted[i]:
            reason[low - 1] = reasons[i]
