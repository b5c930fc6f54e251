# SPDX-License-Identifier: MIT
"""Which call each record happened in, whatever packet that call handled.

In: records in time order.  Calls nest within one execution context; what a call cannot enclose (one
without an end, the further packets of a list) encloses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ..records import Records
from .kinds import ENTRY, Index, contexts
from .ordering import by_number, fits

Flags = npt.NDArray[np.bool_]


class Nesting:
    """`parent` is, of each record, the ENTRY of the innermost call around it, or -1."""

    def __init__(self, records: Records) -> None:
        self._ts, self._exit = ts, end = records["ts"], records["exit_ts"]
        entry = records["kind"] == ENTRY
        self.carried = entry & (records["data"] >= 0)  # a further packet of the same call
        self._closed = entry & (end >= 0)
        where = contexts(records)
        self._order = by_number(where)
        # One number for context and time, by the rank of the time where a log is garbage.
        low, high = int(ts.min(initial=0)), int(max(ts.max(initial=0), end.max(initial=0)))
        if not fits(high - low + 2, int(where.max(initial=0)) + 1):
            ranks = np.unique(np.concatenate([ts, end]), return_inverse=True)[1].reshape(-1)
            ts, end, low, high = ranks[: len(ts)], ranks[len(ts) :], 0, int(ranks.max(initial=0))
        base = where * np.int64(high - low + 2)
        base -= low
        self._begin = (ts + base)[self._order]
        end = end + base
        self._end = end[self._order]
        end[~self._closed | self.carried] = -1
        self.parent = self._parents(end[self._order])

    def _parents(self, end: Index) -> Index:
        """By (context, time): a record asks the one before it, then what that one asked, ..."""
        begin, order = self._begin, self._order
        asked = np.arange(-1, len(order) - 1, dtype=np.int32)
        latest = np.maximum.accumulate(end)
        open_ = np.zeros(len(order), np.bool_)  # some call is, of another context none
        open_[1:] = latest[:-1] > begin[1:]
        asked[~open_] = -1
        left = np.flatnonzero(open_)
        left = left[end[asked[left]] <= begin[left]]
        while len(left):
            further = asked[asked[left]]
            asked[left] = further
            left, further = left[further >= 0], further[further >= 0]
            left = left[end[further] <= begin[left]]
        parent = np.full(len(order), -1, np.int64)
        found = np.flatnonzero(asked >= 0)
        parent[order[found]] = order[asked[found]]
        return parent

    def inside(self, chosen: Flags) -> Index:
        """Of each call that has an end the number of records of `chosen` inside it, else 0."""
        count = np.zeros(len(chosen), np.int64)
        place = np.flatnonzero(self._closed[self._order])
        total = np.append(0, np.cumsum(chosen[self._order], dtype=np.int32))
        until = np.searchsorted(self._begin, self._end[place])
        count[self._order[place]] = total[np.maximum(until, place + 1)] - total[place + 1]
        return count

    def around(self, record: Index) -> Iterator[tuple[Index, Index]]:
        """(position in `record`, ENTRY) of all calls around these records, innermost first."""
        position = np.arange(len(record))
        call = self.parent[record]
        while len(position := position[inner := call >= 0]):
            call = call[inner]
            open_ = self._exit[call] > self._ts[record[position]]  # a broken log need not nest
            yield position[open_], call[open_]
            call = self.parent[call]
