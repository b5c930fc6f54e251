# SPDX-License-Identifier: MIT
"""Choose the row that counts for a call that several packets share."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...records.types import Bools, Int64s
from ...store import Columns
from ...store.whole_columns import Array

SOCK = 0x80  # kbl.h KBL_FLAG_SOCK


class ChosenCalls(Protocol):
    """The parts of a Scope that counted_rows() needs."""

    columns: Columns

    @property
    def call_count(self) -> int: ...

    @property
    def leg_of_call(self) -> Int64s: ...

    def narrow(self, column: str) -> Array: ...

    def of_call(self, column: str) -> Int64s: ...

    def sources_of(self, legs: Int64s) -> Int64s: ...


def counted_rows(scope: ChosenCalls) -> Bools:
    """Return for each row of a chosen call whether the call counts in this row.

    A call counts in the first of its rows that does not represent a further packet of a list.
    """
    keep = np.ones(scope.call_count, np.bool_)
    highest = {name: scope.columns.bounds("call", name)[1] for name in ("flags", "carried")}
    if highest["flags"] < SOCK and highest["carried"] < 0:
        return keep
    several = (scope.narrow("skb") == 0) & _of_sockets(scope)
    carried = scope.narrow("carried")
    several |= carried >= 0
    if not several.any():
        return keep
    entry = scope.of_call("entry_ns")
    rows = np.flatnonzero(np.isin(entry, entry[several]))
    names = ("func", "cpu", "pid")
    keys = [scope.sources_of(scope.leg_of_call[rows]), entry[rows]]
    keys += [scope.of_call(name)[rows] for name in names]
    order = np.lexsort([carried[rows] >= 0, *keys])
    same = np.all([key[order][1:] == key[order][:-1] for key in keys], axis=0)
    keep[rows[order[1:][same]]] = False
    return keep


def _of_sockets(scope: ChosenCalls) -> Bools:
    flags = scope.narrow("flags")
    wide = flags.astype(np.int16) if flags.itemsize == 1 else flags
    return np.asarray(wide & SOCK != 0)
