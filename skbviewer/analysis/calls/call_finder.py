# SPDX-License-Identifier: MIT
"""Find the call of a leg that encloses a record, even if calls of other packets are in between.

Input: nesting, legs, and calls sorted by leg and ENTRY record.  Output: rows of calls.
"""

from __future__ import annotations

import numpy as np

from ...matching import LegTable, Nesting, Rows
from ...records.types import Bools, Int32s
from .call_finder_loops import enter_calls, find_calls
from .call_table import CallTable


class Finder:
    """Finds the row of a call by its leg and its ENTRY record.

    An ENTRY record is a call of its own leg, and of each leg to which it belongs by its socket.  If
    the function was passed a list of packets, the ENTRY is also a call of the legs of the list's
    other packets.  Each packet of the list has an ENTRY record of its own, but all these records
    stand for one call.
    """

    def __init__(self, nesting: Nesting, legs: LegTable, calls: CallTable) -> None:
        self._parent, self._of = nesting.parent, legs.of
        every = Rows(calls.records, slice(0, len(calls.records)))
        self._times = every["ts"], every["exit_ts"]
        self._row = calls.scratch.full(len(legs.of), np.int32, -1)
        self._several = calls.scratch.full(len(legs.of), np.bool_, 0)
        keys, others = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        leg, entry = calls.stored("leg"), calls.stored("entry")
        for rows in calls.passing():
            key, other = np.empty((2, rows.stop - rows.start), np.int64)
            count = enter_calls(
                rows.start, leg[rows], entry[rows], self._of, self._parent, nesting.carried,
                self._row, self._several, key, other,
            )  # fmt: skip
            keys.append(key[:count].copy())
            others.append(other[:count].copy())
        key = np.concatenate(keys)
        order = np.argsort(key, kind="stable")
        self._key, self._others = key[order], np.concatenate(others)[order]

    def innermost_calls(
        self, leg: Int32s, record: Int32s, owner_calls: Int32s, caused: Bools
    ) -> Int32s:
        """Return for each record the row of its leg's innermost call around the record; -1 = none.

        `leg` has the leg of each element of `record`.  For each record of the log, `owner_calls` is
        the call in which the event was recorded, or -1.  If `owner_calls` is known for a record,
        that call is returned.  `caused` marks records that have no leg of their own: they take the
        leg of the call around them.  `owner_calls` and `caused` may be empty.
        """
        made = np.empty(len(record), np.int32)
        find_calls(
            leg, record, owner_calls, caused, *self._times, self._parent, self._of,
            self._row, self._several, self._key, self._others, made,
        )  # fmt: skip
        return made
