# SPDX-License-Identifier: MIT
"""Follow the use of skb addresses, record by record, in loops for open_ended_legs.py."""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free
from ...records.kernel_events import ALLOC, CONSUME, DROP, FREE, START_XMIT, Trait, flags
from ...records.types import EARLIEST_NS, LATEST_NS, Bools, Int32s, Int64s, UInt8s

ENTRY, EVENT = 1, 4  # kbl.h enum kbl_kind
# Events that are recorded when a function returns: by then the skb may belong to another lifetime.
# After the first two, the content is in another skb, and this one's memory may be freed silently.
IS_LATE, IS_MERGED, IS_CHILD = flags(Trait.LATE), flags(Trait.MERGED), flags(Trait.CHILD)

# How far a loss may be from a lifetime's start or end to explain it, if most lifetimes of this kind
# (sending, receiving, forwarding) have no recorded begin or end either.  No packet rests longer.
REACH_NS = 1_000_000_000
CLOSE_NS = 1_000_000  # longest time after a record until the next one of the same work

# State of an address: the leg that has it; time and kind of its last record; OVER (see below);
# whether a clone's birth there was recorded, and from which address.  For a leg without a recorded
# birth: the time of the last record before it, and the time since which the leg has the address.
LEG, LAST, BY, OVER, BORN, MADE_AT, BEFORE, SINCE, FIELDS = range(9)
FRESH = (-1, EARLIEST_NS, 0, 0, 0, -1, EARLIEST_NS, -1)
BEGIN, END = 0, 4  # the first bit of:
UNSEEN, MET, NEAR, CLOSE = 1, 2, 4, 8  # no record of it; a loss in between; near; close
KINDS, EVENTS = 3, 256
MOVED, GONE = 1, 2  # OVER: later records belong to another leg; the skb was freed


@allocation_free
def follow_addresses(
    ts: Int64s,
    kind: UInt8s,
    event: UInt8s,
    func: Int32s,
    of: Int32s,
    own: Int32s,
    made: Int32s,
    state: Int64s,
    series: Int64s,
    is_first: Bools,
    kinds: UInt8s,
    parent: Int64s,
    begins: Int64s,
    ends: Int64s,
    bits: UInt8s,
    begun: Int32s,
    by: Int32s,
    seen: Int64s,
    quiet: Int64s,
) -> None:
    """Follow the lifetimes at each skb address through a block of records, in order of time.

    `ts`, `kind`, `event` and `func` are columns of the records, and `of` is the leg of each.
    Addresses of skbs are numbered: `own` is the number for the record's skb, and `made` the number
    for the clone that the record makes.  `state` has a row of FIELDS for each address.  Each leg
    has a lifetime (`series`) and a kind (`kinds`); `is_first` marks the first leg of a lifetime.
    `parent` has an element for each lifetime.  `begins` and `ends` are the times of losses (ns).
    The last five arrays are described at open_ended_legs._Found; this function fills them.
    """
    for i in range(len(ts)):
        leg, at = np.int64(of[i]), np.int64(own[i])
        if leg < 0 or at < 0:
            continue
        what, one = np.int64(event[i] if kind[i] == EVENT else 0), state[at]
        if kind[i] == ENTRY and 0 <= func[i] < len(quiet) - EVENTS:
            what = np.int64(EVENTS + func[i])
        if IS_LATE[what if what < EVENTS else 0]:
            if one[LEG] == leg and IS_MERGED[what]:
                one[OVER] = MOVED
            continue
        if one[LEG] != leg:
            low, has_begun = one[LAST], not is_first[leg]
            if one[LEG] >= 0:
                has_begun = has_begun or series[one[LEG]] == series[leg]
                kin = _are_kin(series[one[LEG]], series[leg], parent)
                _leave(one, kin, ts[i], begins, ends, bits, by, quiet)
            one[LEG], one[OVER], one[BEFORE], one[SINCE] = leg, 0, low, -1
            if one[BORN]:
                seen[0, kinds[leg]] += 1
            else:
                one[SINCE], one[MADE_AT] = -1 if has_begun else ts[i], -1
                begun[leg] = what
            one[BORN] = 0
        if what == ALLOC and one[SINCE] >= 0:
            one[SINCE] = -1
            seen[0, kinds[leg]] += 1
        gone = what == FREE or what == CONSUME or what == DROP  # only the last reference counts
        seen[1, kinds[leg]] += gone and one[OVER] != GONE
        one[OVER] = GONE if gone or one[OVER] == GONE else 0
        one[LAST], one[BY] = ts[i], what
        if what == START_XMIT and one[MADE_AT] >= 0:
            source = state[one[MADE_AT]]  # TCP's original: what it sends next is another series
            if source[LEG] >= 0 and series[source[LEG]] == series[leg]:
                source[OVER] = max(source[OVER], MOVED)
        if made[i] >= 0:
            child = state[made[i]]
            child[MADE_AT] = at
            if child[LEG] >= 0 and _are_kin(series[child[LEG]], series[leg], parent):
                seen[0, kinds[child[LEG]]] += child[SINCE] >= 0  # seen before its birth's record
                child[SINCE] = -1
            else:
                child[BORN] = 1


