# SPDX-License-Identifier: MIT
"""Which call each record happened in, whatever packet that call handled.

In: records in time order, and which exit belongs to which entry.  Calls nest within one execution
context; what a call cannot enclose (one without an end, the further packets of a list) encloses
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ..records import Records
from .ordering import Small, by_number
from .pairing import ENTRY, Index, contexts

Flags = npt.NDArray[np.bool_]


class Nesting:
    """`parent` is, of each record, the ENTRY of the innermost call around it, or -1."""

    def __init__(self, records: Records, partner: Index) -> None:
        paired = partner >= 0
        entry = records["kind"] == ENTRY
        self.carried = entry & (records["data"] >= 0)  # a further packet of the same call
        encloses = paired & ~self.carried
        encloses &= ~self.carried[np.where(paired, partner, 0)]
        where = contexts(records).copy()
        exits = np.flatnonzero(paired & ~entry)
        where[exits] = where[partner[exits]]
        self._order = by_number(where)
        self._partner = partner
        self.parent = self._parents(where, encloses, entry)

    def _parents(self, where: Small, encloses: Flags, entry: Flags) -> Index:
        order, count = self._order, len(self._order)
        parent = np.full(count, -1, np.int64)
        if not count:
            return parent
        opens = (encloses & entry)[order]
        step = encloses[order].astype(np.int8)
        step[(step != 0) & ~opens] = -1
        sorted_ = where[order]
        first = np.flatnonzero(np.r_[True, sorted_[1:] != sorted_[:-1]])  # of each context
        running = np.cumsum(step, dtype=np.int32)
        before = running[first] - step[first]
        level = running - np.repeat(before, np.diff(first, append=count))  # open calls after it
        around = level - opens  # an entry stands in what was open before it
        rest, depth = np.flatnonzero((around > 0) | opens), 0
        while len(rest := rest[level[rest] > depth]):
            depth += 1
            inner = np.flatnonzero(around[rest] == depth)
            opens_it = opens[rest] & (level[rest] == depth)
            opening = rest[opens_it]
            latest = np.cumsum(opens_it, dtype=np.int32)[inner] - 1
            parent[order[rest[inner]]] = order[opening[latest]]
        ends = self._partner[np.maximum(parent, 0)]
        return np.where((parent >= 0) & (ends >= np.arange(count)), parent, -1)

    def inside(self, cost: Index) -> Index:
        """Of each paired entry the sum of `cost` (per record) over what is inside it, else 0."""
        total = np.zeros(len(cost), np.int64)
        total[self._order] = np.cumsum(cost[self._order])
        entry = np.flatnonzero(self._partner > np.arange(len(cost)))
        sums = np.zeros(len(cost), np.int64)
        leave = self._partner[entry]
        sums[entry] = total[leave] - total[entry] - cost[leave]
        return sums

    def around(self, record: Index) -> Iterator[tuple[Index, Index]]:
        """(position in `record`, ENTRY) of all calls around these records, innermost first."""
        position = np.arange(len(record))
        call = self.parent[record]
        while True:
            position, call = position[call >= 0], call[call >= 0]
            if not len(call):
                return
            yield position, call
            call = self.parent[call]
