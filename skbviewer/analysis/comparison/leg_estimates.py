# SPDX-License-Identifier: MIT
"""Estimates of the time of passes through the stack: totals, layers, waits and stages.

A pass is a leg.  Legs whose records may have been lost are left out, as in `stats layers`.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Bools
from ..stats import Scope
from ..stats.call_time_in_leg import leg_time
from ..stats.stages import leg_stages
from ..words.function_layers import layers
from ..words.wait_kinds import NAMES
from .estimates import COUNT, LAYERS, NS, TOTALS, Estimates, Measure
from .grouped_values import Grouped, by_block, percentiles, ratios
from .time_blocks import Blocks

DIRECTIONS = ("sent packets", "received packets", "forwarded packets")  # as LEG_KINDS
PERCENTS = (50, 90, 99)
IN_KERNEL = Measure(TOTALS, "time in kernel", NS, "pass")
RANKS = tuple(IN_KERNEL._replace(name=f"time in kernel, p{percent}") for percent in PERCENTS)
BUSY, CPU = (Measure(TOTALS, name, NS, "pass") for name in ("busy", "CPU time"))
WAITING, UNKNOWN = (Measure(TOTALS, name, NS, "pass", rate=True) for name in ("waiting", "unknown"))
CALLS = Measure(TOTALS, "calls", COUNT, "pass")
LAYER = Measure(LAYERS, "self time", NS, "pass", rate=True)
WAIT = Measure(LAYERS, "wait", NS, "pass", rate=True)
STAGE = Measure(LAYERS, "stage", NS, "pass that has it")


def total_estimates(scope: Scope, blocks: Blocks) -> dict[Measure, Estimates]:
    """Return estimates of times and numbers of calls of passes, by direction."""
    usable = scope.legs & ~scope.gaps
    legs = np.flatnonzero(usable)
    kind = scope.of_leg("kind")[legs]
    held = np.bincount(scope.of_leg("kind")[scope.legs & scope.gaps], minlength=len(DIRECTIONS))
    block = blocks.of_leg[legs].astype(np.int64)
    span = scope.of_leg("end_ns")[legs] - scope.of_leg("begin_ns")[legs]
    busy, unknown, cpu = (scope.of_leg(n)[legs] for n in ("busy_ns", "unknown_ns", "cpu_ns"))

    span = np.maximum(span, 0)
    size = blocks.number, blocks.longest
    spans = Grouped(kind, span, block, DIRECTIONS, *size, held > 0)
    number = spans.summed()
    values = {IN_KERNEL: span, BUSY: busy, WAITING: span - busy - unknown, UNKNOWN: unknown}
    values |= {CPU: cpu, CALLS: scope.of_leg("functions")[legs]}
    found = {
        measure: ratios(DIRECTIONS, spans.summed(value), number, size, held > 0)
        for measure, value in values.items()
    }
    return found | dict(zip(RANKS, percentiles(spans, PERCENTS), strict=True))


def layer_estimates(scope: Scope, blocks: Blocks) -> dict[Measure, Estimates]:
    """Return estimates of the time of a pass in each layer, wait and stage."""
    usable = scope.legs & ~scope.gaps
    lossy = bool(np.any(scope.legs & scope.gaps))
    passes = by_block(
        blocks.of_leg[usable].astype(np.int64),
        np.zeros(int(usable.sum()), np.int64),
        blocks.number,
        1,
    )
    return {
        LAYER: _layers(scope, usable, blocks, passes, lossy),
        WAIT: _waits(scope, usable, blocks, passes, lossy),
        STAGE: _stages(scope, usable, blocks, lossy),
    }


def _layers(
    scope: Scope, usable: Bools, blocks: Blocks, passes: np.ndarray, lossy: bool
) -> Estimates:
    names = tuple(style.name for style in layers())
    layer = np.array([names.index(name) for name in scope.layer_names], np.int64)
    leg, function, own = scope.leg_of_call, scope.function, leg_time(scope)
    known = np.flatnonzero((function >= 0) & (own >= 0) & usable[leg] & scope.once)
    block = blocks.of_leg[leg[known]].astype(np.int64)
    spent = by_block(block, layer[function[known]], blocks.number, len(names), own[known])
    return _of_passes(names, spent, passes, blocks, lossy)


def _waits(
    scope: Scope, usable: Bools, blocks: Blocks, passes: np.ndarray, lossy: bool
) -> Estimates:
    kind, leg = scope.of_wait("kind"), scope.of_wait("leg") - 1
    span = scope.of_wait("end_ns") - scope.of_wait("begin_ns")
    mine = np.flatnonzero(usable[leg])
    block = blocks.of_leg[leg[mine]].astype(np.int64)
    spent = by_block(block, kind[mine], blocks.number, len(NAMES), span[mine])
    return _of_passes(NAMES, spent, passes, blocks, lossy)


def _of_passes(
    names: tuple[str, ...], spent: np.ndarray, passes: np.ndarray, blocks: Blocks, lossy: bool
) -> Estimates:
    """Return estimates per pass, of things that took any time."""
    there = np.flatnonzero(spent.sum(axis=0))
    named = tuple(names[at] for at in there.tolist())
    marks = np.full(len(there), lossy)
    return ratios(named, spent[:, there], passes, (blocks.number, blocks.longest), marks)


def _stages(scope: Scope, usable: Bools, blocks: Blocks, lossy: bool) -> Estimates:
    found = leg_stages(scope)
    named = {**found.waits, **found.stages}
    size = max(blocks.number, 1)
    value, number = (np.zeros((size, len(named))) for _ in range(2))
    for at, ns in enumerate(named.values()):
        rows = np.flatnonzero(ns >= 0)
        rows = rows[usable[rows]]
        block = blocks.of_leg[rows]
        value[:, at] = np.bincount(block, ns[rows], size)
        number[:, at] = np.bincount(block, minlength=size)
    marks = np.full(len(named), lossy)
    return ratios(tuple(named), value, number, (blocks.number, blocks.longest), marks)
