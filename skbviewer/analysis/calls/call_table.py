# SPDX-License-Identifier: MIT
"""The calls of a KBL, column by column; columns that the records have are not stored again.

Input: records, and the rows of the records that are calls.  Output: columns of CALL_DTYPE, complete
or in blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ...matching import record_blocks
from ...records import Gathered, Records, Scratch, narrow, part, parts, scratch_of
from ...records.compiled import Int, allocation_free
from ...records.types import Int32s, Int64s
from .self_times import Between

CALL_DTYPE = np.dtype(
    [
        ("leg", "<i8"),
        ("entry", "<i8"),  # index of the ENTRY record
        ("func", "<i4"),
        ("caller", "<i8"),
        ("entry_ns", "<i8"),
        ("exit_ns", "<i8"),  # -1: no exit recorded
        ("dur_ns", "<i8"),  # -1: unknown
        ("self_ns", "<i8"),  # self time (docs/times.md); -1: unknown
        ("off_ns", "<i8"),  # time during the call in which its thread was switched out
        ("comp_ns", "<i8"),  # dur_ns minus the cost of probes; -1: unknown
        ("comp_err_ns", "<i8"),  # possible error of comp_ns by the calibration; -1: unknown
        ("irq_ns", "<i8"),  # time of interrupts during the call
        ("marks", "u1"),  # interruptions.MARK_*
        ("counter", "<i8"),  # events of the hardware counter; -1: unknown
        ("depth", "<i4"),
        ("parent", "<i8"),  # row of the enclosing call, -1 = none
        ("cpu", "<i4"),
        ("context", "u1"),
        ("flags", "u1"),
        ("pid", "<i8"),
        ("skb", "<i8"),
        ("netns", "<i8"),
        ("ifindex", "<i8"),
        ("sk", "<i8"),
        ("mark", "<i8"),
        (
            "carried",
            "<i8",
        ),  # n of the n-th further packet of a list | unrecorded ones << 32; -1: first
        ("drop_reason", "<i4"),  # kernel's enum skb_drop_reason, -1: not dropped here
    ]
)

SKB_IS_RET = 0x10  # kbl.h KBL_FLAG_SKB_IS_RET
WIDE = 8  # bytes of a number that may fit in a narrower type


Numbers = npt.NDArray[np.integer]
Column = npt.NDArray[Any]
Rows = slice | Int64s

_OF_ENTRY = {"carried": "data", "entry_ns": "ts", "exit_ns": "exit_ts", "counter": "counter"}
_OF_ENTRY |= {name: name for name in ("func", "caller", "cpu", "context", "flags", "pid")}
_OF_ENTRY |= {name: name for name in ("netns", "ifindex", "sk", "mark")}


class CallTable:
    """A table like an array of CALL_DTYPE; columns that were set are stored in narrow types."""

    dtype = CALL_DTYPE
    between: Between | None = None  # interrupts and switches from which its times were computed

    def __init__(self, records: Records, of: Int32s, leg: Int32s, entry: Int32s):
        """Make a table with a row for each call; `leg` and `entry` are its leg and ENTRY record.

        `of` is the leg of each record of `records`.
        """
        self.records, self._of = records, of
        self._set: dict[str, Column] = {}
        self["leg"], self["entry"] = leg, entry

    def __len__(self) -> int:
        return len(self._set["entry"])

    def __setitem__(self, name: str, values: Column) -> None:
        self._set[name] = self.scratch.keep(narrow(values) if values.itemsize == WIDE else values)

    def __getitem__(self, key: Any) -> Any:
        """Return a column if `key` is its name, otherwise the rows that `key` selects."""
        if isinstance(key, str):
            return self.part(key, slice(None))
        if isinstance(key, (int, np.integer)):
            return self[np.array([key])][0]
        names = CALL_DTYPE.names or ()
        made = np.empty(len(self._set["entry"][key]), CALL_DTYPE)
        for name in names:
            made[name] = self.part(name, key)
        return made

    def stored(self, name: str) -> Column:
        """Return the column `name`, which was set before, in its narrow type."""
        return self._set[name]

    def part(self, name: str, rows: Rows) -> Column:
        """Return column `name` at `rows`, in its type in CALL_DTYPE."""
        if name in self._set:
            return self._set[name][rows].astype(CALL_DTYPE[name], copy=False)
        entry = self._set["entry"][rows].astype(np.int64)
        if name in _OF_ENTRY:
            return self._recorded(_OF_ENTRY[name], entry).astype(CALL_DTYPE[name], copy=False)
        if name == "skb":
            return self._skb(entry, self._recorded("skb", entry))
        if name != "dur_ns":
            raise KeyError(name)
        ends = self._recorded("exit_ts", entry)
        return np.where(ends >= 0, ends - self._recorded("ts", entry), -1)

    def columns(self, rows: slice) -> dict[str, Column]:
        """Return the columns at `rows` in narrow types; the ENTRY's `ordinal` replaces `entry`."""
        entry = self._set["entry"][rows].astype(np.int64)
        names = {name: recorded for name, recorded in _OF_ENTRY.items() if name not in self._set}
        recorded = parts(self.records, {*names.values(), "skb", "flags", "ordinal"}, entry)
        made = {name: column[rows] for name, column in self._set.items() if name != "entry"}
        made |= {name: recorded[column] for name, column in names.items()}
        return made | {"skb": self._skb(entry, recorded["skb"]), "ordinal": recorded["ordinal"]}

    def by_parts(self, make: Callable[[slice], Column]) -> Column:
        """Return a column of values in a narrow type; `make` computes them for slices of rows."""
        made = Gathered(self.scratch, np.int8)
        for rows in self.passing():
            made.add(narrow(make(rows)))
        return made.whole()

    @property
    def scratch(self) -> Scratch:
        """Return the Scratch of the records, which also stores arrays made from them."""
        return scratch_of(self.records)

    def passing(self, backwards: bool = False) -> Iterator[slice]:
        """Yield slices of rows that cover the whole table; if `backwards`, the last slice first.

        When the next slice is yielded, the memory of the slice before is released.
        """
        return record_blocks(self.records, len(self), backwards)

    def _skb(self, entry: Int64s, skb: Column) -> Column:
        """Return the skb that was passed to each call, otherwise the skb that the call returned."""
        gives = np.flatnonzero((skb == 0) & (self._of[entry] >= 0))
        gives = gives[(self._recorded("flags", entry[gives]) & SKB_IS_RET) != 0]
        if len(gives):
            skb = skb.copy()
            skb[gives] = self._recorded("ret", entry[gives])
        return skb

    def _recorded(self, name: str, item: Int64s) -> Column:
        return part(self.records, name, item)


@allocation_free
def row_at(in_leg: Int, record: Int, leg: Int32s, entry: Int32s) -> np.int64:
    """Return the first row of the leg `in_leg` whose ENTRY is at or after `record`.

    The columns `leg` and `entry` must be sorted, first by leg, then by entry.
    """
    low, high = np.int64(0), np.int64(len(leg))
    while low < high:
        middle = (low + high) // 2
        if leg[middle] < in_leg or (leg[middle] == in_leg and entry[middle] < record):
            low = middle + 1
        else:
            high = middle
    return low
