# SPDX-License-Identifier: MIT
"""The graphs of an open session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...analysis.graphs.io_graph_series import IoSeries, io_series
from ...analysis.graphs.latency_histogram_and_heat_map import LatencyGrid, latency_grid
from ...analysis.graphs.path_box_plot import PathBoxes, path_boxes
from ...analysis.graphs.round_trip_bars import RoundTripBars, round_trip_bars
from ...analysis.stats import Chosen, Scope
from ...analysis.stats.call_stacks import StackTree, stack_tree
from ...records import Progress
from ..packets.packet_list import PacketList
from .session_statistics import Statistics

# The graphs that an import stores, by the names of their results.
GRAPHS: Mapping[str, Callable[[Scope], Any]] = {
    "io graph": lambda scope: io_series([scope], scope.interval_ns),
    "latency graph": latency_grid,
    "path graph": path_boxes,
    "flame graph": stack_tree,
    "round trip graph": round_trip_bars,
}


class Graphs:
    """The graphs of the Statistics menu, for chosen packets and times."""

    def __init__(self, stats: Statistics, packets: PacketList) -> None:
        self._stats, self._packets = stats, packets

    def io(
        self, chosen: Chosen, texts: Sequence[str] = ("",), progress: Progress | None = None
    ) -> list[IoSeries]:
        """Return one series for each display filter in `texts`: the chosen packets that match it.

        All series have the same intervals.  Raises FilterError, BadInput and Cancelled; raises
        KeyError with a message if the intervals are too short.
        """
        if list(texts) == [""]:
            every: list[IoSeries] = self._graph("io graph", chosen, progress)
            return every
        scopes = []
        for text in texts:
            found = self._packets.select(text, progress=progress)
            packets = chosen.packets
            if found is not None:
                packets = found if packets is None else np.intersect1d(packets, found)
            scopes.append(self._stats.scope(chosen._replace(packets=packets), progress))
        return io_series(scopes, chosen.interval_ns)

    def latencies(self, chosen: Chosen, progress: Progress | None = None) -> LatencyGrid | None:
        """Count the chosen packets by capture time and by time in kernel.

        Returns None if the time in kernel of no packet is known.  Raises Cancelled.
        """
        made: LatencyGrid | None = self._graph("latency graph", chosen, progress)
        return made

    def paths(self, chosen: Chosen, progress: Progress | None = None) -> PathBoxes | None:
        """Return a box (percentiles of times) for each class of paths of the chosen packets.

        Returns None if the time in kernel of no packet is known.  Raises Cancelled.
        """
        made: PathBoxes | None = self._graph("path graph", chosen, progress)
        return made

    def stacks(self, chosen: Chosen, progress: Progress | None = None) -> StackTree:
        """Return the call stacks of the chosen packets.  Raises Cancelled."""
        made: StackTree = self._graph("flame graph", chosen, progress)
        return made

    def round_trips(self, chosen: Chosen, progress: Progress | None = None) -> RoundTripBars | None:
        """Return a bar for each interval: the mean of the round trips that end in it.

        A round trip counts if it ends with a chosen packet.  Returns None if no round trip counts.
        Raises Cancelled.
        """
        made: RoundTripBars | None = self._graph("round trip graph", chosen, progress)
        return made

    def _graph(self, name: str, chosen: Chosen, progress: Progress | None) -> Any:
        """Return the graph `name` of GRAPHS for the `chosen` packets and times."""
        return self._stats.stored_or(
            name, chosen, lambda: GRAPHS[name](self._stats.scope(chosen, progress))
        )
