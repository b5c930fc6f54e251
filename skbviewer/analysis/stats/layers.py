# SPDX-License-Identifier: MIT
"""Where packets spent their time: layers, interrupts, waits, the wire: `skbviewer stats layers`.

A layer's time in a packet's leg is what its functions there took themselves: no nanosecond counts
twice, and a call that several packets share counts for the first of them.  A call during which
another task ran has no time of its own that could be told: it stands among the waits.  So does what
interrupts took inside a packet's calls: its CPU served others, and theirs is that time.  What a
call did before its packet was there (leg_time.py) counts nowhere.  Legs of which
records may have been lost are left out and counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..interruptions import MARK_MIGRATED, MARK_SLEPT
from ..layers import layers
from .leg_time import leg_time
from .scope import Scope
from .spread import Spread, spreads
from .stages import leg_stages

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

BUSY, WAIT, STAGE = "busy", "wait", "stage"
DEEP = 4096  # no kernel nests calls so deep


class LayerRow(NamedTuple):
    """One layer, kind of waiting or stage.  number is of legs; the rest is ns in one leg.

    kind: "busy" for the self time of a layer's functions, "wait" for time in a queue, on the wire
    or while the CPU served others, "stage" for the stretch of a leg, waiting and all (Wu & Crawford
    2007 for the receiving side).
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
    """`gaps` is how many legs were left out because records of them may be lost."""

    rows: tuple[LayerRow, ...]
    legs: int
    gaps: int


def layer_table(scope: Scope) -> LayerTable:
    """Layers from the wire upwards, then waits and stages, as far as there are any.

    A leg that begins in the range counts as a whole.
    """
    stages, scope = leg_stages(scope), scope.whole
    usable = scope.legs & ~scope.gaps
    asleep = (scope.of_call("marks") & (MARK_SLEPT | MARK_MIGRATED)) != 0
    own, early = leg_time(scope)
    rows = [*_layers(scope, usable, np.where(asleep, -1, own))]
    rows += _interrupts(scope, usable, ~asleep & ~early)
    slept = np.where(asleep & scope.once, own, 0)
    rows += _summed(scope, usable, slept, (WAIT, "in calls that slept"))
    for kind, named in ((WAIT, stages.waits), (STAGE, stages.stages)):
        for name, ns in named.items():
            known = usable & (ns >= 0)
            if np.any(known):
                rows.append(_row(kind, name, 0, _of_all(ns[known])))
    return LayerTable(tuple(rows), int(usable.sum()), int((scope.legs & scope.gaps).sum()))


def _layers(scope: Scope, usable: Flags, own: Index) -> list[LayerRow]:
    """`own` is of each chosen call, -1 where it is unknown."""
    names = [style.name for style in layers()]
    layer = np.array([names.index(name) for name in scope.layer_names], np.int64)
    leg, function = scope.leg_of_call, scope.function
    known = (function >= 0) & (own >= 0) & usable[leg] & scope.once
    of, own, leg = layer[function[known]], own[known], leg[known]
    spent = np.zeros(len(names) * len(usable), np.int64)
    place = of * len(usable) + leg
    np.add.at(spent, place, own)
    met = np.unique(place)
    found = spreads(met // len(usable), spent[met], len(names))
    calls = np.bincount(of, minlength=len(names))
    return [
        _row(BUSY, name, int(calls[at]), found[at])
        for at, name in reversed(list(enumerate(names)))
        if found[at].number
    ]


def _interrupts(scope: Scope, usable: Flags, meant: Flags) -> list[LayerRow]:
    """What interrupts took from a leg: the time inside its packet's outermost calls.

    Around these may be calls that have only its socket, or slept: those count nothing.
    """
    irq, whole = scope.of_call("irq_ns"), meant & (scope.of_call("skb") != 0)
    rows = np.flatnonzero(whole & (irq > 0) & scope.once)
    rows = rows[~_are_inside(scope, rows, whole)]
    ns = np.zeros(len(irq), np.int64)
    ns[rows] = irq[rows]
    return _summed(scope, usable, ns, (WAIT, "interrupts inside"))


def _are_inside(scope: Scope, rows: Index, whole: Flags) -> Flags:
    """Which of some calls have a call above them in their leg that is `whole`."""
    place = np.cumsum(scope.calls) - 1  # among the chosen ones
    parent, found = scope.of_call("parent"), np.zeros(len(rows), np.bool_)
    at, above = np.arange(len(rows)), parent[rows]
    for _ in range(DEEP):
        at, above = at[above > 0], place[above[above > 0] - 1]
        if not len(at):
            break
        found[at] = whole[above]
        at, above = at[~found[at]], parent[above[~whole[above]]]
    return found


def _summed(scope: Scope, usable: Flags, ns: Index, name: tuple[str, str]) -> list[LayerRow]:
    """Times of the calls, as far as there are any, summed up in each leg."""
    leg = scope.leg_of_call
    meant = np.flatnonzero((ns > 0) & usable[leg])
    if not len(meant):
        return []
    spent = np.zeros(len(usable), np.int64)
    np.add.at(spent, leg[meant], ns[meant])
    return [_row(*name, len(meant), _of_all(spent[spent > 0]))]


def _of_all(ns: Index) -> Spread:
    return spreads(np.zeros(len(ns), np.int64), ns, 1)[0]


def _row(kind: str, name: str, calls: int, found: Spread) -> LayerRow:
    return LayerRow(kind, name, calls, *found)
