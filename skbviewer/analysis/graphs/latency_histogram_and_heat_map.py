# SPDX-License-Identifier: MIT
"""How times in kernel are distributed, and how this changes over time: histogram, heat map.

Input: a Scope, which chooses packets.  Output: the number of packets in each cell of a grid of time
and (logarithmic) latency.
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
    """Numbers of packets in a grid: one axis is time, the other is the time in kernel (latency).

    `counts` is an int64 array (interval, bin of latency).  Interval i begins at begin_ns + i *
    interval_ns of session time.  Packet 1 was captured at `origin_ns`.  Bin j counts latencies from
    edges_ns[j] up to, but not including, edges_ns[j + 1].  Edges are whole ns and at least 1; a
    latency of 0 counts in the first bin.  `percentiles_ns` are the percentiles PERCENTS of all
    latencies (nearest rank).  `unknown` is the number of packets whose capture time or time in
    kernel is unknown; `counts` leaves them out.
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
        """Return the number of packets in each bin of latency, over all intervals."""
        return np.asarray(self.counts.sum(axis=0), np.int64)

    @property
    def total(self) -> int:
        """Return the number of packets in the grid."""
        return int(self.counts.sum())


def latency_grid(scope: Scope) -> LatencyGrid | None:
    """Count the chosen packets by time and by time in kernel; None if no packet has both.

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
    """Return rising edges of bins from `low` to `high` (whole ns); a decade has PER_DECADE bins.

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
