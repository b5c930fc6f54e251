# SPDX-License-Identifier: MIT
"""Summarise the calls and events of each leg: which thread it belongs to, why it was dropped.

Input: calls sorted by leg and time, and events in order of time.  Output: columns of table `leg`.
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
    """Return the thread of each of `legs` legs: that of its first call in task context.

    The thread is -1 if the leg has no call in task context.  A thread that was interrupted does not
    count, because it only happened to be running.
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
    """Return the reason of the first drop in each of `legs` legs; -1 = not dropped.

    Reasons are numbers of the kernel's enum skb_drop_reason.
    """
    reason = np.full(legs, -1, np.int64)
    drops = np.flatnonzero(events["event"] == DROP)[::-1]
    drops = drops[events["leg"][drops] >= 0]
    data = part(records, "data", events["record"][drops])
    reason[events["leg"][drops]] = data & 0xFFFFFFFF  # the first drop is written last
    return reason
