# SPDX-License-Identifier: MIT
"""Find the call that recorded an event when it returned, and the function that made a new skb.

In: records of a KBL, one by one.  Out: the ENTRY of the call for each event, or -1.  The event has
the time and CPU of the return, and is the one that the function's probe records.  By then the skb
may be freed or in another thread's hands, so only the call shows to which life the event belongs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records import KernelLog
from ...records.compiled import allocation_free
from ...records.kernel_events import AT_EXIT, BIRTHS, Trait, flags
from ...records.types import Int32s, Int64s, UInt8s
from ..arrays.int_index import IntIndex, Number, is_full, longer, number_of
from ..arrays.pair_map import USED, VALUE, Cells, PairMap, cell_of, has_no_room, put
from ..record_kinds import ENTRY, EVENT, by_probe

IS_BIRTH, IS_AT_EXIT = flags(Trait.BIRTH), flags(Trait.BIRTH, Trait.LATE)
KINDS = max(BIRTHS) + 1  # each context has so many places, one for each kind of birth


class Calls(NamedTuple):
    """What is known about the calls up to a record.

    `cells` maps (exit_ts, exit_cpu and event) to the call, as long as it may still be open.  For
    each context (`keys`, `numbers`) and kind of birth, `maker` is the call entered last that
    records such a birth, or -1, and `entered` is the time of its entry.  `events` are by probe.
    """

    events: UInt8s
    cells: Cells
    used: Int64s
    keys: Int64s
    numbers: Int32s
    contexts: Int64s
    maker: Int32s
    entered: Int64s


class EventOwners:
    """Owns the tables of owner_of(); read `calls` again after make_room()."""

    def __init__(self, log: KernelLog) -> None:
        self._events = by_probe({p.id: p.event for p in log.probes.values() if p.event in AT_EXIT})
        self._contexts, self._pairs = IntIndex(), PairMap()
        self._maker, self._entered = np.zeros(0, np.int32), np.zeros(0, np.int64)
        self._enlarge()

    @property
    def calls(self) -> Calls:
        """The tables as arrays, for owner_of()."""
        pairs, contexts = self._pairs, self._contexts
        return Calls(
            self._events, pairs.cells, pairs.used, contexts.keys, contexts.numbers, contexts.used,
            self._maker, self._entered,
        )  # fmt: skip

    def make_room(self, now: int) -> None:
        """Enlarge tables that are nearly full; forget calls that ended before `now`."""
        if is_full(self._contexts.keys, self._contexts.used):
            self._contexts.grow()
            self._enlarge()
        if has_no_room(self._pairs.cells, self._pairs.used):
            self._pairs.grow(now)

    def _enlarge(self) -> None:
        self._maker = longer(self._maker, KINDS * self._contexts.most, -1)
        self._entered = longer(self._entered, KINDS * self._contexts.most, 0)


@allocation_free
def owner_of(
    record: Number,
    kind: Number,
    event: Number,
    ts: Number,
    exit_ts: Number,
    cpu: Number,
    exit_cpu: Number,
    context: Number,
    probe_event: Number,
    cells: Cells,
    used: Int64s,
    keys: Int64s,
    numbers: Int32s,
    contexts: Int64s,
    makers: Int32s,
    entereds: Int64s,
) -> tuple[np.int64, np.int64, np.int64]:
    """Return the ENTRY of the call that wrote this record; for a birth also its maker and its time.

    The three numbers are the call or -1, the maker or -1, and the time at which the maker was
    entered (if unknown: the record's time).  `probe_event` is the event that the call's probe
    records, 0 if none.  `context` is a result of execution_of().  The arrays are those of Calls.
    """
    by, maker, entered = np.int64(-1), np.int64(-1), np.int64(ts)
    if kind == ENTRY and probe_event != 0:
        which = (np.int64(exit_cpu) << 8) | np.int64(probe_event)
        at = cell_of(exit_ts, which, cells)
        if exit_ts >= 0 and cells[at, USED] == 0:  # the first packet of a list
            put(at, exit_ts, which, record, cells, used)
        if IS_BIRTH[probe_event]:
            place = KINDS * number_of(context, keys, numbers, contexts) + np.int64(probe_event)
            makers[place], entereds[place] = record, ts
    elif kind == EVENT and IS_AT_EXIT[event]:
        at = cell_of(ts, (np.int64(cpu) << 8) | np.int64(event), cells)
        by = cells[at, VALUE] if cells[at, USED] else by
        if IS_BIRTH[event]:
            place = KINDS * number_of(context, keys, numbers, contexts) + np.int64(event)
            if makers[place] >= 0:
                maker, entered = np.int64(makers[place]), entereds[place]
            if by >= 0 and maker != by:  # after a gap the thread may be unknown
                maker, entered = by, np.int64(ts)
    return by, maker, entered
