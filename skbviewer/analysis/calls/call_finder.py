# SPDX-License-Identifier: MIT
"""Find the call of a leg that encloses a record, even if calls of other packets are in between.

Input: nesting, legs, and calls by (leg, entry).  Output: rows of calls.
"""

from __future__ import annotations

import numpy as np

from ...matching import LegTable, Nesting, Rows
from ...records.compiled import Int, allocation_free
from ...records.types import Bools, Int32s, Int64s
from .call_table import CallTable

ANY = 1 << 62  # greater than any row


class Finder:
    """Finds calls by their leg and ENTRY.

    An ENTRY is a call of its own leg and of the legs to which it was joined by its socket.  If it
    was passed a list, it also is a call of the legs of the list's further packets, whose own
    entries represent it.
    """

    def __init__(self, nesting: Nesting, legs: LegTable, calls: CallTable) -> None:
        self._parent, self._of = nesting.parent, legs.of
        every = Rows(calls.records, slice(0, len(calls.records)))
        self._times = every["ts"], every["exit_ts"]
        self._row = calls.scratch.full(len(legs.of), np.int32, -1)
        self._several = calls.scratch.full(len(legs.of), np.bool_, 0)
        keys, others = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        leg, entry = calls.stored("leg"), calls.stored("entry")
        for rows in calls.passing():
            key, other = np.empty((2, rows.stop - rows.start), np.int64)
            count = _enter(
                rows.start, leg[rows], entry[rows], self._of, self._parent, nesting.carried,
                self._row, self._several, key, other,
            )  # fmt: skip
            keys.append(key[:count].copy())
            others.append(other[:count].copy())
        key = np.concatenate(keys)
        order = np.argsort(key, kind="stable")
        self._key, self._others = key[order], np.concatenate(others)[order]

    def around(self, leg: Int32s, record: Int32s, owner_calls: Int32s, caused: Bools) -> Int32s:
        """Return the row of the innermost call of `leg` around each record, -1 = none.

        `owner_calls` is, for all records, the call that recorded it, which takes precedence, or -1.
        `caused` marks records without a leg, whose leg is set to that of the call around them.
        Either may be empty.
        """
        made = np.empty(len(record), np.int32)
        _find(
            leg, record, owner_calls, caused, *self._times, self._parent, self._of,
            self._row, self._several, self._key, self._others, made,
        )  # fmt: skip
        return made


@allocation_free
def _enter(
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
    """Note the rows of calls from `first` on; returns how many of them need `key`."""
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
def _find(
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
    """Fill `made`.  Calls of a damaged log may not nest, so check that outer calls still run."""
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
    """Return the last row below `before` with this key, -1 = none."""
    low, high = np.int64(0), np.int64(len(key))
    while low < high:
        middle = (low + high) // 2
        if key[middle] < wanted or (key[middle] == wanted and other[middle] < before):
            low = middle + 1
        else:
            high = middle
    return other[low - 1] if low > 0 and key[low - 1] == wanted else np.int64(-1)
