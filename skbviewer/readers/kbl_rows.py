# SPDX-License-Identifier: MIT
"""Columns of the records of a .kbl file, one row a head slot.

What a head slot says goes into the columns of RECORD_DTYPE; a CALL's row is that of its entry, with
the return beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from . import _kbl_layout as kbl
from .kbl_footprints import Prints
from .kbl_slots import CONTEXT as CONTEXT_AT
from .kbl_slots import FLAGS, KIND, Block, Column, SlotReader, Slots
from .wire import Ints, Mask

FLAG = kbl
# As plain numbers: numpy takes members of an enum for 64 bits wide.
ENTRY, EXIT, EVENT, LOST, CALL = (
    int(kbl.KblKind[name]) for name in ("ENTRY", "EXIT", "EVENT", "LOST", "CALL")
)
LONG = 0xFFFFFFFF  # dur of a CALL whose EXT slot has it


@dataclass
class Rows:
    """`footprint` numbers the rows of a table of footprints, 0 = none.

    `cpu` is that of a CALL's entry, `exit_cpu` the one whose stream has the record.
    """

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
        return np.flatnonzero((self.event == event) & (self.kind == EVENT))


TYPES = {
    name: np.dtype(getattr(np, width))
    for width, names in {
        "int64": ("ts", "skb", "caller", "data", "exit_ts"),
        "int32": ("func", "pid", "exit_cpu", "footprint"),
        "uint16": ("cpu",),
        "uint8": ("kind", "event", "flags", "context"),
    }.items()
    for name in names
}


class Beside(NamedTuple):
    """What few head slots tell and no column has; rows are sorted."""

    lost: Ints  # rows that are LOST, and when their gaps began
    begin: Ints
    given: Ints  # calls that were given a sock, and which
    sock: Ints


class Told(NamedTuple):
    """What the file tells to make sense of callers, and how old it is."""

    order: str
    version: int
    stext: int
    symbols: Ints


def read_rows(reader: SlotReader, told: Told, prints: Prints) -> tuple[Rows, Beside]:
    """A row for each head slot; of unknown kinds only kind and context.

    Footprints go to `prints`; `footprint` is filled where a row tells one.
    """
    made = {name: np.empty(reader.most, dtype) for name, dtype in TYPES.items()}
    beside = [_NOTHING]
    count = 0
    for block in reader.blocks():
        count = block.first + len(block.slots)
        part = {name: column[block.first : count] for name, column in made.items()}
        few = _Filler(block, told).fill(part)
        beside.append(few)
        part["footprint"][:] = prints.add(block, few.given - block.first, few.sock)
    made = {name: column[:count] for name, column in made.items()}
    made["ret"] = np.zeros(count, np.int64)
    return Rows(**made), Beside(*(np.concatenate(column) for column in zip(*beside, strict=True)))


_NOTHING = Beside(*np.zeros((4, 0), np.int64))


class _Filler:
    """Some of the head slots."""

    def __init__(self, block: Block, told: Told) -> None:
        self._block, self._told = block, told
        self._bytes = block.slots.view(np.uint8).reshape(-1, kbl.KBL_SLOT_SIZE)
        self._kind, self._flags = (np.ascontiguousarray(self._bytes[:, n]) for n in (KIND, FLAGS))
        self._spans, self._calls, self._events = (
            self._as(dtype) for dtype in (kbl.KBL_SPAN_SLOT, kbl.KBL_CALL_SLOT, kbl.KBL_EVENT_SLOT)
        )
        self._is_span = self._kind == CALL
        if told.version == 2:
            self._is_span[:] = False

    def _as(self, dtype: np.dtype[np.void]) -> Slots:
        return self._block.slots.view(kbl.in_order(dtype, self._told.order))

    def fill(self, out: dict[str, Column]) -> Beside:
        """Write the columns of these rows."""
        is_event = self._kind == EVENT
        out["kind"][:], out["context"][:] = self._kind, self._bytes[:, CONTEXT_AT]
        out["ts"][:] = self._events["ts"]
        out["skb"][:] = self._events["skb"]
        np.multiply(self._flags, is_event, out=out["event"])
        np.multiply(self._flags, ~is_event, out=out["flags"])
        out["exit_cpu"][:] = self._block.cpu
        out["cpu"][:] = np.where(self._is_span, self._spans["entry_cpu"], self._block.cpu)
        out["exit_ts"][:] = self._returns(out["ts"])
        out["func"][:] = np.where(self._is_span, self._spans["func"].astype(np.int32), -1)
        out["pid"][:] = np.where(is_event, self._events["pid"].astype(np.int32), -1)
        out["data"][:] = np.where(is_event, self._events["data"].astype(np.int64), -1)
        out["caller"][:] = self._callers()
        others = ~(self._is_span | is_event)
        lost = self._fill_others(out, np.flatnonzero(others)) if others.any() else _NOTHING.lost
        given = self._given()
        sock = self._events["skb"][given].astype(np.int64)
        out["skb"][given] = 0
        first = self._block.first
        begin = self._as(kbl.KBL_LOST_SLOT)["first_ns"][lost].astype(np.int64)
        return Beside(lost + first, begin, given + first, sock)

    def _fill_others(self, out: dict[str, Column], rows: Ints) -> Ints:
        """Entries, exits, losses and what is unknown; returns which are losses."""
        kind, calls, events = self._kind[rows], self._calls[rows], self._events[rows]
        is_call, is_lost = (kind == ENTRY) | (kind == EXIT), kind == LOST
        out["func"][rows] = events["pid"].astype(np.int32)  # LOST: 0xffffffff = none = -1
        out["pid"][rows] = np.where(is_call, calls["pid"].astype(np.int32), -1)
        data = np.where(is_lost, events["data"].astype(np.int64), -1)
        out["data"][rows] = np.where(kind == EXIT, calls["caller"], data)
        lost: Ints = rows[is_lost]
        out["skb"][lost] = 0
        return lost

    def _given(self) -> Ints:
        """Calls that were given a sock where others have an skb."""
        given = np.flatnonzero((self._flags & FLAG.KBL_FLAG_SOCK) != 0)
        kind = self._kind[given]
        is_call = self._is_span[given] | (kind == ENTRY) | (kind == EXIT)
        return np.asarray(given[is_call], np.int64)

    def _returns(self, ts: Ints) -> Ints:
        """When CALLs returned; -1 of those whose EXT slot tells, and of other records."""
        dur = self._spans["dur"]
        return np.asarray(np.where(self._is_span & (dur != LONG), ts + dur, -1), np.int64)

    def _callers(self) -> Ints:
        """Absolute return addresses, as signed 64 bits; 0 where the file does not tell."""
        base = np.array([self._told.stext], np.uint64).astype(np.int64)
        caller, symbols = self._spans["caller"].astype(np.int64), self._told.symbols
        told: Mask = self._is_span | (self._kind == ENTRY)
        told &= (self._flags & FLAG.KBL_FLAG_NO_CALLER) == 0
        found = np.where(told, base + caller, 0)
        in_module = np.flatnonzero(told & ((self._flags & FLAG.KBL_FLAG_MODULE_CALLER) != 0))
        if len(in_module):
            number = caller[in_module]
            listed = (number >= 0) & (number < len(symbols))
            found[in_module] = 0
            found[in_module[listed]] = symbols[number[listed]]
        return np.asarray(found, np.int64)
