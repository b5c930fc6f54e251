# SPDX-License-Identifier: MIT
"""Columns of the records of a .kbl file, one row a head slot.

What a head slot says goes into the columns of RECORD_DTYPE; a CALL's row is that of its entry, with
the return beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import _kbl_layout as kbl
from .kbl_slots import Column, Heads
from .wire import Ints

KIND, FLAG = kbl.KblKind, kbl
BLOCK = 1 << 16  # rows made at once: they stay in the processor's cache
LONG = 0xFFFFFFFF  # dur of a CALL whose EXT slot has it


@dataclass
class Rows:
    """`footprint` numbers the rows of a table of footprints, 0 = none."""

    ts: npt.NDArray[np.int64]
    kind: npt.NDArray[np.uint8]
    event: npt.NDArray[np.uint8]
    flags: npt.NDArray[np.uint8]
    context: npt.NDArray[np.uint8]
    cpu: npt.NDArray[np.uint16]
    func: npt.NDArray[np.int32]
    pid: npt.NDArray[np.int32]
    skb: npt.NDArray[np.int64]
    caller: npt.NDArray[np.int64]
    data: npt.NDArray[np.int64]
    exit_ts: npt.NDArray[np.int64]
    exit_cpu: npt.NDArray[np.int32]
    ret: npt.NDArray[np.int64]
    footprint: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.ts)

    def columns(self) -> dict[str, Column]:
        """All columns by name."""
        return dict(vars(self))

    def events(self, event: int) -> Ints:
        """The rows that are events of this kind."""
        return np.flatnonzero((self.event == event) & (self.kind == KIND.EVENT))


def make_rows(heads: Heads, version: int, stext: int, symbols: Ints) -> Rows:
    """A row for each head slot; of unknown kinds only kind and context."""
    count = len(heads.kind)
    cpu = heads.per_record(heads.cpus().astype(np.uint16))
    made = {"cpu": cpu, "footprint": np.zeros(count, np.int32), "context": heads.context}
    made["ret"] = np.zeros(count, np.int64)
    made["exit_cpu"] = cpu.astype(np.int32)
    for first in range(0, max(count, 1), BLOCK):
        block = _Block(heads, slice(first, first + BLOCK), version)
        for name, values in (block.columns() | {"caller": block.callers(stext, symbols)}).items():
            if not first:
                made[name] = np.empty(count, values.dtype)
            made[name][first : first + BLOCK] = values
    return Rows(**made)


class _Block:
    """Some of the head slots."""

    def __init__(self, heads: Heads, part: slice, version: int) -> None:
        self.kind, self.flags = heads.kind[part], heads.flags[part]
        self._spans, self._calls, self._events = (
            heads.slots[part].view(kbl.in_order(dtype, heads.order))
            for dtype in (kbl.KBL_SPAN_SLOT, kbl.KBL_CALL_SLOT, kbl.KBL_EVENT_SLOT)
        )
        self._is_span = (self.kind == KIND.CALL) & (version > 2)

    def columns(self) -> dict[str, Column]:
        """What the slots say in numbers."""
        kind, flags, events = self.kind, self.flags, self._events
        is_call = (kind == KIND.ENTRY) | (kind == KIND.EXIT)
        is_event, is_lost = kind == KIND.EVENT, kind == KIND.LOST
        sock = (self._is_span | is_call) & ((flags & FLAG.KBL_FLAG_SOCK) != 0)
        skb = events["skb"].astype(np.int64)
        skb[sock | is_lost] = 0
        ident = events["pid"].astype(np.int32)  # LOST: 0xffffffff = none = -1
        func = np.where(self._is_span, self._spans["func"], np.where(is_event, -1, ident))
        pid = np.where(is_call, self._calls["pid"].astype(np.int32), np.where(is_event, ident, -1))
        data = np.where(is_event | is_lost, events["data"].astype(np.int64), -1)
        return {
            "ts": events["ts"].astype(np.int64),
            "exit_ts": self._returns(),
            "kind": kind,
            "event": flags * is_event,
            "flags": flags * ~is_event,
            "func": func.astype(np.int32),
            "pid": pid.astype(np.int32),
            "skb": skb,
            "data": np.where(kind == KIND.EXIT, self._calls["caller"], data),
        }

    def _returns(self) -> Ints:
        """When CALLs returned; -1 of those whose EXT slot tells, and of other records."""
        dur = self._spans["dur"].astype(np.int64)
        return np.where(self._is_span & (dur != LONG), self._spans["ts"].astype(np.int64) + dur, -1)

    def callers(self, stext: int, symbols: Ints) -> Ints:
        """Absolute return addresses, as signed 64 bits; 0 where the file does not tell."""
        base = np.array([stext], np.uint64).astype(np.int64)
        caller = self._spans["caller"].astype(np.int64)
        told = (self._is_span | (self.kind == KIND.ENTRY)) & (
            (self.flags & FLAG.KBL_FLAG_NO_CALLER) == 0
        )
        found = np.where(told, base + caller, 0)
        in_module = np.flatnonzero(told & ((self.flags & FLAG.KBL_FLAG_MODULE_CALLER) != 0))
        number = caller[in_module]
        listed = (number >= 0) & (number < len(symbols))
        found[in_module] = 0
        found[in_module[listed]] = symbols[number[listed]]
        return np.asarray(found, np.int64)
