# SPDX-License-Identifier: MIT
"""The graph of paths: a click on a box filters the list, one on a point selects the packet."""

from __future__ import annotations

import math

import pytest
from PySide6.QtCore import QPointF, QRectF
from pytestqt.qtbot import QtBot

from skbviewer.gui.graphs.path_graph_window import PathGraph
from skbviewer.gui.window.main_window import MainWindow

from .opened_window import open_graph, wait_for_rows


@pytest.fixture
def graph(sample_window: MainWindow, qtbot: QtBot) -> PathGraph:
    return open_graph(sample_window, "Path Graph", PathGraph, qtbot)


def box(graph: PathGraph, at: int) -> tuple[float, float]:
    """The middle of a box, on the axes."""
    assert graph.made is not None
    low, _, high = graph.made.ranks_ns[at, :3].tolist()
    return math.log10(low * 0.9 + high * 0.1), -float(at)


def test_a_box_filters_by_its_path(
    graph: PathGraph, sample_window: MainWindow, qtbot: QtBot
) -> None:
    assert graph.made is not None
    number, name = int(graph.made.number[1]), graph.made.name[1]
    rows = wait_for_rows(sample_window, qtbot, lambda: graph.plot.box.clicked.emit(*box(graph, 1)))
    assert sample_window.row_query.filter == f'kbl.path == "{name}"'
    assert rows is not None and len(rows) == number
    wait_for_rows(sample_window, qtbot, lambda: graph.plot.box.clicked.emit(*box(graph, 2)))
    assert sample_window.row_query.filter == f'kbl.path == "{graph.made.name[2]}"'
    wait_for_rows(sample_window, qtbot, graph.clear.click)
    assert sample_window.row_query.filter == ""


def test_a_point_selects_its_packet(graph: PathGraph, sample_window: MainWindow) -> None:
    assert graph.made is not None
    for at, row in enumerate(graph.made.point_row.tolist()):
        x, y = math.log10(graph.made.point_ns[at]), -float(graph.made.point_class[at])
        graph.plot.box.clicked.emit(x, y)
        assert sample_window.selection.row is not None
        assert sample_window.selection.row.id == row
        graph.plot.hovered.emit(QPointF(x, y))
        assert f"packet {row}: " in graph.note.text() and "times the median" in graph.note.text()


def test_rarer_paths_have_no_filter(graph: PathGraph, sample_window: MainWindow) -> None:
    assert graph.made is not None and graph.made.name[-1] == ""
    graph.plot.box.clicked.emit(*box(graph, len(graph.made.name) - 1))
    assert "no single filter" in graph.note.text() and sample_window.row_query.filter == ""


def test_a_range_of_times(graph: PathGraph, sample_window: MainWindow, qtbot: QtBot) -> None:
    area = QRectF(QPointF(5.0, -3.0), QPointF(6.0, 0.0))
    wait_for_rows(sample_window, qtbot, lambda: graph.plot.box.brushed.emit(area))
    wanted = "kbl.in_kernel >= 100000ns && kbl.in_kernel < 1000000ns"
    assert sample_window.row_query.filter == wanted


def test_the_pointer_shows_numbers(graph: PathGraph) -> None:
    assert graph.made is not None
    graph.plot.hovered.emit(QPointF(*box(graph, 0)))
    said = graph.note.text()
    assert said.startswith(f"Path 1 ({graph.made.name[0]}), {graph.made.legs[0]}: ")
    assert "p50 " in said and "p90 " in said and "p99 " in said
    graph.plot.hovered.emit(None)
    assert graph.note.text().startswith(f"{graph.made.total:,} packets")