@allocation_free
def _are_kin(one: Int, other: Int, parent: Int64s) -> bool:
    """Return whether two lifetimes are equal, parent and clone, or clones of the same parent."""
    kin = one == other or parent[one] == other or parent[other] == one
    return bool(kin or (parent[one] == parent[other] and parent[one] >= 0))


@allocation_free
def _leave(
    one: Int64s,
    kin: bool,
    now: Int,
    begins: Int64s,
    ends: Int64s,
    bits: UInt8s,
    by: Int32s,
    quiet: Int64s,
) -> None:
    """Process a leg that stopped using its skb address at the time `now` (ns) at the latest.

    `kin` says that the next leg at the address is related to this leg.
    """
    if one[SINCE] >= 0:
        _note(one[LEG], BEGIN, one[BEFORE], one[SINCE], begins, ends, bits)
    if one[OVER] == 0 and not kin:
        _note(one[LEG], END, one[LAST], now, begins, ends, bits)
        by[one[LEG]] = one[BY]
        if now < LATEST_NS and not _meets(one[LAST], now, begins, ends):
            quiet[one[BY]] += 1


@allocation_free
def end_addresses(
    state: Int64s,
    begins: Int64s,
    ends: Int64s,
    bits: UInt8s,
    begun: Int32s,
    by: Int32s,
    seen: Int64s,
    quiet: Int64s,
) -> None:
    """Process the legs that still use their addresses at the end of the log.

    The arrays are described at follow_addresses().
    """
    for i in range(len(state)):
        if state[i, LEG] >= 0:
            _leave(state[i], False, np.int64(LATEST_NS), begins, ends, bits, by, quiet)


@allocation_free
def _note(
    leg: Int, side: int, low: Int, high: Int, begins: Int64s, ends: Int64s, bits: UInt8s
) -> None:
    """Set bits[leg]: whether losses are near the leg's missing birth or end (`side`).

    The birth or end was at some time from `low` to `high` (ns).
    """
    found = UNSEEN
    if _meets(low, high, begins, ends):
        found |= MET
        near, close = max(low, high - REACH_NS), high
        if side == END:
            near, high = low, min(high, low + REACH_NS)
            close = min(high, low + CLOSE_NS)
        if _meets(near, high, begins, ends):
            found |= NEAR
        if _meets(low, close, begins, ends):
            found |= CLOSE
    bits[leg] |= np.uint8(found << side)


@allocation_free
def _meets(low: Int, high: Int, begins: Int64s, ends: Int64s) -> bool:
    """Return whether records were lost between two times (ns); Spans.meet() does it for arrays."""
    first, last = np.int64(0), np.int64(len(begins))
    while first < last:  # count the losses that began by then
        middle = (first + last) // 2
        if begins[middle] <= high:
            first = middle + 1
        else:
            last = middle
    return bool(first > 0 and ends[first - 1] >= low)
