# SPDX-License-Identifier: MIT
"""What a record says by itself of its skb's life, for compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.compiled import allocation_free
from ...records.types import Int32s, Int64s, UInt8s
from ..arrays.int_index import Number
from ..arrays.record_rows import Rows
from ..record_kinds import ENTRY, EVENT, SKB_IS_RET

ALLOC, CLONE, COPY, SEGMENT, FREE = 1, 2, 3, 4, 5  # kbl.h enum kbl_event
ABOUT_OTHERS = (8, 20, 34)  # TASK, XMIT, FOOTPRINT: no events of a life
IS_ABOUT_OTHERS = np.zeros(256, np.bool_)
IS_ABOUT_OTHERS[list(ABOUT_OTHERS)] = True

OWN, CHILD, BORN, FREED, GIVEN, OWN_MOVED, CHILD_MOVED, INSIDE = (1 << n for n in range(8))


class Heads(NamedTuple):
    """Columns of some records."""

    ts: Int64s
    exit_ts: Int64s
    kind: UInt8s
    event: UInt8s
    flags: UInt8s
    context: UInt8s
    cpu: Int32s
    pid: Int64s
    skb: Int64s
    ret: Int64s
    data: Int64s


def heads(rows: Rows) -> Heads:
    """Return these columns of `rows`."""
    return Heads(*rows.columns(" ".join(Heads._fields)))


@allocation_free
def said(
    kind: Number,
    event: Number,
    flags: Number,
    exit_ts: Number,
    skb: Number,
    ret: Number,
    data: Number,
) -> tuple[np.int64, np.int64, np.int64]:
    """The bits of a record (see life_events.py), and the skbs of its own and of a clone, 0 = none.

    OWN, CHILD, BORN, FREED or GIVEN.
    """
    bits, mine, other = np.int64(0), np.int64(skb), np.int64(0)
    if kind == ENTRY:
        if mine == 0 and exit_ts >= 0 and flags & SKB_IS_RET and ret != 0:
            bits, mine = np.int64(GIVEN), np.int64(ret)
    elif kind == EVENT:
        if IS_ABOUT_OTHERS[event]:
            mine = np.int64(0)
        elif event == ALLOC:
            bits = np.int64(BORN)
        elif event == FREE:
            bits = np.int64(FREED)
        elif CLONE <= event <= SEGMENT:
            bits, other = np.int64(CHILD if data != 0 else 0), np.int64(data)
    return bits | (OWN if mine != 0 else 0), mine, other
