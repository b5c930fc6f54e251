# SPDX-License-Identifier: MIT
"""The parts into which the time in kernel divides: `skbviewer stats time`.

The rows add up to the time in kernel of the chosen packets.  Beside each time is the time that
would result if every packet took as long as the median packet of its path class (docs/times.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ...records.compiled import compiled
from ...records.types import Bools, Int32s, Int64s
from ..breakdown.time_parts import BUSY, Breakdown, Parts
from ..breakdown.timed_packets import chosen_rows
from ..scope import Scope

TIME = "time"  # name under which a scope keeps its table


class TimeRow(NamedTuple):
    """One part of the time in kernel; for busy time, a part is a layer."""

    kind: str
    part: str
    packets: int  # packets that have this part
    total_ns: int
    share: float  # of the time in kernel, %
    median_ns: int | None  # of median packets, for as many packets; None: there are too few
    excess_ns: int | None  # total minus median, of the packets that can be compared


class TimeTable(NamedTuple):
    """The rows of the table, and the number of packets that it counts."""

    rows: tuple[TimeRow, ...]
    packets: int


def time_table(scope: Scope) -> TimeTable:
    """Return the parts into which the chosen packets' time divides, the longest first.

    Raises Cancelled.
    """

    def added() -> TimeTable:
        made = Breakdown(scope)
        return time_of(made, chosen_rows(scope, made.units))

    return scope.once_made(TIME, added)


def time_of(made: Breakdown, rows: Int64s, blocks: Iterable[Parts] | None = None) -> TimeTable:
    """Return the parts into which the time of packets divides; `rows` are indices of `made.units`.

    `blocks` are the parts of these packets' times, if the times have already been divided.
    """
    group, names = _groups(made)
    like = made.classes.are_comparable(rows)
    compared = np.zeros(len(made.units.id), np.bool_)
    compared[rows[like]] = True
    sums, last = np.zeros((3, len(names)), np.int64), np.full(len(names), -1, np.int64)
    for parts in made.blocks(rows) if blocks is None else blocks:
        add_up(parts.unit, group[parts.place], parts.ns, compared, last, sums)
    total, own, packets = sums
    median = _typical(made, rows[like], group, len(names))
    whole = max(int(total.sum()), 1)
    found = [
        TimeRow(
            *names[g],
            int(packets[g]),
            int(total[g]),
            round(100 * int(total[g]) / whole, 3),
            int(median[g]) if like.any() else None,
            int(own[g] - median[g]) if like.any() else None,
        )
        for g in np.flatnonzero((total > 0) | (median > 0)).tolist()
    ]
    found.sort(key=lambda row: (-row.total_ns, row.kind, row.part))
    return TimeTable(tuple(found), len(rows))


def _groups(made: Breakdown) -> tuple[Int64s, list[tuple[str, str]]]:
    """Return the group of each part, and (kind, name) of each group."""
    found: dict[tuple[str, str], int] = {}
    group = np.zeros(made.part_count, np.int64)
    for place in range(made.per_stage):
        part = made.part_at(place)
        key = part.kind, (part.layer or part.name) if part.kind == BUSY else part.name
        group[place :: made.per_stage] = found.setdefault(key, len(found))
    return group, list(found)


def _typical(made: Breakdown, rows: Int64s, group: Int64s, groups: int) -> Int64s:
    """Return the time (ns) that each group would have if all packets were median packets."""
    count = np.bincount(made.classes.peers[rows], minlength=len(made.classes.size))
    used = np.flatnonzero(count)
    median = made.classes.median[used]
    parts = made.divided(np.unique(median))
    times = np.zeros(len(made.units.id), np.int64)
    np.add.at(times, median, count[used])
    return _sum(group[parts.place], parts.ns * times[parts.unit], groups)


@compiled
def add_up(
    unit: Int32s, group: Int64s, ns: Int64s, compared: Bools, last: Int64s, sums: Int64s
) -> None:
    """Add up parts by group: sums[0] is the ns of all packets, sums[1] that of `compared` ones.

    sums[2] is the number of packets.  `unit` is the packet of each part; the parts of a packet must
    follow each other. last[g] is the last packet with a part in group g; it is -1 before the first
    call.
    """
    for i in range(len(unit)):
        one, of = np.int64(unit[i]), group[i]
        sums[0, of] += ns[i]
        if compared[one]:
            sums[1, of] += ns[i]
        if last[of] != one:
            last[of] = one
            sums[2, of] += 1


def _sum(group: Int64s, value: Int64s, size: int) -> Int64s:
    total = np.zeros(size, np.int64)
    np.add.at(total, group, value)
    return total
