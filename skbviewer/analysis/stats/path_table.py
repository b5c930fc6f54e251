# SPDX-License-Identifier: MIT
"""The paths of packets through the kernel, and their times: `skbviewer stats paths`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...matching import FORWARD, TX
from ...records.types import Bools, Int64s
from ..breakdown.group_percentiles import ranked
from ..breakdown.path_class_rule import path_name
from ..breakdown.time_parts import Breakdown
from ..breakdown.timed_packets import chosen_rows
from ..scope import Scope
from ..timeline.row_stacking import ranks
from .duration_percentiles import PERCENTS, Spread
from .median_and_extreme_packets import members_of

MAX_PATHS = 500  # most paths; rarer ones are summed up in a last row


class PathRow(NamedTuple):
    """One path class: the packets that took the same path.

    The times are times in kernel of the class's packets.
    """

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
    """Return a row for each path class of the chosen packets, the most frequent first.

    Raises Cancelled.
    """
    made = Breakdown(scope)
    rows = chosen_rows(scope, made.units)
    if not len(rows):
        return []
    classes, place = ranks(made.classes.number[rows])
    count = np.bincount(place)
    order = np.lexsort((classes, -count))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    group, ns = np.minimum(rank, MAX_PATHS)[place], made.units.times(rows)
    groups = min(len(classes), MAX_PATHS + 1)
    found = ranked(group, ns, groups, _ranks)
    members = members_of(group, ns, made.units.id[rows] > 0, found)
    legs = legs_of_classes(made, rows, rows[members.quickest].tolist())
    medians = rows[members.median]
    largest = _largest(made, medians)
    return [
        PathRow(
            int(classes[order[at]]) + 1 if at < MAX_PATHS else 0,
            legs[at] if at < MAX_PATHS else "",
            one.number,
            round(100 * one.number / len(rows), 3),
            *Spread(one.number, one.total, round(one.total / one.number), *one.at[1:])[1:],
            _name(made, int(medians[at])),
            largest[at],
            tuple(made.units.id[rows[members.slowest(at)]].tolist()),
            path_name(int(made.classes.path[classes[order[at]]])) if at < MAX_PATHS else "",
        )
        for at, one in enumerate(found)
    ]


def _ranks(count: int) -> list[int]:
    return [(count - 1) // 2, *(-(-count * percent // 100) - 1 for percent in PERCENTS)]


def legs_of_classes(made: Breakdown, rows: Int64s, examples: Sequence[int]) -> list[str]:
    """Return for each path class what its legs did, such as "send + receive, dropped".

    `examples` has one packet of each class, and `rows` are all packets that count (rising).  Both
    are indices in `made.units`.  If the kernel dropped a leg's skb, but lost none of the packets
    `rows` by that, the leg is called "freed".  For example, a leg is called "freed" if a socket had
    received its packets before the drop.
    """
    directions = [made.directions(row) for row in examples]
    has_drops = any(dropped for legs in directions for _, dropped in legs)
    losses = made.losses(rows) if has_drops else frozenset()
    number = made.classes.number
    return [
        " + ".join(
            _word(kind, dropped, (int(number[row]), place) in losses)
            for place, (kind, dropped) in enumerate(legs)
        )
        for row, legs in zip(examples, directions, strict=True)
    ]


def _word(kind: int, dropped: bool, lost: bool) -> str:
    word = "send" if kind == TX else "forward" if kind == FORWARD else "receive"
    return word + (", dropped" if lost else ", freed") if dropped else word


def _largest(made: Breakdown, rows: Int64s) -> list[str]:
    """Return for each packet the largest part of its time, with its percentage."""
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
