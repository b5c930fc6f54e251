# SPDX-License-Identifier: MIT
"""Sums over the calls of a recording for each block of time; call_sum_loops.py computes them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...matching import TRANSMIT
from ...records.types import Bools, Float64s, Int32s, Int64s
from ..breakdown.path_class_rule import step_numbers
from ..stats import Scope
from ..words.function_layers import layers
from ..words.stage_names import FORWARDING, QUEUE, RECEIVING, SENDING, STACK
from . import call_sum_loops as loop
from .leg_directions import COPIES, directions
from .time_blocks import Blocks

STAGES = (*SENDING, *FORWARDING, *RECEIVING[:2])
COLUMNS = loop.Calls._fields[:-2]  # the last two are not columns of the table


class CallSums(NamedTuple):
    """Sums over calls, for each block of time and group of flows.

    `functions` has the shape [row of call_sum_loops, block, function].  `key` and `key_block` are
    columns of Grouped.  `layers` has the shape [block, direction, layer]; `stages` and `shown` have
    [block, stage].  `path` is the number of each leg's path (breakdown/path_class_rule.py).
    `usable` marks the chosen legs whose records are complete.  `staged` marks the usable legs that
    are not copies for sniffers.
    """

    functions: Float64s
    layers: Float64s
    stages: Float64s
    shown: Float64s
    path: Int64s
    key: Int64s
    key_block: Int32s
    usable: Bools
    staged: Bools


def call_sums(scope: Scope, blocks: Blocks) -> CallSums:
    """Return sums over the chosen calls, for each block of time and each group of flows.

    Legs that may lack records are left out.  Raises Cancelled.
    """
    columns = scope.columns
    usable = scope.legs & ~scope.gaps
    begin, end, reader = (np.array(scope.of_leg(n)) for n in ("begin_ns", "end_ns", "reader_ns"))
    kind, source = scope.of_leg("kind").astype(np.uint8), scope.of_leg("source").astype(np.int32)
    dropped = scope.of_leg("drop_reason") >= 0
    direction = directions(scope).astype(np.uint8)
    staged = usable & (direction != COPIES)
    given = kind, direction, dropped, source, blocks.of_leg, usable, staged
    legs = loop.Legs(begin, end, reader, *given)
    found = _empty(scope, blocks, len(usable))
    functions, counted = _functions(scope), _counted(scope)
    early: list[Int64s] = []
    for first, part in columns.pieces("call", *COLUMNS):
        scope.progress.report("Counting", first, len(scope.calls))
        rows = slice(first, first + len(part[0]))
        if len(part[0]) > found.early.shape[1]:
            found = found._replace(early=np.zeros((loop.EARLY_ROWS, len(part[0])), np.int64))
        found.state[loop.EARLY] = 0
        values = [np.array(column, np.int64) for column in part]  # copies can be written
        calls = loop.Calls._make([*values, scope.calls[rows], counted[rows]])
        loop.pass_over(np.int64(first), calls, legs, functions, found)
        early.append(found.early[:, : int(found.state[loop.EARLY])].copy())
    loop.finish(legs, found)
    _add_early(scope, early, found)
    keys = int(found.state[loop.KEYS])
    sums = found.sums, found.layers, found.stages, found.shown, found.path
    return CallSums(*sums, found.key[:keys], found.key_block[:keys], usable, staged)


def _empty(scope: Scope, blocks: Blocks, legs: int) -> loop.Found:
    size, calls = blocks.rows, int(np.count_nonzero(scope.calls))
    state = np.zeros(loop.STATE, np.int64)
    state[loop.LEG] = -1
    return loop.Found(
        np.zeros((loop.ROWS, size, max(len(scope.function_names), 1))),
        np.zeros((size, loop.DIRECTIONS, len(layers()))),
        np.zeros((size, loop.STAGES)),
        np.zeros((size, loop.STAGES)),
        np.zeros(legs, np.int64),
        np.zeros(legs, np.bool_),
        np.empty(calls, np.int64),
        np.empty(calls, np.int32),
        np.zeros(len(scope.calls), np.bool_),
        np.zeros((loop.EARLY_ROWS, 0), np.int64),
        state,
        np.full(len(scope.function_names) + 1, -1, np.int64),
        np.array([blocks.first_group]),
    )


def _functions(scope: Scope) -> loop.Functions:
    names = scope.function_names
    place = {name: at for at, name in enumerate(names)}
    most = max((max(k.functions, default=-1) for k in scope.kernels.values()), default=-1)
    number = np.full((max(scope.kernels, default=0) + 1, most + 2), -1, np.int32)
    for source, kernel in scope.kernels.items():
        for probe, name in kernel.functions.items():
            number[source, probe] = place[name]
    styles = [style.name for style in layers()]
    roles = (STACK, QUEUE, TRANSMIT)
    role = [sum(1 << bit for bit, named in enumerate(roles) if name in named) for name in names]
    for at, layer in enumerate(scope.layer_names):
        role[at] |= {"transport": loop.TRANSPORT, "ip": loop.IP}.get(layer, 0)
    return loop.Functions(
        number,
        step_numbers(names, scope.layer_names),
        np.array([*(styles.index(name) for name in scope.layer_names), 0], np.int64),
        np.array([*role, 0], np.uint8),
    )


def _counted(scope: Scope) -> Bools:
    """Return for each row of table `call` whether its call is chosen and counts in this row."""
    if len(scope.once) == len(scope.calls):
        return np.ascontiguousarray(scope.once)
    counted = np.zeros(len(scope.calls), np.bool_)
    counted[np.flatnonzero(scope.calls)[scope.once]] = True
    return counted


def _add_early(scope: Scope, parts: list[Int64s], found: loop.Found) -> None:
    early = np.concatenate([np.zeros((loop.EARLY_ROWS, 0), np.int64), *parts], axis=1)
    if early.shape[1]:
        parent = np.asarray(scope.columns.array("call", "parent"), np.int64)[early[0]] - 1
        loop.early_layers(early[0], parent, early, found.layers, int(found.first_group[0]))
