# SPDX-License-Identifier: MIT
"""Find births, uses and frees of skbs in one pass over all records in time order.

A birth counts from the entry of the function that made the skb, but not before its memory was free.
A birth is listed as moved only if there were other items at the address between this time and its
record.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import KernelLog
from ...records.compiled import allocation_free
from ...records.kernel_events import Trait, flags
from ...records.types import LATEST_NS, Int32s, Int64s, UInt8s
from ..arrays.pair_map import has_no_room
from ..arrays.record_column_blocks import Rows
from ..arrays.value_numbering import IntIndex, Number, execution_of, is_full, number_of
from .call_of_event import Calls, EventOwners
from .call_of_event_loops import owner_of
from .skb_birth_and_free_flags import (
    BORN,
    CHILD,
    CHILD_MOVED,
    FREED,
    GIVEN,
    INSIDE,
    OWN,
    OWN_MOVED,
    Heads,
    heads,
    statements_of,
)

IS_LATE = flags(Trait.LATE)

# Columns by address: the record and the time of the last FREE; the time from which on an item is in
# order; the latest end of a call that returns an skb born in it.
FREED_BY, FREED_NS, LATEST, OPEN_UNTIL = range(4)
FRESH = (-1, 0, -LATEST_NS, -LATEST_NS)

Known = npt.NDArray[np.int64]

MOVED, STRUCK, LATE, CHILDREN, WAITS, LIFE_BITS = range(6)  # indices of Found.sizes


class Found(NamedTuple):
    """The results for a block of records: lists whose lengths are in `sizes`.

    The arrays have room for more elements than the lists have.  `when`, `item`, `place` and
    `is_now` are the columns of Moved (skb_births_and_frees.py).  `struck` are records of a FREE
    during a call that will return an skb at the same address.  `late` are events that are recorded
    when their function returns: by then, the skb may have been freed and its address reused.
    `children` are births of clones: (record, number of the address, ENTRY of the call that made the
    clone, or -1).  `waits` are calls that return an skb that was not born inside the call.
    """

    when: Int64s
    item: Int64s
    place: Int32s
    is_now: UInt8s
    struck: Int32s
    late: Int32s
    children: npt.NDArray[np.int32]
    waits: Int32s
    sizes: Int64s


def _found(count: int) -> Found:
    two, one = np.empty((2, 2 * count), np.int64), np.empty((3, count), np.int32)
    return Found(
        two[0], two[1], np.empty(2 * count, np.int32), np.empty(2 * count, np.uint8),
        one[0], one[1], np.empty((count, 3), np.int32), one[2], np.zeros(6, np.int64),
    )  # fmt: skip


class LifeEventScanner:
    """Finds the items in blocks of records, which are passed to it in time order."""

    def __init__(self, log: KernelLog) -> None:
        self.addresses, self._owners = IntIndex(), EventOwners(log)
        self._known, self._found = np.zeros((0, 4), np.int64), _found(0)
        self._enlarge()

    def scan(self, rows: Rows, what: UInt8s, owner_calls: Int32s, place: Int32s) -> Found:
        """Set the columns of Items (skb_births_and_frees.py) for block `rows`; return new lists.

        The lists are valid until scan() is called again.  The caller must have set the INSIDE bits
        in `what`.
        """
        head, (func, exit_cpu) = heads(rows), rows.columns("func exit_cpu")
        if len(self._found.struck) < len(what):
            self._found = _found(len(what))
        self._found.sizes[:] = done = 0
        while done < len(what):
            self._make_room(int(head.ts[done]))
            done = int(_scan(
                rows.first, done, head, func, exit_cpu, self._owners.calls,
                self.addresses.keys, self.addresses.numbers, self.addresses.used, self._known,
                what, owner_calls, place, self._found,
            ))  # fmt: skip
        return self._found

    def _make_room(self, now: int) -> None:
        self._owners.make_room(now)
        if is_full(self.addresses.keys, self.addresses.used):
            self.addresses.grow()
            self._enlarge()

    def _enlarge(self) -> None:
        known = np.empty((self.addresses.most, len(FRESH)), np.int64)
        known[: len(self._known)], known[len(self._known) :] = self._known, FRESH
        self._known = known


@allocation_free
def _scan(
    first: int,
    begin: int,
    rows: Heads,
    func: Int32s,
    exit_cpu: Int32s,
    calls: Calls,
    keys: Int64s,
    numbers: Int32s,
    used: Int64s,
    known: Known,
    what: UInt8s,
    owner_calls: Int32s,
    place: Int32s,
    found: Found,
) -> int:
    """Scan from row `begin` on; return the row at which a table was full, or the number of rows."""
    # Plain arrays: to take one from a tuple costs as much as the rest.
    ts, exit_ts, kind, event, flags, context, cpu, pid, skb, ret, data = rows
    events, cells, cells_used, context_keys, context_numbers, contexts, makers, entereds = calls
    when, item, moved_place, moved_now, struck, late, children, waits, sizes = found
    for i in range(begin, len(what)):
        if has_no_room(cells, cells_used) or is_full(context_keys, contexts) or is_full(keys, used):
            return i
        record = np.int64(first + i)
        probe_event = np.int64(events[func[i]] if 0 <= func[i] < len(events) else 0)
        owner_call, maker, entered = owner_of(
            record, kind[i], event[i], ts[i], exit_ts[i], cpu[i], exit_cpu[i],
            execution_of(context[i], pid[i], cpu[i]), probe_event, cells, cells_used, context_keys,
            context_numbers, contexts, makers, entereds,
        )  # fmt: skip
        bits, own, child = statements_of(
            kind[i], event[i], flags[i], exit_ts[i], skb[i], ret[i], data[i]
        )
        bits |= np.int64(what[i])
        owner_calls[i], place[i] = owner_call, -1
        if owner_call >= 0 and IS_LATE[event[i]]:
            bits = np.int64(0)
            late[sizes[LATE]] = record
            sizes[LATE] += 1
        if bits & CHILD:
            where = number_of(child, keys, numbers, used)
            _note(record, where, maker, children, sizes)
            begins = _begins(maker, record, entered, where, known)
            if _moves(begins, ts[i], True, where, known):
                bits |= CHILD_MOVED
                _move(2 * record, begins, where, BORN, when, item, moved_place, moved_now, sizes)
        if bits & OWN:
            where, begins = number_of(own, keys, numbers, used), ts[i]
            place[i] = where
            if bits & BORN:
                begins = _begins(maker, record, entered, where, known)
            elif bits & (GIVEN | INSIDE) == GIVEN:
                begins = exit_ts[i]
                waits[sizes[WAITS]] = record
                sizes[WAITS] += 1
            is_birth = bits & (BORN | INSIDE) != 0
            if _moves(begins, ts[i], is_birth, where, known):
                bits |= OWN_MOVED
                state = FREED if bits & FREED else BORN if is_birth else 0
                _move(
                    2 * record + 1, begins, where, state, when, item, moved_place, moved_now, sizes
                )
            _note_end(bits, record, ts[i], exit_ts[i], where, known, struck, sizes)
        sizes[LIFE_BITS] |= bits & (BORN | CHILD | FREED | INSIDE)
        what[i] = bits
    return len(what)


@allocation_free
def _note(
    record: Number, place: Number, maker: Number, children: npt.NDArray[np.int32], sizes: Int64s
) -> None:
    """Add a clone's birth to `children`."""
    at = sizes[CHILDREN]
    children[at, 0], children[at, 1], children[at, 2] = record, place, maker
    sizes[CHILDREN] += 1


