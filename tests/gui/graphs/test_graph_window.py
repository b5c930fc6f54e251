# SPDX-License-Identifier: MIT
"""All graphs count the same packets, and show a message if there are none."""

from __future__ import annotations

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from skbviewer.gui.graphs.all_graphs import GRAPHS
from skbviewer.gui.graphs.graph_window import Extent, GraphWindow
from skbviewer.gui.graphs.io_window import IoGraphs
from skbviewer.gui.window.main_window import MainWindow

from .opened_window import open_graph, wait_for_rows

TITLES = [graph.menu.replace("&", "").rstrip("…") for graph in GRAPHS]


def count(graph: GraphWindow, extent: Extent, qtbot: QtBot) -> None:
    graph.extent.setCurrentText(extent.value)
    graph.count()
    qtbot.waitUntil(lambda: not graph.tasks.busy)


def test_the_extent_of_a_graph(sample_window: MainWindow, qtbot: QtBot) -> None:
    wait_for_rows(sample_window, qtbot, lambda: sample_window.use_filter("frame.number < 50", True))
    graph = open_graph(sample_window, "I/O Graphs", IoGraphs, qtbot)
    assert graph.limit.text() == "frame.number < 50"
    assert int(graph.made.series[0].packets.sum()) == 49
    count(graph, Extent.EVERYTHING, qtbot)
    assert sample_window.recording is not None
    every = sample_window.recording.packets
    assert int(graph.made.series[0].packets.sum()) == every.count()
    times = [row.ts_ns or 0 for row in every.numbered(1, every.count())]
    sample_window.selection.choose_range((times[9], times[99]))
    count(graph, Extent.VISIBLE, qtbot)
    inside = np.array(times)
    inside = inside[(inside >= times[9]) & (inside < times[99])]
    assert int(graph.made.series[0].packets.sum()) == len(inside)


@pytest.mark.parametrize("title", ["Latency Graphs", "Round Trip Graph"])
def test_rows_that_no_capture_has_are_named(
    title: str, sample_window: MainWindow, qtbot: QtBot
) -> None:
    wait_for_rows(sample_window, qtbot, sample_window.toggle_kernel_only)
    graph = open_graph(sample_window, title, GraphWindow, qtbot)
    count(graph, Extent.DISPLAYED, qtbot)
    assert sample_window.recording is not None
    number = sample_window.recording.packets.kernel_only_count()
    assert number > 0 and f"{number:,} rows K<n>" in graph.limit.text()
    count(graph, Extent.EVERYTHING, qtbot)
    assert graph.limit.text() == ""


@pytest.mark.parametrize("title", TITLES)
def test_no_packets_leave_no_picture(title: str, sample_window: MainWindow, qtbot: QtBot) -> None:
    graph = open_graph(sample_window, title, GraphWindow, qtbot)
    wait_for_rows(sample_window, qtbot, lambda: sample_window.use_filter("frame.len > 9999", True))
    count(graph, Extent.DISPLAYED, qtbot)
    graph.recolour()
    said = graph.note.text()
    assert any(word in said for word in ("No packet", "no packet", "no recorded", "no captured"))
    sample_window.close_recording()
    assert not graph.isVisible()
