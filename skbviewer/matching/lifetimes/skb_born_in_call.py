# SPDX-License-Identifier: MIT
"""Find calls that return an skb that was born during the call, in the same execution context.

Other calls return an skb that existed before, for example a reader's function.  Input: the records
of one KBL, read backwards.  Output: one byte for each record.
"""

from __future__ import annotations

import numpy as np

from ...records import Records, scratch_of
from ...records.compiled import allocation_free
from ...records.types import LATEST_NS, Int64s, UInt8s
from ..arrays.pair_map import USED, VALUE, Cells, PairMap, cell_of, has_no_room, put
from ..arrays.record_column_blocks import Rows, record_blocks
from ..arrays.value_numbering import execution_of
from .skb_birth_and_free_flags import BORN, CHILD, GIVEN, INSIDE, Heads, heads, statements_of


def born_inside(records: Records) -> UInt8s:
    """Return INSIDE for each call that returns an skb born in it, and 0 for all other records."""
    what, births = scratch_of(records).take(len(records), np.uint8), PairMap()
    for some in record_blocks(records, backwards=True):
        rows, left = heads(Rows(records, some)), some.stop - some.start
        while left := int(_look_back(rows, left, births.cells, births.used, what[some])):
            births.grow()
    return what


@allocation_free
def _look_back(rows: Heads, left: int, births: Cells, used: Int64s, what: UInt8s) -> int:
    """Go back through the first `left` rows until `births` is full.

    Returns how many rows are left.  `births` maps (skb, context) to the time of the next birth
    after the row.
    """
    ts, exit_ts, kind, event, flags, context, cpu, pid, skb, ret, data = rows
    while left > 0:
        if has_no_room(births, used):
            return left
        left -= 1
        what[left] = 0
        bits, own, child = statements_of(
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
