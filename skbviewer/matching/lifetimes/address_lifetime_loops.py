# SPDX-License-Identifier: MIT
"""Assign records to the lifetimes of skbs at their addresses: loops of address_lifetimes.py."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records.compiled import allocation_free
from ...records.types import LATEST_NS, Int32s, Int64s, UInt8s
from ..arrays.value_numbering import Number
from .skb_birth_and_free_flags import BORN, CHILD, CHILD_MOVED, FREED, INSIDE, OWN, OWN_MOVED
from .skb_births_and_frees import Moved


@allocation_free
def assign_items(
    first: int,
    ts: Int64s,
    what: UInt8s,
    identity: Int32s,
    is_last: bool,
    moved: Moved,
    children: npt.NDArray[np.int32],
    life: Int32s,
    was: UInt8s,
    shown: Int32s,
    of: Int32s,
    birth: Int32s,
    counts: Int64s,
) -> None:
    """Assign the items of a block of records to the lifetimes of skbs at their addresses.

    The block begins at record `first`; `ts` and `what` are its records' times and bits (see Items).
    Items in `moved` are assigned at their own time; with `is_last`, all remaining items are
    assigned.  By record: `of` holds the number of the address at first, and the number of the
    lifetime at the end.  By lifetime: `birth` gets the record of a clone's birth.  By address:
    `life`, `was` and `shown` are the lifetime, the state and the identity of its last item.  A new
    lifetime begins at an address if there was none before, at the first of several successive
    births, and after the last of several successive frees.  If `identity` (by record, 0 if unknown)
    is not empty, a new lifetime also begins where the identity changes.

    `counts` holds the number of lifetimes, of assigned items in `moved`, and of `children` that
    were passed.
    """
    when, item, moved_place, moved_now = moved
    for i in range(len(ts) + is_last):
        now, bits = (ts[i], np.int64(what[i])) if i < len(ts) else (LATEST_NS, np.int64(OWN))
        for mine in range(2):
            if bits & (OWN if mine else CHILD) == 0:
                continue
            counts[2] += 1 - mine
            if bits & (OWN_MOVED if mine else CHILD_MOVED) != 0:
                continue
            this, at = np.int64(2 * (first + i) + mine), counts[1]
            while at < len(when) and (when[at] < now or (when[at] == now and item[at] < this)):
                is_now, place = np.int64(moved_now[at]), np.int64(moved_place[at])
                _put(item[at], place, is_now, identity, life, was, shown, of, birth, counts)
                at += 1
            counts[1] = at
            if i == len(ts):
                break
            if mine:
                place = np.int64(of[first + i])
                is_now = np.int64(FREED if bits & FREED else BORN if bits & (BORN | INSIDE) else 0)
            else:
                is_now, place = np.int64(BORN), np.int64(children[counts[2] - 1, 1])
            _put(this, place, is_now, identity, life, was, shown, of, birth, counts)


@allocation_free
def _put(
    item: Number,
    place: Number,
    is_now: Number,
    identity: Int32s,
    life: Int32s,
    was: UInt8s,
    shown: Int32s,
    of: Int32s,
    birth: Int32s,
    counts: Int64s,
) -> None:
    """Assign one item to the lifetime at its address; the item may begin a new lifetime."""
    begins = life[place] < 0 or (is_now == BORN and was[place] != BORN)
    begins = begins or (was[place] == FREED and is_now != FREED)
    if len(identity) and identity[item >> 1] != 0:
        begins = begins or (shown[place] != 0 and shown[place] != identity[item >> 1])
        shown[place] = identity[item >> 1]
    if begins:
        life[place] = counts[0]
        counts[0] += 1
    was[place] = is_now
    if item & 1:
        of[item >> 1] = life[place]
    else:
        birth[life[place]] = item >> 1
