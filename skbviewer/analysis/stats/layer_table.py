# SPDX-License-Identifier: MIT
"""The time of packets in layers, in waits and on the wire: `skbviewer stats layers`.

A layer's time in a leg is the sum of its functions' self times there: no nanosecond counts twice.
A call that several packets share is added to the first of them.  The part of a call before its
packet was there is left out (layer_loops.py).  Waits are those of the leg (docs/times.md); those
after its end, until a process reads the packet, are rows of their own.  A sniffer's copy passes no
stages.  Legs whose records may have been lost are left out; their number is returned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Int64s
from ..words.function_layers import layers
from ..words.wait_kinds import NAMES, UNKNOWN
from .call_blocks import call_blocks
from .duration_spread import Spread, spreads
from .layer_loops import Calls, LegTimes, layer_sums, own_times
from .scope import Scope
from .stages import stage_times, wire_times

BUSY, WAIT, LATER, NOWHERE, STAGE = "busy", "wait", "later wait", "unknown", "stage"
# Columns of calls, by their names in layer_loops.Calls.
CALLS = {
    "entry": "entry_ns", "dur": "dur_ns", "own": "self_ns",
    "flags": "flags", "skb": "skb", "context": "context",
}  # fmt: skip


class LayerRow(NamedTuple):
    """One layer, kind of waiting or stage.  `number` counts legs; the other numbers are ns per leg.

    kind: "busy" for the self time of a layer's functions; "wait" for time in a queue or while the
    CPU worked for others; "later wait" for such time after the leg's end, which is no time in
    kernel; "unknown" if no record shows which; "stage" for a section of a leg,
    including waits (Wu & Crawford 2007 for the receiving side), or between two legs (the wire).
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
    scope = scope.whole
    usable = scope.legs & ~scope.gaps
    rows = [*_layers(scope, usable)]
    inside, later = waits_of(scope)
    rows += _waits(scope, usable, inside, WAIT)
    rows += _waits(scope, usable, later, LATER)
    stages = {"wire": _known(wire_times(scope)[usable])}
    stages |= stage_times(scope, usable)
    rows += [_row(STAGE, name, 0, _of_all(ns)) for name, ns in stages.items() if len(ns)]
    return LayerTable(tuple(rows), int(usable.sum()), int((scope.legs & scope.gaps).sum()))


def _known(ns: Int64s) -> Int64s:
    return ns[ns >= 0]


def _layers(scope: Scope, usable: Bools) -> list[LayerRow]:
    """Return a row with the total time of each layer."""
    names = [style.name for style in layers()]
    layer = np.array([*map(names.index, scope.layer_names), -1], np.int64)
    legs = LegTimes(
        usable, scope.of_leg("kind").astype(np.int8), scope.of_leg("begin_ns"),
        scope.of_leg("reader_ns"),
    )  # fmt: skip
    source, once = scope.of_leg("source"), scope.once
    counts, made = np.zeros(len(names), np.int64), [np.zeros((2, 0), np.int64)]
    for block in call_blocks(scope, *CALLS.values(), "parent", "func"):
        function = scope.functions_of(block.columns["func"], source[block.leg])
        counted = once[block.first : block.first + len(block.leg)]
        calls = Calls(
            leg=block.leg,
            parent=block.places(block.columns["parent"] - 1),
            layer=np.where(counted, layer[function], -1),
            **{field: block.columns[name] for field, name in CALLS.items()},
        )
        made.append(_sums(calls, legs, counts))
    of, own = np.concatenate(made, axis=1)
    found = spreads(of, own, len(names))
    return [
        _row(BUSY, name, int(counts[at]), found[at])
        for at, name in reversed(list(enumerate(names)))
        if found[at].number
    ]


def _sums(calls: Calls, legs: LegTimes, counts: Int64s) -> Int64s:
    """Return (layer, ns) of each leg and layer of these calls; `counts` counts calls by layer."""
    size = len(calls.leg)
    left, own, sums = (
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty((2, size), np.int64),
    )
    own_times(calls, legs, left, own)
    last = np.full(len(counts), -1, np.int64)
    count = layer_sums(calls, legs, own, last, sums, counts)
    return sums[:, :count].copy()


def waits_of(scope: Scope) -> tuple[Int64s, Int64s]:
    """Return for each wait of the session how long it lasts inside its leg, and after it, in ns."""
    leg, begin, end = (scope.of_wait(name) for name in ("leg", "begin_ns", "end_ns"))
    until = np.clip(scope.of_leg("end_ns")[leg - 1], begin, end)
    return until - begin, end - until


def _waits(scope: Scope, usable: Bools, ns: Int64s, word: str) -> list[LayerRow]:
    """Return a row for each kind of wait that took time, with sums by leg.

    `ns` is the time of each wait that counts; `word` is the kind of the rows.
    """
    kind, leg = scope.of_wait("kind"), scope.of_wait("leg")
    rows = []
    for number, name in enumerate(NAMES):
        mine = np.flatnonzero((kind == number) & usable[leg - 1] & (ns > 0))
        if len(mine):
            of = leg[mine]
            spent = np.add.reduceat(ns[mine], np.flatnonzero(np.r_[True, of[1:] != of[:-1]]))
            row = NOWHERE if number in UNKNOWN and word == WAIT else word
            rows.append(_row(row, name, 0, _of_all(spent)))
    return rows


def _of_all(ns: Int64s) -> Spread:
    return spreads(np.zeros(len(ns), np.int64), ns, 1)[0]


def _row(kind: str, name: str, calls: int, found: Spread) -> LayerRow:
    return LayerRow(kind, name, calls, *found)
