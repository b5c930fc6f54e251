# SPDX-License-Identifier: MIT
"""Find the births, uses and frees of skbs in all records: the items.

An item is one statement of a record about one skb at a time.  A record has one item, or two if it
is a clone's birth.  Input: records of one KBL in time order.  Output: bits for each record, the
items whose time differs from their record's, and the call that recorded each event.

The time of an item can differ from its record's for three reasons.  A birth is recorded when the
function that returns the skb returns, but the skb exists from that function's entry on.  A reader's
function waits for the skb that it returns.  One CPU may get memory while another CPU is still
freeing it.
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
    """Items whose time differs from their record's, or that follow such an item.

    The rows are sorted by `when` (ns) and `item`.  `item` is 2 x record, plus 1 if the item
    concerns the record's own skb rather than a clone.  `place` is the number of the address;
    `is_now` is the state after the item: BORN, FREED or 0.
    """

    when: Int64s
    item: Int64s
    place: Int32s
    is_now: UInt8s


class Items(NamedTuple):
    """The items of all records.

    By record: `what` holds the bits of its items; `owner_calls` is the ENTRY of the call that
    recorded it, or -1; `place` is the number of its own skb's address (less than `addresses`), or
    -1 without an item.

    The bits: OWN: there is an item for the record's own skb.  GIVEN: the call returned that skb.
    BORN, FREED: it was born or freed.  CHILD: there is an item for a clone's birth, which comes
    first.  OWN_MOVED, CHILD_MOVED: the item has a time of its own and is in `moved`.

    `late` are events that were recorded too late to be sure of the skb: they belong to the lifetime
    of the call that recorded them.  `children` are the clones: (record, number of the address,
    ENTRY of the call that made it or -1).  `met` is when each record's function had the skb.
    `has_life_events` is True if there is any birth or free.
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
        """Append copies of the lists; the scanner reuses its own."""
        sizes = found.sizes
        self.struck.append(found.struck[: sizes[STRUCK]].copy())
        self.late.append(found.late[: sizes[LATE]].copy())
        self.waits.append(found.waits[: sizes[WAITS]].copy())
        self.children.append(found.children[: sizes[CHILDREN]].copy())
        size = sizes[MOVED]
        columns = found.when, found.item, found.place, found.is_now
        self.moved.append(Moved._make(column[:size].copy() for column in columns))


def _without(moved: Moved, later: Moved) -> Moved:
    """Return `moved` without the items that `later` has too, so that each item occurs once."""
    left = ~np.isin(moved.item, later.item)
    return Moved._make(column[left] for column in moved)


def _sorted(parts: list[Moved]) -> Moved:
    every = Moved._make(np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((every.item, every.when))
    return Moved._make(column[order] for column in every)


def _freed_meanwhile(
    records: Records, what: UInt8s, scanner: LifeEventScanner, free: Int32s
) -> Moved:
    """Return calls whose returned skb lies in memory that another CPU freed after their entry.

    Their births are moved to just after that free.  Sets OWN_MOVED in `what`.
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
