# SPDX-License-Identifier: MIT
"""The distribution of times in kernel, and its changes over time: histogram and heat map.

Input: the Scope of chosen packets.  Output: counts in a grid of time by logarithmic latency.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.types import Int64s
from .io_graph_series import interval_for, origin_of, timed_packets

if TYPE_CHECKING:
    from ..scope import Scope

PER_DECADE = 20  # bins of latency
PERCENTS = (50, 90, 99)


class LatencyGrid(NamedTuple):
    """A grid of packets: one axis is time, the other is their time in kernel (latency).

    `counts` is int64, intervals x bins of latency.  Interval i begins at begin_ns + i * interval_ns
    of session time; packet 1 was captured at origin_ns.  Bin j holds latencies from edges_ns[j] to
    edges_ns[j + 1], the upper edge excluded.  Edges are whole ns, at least 1, and a latency of 0 is
    in the first bin.  `percentiles_ns` are PERCENTS, nearest rank.  `unknown` is the number of
    packets without a known time or time in kernel; they are not counted.
    """

    begin_ns: int
    origin_ns: int
    interval_ns: int
    edges_ns: Int64s
    counts: Int64s
    percentiles_ns: tuple[int, ...]
    unknown: int

    @property
    def histogram(self) -> Int64s:
        """Return the number of packets by bin of latency."""
        return np.asarray(self.counts.sum(axis=0), np.int64)

    @property
    def total(self) -> int:
        """Return the number of packets counted."""
        return int(self.counts.sum())


def latency_grid(scope: Scope) -> LatencyGrid | None:
    """Count the chosen packets by time and by time in kernel; None if no such time is known.

    Raises Cancelled.
    """
    scope.progress.report("Counting", 0, 0)
    when, rows = timed_packets(scope)
    ns = np.asarray(scope.columns.array("packet", "kernel_ns"), np.int64)[rows]
    known = ns >= 0
    when, ns = when[known], ns[known]
    if not len(ns):
        return None
    scope.progress.report("Counting", 0, 0)
    edges, first = log_edges(int(ns.min()), int(ns.max())), int(when.min())
    length = interval_for(int(when.max()) - first)
    columns = int(when.max() - first) // length + 1
    rank = np.maximum(np.searchsorted(edges, ns, side="right") - 1, 0)
    place = (when - first) // length * (len(edges) - 1) + rank
    counts = np.bincount(place, minlength=columns * (len(edges) - 1))
    return LatencyGrid(
        first,
        origin_of(scope, first),
        length,
        edges,
        counts.reshape(columns, -1).astype(np.int64),
        _percentiles(ns),
        len(scope.packets) - len(ns),
    )


def log_edges(low: int, high: int) -> Int64s:
    """Return edges of bins for `low` to `high`, rising, PER_DECADE to a decade, in whole ns.

    The last edge is above `high`.
    """
    begin = int(np.floor(np.log10(max(low, 1)) * PER_DECADE))
    end = int(np.floor(np.log10(max(high, 1)) * PER_DECADE)) + 2
    exact: npt.NDArray[np.float64] = 10.0 ** (np.arange(begin, end + 1) / PER_DECADE)
    edges = np.unique(np.ceil(np.round(exact, 6)).astype(np.int64))
    last = int(np.searchsorted(edges, max(high, 1), side="right"))
    return edges[: last + 1]


def _percentiles(ns: Int64s) -> tuple[int, ...]:
    at = [-(-len(ns) * percent // 100) - 1 for percent in PERCENTS]
    ordered = np.partition(ns, at)
    return tuple(int(ordered[one]) for one in at)
