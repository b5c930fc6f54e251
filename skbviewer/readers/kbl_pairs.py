# SPDX-License-Identifier: MIT
"""Makes one row of an ENTRY and an EXIT that are told apart.

Version 2 tells all calls so, version 3 those beyond as many as it can hold open at once.  In: rows
in any order, whose ordinals are in file order, of which one stream is one CPU's.  Out: entries that
know of their return; exits whose entry is not in the file stay rows of their own.  A call lives in
one execution context, in which calls of one function nest properly, so counting levels pairs them.
"""

from __future__ import annotations

import numpy as np

from ..records.contexts import execution
from ..records.order import time_order
from . import _kbl_layout as kbl
from .kbl_rows import Rows
from .wire import Ints, Mask

ENTRY, EXIT = kbl.KblKind.ENTRY, kbl.KblKind.EXIT


def join_pairs(rows: Rows) -> Mask:
    """Give entries their returns; which rows are left: not the exits that are told by them."""
    left = np.ones(len(rows.ts), np.bool_)
    if not (rows.kind == EXIT).any():
        return left
    entry, leave = _pairs(rows)
    rows.exit_ts[entry] = rows.ts[leave]
    rows.exit_cpu[entry] = np.where(rows.ts[leave] >= 0, rows.cpu[leave].astype(np.int32), -1)
    returned = rows.flags[leave] & np.uint8(kbl.KBL_FLAG_SKB_IS_RET)
    rows.flags[entry] |= returned
    rows.ret[entry] = np.where(returned != 0, rows.skb[leave], rows.data[leave])
    left[leave] = False
    return left


def _pairs(rows: Rows) -> tuple[Ints, Ints]:
    """(entry, exit) of the rows that belong together."""
    index = np.flatnonzero((rows.kind == ENTRY) | (rows.kind == EXIT))
    index = index[np.argsort(rows.ordinal[index])]
    kind = rows.kind[index]
    open_ = (rows.flags[index] & kbl.KBL_FLAG_OPEN) != 0
    index = index[((kind == ENTRY) & ~open_ & (rows.exit_ts[index] < 0)) | (kind == EXIT)]
    index = index[np.argsort(rows.cpu[index], kind="stable")]  # of one time by CPU, as written
    index = index[time_order(rows.ts[index])]
    is_entry = rows.kind[index] == ENTRY
    where = execution(rows.context[index], rows.pid[index], rows.cpu[index])
    order = np.lexsort((rows.func[index], where))
    index, where, is_entry = index[order], where[order], is_entry[order]
    func = rows.func[index]
    new = np.r_[True, (where[1:] != where[:-1]) | (func[1:] != func[:-1])][: len(index)]
    group = np.cumsum(new) - 1
    step = np.where(is_entry, 1, -1)
    running = np.cumsum(step)
    level = running - (running - step)[new][group] + ~is_entry
    by_level = np.lexsort((level, group))
    a, b = by_level[:-1], by_level[1:]
    match = (group[a] == group[b]) & (level[a] == level[b]) & is_entry[a] & ~is_entry[b]
    entry, leave = index[a[match]], index[b[match]]
    # An exit tells the skb of its entry: with another one, records between them were lost.
    same = (rows.skb[entry] == rows.skb[leave]) | (
        (rows.flags[leave] & kbl.KBL_FLAG_SKB_IS_RET) != 0
    )
    return entry[same], leave[same]
