# SPDX-License-Identifier: MIT
"""Read what a single record states about the birth and the end of an skb, as bits.

These functions run in compiled loops.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.compiled import allocation_free
from ...records.kernel_events import Trait, flags
from ...records.types import Int32s, Int64s, UInt8s
from ..arrays.record_column_blocks import Rows
from ..arrays.value_numbering import Number
from ..record_kinds import ENTRY, EVENT, SKB_IS_RET

IS_ASIDE, IS_BIRTH, IS_CHILD = flags(Trait.ASIDE), flags(Trait.BIRTH), flags(Trait.CHILD)
IS_FREE = flags(Trait.FREE)

OWN, CHILD, BORN, FREED, GIVEN, OWN_MOVED, CHILD_MOVED, INSIDE = (1 << n for n in range(8))


class Heads(NamedTuple):
    """Columns of a block of records that statements_of() needs, and the records' contexts."""

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
    """Return the columns of `rows` that statements_of() needs."""
    return Heads(*rows.columns(" ".join(Heads._fields)))


@allocation_free
def statements_of(
    kind: Number,
    event: Number,
    flags: Number,
    exit_ts: Number,
    skb: Number,
    ret: Number,
    data: Number,
) -> tuple[np.int64, np.int64, np.int64]:
    """Return what a record states about an skb: bits, the skb's address, and a new clone's address.

    The arguments are the record's columns.  The bits are OWN, CHILD, BORN, FREED and GIVEN
    (skb_births_and_frees.py explains them).  The address 0 means that there is none.
    """
    bits, mine, other = np.int64(0), np.int64(skb), np.int64(0)
    if kind == ENTRY:
        if mine == 0 and exit_ts >= 0 and flags & SKB_IS_RET and ret != 0:
            bits, mine = np.int64(GIVEN), np.int64(ret)
    elif kind == EVENT:
        if IS_ASIDE[event]:
            mine = np.int64(0)
        elif IS_CHILD[event]:
            bits, other = np.int64(CHILD if data != 0 else 0), np.int64(data)
        elif IS_BIRTH[event]:
            bits = np.int64(BORN)
        elif IS_FREE[event]:
            bits = np.int64(FREED)
    return bits | (OWN if mine != 0 else 0), mine, other
