# SPDX-License-Identifier: MIT
"""Estimates for each function: number of calls, self times, durations, counted events.

A change is judged by the self time, not by the duration.  If a function becomes slower, the
durations of all its callers become longer, too, although only the function changed.
"""

from __future__ import annotations

import numpy as np

from ..stats import Scope
from . import call_sum_loops as loop
from .call_sums import CallSums
from .estimates import COUNT, EVENTS, FUNCTIONS, NS, Estimates, Measure
from .group_statistics import VALUE_BITS, VALUES, Grouped, passes_of, percentiles, ratios
from .leg_directions import DOING, directions
from .time_blocks import Blocks

PERCENTS = (50, 90, 99)
# A function's calls per pass of a direction: the number of packets depends on the traffic.
CALLS = tuple(
    Measure(FUNCTIONS, f"calls when {doing}", COUNT, "pass", rate=True) for doing in DOING
)
SELF = Measure(FUNCTIONS, "self time", NS, "call")
RANKS = tuple(SELF._replace(name=f"self time, p{percent}") for percent in PERCENTS)
DURATION = Measure(FUNCTIONS, "duration", NS, "call", judged=False)
COUNTER = Measure(FUNCTIONS, "counter", EVENTS, "call", judged=False)
MEANS = {
    SELF: (loop.SELF, loop.TIMED),
    DURATION: (loop.DURATION, loop.RETURNED),
    COUNTER: (loop.COUNTER, loop.COUNTED),
}


def function_estimates(scope: Scope, blocks: Blocks, sums: CallSums) -> dict[Measure, Estimates]:
    """Return estimates of number and times of calls, by function.

    A call of several packets counts once.  `sums` are the sums over calls for the same `scope` and
    `blocks`.
    """
    first = blocks.first_group
    called = sums.functions[loop.CALLS :, :first].sum(axis=(0, 1))
    there = np.flatnonzero(called)
    names = tuple(scope.function_names[at] for at in there.tolist())
    by_row = sums.functions[:, :, there]
    lossy = by_row[loop.GAPS].sum(axis=0) > 0
    found = {
        measure: ratios(names, by_row[value], by_row[number], blocks, lossy)
        for measure, (value, number) in MEANS.items()
        if by_row[number].any()
    }
    place = np.cumsum(called > 0) - 1
    key = place[sums.key >> VALUE_BITS] << VALUE_BITS | (sums.key & VALUES)
    own = Grouped(key, sums.key_block, names, blocks, lossy)
    found |= dict(zip(RANKS, percentiles(own, PERCENTS), strict=True))
    # Any lost record may have been a call.
    lossy = lossy | bool(np.any(scope.legs & scope.gaps))
    passes = passes_of(directions(scope)[scope.legs], blocks.of_leg[scope.legs], blocks)
    for direction, measure in enumerate(CALLS):
        calls = by_row[loop.CALLS + direction]
        made = ratios(names, calls, passes[:, direction, None], blocks, lossy)
        found[measure] = made._replace(number=calls[:first].sum(axis=0).astype(np.int64))
    return found
