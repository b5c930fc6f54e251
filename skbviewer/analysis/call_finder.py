# SPDX-License-Identifier: MIT
"""Which call of a leg is around a record, when calls of other packets may lie between.

In: what encloses what, legs, calls by (leg, entry).  Out: rows of calls.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..matching import LegTable, Nesting
from .call_table import CallTable

Index = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.integer]


class Finder:
    """Looks calls up by their leg and ENTRY.

    An ENTRY is a call of its own leg, of those it was joined to by its socket, and, if it was given
    a list, of the legs of the list's further packets, whose own entries stand for it.
    """

    def __init__(self, nesting: Nesting, legs: LegTable, calls: CallTable) -> None:
        self._nesting, self._of = nesting, legs.of
        self._rows = len(calls)
        self._row = calls.room.full(len(legs.of), np.int32, -1)
        self._several = calls.room.full(len(legs.of), np.bool_, 0)
        self._span = np.int64(len(legs.of) + 1)
        keys, others = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for rows in calls.passing():
            leg, entry = calls.part("leg", rows), calls.part("entry", rows)
            own = legs.of[entry] == leg
            self._row[entry[own]] = np.flatnonzero(own) + rows.start
            other = np.flatnonzero(~own | nesting.carried[entry])
            leg, entry = leg[other], entry[other]
            stands_for = np.where(own[other], nesting.parent[entry], entry)
            self._several[stands_for[stands_for >= 0]] = True
            keys.append(leg * self._span + stands_for)
            others.append(other + rows.start)
        key = np.concatenate(keys)
        order = np.argsort(key, kind="stable")
        self._key, self._others = key[order], np.concatenate(others)[order]

    def at(self, leg: Index, entry: Numbers) -> Index:
        """The row of the call of `leg` that each of the records `entry` is, -1 where none."""
        row = np.where(self._of[entry] == leg, self._row[entry], np.int32(-1)).astype(np.int64)
        return np.where(row < 0, self._last(leg, entry, np.full(len(leg), self._rows)), row)

    def around(self, leg: Index, record: Index) -> Index:
        """The row of the innermost call of `leg` around each record, -1 where there is none."""
        row = np.full(len(record), -1, np.int64)
        own = np.where(self._of[record] == leg, self._row[record], np.int32(-1))
        before = np.where(own < 0, self._rows, own)  # a list's packet is not in its own call
        for position, call in self._nesting.around(record):
            open_ = row[position] < 0
            mine, call = position[open_], call[open_]
            row[mine] = self._last(leg[mine], call, before[mine])
            alone = row[mine] < 0
            mine, call = mine[alone], call[alone]
            row[mine] = np.where(self._of[call] == leg[mine], self._row[call], np.int32(-1))
        return row

    def _last(self, leg: Index, entry: Numbers, before: Numbers) -> Index:
        """The last row below `before` that stands for `entry` in `leg`, -1 where none does."""
        row = np.full(len(leg), -1, np.int64)
        left = np.flatnonzero(self._several[entry])
        wanted = leg[left] * self._span + entry[left]
        place = np.searchsorted(self._key, wanted, "right") - 1
        while len(left):
            same = (place >= 0) & (self._key[place] == wanted)
            left, wanted, place = left[same], wanted[same], place[same]
            fits = self._others[place] < before[left]
            row[left[fits]] = self._others[place[fits]]
            left, wanted, place = left[~fits], wanted[~fits], place[~fits] - 1
        return row
