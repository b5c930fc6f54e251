# SPDX-License-Identifier: MIT
"""The distribution of durations: `skbviewer stats latency`.

By path: time in kernel of packets; by stage: parts of legs; by function: whole calls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Int64s
from ..breakdown.grouped_sorting import by_group
from ..breakdown.parts import Breakdown
from ..breakdown.units import chosen_rows
from ..timeline.row_stacking import ranks
from .scope import Scope
from .stages import stage_times

PACKET, PATH, STAGE, FUNCTION = "all packets", "path", "stage", "function"
PERMILLES = (0, 500, 900, 990, 999, 1000)  # nearest rank
PATHS = 100  # number of paths that are listed, the most frequent ones


class LatencyRow(NamedTuple):
    """The distribution of one kind of duration, ns.  Percentiles are nearest-rank."""

    kind: str
    name: str
    number: int
    mean_ns: int
    min_ns: int
    p50_ns: int
    p90_ns: int
    p99_ns: int
    p999_ns: int
    max_ns: int


def latency_rows(scope: Scope) -> list[LatencyRow]:
    """Return how times are distributed: of all packets, and of each path, stage and function.

    Raises Cancelled.
    """
    made = Breakdown(scope)
    return [*_packets(scope, made), *_stages(scope), *_functions(scope)]


def _packets(scope: Scope, made: Breakdown) -> list[LatencyRow]:
    rows = chosen_rows(scope, made.units)
    ns, number = made.units.times(rows), made.classes.number[rows]
    found = _rows(PACKET, [PACKET], np.zeros(len(ns), np.int64), ns)
    used, group = ranks(number)
    names = [str(one + 1) for one in used.tolist()]
    by_path = _rows(PATH, names, group, ns)
    return found + sorted(by_path, key=lambda row: (-row.number, int(row.name)))[:PATHS]


def _stages(scope: Scope) -> list[LatencyRow]:
    stages = stage_times(scope, scope.legs & ~scope.gaps)
    parts = list(stages.values())
    group = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return _rows(STAGE, list(stages), group, np.concatenate(parts))


def _functions(scope: Scope) -> list[LatencyRow]:
    dur = scope.of_call("dur_ns")
    known = (scope.function >= 0) & scope.once & (dur >= 0)
    found = _rows(FUNCTION, scope.function_names, scope.function[known], dur[known])
    return sorted(found, key=lambda row: (-row.p99_ns, row.name))


def _rows(kind: str, names: list[str], group: Int64s, ns: Int64s) -> list[LatencyRow]:
    """Return a row for each group with durations, in the order of `names`.

    `group` (an index of `names`) and `ns` are parallel.
    """
    rows = []
    for name, mine in zip(names, by_group(group, ns, len(names)), strict=True):
        if not len(mine):
            continue
        ranks = [int(mine[max(-(-len(mine) * one // 1000), 1) - 1]) for one in PERMILLES]
        rows.append(LatencyRow(kind, name, len(mine), round(int(mine.sum()) / len(mine)), *ranks))
    return rows
