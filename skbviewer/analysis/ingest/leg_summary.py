# SPDX-License-Identifier: MIT
"""Summarize a leg's calls and events: which thread it belongs to, and why it was dropped.

Input: CALL_DTYPE rows by leg and time, events by time.  Output: columns of table `leg`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...matching import whole
from ...records import ColumnTable, Records, part
from ...records.compiled import compiled
from ...records.kernel_events import DROP
from ...records.types import Int32s, UInt8s
from ..calls.call_table import CallTable

TASK = 0  # context
Column = npt.NDArray[np.int64]


def owners(calls: CallTable, legs: int) -> Column:
    """Return for each of `legs` legs the thread of its first call in task context, -1 = none.

    The thread during an interrupt does not count, because it just happened to be running.
    """
    owner = np.full(legs, -1, np.int64)
    context, pid = whole(calls.records, "context", "u1"), whole(calls.records, "pid", "i4")
    leg, entry = calls.stored("leg"), calls.stored("entry")
    for rows in calls.passing():
        _own(leg[rows], entry[rows], context, pid, owner)
    return owner


@compiled
def _own(leg: Int32s, entry: Int32s, context: UInt8s, pid: Int32s, owner: Column) -> None:
    for i in range(len(leg)):
        at = entry[i]
        if owner[leg[i]] < 0 and context[at] == TASK and pid[at] > 0:
            owner[leg[i]] = pid[at]


def drop_reasons(records: Records, events: ColumnTable, legs: int) -> Column:
    """Return for each of `legs` legs the reason of its first drop, -1 = not dropped.

    Reasons are those of the kernel's enum skb_drop_reason.
    """
    reason = np.full(legs, -1, np.int64)
    drops = np.flatnonzero(events["event"] == DROP)[::-1]
    drops = drops[events["leg"][drops] >= 0]
    data = part(records, "data", events["record"][drops])
    reason[events["leg"][drops]] = data & 0xFFFFFFFF  # the first drop is written last
    return reason
