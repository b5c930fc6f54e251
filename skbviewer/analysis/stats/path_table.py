# SPDX-License-Identifier: MIT
"""The paths of packets through the kernel, and their times: `skbviewer stats paths`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...matching import FORWARD, TX
from ...records.types import Bools, Int64s
from ..breakdown.parts import Breakdown
from ..breakdown.path_rule import path_name
from ..breakdown.units import chosen_rows
from ..timeline.row_stacking import ranks
from .duration_spread import spreads
from .scope import Scope

EXAMPLES = 5
MAX_PATHS = 500  # most paths; rarer ones are summed up in a last row


class PathRow(NamedTuple):
    """One path class.  Times are the time in kernel of its packets."""

    path: int  # number of the class in the recording, from 1, the most frequent; 0 = rarer ones
    legs: str  # directions of the legs: "send + receive"; "" = all rarer ones
    number: int  # packets
    share: float  # of the chosen packets whose time in kernel is known, %
    total_ns: int
    mean_ns: int
    p50_ns: int
    p95_ns: int
    p99_ns: int
    max_ns: int
    median: str  # number of the packet whose time is the median
    largest: str  # largest part of this packet's time
    slowest: tuple[int, ...]  # the slowest packets of captures
    name: str  # of the path, as the field kbl.path has it; "" = all rarer ones


def path_rows(scope: Scope) -> list[PathRow]:
    """Return a row for each path class of the chosen packets, most frequent first.

    Raises Cancelled.
    """
    made = Breakdown(scope)
    rows = chosen_rows(scope, made.units)
    classes, place = ranks(made.classes.number[rows])
    count = np.bincount(place)
    order = np.lexsort((classes, -count))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    group = np.minimum(rank[place], MAX_PATHS)
    ns = made.units.times(rows)
    by_time = np.lexsort((ns, group))
    rows, group = rows[by_time], group[by_time]
    found = spreads(group, ns[by_time], min(len(classes), MAX_PATHS + 1))
    ends = np.cumsum([one.number for one in found])
    parts = [rows[end - one.number : end] for one, end in zip(found, ends, strict=True)]
    medians = np.array([mine[(len(mine) - 1) // 2] for mine in parts], np.int64)
    largest = _largest(made, medians)
    return [
        PathRow(
            int(made.classes.number[mine[0]]) + 1 if at < MAX_PATHS else 0,
            legs_of(made, mine) if at < MAX_PATHS else "",
            spread.number,
            round(100 * spread.number / len(rows), 3),
            *spread[1:],
            _name(made, int(medians[at])),
            largest[at],
            _slowest(made, mine),
            path_name(int(made.classes.path[made.classes.number[mine[0]]]))
            if at < MAX_PATHS
            else "",
        )
        for at, (spread, mine) in enumerate(zip(found, parts, strict=True))
    ]


def legs_of(made: Breakdown, rows: Int64s) -> str:
    """Return what the kernel did in the legs of a path class: "send + receive, dropped".

    `rows` are packets of the class, indices in `made.units`.  A leg whose skb the kernel dropped is
    called "freed" if no packet was lost by that: a socket had received it, for example.
    """
    words = []
    first = made.units.at[rows]
    for place, (kind, dropped) in enumerate(made.directions(int(rows[0]))):
        word = "send" if kind == TX else "forward" if kind == FORWARD else "receive"
        if dropped:
            lost = made.lost[made.units.legs[first + place]].any()
            word += ", dropped" if lost else ", freed"
        words.append(word)
    return " + ".join(words)


def _largest(made: Breakdown, rows: Int64s) -> list[str]:
    """Return for each packet the name of the largest part of its time, with its percentage."""
    used, place = np.unique(rows, return_inverse=True)
    parts = made.divided(used)
    order = np.lexsort((-parts.ns, parts.unit))
    unit = parts.unit[order]
    first: Bools = np.r_[True, unit[1:] != unit[:-1]] if len(unit) else np.zeros(0, np.bool_)
    named = dict.fromkeys(used.tolist(), "")
    for at in order[first].tolist():
        part, row = made.part_at(int(parts.place[at])), int(parts.unit[at])
        share = 100 * int(parts.ns[at]) / int(made.units.kernel_ns[row])
        named[row] = f"{part.name} ({share:.0f} %)"
    return [named[int(used[at])] for at in place.reshape(-1).tolist()]


def _name(made: Breakdown, row: int) -> str:
    number = int(made.units.id[row])
    return str(number) if number > 0 else f"K{-number}"


def _slowest(made: Breakdown, rows: Int64s) -> tuple[int, ...]:
    """Return the numbers of the slowest captured packets; `rows` are in order of time."""
    numbers = made.units.id[rows[::-1]]
    return tuple(numbers[numbers > 0][:EXAMPLES].tolist())
