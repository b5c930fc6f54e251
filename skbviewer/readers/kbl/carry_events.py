# SPDX-License-Identifier: MIT
"""Turn CARRY events into calls: each adds a further packet to the call that it names."""

from __future__ import annotations

import numpy as np

from ...records import counted, verb
from ...records import kbl_layout as kbl
from .record_column_loops import Rows
from .record_order import Order

OWN = kbl.KBL_FLAG_SKB_IS_RET | kbl.KBL_FLAG_SOCK | kbl.KBL_FLAG_NULL_SKB
OF_CALL = ("func", "caller", "context", "pid", "exit_ts", "exit_cpu", "ret")


def complete_calls(rows: Rows, order: Order, complaints: list[str]) -> None:
    """Turn CARRY events into entries with the function, times and thread of their call.

    `order` has the positions in `rows` of the events and of their calls.  If calls are missing, a
    text about it is appended to `complaints`.
    """
    named = order.call >= 0
    if not named.all():
        lost = int(np.count_nonzero(~named))
        events = f"{counted(lost, 'CARRY event')} {verb(lost, 'names', 'name')}"
        complaints.append(f"{events} a call that was lost")
    carry, call = order.carry[named], order.call[named]
    for name in OF_CALL:
        column = getattr(rows, name)
        column[carry] = column[call]
    open_ = np.where(rows.exit_ts[call] >= 0, 0, kbl.KBL_FLAG_OPEN)  # an open call's are open, too
    rows.flags[carry] = rows.flags[call] & ~np.uint8(OWN) | open_.astype(np.uint8)
    rows.kind[carry], rows.event[carry] = kbl.KblKind.ENTRY, 0
