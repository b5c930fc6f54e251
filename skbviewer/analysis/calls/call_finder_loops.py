# SPDX-License-Identifier: MIT
"""Find calls by their leg and ENTRY record, in loops for call_finder.py."""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free
from ...records.types import Bools, Int32s, Int64s

ANY = 1 << 62  # greater than any row


@allocation_free
def enter_calls(
    first: int,
    leg: Int32s,
    entry: Int32s,
    of: Int32s,
    parent: Int32s,
    carried: Bools,
    row: Int32s,
    several: Bools,
    key: Int64s,
    other: Int64s,
) -> int:
    """Index the calls of a block, whose first row in the call table is `first`.

    Each call has a `leg` and an ENTRY record `entry`.  For each record, `of` is its leg, and
    `parent` the call around it.  `carried` says that the record represents a further packet in a
    call's list.  If a call and its ENTRY have the same leg, row[ENTRY] is set to the call's row.  A
    pair is made for each call whose leg differs from that of its ENTRY, and for each call whose
    ENTRY is carried: `key` gets (leg, record), and `other` gets the call's row.  The record in the
    pair is the ENTRY or, if the ENTRY is carried, the call around it. several[record] is set.
    Returns the number of pairs.
    """
    count, span = 0, np.int64(len(of) + 1)
    for i in range(len(leg)):
        at = np.int64(entry[i])
        own = of[at] == leg[i]
        if own:
            row[at] = first + i
        if own and not carried[at]:
            continue
        stands_for = np.int64(parent[at]) if own else at
        if stands_for >= 0:
            several[stands_for] = True
        key[count], other[count] = leg[i] * span + stands_for, first + i
        count += 1
    return count


@allocation_free
def find_calls(
    leg: Int32s,
    record: Int32s,
    owner_calls: Int32s,
    caused: Bools,
    ts: Int64s,
    exit_ts: Int64s,
    parent: Int32s,
    of: Int32s,
    row: Int32s,
    several: Bools,
    key: Int64s,
    other: Int64s,
    made: Int32s,
) -> None:
    """Write into `made` the row of the leg's innermost call around each record; -1 = none.

    `record` has the records for which calls are searched, and `leg` their legs.  `caused` marks
    records that have no leg: they take the leg of the call around them.  For each record of the log
    there are `owner_calls` (may be empty), its times `ts` and `exit_ts`, the call around it
    (`parent`), and its leg (`of`).  The other arrays are described at enter_calls().  In a damaged
    log, a call may have ended before a call inside it, so this function checks that an outer call
    still runs at the record's time.
    """
    for i in range(len(record)):
        at, mine, found = np.int64(record[i]), np.int64(leg[i]), np.int64(-1)
        now, above = ts[at], np.int64(parent[at])
        if mine < 0 and len(caused) and caused[i]:
            while above >= 0 and mine < 0:
                mine = np.int64(of[above]) if exit_ts[above] > now else mine
                above = np.int64(parent[above])
            leg[i], above = mine, np.int64(parent[at])
        if len(owner_calls) and owner_calls[at] >= 0:
            owner_call = np.int64(owner_calls[at])
            found = np.int64(row[owner_call]) if of[owner_call] == mine else found
            if found < 0 and several[owner_call]:
                found = _last(mine * (len(of) + 1) + owner_call, ANY, key, other)
        before = np.int64(row[at]) if of[at] == mine else np.int64(-1)
        before = before if before >= 0 else np.int64(ANY)  # a list's packet is not in its own call
        while found < 0 <= mine and above >= 0:
            if exit_ts[above] > now:
                if several[above]:
                    found = _last(mine * (len(of) + 1) + above, before, key, other)
                if found < 0 and of[above] == mine:
                    found = np.int64(row[above])
            above = np.int64(parent[above])
        made[i] = found


@allocation_free
def _last(wanted: Int, before: Int, key: Int64s, other: Int64s) -> np.int64:
    """Return the last row before row `before` whose key is `wanted`; -1 = none."""
    low, high = np.int64(0), np.int64(len(key))
    while low < high:
        middle = (low + high) // 2
        if key[middle] < wanted or (key[middle] == wanted and other[middle] < before):
            low = middle + 1
        else:
            high = middle
    return other[low - 1] if low > 0 and key[low - 1] == wanted else np.int64(-1)
