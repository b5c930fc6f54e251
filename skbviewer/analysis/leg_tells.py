# SPDX-License-Identifier: MIT
"""What a leg's calls and events tell of the whole leg: whose it is, and why it ended early.

In: CALL_DTYPE rows by leg and time, EVENT_DTYPE rows by time.  Out: columns of table `leg`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..records import Records, part
from .call_table import CallTable

TASK = 0  # records' context
DROP = 7  # kbl.h KBL_EV_DROP
Column = npt.NDArray[np.int64]


def owners(calls: CallTable, legs: int) -> Column:
    """Per leg the thread of its first call in a task's context, -1 = none.

    What runs in an interrupt runs on any thread's account: that thread is not told.
    """
    pid = np.full(legs, -1, np.int64)
    for rows in calls.passing(backwards=True):
        thread, leg = calls.part("pid", rows), calls.part("leg", rows)
        inside = np.flatnonzero((calls.part("context", rows) == TASK) & (thread > 0))[::-1]
        pid[leg[inside]] = thread[inside]  # the earliest is written last
    return pid


def drop_reasons(records: Records, events: npt.NDArray[np.void], legs: int) -> Column:
    """Per leg the kernel's enum skb_drop_reason of its first drop, -1 = not dropped."""
    reason = np.full(legs, -1, np.int64)
    drops = np.flatnonzero((events["event"] == DROP) & (events["leg"] >= 0))[::-1]
    data = part(records, "data", events["record"][drops])
    reason[events["leg"][drops]] = data & 0xFFFFFFFF
    return reason
