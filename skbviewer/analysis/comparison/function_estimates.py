# SPDX-License-Identifier: MIT
"""Estimates of each function's calls: how many, their self times, durations and counted events.

Changes are judged by the self time.  A function that became slower also makes the durations of all
its callers longer, which says nothing about these.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Bools, Int64s
from ..calls.interruptions import MARK_GAP
from ..stats import Scope
from .estimates import COUNT, EVENTS, FUNCTIONS, NS, Estimates, Measure
from .grouped_values import Grouped, by_block, means, percentiles, ratios
from .time_blocks import Blocks

PERCENTS = (50, 90, 99)
CALLS = Measure(FUNCTIONS, "calls", COUNT, "pass", rate=True)
SELF = Measure(FUNCTIONS, "self time", NS, "call")
RANKS = tuple(SELF._replace(name=f"self time, p{percent}") for percent in PERCENTS)
DURATION = Measure(FUNCTIONS, "duration", NS, "call", judged=False)
COUNTER = Measure(FUNCTIONS, "counter", EVENTS, "call", judged=False)


def function_estimates(scope: Scope, blocks: Blocks) -> dict[Measure, Estimates]:
    """Return estimates of all functions that were called; a call of several packets counts once."""
    chosen = np.flatnonzero(scope.once & (scope.function >= 0))
    function = scope.function[chosen]
    block = blocks.of_leg[scope.leg_of_call[chosen]].astype(np.int64)
    called = np.bincount(function, minlength=len(scope.function_names))
    there = np.flatnonzero(called)
    place = np.cumsum(called > 0) - 1
    names = tuple(scope.function_names[at] for at in there.tolist())
    group = place[function]
    gaps = scope.of_call("marks")[chosen] & MARK_GAP != 0
    lossy = np.bincount(group[gaps], minlength=len(names)) > 0

    def grouped(column: Int64s) -> Grouped:
        value = column[chosen]
        known = value >= 0
        rows = group[known], value[known], block[known]
        return Grouped(*rows, names, blocks.number, blocks.longest, lossy)

    own = grouped(scope.own_ns)
    found = {
        CALLS: _calls(scope, blocks, (block, group), names, lossy),
        SELF: means(own),
        **dict(zip(RANKS, percentiles(own, PERCENTS), strict=True)),
        DURATION: means(grouped(scope.of_call("dur_ns"))),
    }
    counter = grouped(scope.of_call("counter"))
    return found | ({COUNTER: means(counter)} if len(counter.value) else {})


def _calls(
    scope: Scope, blocks: Blocks, at: tuple[Int64s, Int64s], names: tuple[str, ...], lossy: Bools
) -> Estimates:
    """Return the numbers of calls per pass.  Any lost record may have been a call."""
    number = by_block(*at, blocks.number, len(names))
    of_leg = blocks.of_leg[scope.legs].astype(np.int64)
    passes = by_block(of_leg, np.zeros(len(of_leg), np.int64), blocks.number, 1)
    lossy = lossy | bool(np.any(scope.legs & scope.gaps))
    made = ratios(names, number, passes, (blocks.number, blocks.longest), lossy)
    return made._replace(number=number.sum(axis=0).astype(np.int64))
