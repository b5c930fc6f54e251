# SPDX-License-Identifier: MIT
"""Which call each record happened in, whatever packet that call handled.

In: records in time order.  Calls nest within one execution context; what a call cannot enclose (one
without an end, the further packets of a list) encloses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import Records
from .kinds import ENTRY, Index, contexts
from .ordering import Small, by_number, fits

Flags = npt.NDArray[np.bool_]

SOME = 1 << 17  # records looked at together: what is made of them stays in the processor's cache


class _Some(NamedTuple):
    """Records one behind the other by (context, time), around which no call is open.

    `begin` and `end` are numbers for context and time; `end` is -1 of what is no call with an end.
    """

    record: Index
    begin: Index
    end: Index


class Nesting:
    """`parent` is, of each record, the ENTRY of the innermost call around it, or -1."""

    def __init__(self, records: Records) -> None:
        self._ts, self._exit = records["ts"], records["exit_ts"]
        self._keys = self._ts, self._exit
        entry = records["kind"] == ENTRY
        self.carried = entry & (records["data"] >= 0)  # a further packet of the same call
        self._closed = entry & (self._exit >= 0)
        self._where = contexts(records)
        self._order = by_number(self._where).astype(np.int32)
        # One number for context and time, by the rank of the time where a log is garbage.
        ts, end = self._keys
        low, high = int(ts.min(initial=0)), int(max(ts.max(initial=0), end.max(initial=0)))
        if not fits(high - low + 2, int(self._where.max(initial=0)) + 1):
            ranks = np.unique(np.concatenate([ts, end]), return_inverse=True)[1].reshape(-1)
            self._keys = ranks[: len(ts)], ranks[len(ts) :]
            low, high = 0, int(ranks.max(initial=0))
        self._low, self._span = low, np.int64(high - low + 2)
        self.parent = np.full(len(ts), -1, np.int32)
        for some in self._parts():
            end = some.end.copy()
            end[self.carried[some.record]] = -1
            asked = _asked(some.begin, end)
            found = np.flatnonzero(asked >= 0)
            self.parent[some.record[found]] = some.record[asked[found]]

    def _parts(self) -> Iterator[_Some]:
        first, size = 0, SOME
        while first < len(self._order):
            some = self._some(self._order[first : first + size].astype(np.int64))
            count = len(some.record)
            if first + count < len(self._order):
                latest = np.maximum.accumulate(some.end)
                apart = np.flatnonzero(latest[:-1] <= some.begin[1:])
                if not len(apart):
                    size *= 2
                    continue
                count = int(apart[-1]) + 1
            yield _Some(some.record[:count], some.begin[:count], some.end[:count])
            first, size = first + count, SOME

    def _some(self, record: Index) -> _Some:
        ts, end = self._keys
        base = self._where[record] * self._span - self._low
        ends = np.where(self._closed[record], end[record] + base, -1)
        return _Some(record, ts[record] + base, ends)

    def inside(self, chosen: Flags) -> Small:
        """Of each call that has an end the number of records of `chosen` inside it, else 0."""
        count = np.zeros(len(chosen), np.int32)
        for some in self._parts():
            place = np.flatnonzero(self._closed[some.record])
            total = np.append(0, np.cumsum(chosen[some.record], dtype=np.int32))
            until = np.searchsorted(some.begin, some.end[place])
            within = total[np.maximum(until, place + 1)] - total[place + 1]
            count[some.record[place]] = within
        return count

    def around(self, record: npt.NDArray[np.integer]) -> Iterator[tuple[Index, Index]]:
        """(position in `record`, ENTRY) of all calls around these records, innermost first."""
        position = np.arange(len(record))
        call = self.parent[record]
        while len(position := position[inner := call >= 0]):
            call = call[inner]
            open_ = self._exit[call] > self._ts[record[position]]  # a broken log need not nest
            yield position[open_], call[open_]
            call = self.parent[call]


def _asked(begin: Index, end: Index) -> Small:
    """By (context, time): a record asks the one before it, then what that one asked, ..."""
    asked = np.arange(-1, len(begin) - 1, dtype=np.int32)
    latest = np.maximum.accumulate(end)
    open_ = np.zeros(len(begin), np.bool_)  # some call is, of another context none
    open_[1:] = latest[:-1] > begin[1:]
    asked[~open_] = -1
    left = np.flatnonzero(open_)
    left = left[end[asked[left]] <= begin[left]]
    while len(left):
        further = asked[asked[left]]
        asked[left] = further
        left, further = left[further >= 0], further[further >= 0]
        left = left[end[further] <= begin[left]]
    return asked
