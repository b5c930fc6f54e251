# SPDX-License-Identifier: MIT
"""What a right click on the timeline offers, markers in two kinds of time, notes beside texts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from skbviewer.gui.timeline.box_menu import box_menu
from skbviewer.gui.timeline.mark_painter import note_tags
from skbviewer.gui.timeline.markers_and_range import TimeState
from skbviewer.gui.timeline.pixel_frame import Frame
from skbviewer.gui.timeline.timeline_view import TimelineView
from skbviewer.records import Annotation, NotePlace

from .timeline_hands import RIGHT, call_box, choose, place_of, shown_view, wait_lanes, zoom_to


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[TimelineView]:
    yield from shown_view(qtbot)


def labels(menu: QMenu | None) -> list[str]:
    assert menu is not None
    return [action.text().replace("&", "") for action in menu.actions() if action.text()]


def a_bar(view: TimelineView) -> QPointF:
    """The middle of the longest bar of the path, in the scene."""
    bars = view.item.layout.bars
    bar = max(bars, key=lambda one: float(one["end"] - one["begin"]))
    middle = QPointF((bar["begin"] + bar["end"]) / 2, bar["y"] + 0.5)
    return QPointF(view.box.mapViewToScene(middle))


def test_a_box_of_the_path_makes_a_filter(view: TimelineView) -> None:
    scene = a_bar(view)
    function = view.mode.function_at(scene)
    shown = labels(box_menu(view, scene))
    assert shown[0] == f'Apply as Filter: kbl.func == "{function}"'
    asked: list[tuple[str, bool]] = []
    view.filter_asked.connect(lambda text, apply: asked.append((text, apply)))
    menu = box_menu(view, scene)
    assert menu is not None
    for action in menu.actions():
        if "Filter" in action.text() or "Copy" in action.text():
            action.trigger()
    wanted = f'kbl.func == "{function}"'
    assert asked == [(wanted, True), (wanted, False)]
    assert QGuiApplication.clipboard().text() == function


def test_a_box_of_the_lanes_makes_a_filter(view: TimelineView, qtbot: QtBot) -> None:
    choose(view, "cpu")
    wait_lanes(view, qtbot)
    begin, end, row, _ = call_box(view, "veth_xmit")
    zoom_to(view, begin, end)
    scene = view.plot.mapToScene(place_of(view, begin, end, row))
    assert view.mode.function_at(scene) == "veth_xmit"
    assert labels(box_menu(view, scene))[2] == "Select the Call and Its Packet"


def test_beside_boxes_a_right_click_takes_the_marker_away(view: TimelineView) -> None:
    empty = view.box.mapViewToScene(
        QPointF(view.item.layout.begin - 1, view.item.layout.rows - 0.1)
    )
    assert box_menu(view, empty) is None
    view.set_marker("A", 5000 + view.mode.origin_ns)
    QTest.mouseClick(view.plot.viewport(), RIGHT, pos=view.plot.mapFromScene(empty))
    assert view.state.a is None


def test_a_question_mark_asks_for_the_keys(view: TimelineView, qtbot: QtBot) -> None:
    with qtbot.waitSignal(view.keys_asked, timeout=500):
        QTest.keyClick(view, Qt.Key.Key_Question, Qt.KeyboardModifier.ShiftModifier)


def test_markers_are_there_again_after_a_look_at_aligned_lanes(
    view: TimelineView, qtbot: QtBot
) -> None:
    zero = view.mode.origin_ns
    view.set_marker("A", zero + 1000)
    view.set_marker("B", zero + 3000)
    choose(view, "aligned")
    wait_lanes(view, qtbot)
    assert (view.state.a, view.state.b) == (None, None)  # those are no times of these lanes
    view.set_marker("A", 700)
    choose(view, "cpu")
    wait_lanes(view, qtbot)
    assert (view.state.a, view.state.b) == (zero + 1000, zero + 3000)
    choose(view, "aligned")
    assert (view.state.a, view.state.b) == (700, None)


def test_a_note_covers_no_title_and_no_wait(qtbot: QtBot) -> None:
    note = Annotation("range_note", "a word about this", source=1, begin_ns=10, end_ns=20)
    state = TimeState(notes=(NotePlace(note, 10, 20),))
    image = QImage(400, 200, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    frame = Frame(0, 100, 0, 20, 400, 200)
    (usual,) = note_tags(painter, state, 0, frame)
    texts = [QRectF(0, 175, 300, 22), QRectF(0, 150, 300, 22)]
    (tag,) = note_tags(painter, state, 0, frame, texts)
    painter.end()
    assert usual.box.intersects(texts[0])
    assert not any(tag.box.intersects(text) for text in texts)
    assert tag.box.top() >= 0 and tag.box.bottom() <= 150


def test_rows_grow_with_the_text(view: TimelineView) -> None:
    def row_px() -> float:
        top, bottom = view.box.viewRange()[1]
        return float(view.box.height() / (bottom - top))

    view.resize(1100, 2000)
    before = row_px()
    font = view.font()
    font.setPointSizeF(font.pointSizeF() * 2)
    view.setFont(font)
    assert row_px() > 1.3 * before