@allocation_free
def _begins(
    maker: Number, record: Number, entered: Number, place: Number, known: Known
) -> np.int64:
    """Return the time of a birth: the function's entry, or just after the memory was freed."""
    if known[place, FREED_BY] > (maker if maker >= 0 else record):
        return np.int64(max(entered, known[place, FREED_NS] + 1))
    return np.int64(entered)


@allocation_free
def _moves(when: Number, ts: Number, is_birth: bool, place: Number, known: Known) -> bool:
    """Return whether an item needs a row in Moved: its time or an earlier item's time differs."""
    stays = when >= known[place, LATEST] and when <= ts and (is_birth or when == ts)
    known[place, LATEST] = max(known[place, LATEST], when)
    return not stays


@allocation_free
def _move(
    moved: Number,
    then: Number,
    where: Number,
    state: Number,
    when: Int64s,
    item: Int64s,
    place: Int32s,
    is_now: UInt8s,
    sizes: Int64s,
) -> None:
    at = sizes[MOVED]
    when[at], item[at], place[at], is_now[at] = then, moved, where, state
    sizes[MOVED] += 1


@allocation_free
def _note_end(
    bits: Number,
    record: Number,
    ts: Number,
    exit_ts: Number,
    place: Number,
    known: Known,
    struck: Int32s,
    sizes: Int64s,
) -> None:
    """Store when calls that return a new skb end, and which record frees an skb at what time."""
    if bits & INSIDE:
        known[place, OPEN_UNTIL] = max(known[place, OPEN_UNTIL], exit_ts)
    if bits & FREED:
        known[place, FREED_BY], known[place, FREED_NS] = record, ts
        if ts <= known[place, OPEN_UNTIL]:
            struck[sizes[STRUCK]] = record
            sizes[STRUCK] += 1
            known[place, LATEST] = max(known[place, LATEST], ts + 1)
