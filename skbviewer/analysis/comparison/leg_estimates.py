# SPDX-License-Identifier: MIT
"""Estimates of the times of passes through the stack: totals, layers, waits and stages.

One pass through the stack is one leg.  Legs that may have lost records are left out, as in `stats
layers`.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Float64s, Int64s
from ..stats import Scope
from ..stats.layer_table import WaitTimes, wait_times
from ..stats.leg_stages import reading_times, wire_times
from ..words.function_layers import layers
from ..words.stage_names import RECEIVING
from ..words.wait_kinds import NAMES
from .call_sums import STAGES, CallSums
from .estimates import COUNT, LAYERS, NS, TOTALS, Estimates, Measure
from .group_statistics import (
    Grouped,
    block_sums,
    counts_of,
    keys_of,
    passes_of,
    percentiles,
    ratios,
    sums,
)
from .leg_directions import NAMES as DIRECTIONS
from .leg_directions import WORDS, directions
from .time_blocks import Blocks

PERCENTS = (50, 90, 99)
IN_KERNEL = Measure(TOTALS, "time in kernel", NS, "pass")
RANKS = tuple(IN_KERNEL._replace(name=f"time in kernel, p{percent}") for percent in PERCENTS)
BUSY, CPU = (Measure(TOTALS, name, NS, "pass") for name in ("busy", "CPU time"))
WAITING, UNKNOWN = (Measure(TOTALS, name, NS, "pass", rate=True) for name in ("waiting", "unknown"))
CALLS = Measure(TOTALS, "calls", COUNT, "pass")
LAYER = Measure(LAYERS, "self time", NS, "pass", rate=True)
WAIT = Measure(LAYERS, "wait", NS, "pass", rate=True)
LATER = WAIT._replace(name="wait after the pass")  # until a process reads the packet
STAGE = Measure(LAYERS, "stage", NS, "pass that has it")


def total_estimates(scope: Scope, blocks: Blocks) -> dict[Measure, Estimates]:
    """Return estimates of the times and the number of calls of a pass, by direction.

    Only chosen legs with complete records are used.
    """
    legs = np.flatnonzero(scope.legs & ~scope.gaps)
    kinds = directions(scope)
    lossy = np.bincount(kinds[scope.legs & scope.gaps], minlength=len(DIRECTIONS)) > 0
    kind, block = kinds[legs], blocks.of_leg[legs]
    span = scope.of_leg("end_ns")[legs] - scope.of_leg("begin_ns")[legs]
    busy, unknown, cpu = (scope.of_leg(n)[legs] for n in ("busy_ns", "unknown_ns", "cpu_ns"))
    values = {IN_KERNEL: span, BUSY: busy, WAITING: span - busy - unknown, UNKNOWN: unknown}
    values |= {CPU: cpu, CALLS: scope.of_leg("functions")[legs]}
    found = {}
    for measure, value in values.items():
        grouped = Grouped(keys_of(kind, value), block, DIRECTIONS, blocks, lossy)
        found[measure] = ratios(DIRECTIONS, *sums(grouped), blocks, lossy)
        if measure is IN_KERNEL:
            found |= dict(zip(RANKS, percentiles(grouped, PERCENTS), strict=True))
    return found


def layer_estimates(scope: Scope, blocks: Blocks, found: CallSums) -> dict[Measure, Estimates]:
    """Return estimates of the time per pass in each layer, in each kind of wait and in each stage.

    `found` are the sums over calls for the same `scope` and `blocks`.
    """
    kind = directions(scope)
    passes = passes_of(kind[found.usable], blocks.of_leg[found.usable], blocks)
    lossy = bool(np.any(scope.legs & scope.gaps))
    names = tuple(style.name for style in layers())
    times = wait_times(scope, found.usable)
    inside, later = (_waits(blocks, times, kind, ns) for ns in (times.inside, times.later))
    return {
        LAYER: _of_passes(names, found.layers, passes, blocks, lossy),
        WAIT: _of_passes(NAMES, inside, passes, blocks, lossy),
        LATER: _of_passes(NAMES, later, passes, blocks, lossy),
        STAGE: _stages(scope, blocks, found, lossy),
    }


def _waits(blocks: Blocks, times: WaitTimes, direction: Int64s, ns: Int64s) -> Float64s:
    """Return the sums of waiting times (ns) as an array (block, direction, kind of wait)."""
    group = direction[times.leg] * len(NAMES) + times.kind
    key, block = keys_of(group, ns), blocks.of_leg[times.leg]
    names = NAMES * len(WORDS)
    spent = sums(Grouped(key, block, names, blocks, np.zeros(len(names), np.bool_)))[0]
    return spent.reshape(-1, len(WORDS), len(NAMES))


def _of_passes(
    names: tuple[str, ...], spent: Float64s, passes: Float64s, blocks: Blocks, lossy: bool
) -> Estimates:
    """Return estimates of the time that each thing took per pass of a direction.

    `spent` has the shape (block, direction, thing) and `passes` has (block, direction).  `names`
    are the things.
    """
    direction, there = np.nonzero(spent.sum(axis=0))
    at = zip(direction.tolist(), there.tolist(), strict=True)
    named = tuple(f"{names[name]} ({WORDS[word]})" for word, name in at)
    marks = np.full(len(there), lossy)
    return ratios(named, spent[:, direction, there], passes[:, direction], blocks, marks)


def _stages(scope: Scope, blocks: Blocks, found: CallSums, lossy: bool) -> Estimates:
    """Return estimates for stages (stats/leg_stages.py), for the wire, and for reading."""
    every = np.arange(len(found.usable))
    wire = wire_times(scope, every)
    known = np.flatnonzero(wire >= 0)
    value, number = [found.stages], [found.shown]
    for legs, ns in ((known, wire[known]), reading_times(scope, every)):
        mine = found.usable[legs]
        block = blocks.of_leg[legs[mine]]
        value.append(block_sums(block, ns[mine], blocks).reshape(-1, 1))
        number.append(counts_of(block, blocks))
    names = (*STAGES, "wire", RECEIVING[2])
    marks = np.full(len(names), lossy)
    both = np.concatenate(value, axis=1), np.concatenate(number, axis=1)
    return ratios(names, *both, blocks, marks)
