# SPDX-License-Identifier: MIT
"""The flame graph: zoom, weights, the filter of a function."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from skbviewer.gui.dialogs.diagnosis_window import DiagnosisWindow
from skbviewer.gui.dialogs.statistics_window import StatisticsWindow, show_statistic
from skbviewer.gui.graphs.flame_window import FlameGraph
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.session import open_files
from tests.analysis.breakdown.counted_log import counted_log
from tests.gui.conftest import show_window

from .opened_window import open_graph, wait_for_rows


@pytest.fixture
def graph(sample_window: MainWindow, qtbot: QtBot) -> FlameGraph:
    return open_graph(sample_window, "Flame Graph", FlameGraph, qtbot)


def widest(graph: FlameGraph, depth: int) -> int:
    boxes = graph.graph.boxes
    assert boxes is not None
    mine = [at for at in range(len(boxes.depth)) if boxes.depth[at] == depth]
    return max(mine, key=lambda at: int(boxes.total[at]))


def centre(graph: FlameGraph, box: int) -> QPoint:
    return graph.graph.area_of(box).center().toPoint()


def test_a_click_zooms_to_a_box_and_back(graph: FlameGraph) -> None:
    box = widest(graph, 2)
    assert graph.graph.area_of(box).width() < graph.graph.width() - 1
    QTest.mouseClick(graph.graph, Qt.MouseButton.LeftButton, pos=centre(graph, box))
    assert graph.graph.zoomed == box and graph.reset.isEnabled()
    assert graph.graph.area_of(box).width() == pytest.approx(graph.graph.width())
    graph.reset.click()
    assert graph.graph.zoomed == -1 and not graph.reset.isEnabled()


def test_windows_count_again_after_the_view_switch(
    graph: FlameGraph, sample_window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Functions without an skb are counted, or left out."""
    selection, counted = sample_window.selection, list[str]()
    show_statistic(sample_window, "functions", selection, "", sample_window.names)
    sample_window.menus.actions["Diagnose"].trigger()
    (table,) = sample_window.findChildren(StatisticsWindow)
    (diagnosis,) = sample_window.findChildren(DiagnosisWindow)
    for one, method in ((graph, "count"), (table, "_count"), (diagnosis, "diagnose")):
        monkeypatch.setattr(one, method, lambda name=method: counted.append(name))
    sample_window.toggle_inner()
    assert sorted(counted) == ["_count", "count", "diagnose"]
    table.close()
    diagnosis.close()


def test_the_box_at_a_position_is_the_painted_one(graph: FlameGraph) -> None:
    boxes = graph.graph.boxes
    assert boxes is not None
    for box in (widest(graph, depth) for depth in range(boxes.levels)):
        assert graph.graph.box_at(graph.graph.area_of(box).center()) == box


def test_a_function_filters_the_list(
    graph: FlameGraph, sample_window: MainWindow, qtbot: QtBot
) -> None:
    box, boxes = widest(graph, 1), graph.graph.boxes
    assert boxes is not None
    menu = graph.menu(box)
    wait_for_rows(sample_window, qtbot, menu.actions()[0].trigger)
    name = boxes.names[int(boxes.function[box])]
    assert sample_window.row_query.filter == f'kbl.func == "{name}"'
    menu.actions()[-1].trigger()
    assert QGuiApplication.clipboard().text().split(";")[-1] == name


def test_the_width_can_be_calls(graph: FlameGraph, qtbot: QtBot) -> None:
    boxes = graph.graph.boxes
    assert boxes is not None
    graph.weight.setCurrentText("Calls")
    graph.weight.activated.emit(1)
    qtbot.waitUntil(lambda: graph.graph.boxes is not boxes)
    assert graph.graph.boxes is not None
    assert graph.graph.boxes.whole == int(graph.graph.boxes.calls.sum())
    graph.graph.hovered.emit(0)
    assert "with its callees" in graph.note.text()


def test_without_a_counter_it_is_no_width(graph: FlameGraph) -> None:
    assert [graph.weight.itemText(at) for at in range(graph.weight.count())] == [
        "Self time",
        "Calls",
    ]


def test_the_width_can_be_a_counter(tmp_path: Path, qtbot: QtBot) -> None:
    log = counted_log(tmp_path / "a.kbl", 100, 300)
    shown = show_window(qtbot, lambda paths, progress, keep=(): open_files(list(paths)))
    window = next(shown)
    with qtbot.waitSignal(window.tasks.ended):
        window.open_files([log])
    graph = open_graph(window, "Flame Graph", FlameGraph, qtbot)
    at = graph.weight.findText("Counter: cycles")
    graph.weight.setCurrentIndex(at)
    graph.weight.activated.emit(at)
    qtbot.waitUntil(lambda: graph.graph.boxes is not None and graph.graph.boxes.whole == 1000)
    graph.graph.hovered.emit(0)
    assert "100.00 %, 1,000 with its callees" in graph.note.text()
    assert graph.note.text().endswith("600 cycles itself")
    next(shown, None)
