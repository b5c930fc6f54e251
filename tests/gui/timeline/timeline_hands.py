# SPDX-License-Identifier: MIT
"""Simulated mouse and keyboard actions on the timeline, and the places of its boxes."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from skbviewer.gui.base.theme import layer_colours
from skbviewer.gui.timeline.timeline_view import TimelineView

from ..fake import STYLES, FakeRecording

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
MIDDLE = Qt.MouseButton.MiddleButton
SHIFT, NO_KEY = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.NoModifier


def wait_lanes(view: TimelineView, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not view.loader.busy)
    QApplication.processEvents()
    view.plot.viewport().grab()  # paints: places are those of the last paint


def shown_view(qtbot: QtBot) -> Iterator[TimelineView]:
    """Yield a timeline on a made-up recording with packet 3 selected; packets 1 to 3 are listed."""
    view = TimelineView()
    qtbot.addWidget(view)
    view.resize(1100, 560)
    view.set_colours(layer_colours(STYLES, False))
    with qtbot.waitExposed(view):
        view.show()
    recording = FakeRecording()
    view.show_recording(recording)
    view.show_visible((1, 2, 3))
    view.show_path(recording.paths.path(packet=3))
    wait_lanes(view, qtbot)
    yield view
    view.close_tasks()


def choose(view: TimelineView, kind: str) -> None:
    """Choose lanes in the combo, as a user does."""
    view.kind.setCurrentIndex(view.kind.findData(kind))
    view.kind.activated.emit(view.kind.currentIndex())


def span(view: TimelineView) -> float:
    low, high = view.box.viewRange()[0]
    return float(high - low)


def place_of(view: TimelineView, begin: int, end: int, row: int) -> QPoint:
    """Return the middle of a box, in the plot's viewport."""
    y = float(view.lanes.places.row_y[row]) + 0.5
    scene = view.box.mapViewToScene(QPointF((begin + end) / 2, y))
    place: QPoint = view.plot.mapFromScene(scene)
    return place


def call_box(view: TimelineView, function: str, nth: int = 0) -> tuple[int, int, int, int]:
    """Return (begin, end, row, item) of the nth call of a function, by time."""
    assert view.lanes.timeline is not None
    of = view.lanes.timeline.boxes
    name = view.lanes.timeline.names.index(function)
    at = sorted((int(of.begin[i]), i) for i in (of.name == name).nonzero()[0])[nth][1]
    row = int((of.starts > at).argmax()) - 1
    return int(of.begin[at]), int(of.end[at]), row, int(of.item[at])


def zoom_to(view: TimelineView, begin: int, end: int) -> None:
    pad = (end - begin) * 2
    view.box.setXRange(begin - pad, end + pad)
    QApplication.processEvents()
    view.plot.viewport().grab()


def drag(
    view: TimelineView,
    start: QPoint,
    end: QPoint,
    button: Qt.MouseButton = LEFT,
    keys: Qt.KeyboardModifier = NO_KEY,
) -> None:
    viewport = view.plot.viewport()
    QTest.mousePress(viewport, button, keys, start)
    for step in (0.3, 0.7, 1.0):
        at = start + (end - start) * step
        move = QMouseEvent(
            QMouseEvent.Type.MouseMove,
            QPointF(at),
            QPointF(viewport.mapToGlobal(at)),
            Qt.MouseButton.NoButton,
            button,
            keys,
        )
        QApplication.sendEvent(viewport, move)
    QTest.mouseRelease(viewport, button, keys, end)
    QApplication.processEvents()
