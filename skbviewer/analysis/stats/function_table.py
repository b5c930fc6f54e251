# SPDX-License-Identifier: MIT
"""The time that each function took: `skbviewer stats functions`.

A call counts once, however many packets it handled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...records.compiled import compiled
from ...records.types import Int64s
from ..calls.interruptions import MARK_GAP, MARK_INTERRUPTED, MARK_SLEPT
from ..scope import Scope
from ..scope.counted_calls import function_calls
from .duration_percentiles import spreads_of_blocks

SUMS = 5  # rows of sums that add_calls() makes before those of marks


class FunctionRow(NamedTuple):
    """One function; unless stated otherwise, its times (ns) are of whole calls as recorded."""

    function: str
    layer: str
    number: int  # calls
    open: int  # calls without a known duration
    total_ns: int
    self_ns: int  # of calls where it is known; without interrupts and inner calls of any packet
    mean_ns: int
    p50_ns: int
    p95_ns: int
    p99_ns: int
    max_ns: int
    comp_mean_ns: int | None  # mean minus the cost of probes; None if never known
    comp_err_ns: int | None  # possible error of that mean
    switched_out: int  # calls during which another task ran
    interrupted: int
    gaps: int  # calls across lost records, whose self and compensated times are unknown


def function_rows(scope: Scope) -> list[FunctionRow]:
    """Return a row for each called function, with its times; the longest total comes first."""
    names = scope.function_names
    size = len(names)

    def durations() -> Iterator[tuple[Int64s, Int64s]]:
        return (calls.with_duration() for calls in function_calls(scope, "dur_ns"))

    found = spreads_of_blocks(durations, size)
    bits = np.array([MARK_SLEPT, MARK_INTERRUPTED, MARK_GAP], np.int64)
    sums = np.zeros((SUMS + len(bits), size), np.int64)
    for block in function_calls(scope, "self_ns", "comp_ns", "comp_err_ns", "marks"):
        own, comp, error, marks = block.columns
        add_calls(block.function, own, comp, error, marks, bits, sums)
    calls, self_ns, measured, comp_ns, comp_err, *marked = sums
    rows = [
        FunctionRow(
            names[f],
            scope.layer_names[f],
            int(calls[f]),
            int(calls[f]) - found[f].number,
            found[f].total_ns,
            int(self_ns[f]),
            *found[f][2:],
            round(comp_ns[f] / measured[f]) if measured[f] else None,
            round(comp_err[f] / measured[f]) if measured[f] else None,
            *(int(count[f]) for count in marked),
        )
        for f in np.flatnonzero(calls).tolist()
    ]
    return sorted(rows, key=lambda row: (-row.total_ns, row.function))


@compiled
def add_calls(
    function: Int64s,
    own: Int64s,
    comp: Int64s,
    error: Int64s,
    marks: Int64s,
    bits: Int64s,
    sums: Int64s,
) -> None:
    """Add calls to `sums`, which has a column for each function.

    The rows of `sums` are: calls; self time (ns); calls whose time without probes is known; time
    without probes (ns); possible error of this time (ns); then the number of calls with each mark
    of `bits`.
    """
    for i in range(len(function)):
        of = function[i]
        sums[0, of] += 1
        if own[i] >= 0:
            sums[1, of] += own[i]
        if comp[i] >= 0:
            sums[2, of] += 1
            sums[3, of] += comp[i]
            sums[4, of] += error[i]
        for k in range(len(bits)):
            sums[SUMS + k, of] += marks[i] & bits[k] != 0
