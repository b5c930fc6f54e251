# SPDX-License-Identifier: MIT
"""Find the call on whose return an event was recorded: the loop of call_of_event.py."""

from __future__ import annotations

import numpy as np

from ...records.compiled import allocation_free
from ...records.kernel_events import BIRTHS, Trait, flags
from ...records.types import Int32s, Int64s
from ..arrays.pair_map import USED, VALUE, Cells, cell_of, put
from ..arrays.value_numbering import Number, number_of
from ..record_kinds import ENTRY, EVENT

IS_BIRTH, IS_AT_EXIT = flags(Trait.BIRTH), flags(Trait.BIRTH, Trait.LATE)
KINDS = (
    max(BIRTHS) + 1
)  # size of a context's block in the arrays: one element for each kind of birth


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
    """Return the call on whose return an event was recorded; store calls for later events.

    If an ENTRY is from a probe that records an event on return, the call is stored in the arrays.
    For an event, returns three numbers: the ENTRY of the call on whose return the event was
    recorded, or -1; for a birth, the ENTRY of the call that made the skb, or -1; and the time (ns)
    of that entry, or of the record if the call is unknown.

    `probe_event` is the event that the call's probe records on return, 0 if none.  `context` is a
    result of execution_of().  The arrays are the fields of Calls.
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
