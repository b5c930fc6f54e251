# SPDX-License-Identifier: MIT
"""Columns of the records of a .kbl file, one row a head slot, and further rows behind them.

What a head slot says goes into the columns of RECORD_DTYPE; a CALL's row is that of its entry.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import _kbl_layout as kbl
from .kbl_slots import Column, Heads, Slots
from .wire import Ints, Mask

KIND, FLAG = kbl.KblKind, kbl


@dataclass
class Rows:
    """`footprint` numbers the rows of a table of footprints, 0 = none."""

    ts: npt.NDArray[np.int64]
    kind: npt.NDArray[np.uint8]
    event: npt.NDArray[np.uint8]
    flags: npt.NDArray[np.uint8]
    context: npt.NDArray[np.uint8]
    cpu: npt.NDArray[np.int32]
    func: npt.NDArray[np.int32]
    pid: npt.NDArray[np.int64]
    skb: npt.NDArray[np.int64]
    caller: npt.NDArray[np.int64]
    data: npt.NDArray[np.int64]
    footprint: npt.NDArray[np.int32]
    ordinal: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.ts)

    def columns(self) -> dict[str, Column]:
        """All columns by name."""
        return dict(vars(self))

    def events(self, event: int) -> Ints:
        """The rows that are events of this kind."""
        return np.flatnonzero((self.event == event) & (self.kind == KIND.EVENT))

    def extended(self, of: Ints, **values: Column | int) -> Rows:
        """With copies of the rows `of` behind, in which some columns have other values."""
        made = {}
        for name, column in vars(self).items():
            size = len(column)
            grown = np.empty(size + len(of), column.dtype)
            grown[:size] = column
            grown[size:] = values[name] if name in values else column[of]
            made[name] = grown
        return Rows(**made)


def make_rows(heads: Heads, version: int, stext: int, symbols: Ints) -> Rows:
    """A row for each head slot; of unknown kinds only kind and context."""
    kind = heads.kind
    is_span = (kind == KIND.CALL) & (version > 2)
    is_call = (kind == KIND.ENTRY) | (kind == KIND.EXIT)
    is_event, is_lost = kind == KIND.EVENT, kind == KIND.LOST
    spans, calls = heads.view(kbl.KBL_SPAN_SLOT), heads.view(kbl.KBL_CALL_SLOT)
    events = heads.view(kbl.KBL_EVENT_SLOT)
    carries = is_span | is_call
    sock = carries & ((heads.flags & FLAG.KBL_FLAG_SOCK) != 0)
    skb = events["skb"].astype(np.int64)
    skb[sock | is_lost] = 0
    ident = events["pid"].astype(np.int64)  # LOST: 0xffffffff = none = -1
    func = np.where(is_span, spans["func"], np.where(is_event, -1, ident)).astype(np.int32)
    pid = np.where(is_event, ident, -1)
    leaves = np.flatnonzero(is_call)
    pid[leaves] = calls["pid"][leaves]
    data = np.where(is_event | is_lost, events["data"].astype(np.int64), -1)
    exits = np.flatnonzero(kind == KIND.EXIT)
    data[exits] = calls["caller"][exits]
    return Rows(
        ts=events["ts"].astype(np.int64),
        kind=kind.copy(),
        event=np.where(is_event, heads.flags, 0).astype(np.uint8),
        flags=np.where(is_event, 0, heads.flags).astype(np.uint8),
        context=heads.context,
        cpu=heads.per_record(heads.cpus()).astype(np.int32),
        func=func,
        pid=pid,
        skb=skb,
        caller=_callers(heads, calls, is_span | (kind == KIND.ENTRY), stext, symbols),
        data=data,
        footprint=np.zeros(len(kind), np.int32),
        ordinal=np.arange(len(kind), dtype=np.int32),
    )


def _callers(heads: Heads, slots: Slots, mask: Mask, stext: int, symbols: Ints) -> Ints:
    """Absolute return addresses, as signed 64 bits; 0 where the file does not tell."""
    base = np.array([stext], np.uint64).astype(np.int64)
    caller = slots["caller"].astype(np.int64)
    found = np.where(mask & ((heads.flags & FLAG.KBL_FLAG_NO_CALLER) == 0), base + caller, 0)
    in_module = np.flatnonzero((found != 0) & ((heads.flags & FLAG.KBL_FLAG_MODULE_CALLER) != 0))
    number = caller[in_module]
    listed = (number >= 0) & (number < len(symbols))
    found[in_module] = 0
    found[in_module[listed]] = symbols[number[listed]]
    return np.asarray(found, np.int64)
