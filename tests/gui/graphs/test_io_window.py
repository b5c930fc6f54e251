# SPDX-License-Identifier: MIT
"""The I/O graphs: series by filter, ranges that filter the list, bars that lead to packets."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF, Qt
from pytestqt.qtbot import QtBot

from skbviewer.gui.graphs.io_graph_series_list import FILTER, ON
from skbviewer.gui.graphs.io_window import TIMES, IoGraphs
from skbviewer.gui.window.main_window import MainWindow

from .opened_window import open_graph, wait_for_rows


@pytest.fixture
def graphs(sample_window: MainWindow, qtbot: QtBot) -> IoGraphs:
    return open_graph(sample_window, "I/O Graphs", IoGraphs, qtbot)


def test_series_are_counted_and_drawn(
    graphs: IoGraphs, sample_window: MainWindow, qtbot: QtBot
) -> None:
    (every,) = graphs.made.series
    assert sample_window.recording is not None
    assert int(every.packets.sum()) == sample_window.recording.packets.count()
    graphs.list.add_series("udp")
    graphs.list.filters_changed.emit()
    qtbot.waitUntil(lambda: len(graphs.made.series) == 2)
    drawn = len(graphs.plot.getPlotItem().listDataItems())
    item = graphs.list.tree.topLevelItem(1)
    assert item is not None
    item.setCheckState(ON, Qt.CheckState.Unchecked)
    assert len(graphs.plot.getPlotItem().listDataItems()) == drawn - 1 == 1
    graphs.quantity.setCurrentText(TIMES)
    graphs.fit()
    assert len(graphs.plot.getPlotItem().listDataItems()) == 3  # p50, p90, p99


def test_an_invalid_filter_is_marked_and_left_out(graphs: IoGraphs, qtbot: QtBot) -> None:
    item = graphs.list.add_series("tcp.nonsense ==")
    graphs.list.filters_changed.emit()
    qtbot.waitUntil(lambda: not graphs.tasks.busy)
    assert graphs.made.places == (0,)
    assert not item.icon(FILTER).isNull() and item.toolTip(FILTER)


def test_a_range_filters_the_list_until_it_is_cleared(graphs: IoGraphs, qtbot: QtBot) -> None:
    window = graphs.parent()
    (every,) = graphs.made.series
    left = (every.after_ns + 2 * every.interval_ns) / 1e9
    right = left + 20 * every.interval_ns / 1e9
    rows = wait_for_rows(
        window, qtbot, lambda: graphs.plot.box.brushed.emit(QRectF(left, 0, right - left, 10))
    )
    assert rows is not None and len(rows) == int(every.packets[2:22].sum()) > 0
    assert wait_for_rows(window, qtbot, graphs.clear.click) is None


def test_a_click_goes_to_the_first_packet_of_the_bar(graphs: IoGraphs) -> None:
    (every,) = graphs.made.series
    at = int(every.packets.argmax())
    middle = (every.after_ns + (at + 0.5) * every.interval_ns) / 1e9
    graphs.plot.box.clicked.emit(middle, 1.0)
    row = graphs.selection.row
    assert row is not None and row.packet == every.first[at]


def test_the_interval_can_be_chosen(graphs: IoGraphs, qtbot: QtBot) -> None:
    graphs.interval.setCurrentText("1 ms")
    graphs.count()
    qtbot.waitUntil(lambda: not graphs.tasks.busy)
    assert graphs.made.series[0].interval_ns == 1_000_000
