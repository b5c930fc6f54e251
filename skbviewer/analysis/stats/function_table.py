# SPDX-License-Identifier: MIT
"""The time that each function took: `skbviewer stats functions`.

A call counts once, however many packets it handled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..calls.interruptions import MARK_GAP, MARK_INTERRUPTED, MARK_SLEPT
from .duration_spread import spreads
from .scope import Scope


class FunctionRow(NamedTuple):
    """One function; times are ns of whole calls, as recorded, unless stated otherwise."""

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
    """Return a row with the times of each function that was called, longest total first."""
    names = scope.function_names
    group, size = scope.function, len(names)
    known = (group >= 0) & scope.once
    dur, own = scope.of_call("dur_ns"), scope.own_ns
    comp, error = scope.of_call("comp_ns"), scope.of_call("comp_err_ns")
    marks = scope.of_call("marks")
    whole = known & (dur >= 0)
    found = spreads(group[whole], dur[whole], size)
    calls = np.bincount(group[known], minlength=size)
    self_ns = _sums(group, own, known & (own >= 0), size)
    right = known & (comp >= 0)
    measured = np.bincount(group[right], minlength=size)
    comp_ns, comp_err = _sums(group, comp, right, size), _sums(group, error, right, size)
    marked = [
        np.bincount(group[known & (marks & mark != 0)], minlength=size)
        for mark in (MARK_SLEPT, MARK_INTERRUPTED, MARK_GAP)
    ]
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


def _sums(
    group: np.ndarray[tuple[int], np.dtype[np.int64]],
    value: np.ndarray[tuple[int], np.dtype[np.int64]],
    chosen: np.ndarray[tuple[int], np.dtype[np.bool_]],
    size: int,
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    total = np.zeros(size, np.int64)
    np.add.at(total, group[chosen], value[chosen])
    return total
