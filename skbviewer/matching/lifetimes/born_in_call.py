# SPDX-License-Identifier: MIT
"""Calls that return an skb that was born in them, in the same context, not just found.

In: records of one KBL in time order, looked at backwards.  Out: a byte for each.
"""

from __future__ import annotations

import numpy as np

from ...records import Records, scratch_of
from ...records.compiled import allocation_free
from ...records.types import LATEST_NS, Int64s, UInt8s
from ..arrays.int_index import execution_of
from ..arrays.pair_map import USED, VALUE, Cells, PairMap, cell_of, has_no_room, put
from ..arrays.record_rows import Rows, passing
from .life_flags import BORN, CHILD, GIVEN, INSIDE, Heads, heads, said


def born_inside(records: Records) -> UInt8s:
    """INSIDE for such calls, 0 for other records."""
    what, births = scratch_of(records).take(len(records), np.uint8), PairMap()
    for some in passing(records, backwards=True):
        rows, left = heads(Rows(records, some)), some.stop - some.start
        while left := int(_look_back(rows, left, births.cells, births.used, what[some])):
            births.grow()
    return what


@allocation_free
def _look_back(rows: Heads, left: int, births: Cells, used: Int64s, what: UInt8s) -> int:
    """Look at the first `left` rows from the last on; returns how many are left.

    Those for which there is no room.  `births` has the time of the next birth of each
    (skb, context).
    """
    ts, exit_ts, kind, event, flags, context, cpu, pid, skb, ret, data = rows
    while left > 0:
        if has_no_room(births, used):
            return left
        left -= 1
        what[left] = 0
        bits, own, child = said(
            kind[left], event[left], flags[left], exit_ts[left], skb[left], ret[left], data[left]
        )
        if bits & (GIVEN | BORN | CHILD) == 0:
            continue
        born = child if bits & CHILD else own
        where = execution_of(context[left], pid[left], cpu[left])
        at = cell_of(born, where, births)
        if bits & GIVEN == 0:
            put(at, born, where, ts[left], births, used)
        elif (births[at, VALUE] if births[at, USED] else LATEST_NS) <= exit_ts[left]:
            what[left] = INSIDE
    return left
