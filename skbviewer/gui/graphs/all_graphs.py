# SPDX-License-Identifier: MIT
"""All graphs of the Statistics menu.  A new graph needs a module and a line in this table."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtWidgets import QWidget

from ..base.shown_packets import View
from ..packets.selection import Selection
from .flame_window import show_flame_graph
from .graph_window import GraphWindow
from .io_window import show_io_graphs
from .latency_window import show_latency_graphs
from .path_graph_window import show_path_graph
from .round_trip_window import show_round_trips


class Graph(NamedTuple):
    """An entry of the Statistics menu, its tooltip, and the function that opens its window."""

    menu: str
    tip: str
    show: Callable[[QWidget, Selection, View], GraphWindow]


GRAPHS = (
    Graph("I/&O Graphs…", "Packets, bits, time in kernel and drops over time", show_io_graphs),
    Graph(
        "Latency Grap&hs…",
        "Histogram and heat map of the time in kernel",
        show_latency_graphs,
    ),
    Graph("Path Graph…", "Times in kernel of each path, with outliers", show_path_graph),
    Graph(
        "Flame Graph…",
        "Call stacks, with widths by self time, number of calls or a hardware counter",
        show_flame_graph,
    ),
    Graph(
        "Ro&und Trip Graph…",
        "Round trips of TCP segments, split into kernel, wire and peer",
        show_round_trips,
    ),
)
