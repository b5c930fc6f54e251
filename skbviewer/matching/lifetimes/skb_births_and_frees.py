# SPDX-License-Identifier: MIT
"""List what records state about skbs: births, uses and frees (the items).

An item is what a record states about one skb at one time.  Most records have one item; a record of
a clone's birth has two.  Input: the records of one KBL in time order.  Output: bits for each
record, the items whose time differs from their record's time, and for each event the call on whose
return it was recorded.

There are three reasons why an item has a different time than its record.  A birth is recorded when
the function that made the skb returns, but the skb exists from that function's entry on.  A
function that reads from a queue gets its skb only when it returns.  A CPU may get memory while
another CPU is still freeing it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import KernelLog, Records, part, scratch_of
from ...records.types import Int32s, Int64s, UInt8s
from ..arrays.array_blocks import blocks
from ..arrays.record_column_blocks import Rows, record_blocks
from .skb_arrival_in_function import RecordTimes
from .skb_birth_and_free_flags import BORN, INSIDE, OWN_MOVED
from .skb_births_and_frees_loops import (
    CHILDREN,
    LATE,
    LIFE_BITS,
    MOVED,
    STRUCK,
    WAITS,
    Found,
    LifeEventScanner,
)
from .skb_born_in_call import born_inside


class Moved(NamedTuple):
    """Items whose time differs from their record's time, or that follow such an item.

    The rows are sorted by `when` (ns) and `item`.  `item` is 2 x record, plus 1 if the item is
    about the skb of the record rather than about a clone.  `place` is the number of the address;
    `is_now` is the skb's state after the item: BORN, FREED or 0.
    """

    when: Int64s
    item: Int64s
    place: Int32s
    is_now: UInt8s


class Items(NamedTuple):
    """The items of all records.

    By record: `what` has the bits of its items; `owner_calls` is the ENTRY of the call on whose
    return it was recorded, or -1; `place` is the number of the address of its skb (below
    `addresses`), or -1 if it has no item.

    The bits of `what`: OWN: there is an item about the skb of the record.  GIVEN: the call returned
    this skb.  BORN, FREED: the skb was born or freed.  CHILD: there is an item about the birth of a
    clone, which precedes the other item.  OWN_MOVED, CHILD_MOVED: the item has its own time, and is
    in `moved`.

    `late` are events that were recorded so late that the skb may have changed: they belong to the
    lifetime of the call on whose return they were recorded.  `children` has a row for each clone:
    (record, number of the address, ENTRY of the call that made the clone, or -1).  `met` is the
    time at which each record's function had the skb.  `has_life_events` is True if there is any
    birth or free in the log.
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
    """Return what each record of `log` states about skbs: births, frees and clones."""
    records, scratch = log.records, scratch_of(log.records)
    what, scanner, lists, has_life_events = (
        born_inside(records),
        LifeEventScanner(log),
        _Lists(),
        False,
    )
    owner_calls, place = (scratch.take(len(records), np.int32) for _ in range(2))
    for some in record_blocks(records):
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
    """Collects the scanner's results, block by block."""

    def __init__(self) -> None:
        none = np.zeros(0, np.int32)
        self.struck, self.late, self.waits = [none], [none], [none]
        self.children, self.moved = [np.zeros((0, 3), np.int32)], list[Moved]()

    def add(self, found: Found) -> None:
        """Append copies of the lists in `found`, which the scanner reuses."""
        sizes = found.sizes
        self.struck.append(found.struck[: sizes[STRUCK]].copy())
        self.late.append(found.late[: sizes[LATE]].copy())
        self.waits.append(found.waits[: sizes[WAITS]].copy())
        self.children.append(found.children[: sizes[CHILDREN]].copy())
        size = sizes[MOVED]
        columns = found.when, found.item, found.place, found.is_now
        self.moved.append(Moved._make(column[:size].copy() for column in columns))


def _without(moved: Moved, later: Moved) -> Moved:
    """Return `moved` without the items that are in `later`, too."""
    left = ~np.isin(moved.item, later.item)
    return Moved._make(column[left] for column in moved)


def _sorted(parts: list[Moved]) -> Moved:
    every = Moved._make(np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((every.item, every.when))
    return Moved._make(column[order] for column in every)


def _freed_meanwhile(
    records: Records, what: UInt8s, scanner: LifeEventScanner, free: Int32s
) -> Moved:
    """Return calls that return an skb in memory that another CPU freed after the call's entry.

    The birth of such an skb is moved to just after the free of its memory.  Sets OWN_MOVED of the
    records of these calls in `what`.
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
    address = scanner.addresses.numbers_of(np.ascontiguousarray(part(records, "ret", given)))
    return Moved(when, 2 * given + 1, address, np.full(len(given), BORN, np.uint8))
