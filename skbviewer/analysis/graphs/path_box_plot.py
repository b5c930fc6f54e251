# SPDX-License-Identifier: MIT
"""How long the packets of each path class took: a box for each class, and its outliers.

Input: a Scope, which chooses packets.  Output: arrays with an element for each class, the most
frequent class first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...records.types import Int64s
from ..breakdown.grouped_sorting import by_group
from ..breakdown.path_class_rule import path_name
from ..breakdown.time_parts import Breakdown
from ..breakdown.timed_packets import chosen_rows
from ..stats.path_table import legs_of_classes

if TYPE_CHECKING:
    from ..scope import Scope

MAX_BOXES = 24  # classes with a box of their own; the rest share the last one
FACTOR = 2  # a packet is an outlier from this many medians on, as rule slow-packets has it
POINTS = 60  # outliers that are shown of each class, the slowest ones
PERCENTS = (0, 50, 90, 99, 100)


class PathBoxes(NamedTuple):
    """A box for each path class, with the percentiles of its packets' times in kernel.

    `path` is the number of the class in `stats paths`.  `name` is the value that the field kbl.path
    has for the class.  If there are more than MAX_BOXES classes, a last box (`path` 0, `name` "")
    stands for all rarer classes.  `ranks_ns` are the percentiles PERCENTS of each class.
    `outliers` is the number of packets in each class that took longer than p90 and at least FACTOR
    times the median.  The slowest outliers of each class, at most POINTS, are in `point_class`,
    `point_row` (n, or -n for K<n>) and `point_ns`.  Arrays are int64.  Times are in ns, and
    percentiles are nearest ranks.
    """

    path: tuple[int, ...]
    name: tuple[str, ...]
    legs: tuple[str, ...]  # what the packets do leg by leg
    number: Int64s
    ranks_ns: Int64s  # [class, percent]
    outliers: Int64s
    point_class: Int64s
    point_row: Int64s
    point_ns: Int64s

    @property
    def total(self) -> int:
        """Return the number of packets in all boxes."""
        return int(self.number.sum())


def path_boxes(scope: Scope) -> PathBoxes | None:
    """Return a box for each path class of the chosen packets.

    Returns None if no time in kernel is known.  Raises Cancelled.
    """
    made = Breakdown(scope)
    rows = chosen_rows(scope, made.units)
    if not len(rows):
        return None
    scope.progress.report("Counting", 0, 0)
    count = np.bincount(made.classes.number[rows], minlength=len(made.classes.sizes))
    order = np.argsort(-count, kind="stable")
    order = order[: np.count_nonzero(count)]
    rank = np.full(len(count), MAX_BOXES, np.int64)
    rank[order[:MAX_BOXES]] = np.arange(min(len(order), MAX_BOXES))
    group, ns = rank[made.classes.number[rows]], made.units.times(rows)
    number = np.bincount(group)
    ranks = _ranks(by_group(group, ns, len(number)))
    beyond, shown = _outliers(ns, group, ranks)
    own, rest = order[:MAX_BOXES], len(order) > MAX_BOXES
    first = np.zeros(len(number), np.int64)
    first[group] = rows
    legs = legs_of_classes(made, rows, first[: len(own)].tolist())
    return PathBoxes(
        (*(own + 1).tolist(), *[0] * rest),
        (*map(path_name, made.classes.path[own].tolist()), *[""] * rest),
        (*legs, *[""] * rest),
        number,
        ranks,
        beyond,
        group[shown],
        made.units.id[rows[shown]].astype(np.int64),
        ns[shown],
    )


def _ranks(values: list[Int64s]) -> Int64s:
    """Return the percentiles PERCENTS of each class; `values` has the sorted times of each."""
    return np.array(
        [[one[max(-(-len(one) * p // 100) - 1, 0)] for p in PERCENTS] for one in values], np.int64
    )


def _outliers(ns: Int64s, group: Int64s, ranks: Int64s) -> tuple[Int64s, Int64s]:
    """Return the number of outliers in each class, and the indices of those to show."""
    beyond = np.maximum(ranks[:, PERCENTS.index(90)] + 1, FACTOR * ranks[:, PERCENTS.index(50)])
    found = np.flatnonzero(ns >= beyond[group])
    number = np.bincount(group[found], minlength=len(ranks))
    found = found[np.lexsort((-ns[found], group[found]))]
    place = np.arange(len(found)) - np.repeat(np.cumsum(number) - number, number)
    return number, found[place < POINTS]
