# SPDX-License-Identifier: MIT
"""The time of packets in layers, in waits and on the wire: `skbviewer stats layers`.

A layer's time in a leg is the sum of its functions' self times there: no nanosecond counts twice.
A call that several packets share is added to the first of them.  The part of a call before its
packet was there is left out (call_time_in_leg.py).  Waits are those of the leg (docs/times.md),
including those after its end.  Legs whose records may have been lost are left out; their number is
returned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Int64s
from ..words.function_layers import layers
from ..words.wait_kinds import NAMES, UNKNOWN
from .call_time_in_leg import leg_time
from .duration_spread import Spread, spreads
from .scope import Scope
from .stages import leg_stages

BUSY, WAIT, NOWHERE, STAGE = "busy", "wait", "unknown", "stage"


class LayerRow(NamedTuple):
    """One layer, kind of waiting or stage.  `number` counts legs; the other numbers are ns per leg.

    kind: "busy" for the self time of a layer's functions; "wait" for time in a queue, on the wire
    or while the CPU worked for others; "unknown" if no record shows which; "stage" for a section of
    a leg, including waits (Wu & Crawford 2007 for the receiving side).
    """

    kind: str
    layer: str
    calls: int
    number: int
    total_ns: int
    mean_ns: int
    p50_ns: int
    p95_ns: int
    p99_ns: int
    max_ns: int


class LayerTable(NamedTuple):
    """The rows, and the number of `legs` in them.

    `gaps` is the number of legs that were left out because their records may be lost.
    """

    rows: tuple[LayerRow, ...]
    legs: int
    gaps: int


def layer_table(scope: Scope) -> LayerTable:
    """Return a row for each layer with its times, from the wire upwards; then waits and stages.

    A leg that begins in the range is included as a whole.
    """
    stages, scope = leg_stages(scope), scope.whole
    usable = scope.legs & ~scope.gaps
    rows = [*_layers(scope, usable, leg_time(scope))]
    rows += _waits(scope, usable)
    for kind, named in ((WAIT, stages.waits), (STAGE, stages.stages)):
        for name, ns in named.items():
            known = usable & (ns >= 0)
            if np.any(known):
                rows.append(_row(kind, name, 0, _of_all(ns[known])))
    return LayerTable(tuple(rows), int(usable.sum()), int((scope.legs & scope.gaps).sum()))


def _layers(scope: Scope, usable: Bools, own: Int64s) -> list[LayerRow]:
    """Return a row with the total time of each layer; `own` has each chosen call's self time."""
    names = [style.name for style in layers()]
    layer = np.array([names.index(name) for name in scope.layer_names], np.int64)
    leg, function = scope.leg_of_call, scope.function
    known = (function >= 0) & (own >= 0) & usable[leg] & scope.once
    of, own, leg = layer[function[known]], own[known], leg[known]
    spent = np.zeros(len(names) * len(usable), np.int64)
    place = of * len(usable) + leg
    np.add.at(spent, place, own)
    occurs = np.zeros(len(spent), np.bool_)
    occurs[place] = True
    met = np.flatnonzero(occurs)
    found = spreads(met // len(usable), spent[met], len(names))
    calls = np.bincount(of, minlength=len(names))
    return [
        _row(BUSY, name, int(calls[at]), found[at])
        for at, name in reversed(list(enumerate(names)))
        if found[at].number
    ]


def _waits(scope: Scope, usable: Bools) -> list[LayerRow]:
    """Return a row for each kind of wait that took time, with sums by leg."""
    kind, leg, begin, end = (scope.of_wait(name) for name in ("kind", "leg", "begin_ns", "end_ns"))
    rows = []
    for number, name in enumerate(NAMES):
        mine = np.flatnonzero((kind == number) & usable[leg - 1])
        if len(mine):
            spent = np.zeros(len(usable), np.int64)
            np.add.at(spent, leg[mine] - 1, end[mine] - begin[mine])
            word = NOWHERE if number in UNKNOWN else WAIT
            rows.append(_row(word, name, 0, _of_all(spent[spent > 0])))
    return rows


def _of_all(ns: Int64s) -> Spread:
    return spreads(np.zeros(len(ns), np.int64), ns, 1)[0]


def _row(kind: str, name: str, calls: int, found: Spread) -> LayerRow:
    return LayerRow(kind, name, calls, *found)
