# SPDX-License-Identifier: MIT
"""The parts of packets' times, grouped by part, so that one part is found without a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...records.compiled import compiled
from ...records.types import Int32s, Int64s

if TYPE_CHECKING:
    from .time_parts import Parts


class PartGroups(NamedTuple):
    """The times in the part with the number p are those from at[p] to at[p + 1].

    `row` is the packet of each, as the user of this table numbers packets, and `ns` the time.
    """

    at: Int64s
    row: Int32s
    ns: Int64s

    def of(self, place: int) -> tuple[Int32s, Int64s]:
        """Return the packets that have the part `place`, and the time of each in it, ns."""
        mine = slice(int(self.at[place]), int(self.at[place + 1]))
        return self.row[mine], self.ns[mine]


def grouped(blocks: list[Parts], part_count: int, rows: Int32s) -> PartGroups:
    """Group the parts in `blocks` by their numbers, which are below `part_count`.

    `rows` has the new number of each packet.  The list is empty afterwards: each block is freed
    once it is grouped, because blocks and groups of millions of packets take much memory.
    """
    counts = np.zeros(part_count, np.int64)
    for parts in blocks:
        counts += np.bincount(parts.place, minlength=part_count)
    at = np.r_[0, np.cumsum(counts)]
    row, ns = np.empty(int(at[-1]), np.int32), np.empty(int(at[-1]), np.int64)
    next_ = at[:-1].copy()
    while blocks:
        parts = blocks.pop()
        distribute(parts.unit, parts.place, parts.ns, rows, next_, row, ns)
    return PartGroups(at, row, ns)


@compiled
def distribute(
    unit: Int32s, place: Int32s, ns: Int64s, rows: Int32s, at: Int64s, row: Int32s, made: Int64s
) -> None:
    """Write each part's packet (rows[unit]) into `row`, and its time into `made`.

    The part i goes to index at[place[i]] of both, which then becomes the next one.
    """
    for i in range(len(place)):
        to = at[place[i]]
        row[to], made[to] = rows[unit[i]], ns[i]
        at[place[i]] = to + 1
