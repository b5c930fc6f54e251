# SPDX-License-Identifier: MIT
"""Completes version 3's whole calls: returns that the head slot does not hold, further packets.

In: one row a head slot, CALLs filled as entries that know of their return.  A CARRY becomes a
further call with the same entry and return, for the further packet.
"""

from __future__ import annotations

import numpy as np

from . import _kbl_layout as kbl
from .kbl_rows import Rows
from .kbl_slots import Heads, complain
from .wire import Ints

KIND, EVENT, FLAG = kbl.KblKind, kbl.KblEvent, kbl


def complete_calls(rows: Rows, heads: Heads, complaints: list[str]) -> None:
    """Make entries of CALLs and CARRY events."""
    owner, further = heads.of_type(kbl.KblExtType.CALL, kbl.KBL_EXT_CALL)
    mine = rows.kind[owner] == KIND.CALL
    owner, further = owner[mine], further[mine]
    rows.ret[owner] = further["ret"]
    told = rows.exit_ts[owner] < 0  # the slot has no room for so long a time
    rows.exit_ts[owner[told]] = rows.ts[owner[told]] + further["dur"][told].astype(np.int64)
    rows.kind[rows.kind == KIND.CALL] = KIND.ENTRY
    _carried(rows, complaints)


def _carried(rows: Rows, complaints: list[str]) -> None:
    """Make CARRY events entries of the call they name."""
    carry = rows.events(EVENT.CARRY)
    if not len(carry):
        return
    call = _named(rows, carry, np.flatnonzero(rows.kind == KIND.ENTRY))
    complain(complaints, call < 0, "CARRY events name no call: it was lost")
    carry, call = carry[call >= 0], call[call >= 0]
    for name in ("func", "caller", "context", "pid", "exit_ts", "exit_cpu", "ret"):
        column = getattr(rows, name)
        column[carry] = column[call]
    own = FLAG.KBL_FLAG_SKB_IS_RET | FLAG.KBL_FLAG_SOCK | FLAG.KBL_FLAG_NULL_SKB
    open_ = np.where(rows.exit_ts[call] >= 0, 0, FLAG.KBL_FLAG_OPEN)  # without an end, so are they
    rows.flags[carry] = rows.flags[call] & ~np.uint8(own) | open_.astype(np.uint8)
    rows.kind[carry], rows.event[carry] = KIND.ENTRY, 0


def _named(rows: Rows, carry: Ints, calls: Ints) -> Ints:
    """For each CARRY the entry at its time on its CPU, -1 = none."""
    if not len(calls):
        return np.full(len(carry), -1, np.int64)
    cpus = int(rows.cpu.max()) + 1
    start = int(min(rows.ts[carry].min(), rows.ts[calls].min()))
    key = (rows.ts[calls] - start) * cpus + rows.cpu[calls]
    order = np.argsort(key)
    wanted = (rows.ts[carry] - start) * cpus + rows.cpu[carry]
    found = np.minimum(np.searchsorted(key[order], wanted), len(calls) - 1)
    call = calls[order[found]]
    return np.where(key[order[found]] == wanted, call, -1)
