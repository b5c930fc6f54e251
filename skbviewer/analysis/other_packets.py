# SPDX-License-Identifier: MIT
"""How much of a call's self time in its leg went into calls of other packets.

In: the calls of a KBL, what encloses what.  Out: `other_ns`, so that self_ns - other_ns is what the
function itself took; below 0 where a leg counts the call of a list for several of its packets.  A
leg knows only the calls of its own packet: but sending one packet may receive another (loopback,
veth), a socket's call stands in the legs of all packets that it sends, and a list's in those of its
packets: in all of them it took itself the same.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..matching import Joined, LegTable, Nesting
from ..records.compiled import lean
from .call_table import CallTable, Column, row_at

Index = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


def other_times(
    calls: CallTable, inside: Index, legs: LegTable, nesting: Nesting, joined: Joined
) -> Column:
    """ns of each row; `inside` are interrupts and the leg's own calls directly inside it."""
    leg, entry, parent = (calls.stored(name) for name in ("leg", "entry", "parent"))
    moved = calls.room.full(len(calls), np.int64, 0)
    tables = legs.of, nesting.parent, nesting.carried, *joined
    for rows in calls.passing():
        dur, irq = (calls.part(name, rows).astype(np.int64) for name in ("dur_ns", "irq_ns"))
        _move(rows.start, leg, entry, parent, dur, irq, *tables, moved)
    shared = _shared(calls, nesting, joined)
    if len(shared):
        _share(shared, leg, entry, inside, *tables, moved)

    def made(rows: slice) -> Column:
        own = calls.part("self_ns", rows)
        left = calls.part("dur_ns", rows) - inside[rows] - moved[rows]
        return np.where(own >= 0, own - np.maximum(left, 0), 0)

    return calls.by_parts(made)


def _shared(calls: CallTable, nesting: Nesting, joined: Joined) -> Index:
    """Rows of calls that stand in several legs, but for the first packet of a list."""
    entries, parts = np.unique(joined.entry), [np.zeros(0, np.int64)]
    for rows in calls.passing():
        entry = calls.part("entry", rows)
        several = nesting.carried[entry]
        if len(entries):
            several |= np.isin(entry, entries)
        parts.append(np.flatnonzero(several) + rows.start)
    return np.concatenate(parts)


@lean
def _first_leg(record: np.int64, of: Small, joined: Index, joined_leg: Index) -> np.int64:
    """The first leg that a call stands in, -1 if there is none."""
    if of[record] >= 0:
        return np.int64(of[record])
    low, high = np.int64(0), np.int64(len(joined))
    while low < high:
        middle = (low + high) // 2
        if joined[middle] < record:
            low = middle + 1
        else:
            high = middle
    found = low < len(joined) and joined[low] == record
    return joined_leg[low] if found else np.int64(-1)


@lean
def _move(
    first: int,
    leg: Small,
    entry: Small,
    parent: Small,
    dur: Index,
    irq: Index,
    of: Small,
    around: Small,
    carried: Flags,
    joined: Index,
    joined_leg: Index,
    moved: Index,
) -> None:
    """Of some rows: what their leg counts in one call, though it was directly inside another."""
    for at in range(len(dur)):
        i = np.int64(first + at)
        record, above = np.int64(entry[i]), np.int64(parent[i])
        outer = np.int64(around[record])
        usual = above >= 0 and entry[above] == outer and of[outer] == of[record] == leg[i]
        if dur[at] < 0 or (usual and not carried[record]):
            continue
        once = not carried[record] and _first_leg(record, of, joined, joined_leg) == leg[i]
        took = dur[at] - irq[at]
        if above >= 0:
            moved[above] -= took
        if not once:
            continue
        steps = 0
        while outer >= 0 and steps < 4096:  # the innermost one that stands in a leg
            where = _first_leg(outer, of, joined, joined_leg)
            if where >= 0:
                moved[row_at(where, outer, leg, entry)] += took
                break
            outer, steps = np.int64(around[outer]), steps + 1


@lean
def _share(
    rows: Index,
    leg: Small,
    entry: Small,
    inside: Index,
    of: Small,
    around: Small,
    carried: Flags,
    joined: Index,
    joined_leg: Index,
    moved: Index,
) -> None:
    """Of rows of one call all have what its first row has inside, of whatever packet."""
    for at in range(len(rows)):
        i = rows[at]
        record = np.int64(entry[i])
        if carried[record]:
            record = np.int64(around[record])
        where = _first_leg(record, of, joined, joined_leg) if record >= 0 else np.int64(-1)
        one = row_at(where, record, leg, entry) if where >= 0 else i
        if one != i:
            moved[i] = moved[one] + inside[one] - inside[i]
