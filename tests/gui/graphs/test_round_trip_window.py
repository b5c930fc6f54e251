# SPDX-License-Identifier: MIT
"""The graph of round trips: its bars, ranges and clicks."""

from __future__ import annotations

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QPointF, QRectF
from pytestqt.qtbot import QtBot

from skbviewer.gui.graphs.round_trip_window import RoundTripGraph
from skbviewer.gui.window.main_window import MainWindow

from .opened_window import open_graph, wait_for_rows


@pytest.fixture
def graph(sample_window: MainWindow, qtbot: QtBot) -> RoundTripGraph:
    return open_graph(sample_window, "Round Trip Graph", RoundTripGraph, qtbot)


def test_bars_are_stacked(graph: RoundTripGraph) -> None:
    made = graph.made
    assert made is not None
    bars = [item for item in graph.plot.getPlotItem().items if isinstance(item, pg.BarGraphItem)]
    assert len(bars) == 4  # sending, wire, peer, receiving
    heights = sum(bar.opts["height"] for bar in bars)
    assert heights.tolist() == pytest.approx(made.parts_ns.sum(axis=0).tolist())


def test_a_range_filters_and_a_click_selects(
    graph: RoundTripGraph, sample_window: MainWindow, qtbot: QtBot
) -> None:
    made = graph.made
    assert made is not None
    at = int(made.number.argmax())
    begin = (made.begin_ns - made.origin_ns + at * made.interval_ns) / 1e9
    width = made.interval_ns / 1e9
    graph.plot.box.clicked.emit(begin + width / 2, 1.0)
    row = graph.selection.row
    assert row is not None and row.packet == made.first[at]
    area = QRectF(begin, 0, width, 1)
    rows = wait_for_rows(sample_window, qtbot, lambda: graph.plot.box.brushed.emit(area))
    assert rows is not None and int(made.first[at]) in rows.tolist()


def test_the_pointer_shows_numbers(graph: RoundTripGraph) -> None:
    made = graph.made
    assert made is not None
    assert graph.note.text().startswith(f"{int(made.number.sum())} acknowledged segments")
    at = int(made.number.argmax())
    x = (made.begin_ns - made.origin_ns + (at + 0.5) * made.interval_ns) / 1e9
    graph.plot.hovered.emit(QPointF(x, 1))
    assert f"{int(made.number[at])} acknowledged segments" in graph.note.text()
