# SPDX-License-Identifier: MIT
"""How durations are distributed: `skbviewer stats latency`.

The durations of paths are times in kernel of packets.  The durations of stages are parts of legs,
and the durations of functions are whole calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...records.types import Int64s
from ..breakdown.group_percentiles import Ranked, ranked, ranked_blocks, ranked_values
from ..breakdown.time_parts import Breakdown
from ..breakdown.timed_packets import chosen_rows
from ..scope import Scope
from ..scope.counted_calls import function_calls
from ..timeline.row_stacking import ranks
from .leg_stages import stage_times

PACKET, PATH, STAGE, FUNCTION = "all packets", "path", "stage", "function"
PERMILLES = (0, 500, 900, 990, 999, 1000)  # nearest rank
PATHS = 100  # number of paths that are listed, the most frequent ones


class LatencyRow(NamedTuple):
    """How one kind of duration (ns) is distributed.  Percentiles are nearest ranks."""

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
    """Return the distributions of durations: all packets, then each path, stage and function.

    Raises Cancelled.
    """
    made = Breakdown(scope)
    return [*_packets(scope, made), *_stages(scope), *_functions(scope)]


def _packets(scope: Scope, made: Breakdown) -> list[LatencyRow]:
    rows = chosen_rows(scope, made.units)
    ns, number = made.units.times(rows), made.classes.number[rows]
    found = _made(PACKET, [PACKET], [ranked_values(ns, _ranks)])
    used, group = ranks(number)
    names = [str(one + 1) for one in used.tolist()]
    by_path = _rows(PATH, names, group, ns)
    return found + sorted(by_path, key=lambda row: (-row.number, int(row.name)))[:PATHS]


def _stages(scope: Scope) -> list[LatencyRow]:
    stages = stage_times(scope, scope.legs & ~scope.gaps)
    found = [ranked_values(ns, _ranks) for ns in stages.values()]
    return _made(STAGE, list(stages), found)


def _functions(scope: Scope) -> list[LatencyRow]:
    def durations() -> Iterator[tuple[Int64s, Int64s]]:
        return (calls.with_duration() for calls in function_calls(scope, "dur_ns"))

    names = scope.function_names
    found = _made(FUNCTION, names, ranked_blocks(durations, len(names), _ranks))
    return sorted(found, key=lambda row: (-row.p99_ns, row.name))


def _rows(kind: str, names: list[str], group: Int64s, ns: Int64s) -> list[LatencyRow]:
    """Return a row for each group that has durations, in the order of `names`.

    `ns` are durations, and `group` is the group of each, an index of `names`.
    """
    return _made(kind, names, ranked(group, ns, len(names), _ranks))


def _made(kind: str, names: list[str], found: list[Ranked]) -> list[LatencyRow]:
    return [
        LatencyRow(kind, name, number, round(total / number), *values)
        for name, (number, total, values) in zip(names, found, strict=True)
        if number
    ]


def _ranks(count: int) -> list[int]:
    return [max(-(-count * one // 1000), 1) - 1 for one in PERMILLES]
