# SPDX-License-Identifier: MIT
"""A packet's path, with the instructions that its calls executed and the cache lines they used."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ...records import Leg, PacketPath, PathCall, TouchedLine
from .accessed_cache_lines import TouchedLines
from .instructions_of_calls import Steps

UNSIGNED = 1 << 64
NO_LINES: Mapping[int, TouchedLines] = MappingProxyType({})


def with_steps(
    path: PacketPath, steps: Mapping[int, Steps], lines: Mapping[int, TouchedLines] = NO_LINES
) -> PacketPath:
    """Return the path with executed instructions and cache lines in the calls that have them.

    `steps` and `lines` have the counts of each kernel log; the keys are source ids.
    """
    legs, branches = (
        tuple(_leg(leg, steps.get(leg.source), lines.get(leg.source)) for leg in part)
        for part in (path.legs, path.branches)
    )
    return path._replace(legs=legs, branches=branches)


def _leg(leg: Leg, steps: Steps | None, lines: TouchedLines | None) -> Leg:
    entry = np.array([call.entry_ns for call in leg.calls], np.int64)
    calls = leg.calls
    if steps is not None:
        numbers = zip(*(column.tolist() for column in steps.of(entry)), strict=True)
        calls = tuple(map(_stepped, calls, numbers))
    if lines is not None:
        found = lines.calls_of(entry).tolist()
        calls = tuple(
            call._replace(lines=_lines(lines, at)) if at >= 0 else call
            for call, at in zip(calls, found, strict=True)
        )
    return leg._replace(calls=calls)


def _stepped(call: PathCall, numbers: tuple[int, int, int]) -> PathCall:
    executed, own, probes = (None if number < 0 else number for number in numbers)
    return call._replace(executed=executed, executed_self=own, executed_probes=probes)


def _lines(lines: TouchedLines, at: int) -> tuple[TouchedLine, ...]:
    """Return the cache lines that the call with the index `at` in `lines` accessed."""
    rows = slice(int(lines.first[at]), int(lines.first[at + 1]))
    columns = (part[rows].tolist() for part in (lines.line, lines.loads, lines.stores))
    return tuple(
        TouchedLine(line % UNSIGNED, loads, stores)
        for line, loads, stores in zip(*columns, strict=True)
    )
