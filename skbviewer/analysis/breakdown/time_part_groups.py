# SPDX-License-Identifier: MIT
"""The parts of packets' times, sorted by part: a part's packets are found without a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...records.compiled import compiled
from ...records.types import Int32s, Int64s

if TYPE_CHECKING:
    from .time_parts import Parts


class PartGroups(NamedTuple):
    """Packets and their times, sorted by part: part p has the rows at[p] : at[p + 1].

    `row` is a packet, numbered in the way that the caller of grouped() chose.  `ns` is the time
    that the packet `row` spent in the part.
    """

    at: Int64s
    row: Int32s
    ns: Int64s

    def of(self, place: int) -> tuple[Int32s, Int64s]:
        """Return the packets that spent time in the part `place`, and how long (ns) each did."""
        mine = slice(int(self.at[place]), int(self.at[place + 1]))
        return self.row[mine], self.ns[mine]


def grouped(blocks: list[Parts], part_count: int, rows: Int32s) -> PartGroups:
    """Group the parts in `blocks` by their numbers, which are less than `part_count`.

    rows[i] is the number that the result has for the packet with the index i in Breakdown.units.
    The list `blocks` is empty afterwards.  Each block is freed as soon as it is grouped, because
    the blocks of millions of packets take much memory.
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

    Element i of `place`, `unit` and `ns` is written at the index at[place[i]], which is then
    increased by 1.
    """
    for i in range(len(place)):
        to = at[place[i]]
        row[to], made[to] = rows[unit[i]], ns[i]
        at[place[i]] = to + 1
