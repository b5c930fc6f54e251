# SPDX-License-Identifier: MIT
"""What each record says of an skb's lifetime, and when: an item, or two for a clone's birth.

In: records of one KBL in time order.  Out: bits for each record, the items that stand at another
time than their record, and the call that recorded each event.  A birth is recorded when the
function that returns the skb returns, but the skb exists from its entry on.  A reader's function
waits for the skb that it returns.  One CPU may get memory while another CPU is still freeing it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import KernelLog, Records, part, scratch_of
from ...records.types import Int32s, Int64s, UInt8s
from ..arrays.array_blocks import blocks
from ..arrays.record_rows import Rows, passing
from .born_in_call import born_inside
from .life_flags import BORN, INSIDE, OWN_MOVED
from .life_loops import CHILDREN, LATE, LIFE_BITS, MOVED, STRUCK, WAITS, Found, LifeEventScanner
from .skb_held_from import RecordTimes


class Moved(NamedTuple):
    """Items that stand at another time than their record, or behind one that does.

    Sorted by `when` (ns) and `item`: 2 x record, + 1 if it is of the record's own skb.  `place`
    numbers the address; `is_now` is BORN, FREED or 0.
    """

    when: Int64s
    item: Int64s
    place: Int32s
    is_now: UInt8s


class Items(NamedTuple):
    """`what`: bits of each record's items; `owner_calls`: the ENTRY of the call it is from, or -1.

    OWN is an item of the record's own skb, which its call returned if GIVEN; CHILD the birth of a
    clone, before it; BORN, FREED, OWN_MOVED and CHILD_MOVED are said of them.  `place` numbers the
    address of the own skb, -1 without an item, below `addresses`.  `late` are events
    recorded too late to be sure of the skb: they belong to the lifetime of the call that recorded
    them.  `children` are clones: (record, number of the address, the call it was inside or -1).
    `has_life_events`: whether there is any birth or free.
    """

    what: UInt8s
    owner_calls: Int32s
    place: Int32s
    moved: Moved
    addresses: int
    late: Int32s
    children: npt.NDArray[np.int32]
    met: RecordTimes
    has_life_events: bool


def items(log: KernelLog) -> Items:
    """The items of all records."""
    records, scratch = log.records, scratch_of(log.records)
    what, scanner, lists, has_life_events = (
        born_inside(records),
        LifeEventScanner(log),
        _Lists(),
        False,
    )
    owner_calls, place = (scratch.take(len(records), np.int32) for _ in range(2))
    for some in passing(records):
        rows = Rows(records, some)
        found = scanner.scan(rows, what[some], owner_calls[some], place[some])
        lists.add(found)
        has_life_events |= bool(found.sizes[LIFE_BITS])
    meanwhile = _freed_meanwhile(records, what, scanner, np.concatenate(lists.struck))
    waits = np.concatenate(lists.waits)
    return Items(
        what,
        owner_calls,
        place,
        _sorted([*(_without(each, meanwhile) for each in lists.moved), meanwhile]),
        scanner.addresses.count,
        np.concatenate(lists.late),
        np.concatenate(lists.children),
        RecordTimes(records, waits, part(records, "exit_ts", waits)),
        has_life_events,
    )


class _Lists:
    """What was found, block by block."""

    def __init__(self) -> None:
        none = np.zeros(0, np.int32)
        self.struck, self.late, self.waits = [none], [none], [none]
        self.children, self.moved = [np.zeros((0, 3), np.int32)], list[Moved]()

    def add(self, found: Found) -> None:
        """Keep copies of the lists."""
        sizes = found.sizes
        self.struck.append(found.struck[: sizes[STRUCK]].copy())
        self.late.append(found.late[: sizes[LATE]].copy())
        self.waits.append(found.waits[: sizes[WAITS]].copy())
        self.children.append(found.children[: sizes[CHILDREN]].copy())
        size = sizes[MOVED]
        columns = found.when, found.item, found.place, found.is_now
        self.moved.append(Moved._make(column[:size].copy() for column in columns))


def _without(moved: Moved, later: Moved) -> Moved:
    """Items that do not come later after all: each is there once."""
    left = ~np.isin(moved.item, later.item)
    return Moved._make(column[left] for column in moved)


def _sorted(parts: list[Moved]) -> Moved:
    every = Moved._make(np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((every.item, every.when))
    return Moved._make(column[order] for column in every)


def _freed_meanwhile(
    records: Records, what: UInt8s, scanner: LifeEventScanner, free: Int32s
) -> Moved:
    """Calls that return an skb whose memory another CPU frees after they are entered: later then.

    Sets OWN_MOVED.
    """
    if not len(free):
        none = np.zeros(0, np.int64)
        return Moved(none, none, free, free.astype(np.uint8))
    parts = [np.flatnonzero(what[some] & INSIDE) + some.start for some in blocks(len(what))]
    given = np.concatenate(parts)
    given = given[np.isin(part(records, "ret", given), part(records, "skb", free))]
    skbs = np.concatenate([part(records, "skb", free), part(records, "ret", given)])
    rank = np.unique(skbs, return_inverse=True)[1].reshape(-1) * (len(free) + 1)
    place, mine = rank[: len(free)] + np.arange(len(free)), rank[len(free) :]
    order = np.argsort(place, kind="stable")
    ts = part(records, "ts", free)
    until = np.searchsorted(ts, part(records, "exit_ts", given), "right")
    last = order[np.maximum(np.searchsorted(place[order], mine + until) - 1, 0)]
    since = (place[last] >= mine) & (place[last] < mine + until) & (free[last] > given)
    given, when = given[since], ts[last[since]] + 1
    what[given] |= OWN_MOVED
    address = scanner.addresses.of(np.ascontiguousarray(part(records, "ret", given)))
    return Moved(when, 2 * given + 1, address, np.full(len(given), BORN, np.uint8))
