# SPDX-License-Identifier: MIT
"""A CARRY becomes a further call with the same entry and return, for the further packet."""

from __future__ import annotations

import numpy as np

from . import _kbl_layout as kbl
from .kbl_order import Order
from .kbl_rows import Rows

OWN = kbl.KBL_FLAG_SKB_IS_RET | kbl.KBL_FLAG_SOCK | kbl.KBL_FLAG_NULL_SKB
OF_CALL = ("func", "caller", "context", "pid", "exit_ts", "exit_cpu", "ret")


def complete_calls(rows: Rows, order: Order, complaints: list[str]) -> None:
    """Make CARRY events entries of the call they name."""
    named = order.call >= 0
    if not named.all():
        complaints.append(f"{np.count_nonzero(~named)} CARRY events name no call: it was lost")
    carry, call = order.carry[named], order.call[named]
    for name in OF_CALL:
        column = getattr(rows, name)
        column[carry] = column[call]
    open_ = np.where(rows.exit_ts[call] >= 0, 0, kbl.KBL_FLAG_OPEN)  # without an end, so are they
    rows.flags[carry] = rows.flags[call] & ~np.uint8(OWN) | open_.astype(np.uint8)
    rows.kind[carry], rows.event[carry] = kbl.KblKind.ENTRY, 0
