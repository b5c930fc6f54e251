# SPDX-License-Identifier: MIT
"""The time of packets in layers, in waits and on the wire: `skbviewer stats layers`.

The time of a layer in a leg is the sum of the self times of its functions there, so no nanosecond
counts twice.  A call that several packets share counts for the first of them.  What a call does
before it has its packet is left out (layer_time_loops.py).  The table's waits are the waits of legs
(docs/times.md).  Waits after the end of a leg, until a process reads the packet, have rows of their
own.  A copy for a sniffer has no stages.  Legs whose records may have been lost are left out, and
their number is returned.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from ...records import narrow
from ...records.types import Bools, Int64s
from ...store.whole_columns import Array
from ..scope import Scope
from ..scope.chosen_call_blocks import call_blocks
from ..words.function_layers import layers
from ..words.wait_kinds import NAMES, UNKNOWN
from .duration_percentiles import Spread, spread, spreads_of_blocks
from .layer_time_loops import Calls, LegTimes, layer_sums, own_times
from .leg_stages import stage_times, wire_times

BUSY, WAIT, LATER, NOWHERE, STAGE = "busy", "wait", "later wait", "unknown", "stage"
# Columns of calls, by their names in layer_time_loops.Calls.
CALLS = {
    "entry": "entry_ns", "dur": "dur_ns", "own": "self_ns",
    "flags": "flags", "skb": "skb", "context": "context",
}  # fmt: skip


class LayerRow(NamedTuple):
    """One layer, one kind of wait, or one stage.

    `kind` is "busy" for the self times of a layer's functions, "wait" for time in a queue or while
    the CPU worked for others, "later wait" for a wait after the leg's end, which is not time in
    kernel, or "unknown" if no record shows what the time was.  `kind` is "stage" for a section of a
    leg, including waits (Wu & Crawford 2007 for the receiving side), or for the wire between two
    legs.  `number` is the number of legs.  All numbers except `calls` and `number` are times in ns
    for each leg.
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
    """The rows of the table, and the number of `legs` that they count.

    `gaps` is the number of legs that are left out because their records may be lost.
    """

    rows: tuple[LayerRow, ...]
    legs: int
    gaps: int


def layer_table(scope: Scope) -> LayerTable:
    """Return a row for each layer, from the wire upwards; then for each wait and each stage.

    If a leg begins in the range of time, the whole leg counts.
    """
    scope = scope.whole
    usable = scope.legs & ~scope.gaps
    rows = [*_layers(scope, usable)]
    times = wait_times(scope, usable)
    rows += _waits(times, times.inside, WAIT)
    rows += _waits(times, times.later, LATER)
    stages = {"wire": _known(wire_times(scope, np.flatnonzero(usable)))}
    stages |= stage_times(scope, usable)
    rows += [_row(STAGE, name, 0, spread(ns)) for name, ns in stages.items() if len(ns)]
    return LayerTable(tuple(rows), int(usable.sum()), int((scope.legs & scope.gaps).sum()))


def _known(ns: Int64s) -> Int64s:
    return ns[ns >= 0]


def _layers(scope: Scope, usable: Bools) -> list[LayerRow]:
    """Return a row for each layer, with the distribution of its time in legs."""
    names = [style.name for style in layers()]
    layer = np.array([*map(names.index, scope.layer_names), -1], np.int64)
    once = scope.once
    counts, made = np.zeros(len(names), np.int64), list[tuple[Array, Array]]()
    for block in call_blocks(scope, *CALLS.values(), "parent", "func"):
        is_first = np.diff(block.leg, prepend=-1) > 0
        legs, place = block.leg[is_first], np.cumsum(is_first) - 1
        function = scope.functions_of(block.columns["func"], scope.sources_of(legs)[place])
        counted = once[block.first : block.first + len(block.leg)]
        calls = Calls(
            leg=place,
            parent=block.places(block.columns["parent"] - 1),
            layer=np.where(counted, layer[function], -1),
            **{field: block.columns[name] for field, name in CALLS.items()},
        )
        of, own = _sums(calls, _leg_times(scope, usable, legs), counts)
        made.append((of.astype(np.int8), narrow(own)))
    found = spreads_of_blocks(partial(_blocks, made), len(names))
    return [
        _row(BUSY, name, int(counts[at]), found[at])
        for at, name in reversed(list(enumerate(names)))
        if found[at].number
    ]


def _leg_times(scope: Scope, usable: Bools, legs: Int64s) -> LegTimes:
    """Return begin, direction and reader of `legs` (rising); `usable` marks legs that count."""
    kind, begin, reader = (
        scope.columns.near("leg", name, legs) for name in ("kind", "begin_ns", "reader_ns")
    )
    times = begin.astype(np.int64), reader.astype(np.int64)
    return LegTimes(usable[legs], kind.astype(np.int8), *times)


def _blocks(made: list[tuple[Array, Array]]) -> Iterator[tuple[Int64s, Int64s]]:
    return ((of.astype(np.int64), own.astype(np.int64)) for of, own in made)


def _sums(calls: Calls, legs: LegTimes, counts: Int64s) -> Int64s:
    """Return (layer, ns) for each leg and layer; add the number of calls in a layer to `counts`."""
    size = len(calls.leg)
    left, own, sums = (
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty((2, size), np.int64),
    )
    own_times(calls, legs, left, own)
    last = np.full(len(counts), -1, np.int64)
    count = layer_sums(calls, legs, own, last, sums, counts)
    return sums[:, :count]


class WaitTimes(NamedTuple):
    """For each wait: its 0-based leg, its kind, and its time (ns) in the leg and after it."""

    leg: Int64s
    kind: Int64s
    inside: Int64s
    later: Int64s


def wait_times(scope: Scope, legs: Bools) -> WaitTimes:
    """Return the waits of those legs that `legs` marks, in the order of the legs."""
    rows, leg = scope.waits
    mine = legs[leg]
    rows, leg = rows[mine], leg[mine]
    kind, begin, end = (
        scope.columns.near("wait", name, rows).astype(np.int64)
        for name in ("kind", "begin_ns", "end_ns")
    )
    until = np.clip(scope.columns.take("leg", "end_ns", leg).astype(np.int64), begin, end)
    return WaitTimes(leg, kind, until - begin, end - until)


def _waits(times: WaitTimes, ns: Int64s, word: str) -> list[LayerRow]:
    """Return a row for each kind of wait that took time; a row has the sums of the legs.

    `ns` is the time of each wait that counts; `word` is the kind of the returned rows.
    """
    rows = []
    for number, name in enumerate(NAMES):
        mine = np.flatnonzero((times.kind == number) & (ns > 0))
        if len(mine):
            of = times.leg[mine]
            spent = np.add.reduceat(ns[mine], np.flatnonzero(np.r_[True, of[1:] != of[:-1]]))
            row = NOWHERE if number in UNKNOWN and word == WAIT else word
            rows.append(_row(row, name, 0, spread(spent)))
    return rows


def _row(kind: str, name: str, calls: int, found: Spread) -> LayerRow:
    return LayerRow(kind, name, calls, *found)
