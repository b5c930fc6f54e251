# SPDX-License-Identifier: MIT
"""Events of a hardware counter by function, layer and program: `skbviewer stats counter`.

The numbers are NetSlice's sums of events (formula 4) without the events that the probes caused
(formula 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...records.types import Int64s
from ..breakdown.self_counter_values import counter_name, own_counts, probe_counts
from ..scope import Scope
from ..words.function_layers import layers
from .process_table import own_calls

KINDS = ("function", "layer", "program")


class CounterRow(NamedTuple):
    """Events in the calls of one function, layer or program, without events in inner calls."""

    kind: str  # of KINDS
    name: str
    number: int  # calls whose events are known
    counted: int
    probes: int  # of these, those of the probes
    events: int  # counted - probes; of each call at least 0
    mean: int  # events per call


def counter_rows(scope: Scope) -> list[CounterRow]:
    """Return rows for functions, for layers (from the wire upwards), and for programs.

    The rows of each kind (function, layer or program) are sorted by events, the largest number
    first.

    There are no rows if no log counted events, or if the logs counted different events.  Raises
    Cancelled.
    """
    if not counter_name(scope):
        return []
    counted, probes = own_counts(scope), probe_counts(scope)
    known = (counted >= 0) & scope.once
    made: list[CounterRow] = []
    for kind, names, calls, group in _groups(scope, known):
        size = len(names)
        left = np.maximum(counted[calls] - probes[calls], 0)
        number = np.bincount(group, minlength=size)
        whole, rest = _sums(group, counted[calls], size), _sums(group, left, size)
        rows = [
            CounterRow(kind, names[at], int(number[at]), int(whole[at]),
                       int(whole[at] - rest[at]), int(rest[at]), round(rest[at] / number[at]))
            for at in np.flatnonzero(number).tolist()
        ]  # fmt: skip
        if kind != "layer":
            rows.sort(key=lambda row: (-row.events, row.name))
        made += rows
    return made


def _groups(scope: Scope, known: np.ndarray) -> Iterator[tuple[str, list[str], Int64s, Int64s]]:
    """Yield (kind, names, calls, index of each call's name) for each of KINDS."""
    function = scope.function
    calls = np.flatnonzero(known & (function >= 0))
    yield KINDS[0], list(scope.function_names), calls, function[calls]
    upwards = [style.name for style in reversed(layers())]
    layer = np.array([upwards.index(name) for name in scope.layer_names], np.int64)
    yield KINDS[1], upwards, calls, layer[function[calls]]
    mine = own_calls(scope)
    counts = known[mine.calls]
    names = [name for _, name in mine.names]
    yield KINDS[2], names, mine.calls[counts], mine.program[counts]


def _sums(group: Int64s, values: Int64s, size: int) -> Int64s:
    made = np.zeros(size, np.int64)
    np.add.at(made, group, values)
    return made
