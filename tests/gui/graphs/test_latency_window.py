# SPDX-License-Identifier: MIT
"""Histogram and heat map: what they count, and how a range in them filters the list."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF
from pytestqt.qtbot import QtBot

from skbviewer.gui.graphs.latency_window import LatencyGraphs
from skbviewer.gui.window.main_window import MainWindow

from .opened_window import open_graph, wait_for_rows


@pytest.fixture
def graphs(sample_window: MainWindow, qtbot: QtBot) -> LatencyGraphs:
    return open_graph(sample_window, "Latency Graphs", LatencyGraphs, qtbot)


def test_a_range_of_latency_filters_the_list(
    graphs: LatencyGraphs, sample_window: MainWindow, qtbot: QtBot
) -> None:
    made = graphs.made
    assert made is not None
    left, right = np.log10(made.edges_ns[[10, 16]]).tolist()
    area = QRectF(left, 0, right - left, 1)
    rows = wait_for_rows(sample_window, qtbot, lambda: graphs.histogram.box.brushed.emit(area))
    assert rows is not None and len(rows) == int(made.histogram[10:16].sum()) > 0
    assert wait_for_rows(sample_window, qtbot, graphs.clear.click) is None


def test_a_rectangle_filters_by_time_and_latency(
    graphs: LatencyGraphs, sample_window: MainWindow, qtbot: QtBot
) -> None:
    made = graphs.made
    assert made is not None
    begin = (made.begin_ns - made.origin_ns) / 1e9
    step = made.interval_ns / 1e9
    low, high = np.log10(made.edges_ns[[8, 24]]).tolist()
    area = QRectF(begin + 20 * step, low, 20 * step, high - low)
    rows = wait_for_rows(sample_window, qtbot, lambda: graphs.heat.box.brushed.emit(area))
    assert rows is not None and len(rows) == int(made.counts[20:40, 8:24].sum()) > 0


def test_a_range_is_added_to_the_filter_and_replaced(
    graphs: LatencyGraphs, sample_window: MainWindow, qtbot: QtBot
) -> None:
    wait_for_rows(sample_window, qtbot, lambda: sample_window.use_filter("tcp", True))
    for left in (4.5, 5.0):
        brush = partial(graphs.histogram.box.brushed.emit, QRectF(left, 0, 0.5, 1))
        wait_for_rows(sample_window, qtbot, brush)
    text = sample_window.row_query.filter
    assert text == "(tcp) && kbl.in_kernel >= 100000ns && kbl.in_kernel < 316228ns"
    wait_for_rows(sample_window, qtbot, graphs.clear.click)
    assert sample_window.row_query.filter == "tcp"


def test_the_pointer_shows_numbers(graphs: LatencyGraphs) -> None:
    made = graphs.made
    assert made is not None
    fullest = int(made.histogram.argmax())
    place = float(np.log10(made.edges_ns[fullest : fullest + 2]).mean())
    graphs.histogram.hovered.emit(QPointF(place, 1))
    assert graphs.note.text().endswith(f": {int(made.histogram[fullest])} packets")
    graphs.histogram.hovered.emit(None)
    assert graphs.note.text().startswith(f"{made.total} packets")
