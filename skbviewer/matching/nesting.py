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
from .pairing import ENTRY, Index, execution

Flags = npt.NDArray[np.bool_]


class Nesting:
    """`parent` is, of each record, the ENTRY of the innermost call around it, or -1."""

    def __init__(self, records: Records, partner: Index) -> None:
        paired = partner >= 0
        entry = records["kind"] == ENTRY
        self.carried = entry & (records["data"] >= 0)  # a further packet of the same call
        encloses = paired & ~self.carried
        encloses &= ~self.carried[np.where(paired, partner, 0)]
        where = execution(records)
        exits = np.flatnonzero(paired & ~entry)
        where[exits] = where[partner[exits]]
        self._order = np.lexsort((np.arange(len(records)), where))
        self._partner = partner
        self.parent = self._parents(where, encloses, entry)

    def _parents(self, where: Index, encloses: Flags, entry: Flags) -> Index:
        order, count = self._order, len(self._order)
        if not count:
            return np.zeros(0, np.int64)
        opens = (encloses & entry)[order]
        step = np.where(encloses[order], np.where(opens, 1, -1), 0)
        new = np.r_[True, np.diff(where[order]) != 0]
        group = np.cumsum(new) - 1
        running = np.cumsum(step)
        level = running - (running - step)[new][group]  # open calls after this record
        span, levels = np.int64(count), np.int64(level.max() + 2)
        place = group * levels * span
        key = place[opens] + level[opens] * span + np.flatnonzero(opens)
        by_key = np.sort(key)
        around = level - opens  # an entry stands in what was open before it
        inner = np.flatnonzero(around > 0)
        wanted = place[inner] + around[inner] * span + inner
        found = by_key[np.searchsorted(by_key, wanted) - 1] % span
        parent = np.full(count, -1, np.int64)
        parent[order[inner]] = order[found]
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
