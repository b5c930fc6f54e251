# SPDX-License-Identifier: MIT
"""NetSlice, formula (5) and Figure 5: round trips as the user of a socket sees them.

T = T' - K * cost of a probe - E * cost of an event: T' is the round trip with probes, K and E are
the numbers of calls and events that were recorded in it.  The truth is the round trip without the
module.
"""

from __future__ import annotations

from itertools import groupby
from statistics import median
from typing import NamedTuple

import numpy as np

from skbviewer.analysis.calls.probe_compensation import error_bar
from skbviewer.analysis.calls.probe_cost_per_record import Costs
from skbviewer.matching import Nesting
from skbviewer.readers import read
from skbviewer.records import KernelLog, Silent
from skbviewer.records.types import Int64s

from .kept import guest_files
from .markdown import microseconds, table

LISTS = {"layers": "one function a layer", "probes": "the whole list"}
WITHOUT = ("before", "after")  # the module was loaded


class Round(NamedTuple):
    """A round trip: bytes in each direction; its begin and end by CLOCK_MONOTONIC, ns."""

    size: int
    begin: int
    end: int


class Estimate(NamedTuple):
    """A round trip with probes: calls and events in it, and formula (5) with its error; ns."""

    seen: int
    calls: int
    events: int
    without: int
    error: int


def user_round_trips() -> str:
    """Return the round trips of each size without probes, with probes, and by formula (5)."""
    truth = without_probes()
    rows = [
        (title, size, *_truth(truth[size]), *_cells(some, median(truth[size])))
        for name, title in LISTS.items()
        for size, some in estimates(name).items()
    ]
    head = ("probes", "bytes", "without probes (us)", "10 % to 90 % of these", "with probes (us)",
            "calls", "events", "formula 5 (us)", "stated error (us)", "off by (%)")  # fmt: skip
    return table(head, rows)


def without_probes() -> dict[int, list[int]]:
    """Return the round trips of each size without the module, ns."""
    rounds = [one for name in WITHOUT for one in _rounds(name)]
    return {size: [r.end - r.begin for r in some] for size, some in _by_size(rounds).items()}


def estimates(name: str) -> dict[int, list[Estimate]]:
    """Return formula (5) of each round trip that was recorded with a list of probes, by size."""
    log = read(guest_files() / f"{name}.kbl", Silent())
    assert isinstance(log, KernelLog) and log.calibration is not None
    costs = Costs(log.records, Nesting(log.records), log.calibration)
    whole = slice(0, len(log.records))
    written = _written(log)
    sums = [_Sums(written, costs.probes(whole)), _Sums(written, costs.events(whole))]
    found = {}
    for size, rounds in _by_size(_rounds(name)).items():
        spent = [[one.of(r) for one in sums] for r in rounds]
        found[size] = [_estimate(log, r, *both) for r, both in zip(rounds, spent, strict=True)]
    return found


class _Sums:
    """Costs of records by the time at which these were written, to sum them over round trips."""

    def __init__(self, written: Int64s, costs: Int64s) -> None:
        order = np.argsort(written, kind="stable")
        self._times = written[order]
        self._costs = np.concatenate([[0], np.cumsum(costs[order])])
        self._number = np.concatenate([[0], np.cumsum(costs[order] > 0)])

    def of(self, one: Round) -> tuple[int, int]:
        """Return the number of records that cost time in a round trip, and their cost; ns."""
        first, last = np.searchsorted(self._times, [one.begin, one.end])
        number, cost = (sums[last] - sums[first] for sums in (self._number, self._costs))
        return int(number), int(cost)


def _written(log: KernelLog) -> Int64s:
    """Return when each record was written: a call when it returned."""
    ends = np.asarray(log.records["exit_ts"])
    return np.where(ends >= 0, ends, np.asarray(log.records["ts"])).astype(np.int64)


def _estimate(
    log: KernelLog, one: Round, probes: tuple[int, int], events: tuple[int, int]
) -> Estimate:
    assert log.calibration is not None
    seen = one.end - one.begin
    cost, dur = (np.array([ns], np.int64) for ns in (probes[1], seen))
    error = error_bar(log.calibration, cost, np.array([events[1]], np.int64), dur)
    return Estimate(seen, probes[0], events[0], seen - probes[1] - events[1], int(error[0]))


def _truth(rounds: list[int]) -> tuple[str, str]:
    """Return the median of round trips without probes, and the range of most of them."""
    low, high = np.percentile(rounds, [10, 90])
    return microseconds(median(rounds)), f"{microseconds(low)} to {microseconds(high)}"


def _cells(some: list[Estimate], truth: float) -> tuple[str, ...]:
    """Return the medians of the round trips of one size."""
    seen, calls, events, without, error = (median(column) for column in zip(*some, strict=True))
    return (
        microseconds(seen), f"{calls:,.0f}", f"{events:,.0f}", microseconds(without),
        microseconds(error), f"{100 * (without / truth - 1):+.1f}",
    )  # fmt: skip


def _rounds(name: str) -> list[Round]:
    """Return the round trips that the client printed."""
    lines = (guest_files() / f"{name}.rounds").read_text("utf-8").splitlines()
    return [Round(*map(int, line.split())) for line in lines]


def _by_size(rounds: list[Round]) -> dict[int, list[Round]]:
    rounds = sorted(rounds)
    return {size: list(some) for size, some in groupby(rounds, lambda one: one.size)}
