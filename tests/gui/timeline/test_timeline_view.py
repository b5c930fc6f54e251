# SPDX-License-Identifier: MIT
"""The timeline: colours on the screen, click, hover, zoom."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from skbviewer.gui.base.theme import layer_colours
from skbviewer.gui.timeline.mark_painter import MARKER_COLOURS
from skbviewer.gui.timeline.time_axis import tick_text
from skbviewer.gui.timeline.timeline_view import TimelineView
from skbviewer.records import Annotation, NotePlace

from ..fake import STYLES, FakeRecording


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[TimelineView]:
    view = TimelineView()
    qtbot.addWidget(view)
    view.resize(1000, 500)
    view.set_colours(layer_colours(STYLES, False))
    with qtbot.waitExposed(view):
        view.show()
    view.show_path(FakeRecording().paths.path(packet=3))
    QApplication.processEvents()
    yield view


def middle(view: TimelineView, bar: int) -> QPoint:
    """The middle of a bar, in the plot's viewport."""
    row = view.item.layout.bars[bar]
    at = QPointF(float(row["begin"] + row["end"]) / 2, float(row["y"]) + 0.5)
    scene = view.box.mapViewToScene(at)
    place: QPoint = view.plot.mapFromScene(scene)
    return place


def span(view: TimelineView) -> float:
    low, high = view.box.viewRange()[0]
    return float(high - low)


def test_bars_have_their_layers_colours(view: TimelineView) -> None:
    image: QImage = view.plot.viewport().grab().toImage()
    for bar in (2, 7):  # short names or none: the middle is free of text
        place = middle(view, bar)
        seen = image.pixelColor(place + QPoint(0, 8))
        wanted = {2: "#d55e00", 7: "#7a4a1d"}[bar]
        assert seen == QColor(wanted)


def test_the_wire_is_marked(view: TimelineView) -> None:
    image: QImage = view.plot.viewport().grab().toImage()
    scene = view.box.mapViewToScene(QPointF(29_000, view.item.layout.rows))
    x = view.plot.mapFromScene(scene).x()
    reds = [
        image.pixelColor(column, y).hue()
        for column in (x - 1, x, x + 1)
        for y in range(40, image.height() - 40)
        if image.pixelColor(column, y).saturation() > 150
    ]
    assert any(abs(hue - QColor("#c2185b").hue()) < 6 for hue in reds)


def test_the_line_of_the_wire_runs_under_titles(view: TimelineView) -> None:
    view.box.setXRange(29_000 - 1_000, 29_000 + 20_000, padding=0)
    QApplication.processEvents()
    image: QImage = view.plot.viewport().grab().toImage()

    def pink(row: float) -> bool:
        place = view.plot.mapFromScene(view.box.mapViewToScene(QPointF(29_000, row)))
        around = [place + QPoint(x, y) for x in (-1, 0, 1) for y in range(-5, 5)]
        colours = [image.pixelColor(at) for at in around]
        return any(abs(c.hue() - 336) < 6 and c.saturation() > 150 for c in colours)

    title = view.item.layout.titles[0]
    assert not pink(title.y + 0.6)
    assert pink(title.bottom - 0.4)


def test_a_click_chooses_the_call_and_beside_all_none(view: TimelineView, qtbot: QtBot) -> None:
    chosen: list[tuple[int, int]] = []
    view.call_chosen.connect(lambda leg, call: chosen.append((leg, call)))
    viewport = view.plot.viewport()
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=middle(view, 7))
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=middle(view, 9))
    corner = QPoint(viewport.width() - 5, 60)
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=corner)
    assert chosen == [(0, 7), (1, 1), (-1, -1)]


def test_hover_shows_everything(view: TimelineView) -> None:
    tip = view.mouse.tip_at(view.plot.mapToScene(middle(view, 3)))
    for part in ("ip_output", "tail call", "26.0 µs", "client [412]", "0xffff888003a1c500", "task"):
        assert part in tip


def test_hover_names_a_wait(view: TimelineView) -> None:
    wait = view.item.layout.waits[0]
    at = QPointF((wait.begin + wait.end) / 2, wait.y + 0.5)
    tip = view.mouse.tip_at(view.box.mapViewToScene(at))
    assert tip == "Waited 4.0 µs in the queueing discipline"


def test_keys_zoom_pan_and_fit(view: TimelineView, qtbot: QtBot) -> None:
    whole = view.box.viewRange()[0]
    QTest.keyClick(view, Qt.Key.Key_W)
    assert span(view) == pytest.approx((whole[1] - whole[0]) * 0.8)
    before = view.box.viewRange()[0][0]
    QTest.keyClick(view, Qt.Key.Key_D)
    assert view.box.viewRange()[0][0] > before
    QTest.keyClick(view, Qt.Key.Key_A)
    assert view.box.viewRange()[0][0] == pytest.approx(before)
    QTest.keyClick(view, Qt.Key.Key_S)
    QTest.keyClick(view, Qt.Key.Key_W)
    QTest.keyClick(view, Qt.Key.Key_F)
    assert view.box.viewRange()[0] == pytest.approx(whole)


def test_control_wheel_zooms_at_the_pointer(view: TimelineView) -> None:
    place = middle(view, 7)
    scene = view.plot.mapToScene(place)
    before, at = span(view), view.box.mapSceneToView(scene).x()
    wheel = QWheelEvent(
        QPointF(place),
        QPointF(view.plot.viewport().mapToGlobal(place)),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.plot.viewport(), wheel)
    assert span(view) < before
    assert view.box.mapSceneToView(scene).x() == pytest.approx(at, abs=before / 500)


def test_a_chosen_call_out_of_sight_is_brought_back(view: TimelineView) -> None:
    view.box.setXRange(0, 2_000)
    view.show_call(1, 5)
    low, high = view.box.viewRange()[0]
    assert low < 40_200 < high
    assert view.item.selected == 13


def test_ticks_have_the_unit_that_suits_them() -> None:
    assert tick_text(120, 20, 400) == "120 ns"
    assert tick_text(12_500, 500, 20_000) == "12.5 µs"
    assert tick_text(3_000_000, 1_000_000, 9_000_000) == "3 ms"


def test_the_label_of_the_wire_stands_above_notes(view: TimelineView) -> None:
    def label_rows() -> set[int]:
        """Lines of pixels near the bottom with the colour of the words "on the wire"."""
        image: QImage = view.plot.viewport().grab().toImage()
        x = view.plot.mapFromScene(view.box.mapViewToScene(QPointF(29_000, 0))).x()
        found = {
            y
            for y in range(image.height() - 60, image.height())
            for at in range(x + 8, x + 60)
            if image.pixelColor(at, y).name() == "#c2185b"
        }
        return {image.height() - y for y in found}

    assert label_rows() and max(label_rows()) <= 20
    path = view.path
    assert path is not None and path.legs[0].wire_ns is not None
    at = path.legs[0].wire_ns + path.legs[0].session_offset_ns
    note = Annotation("comment", "look at this one", packet=3)
    view.state.notes = (NotePlace(note, at, at),)
    view.marks.update()
    QApplication.processEvents()
    picture = view.plot.grab()
    painter = QPainter(picture)
    (tag,) = view.marks.boxes(painter)
    painter.end()
    assert label_rows() and min(label_rows()) >= tag.height()


def test_letters_of_markers_cover_no_title(view: TimelineView) -> None:
    path = view.path
    assert path is not None
    view.state.a = 4_000 + view.mode.origin_ns
    view.marks.update()
    QApplication.processEvents()
    image: QImage = view.plot.viewport().grab().toImage()
    top = view.plot.mapFromScene(view.box.mapViewToScene(QPointF(4_000, 0)))

    def width(y: int) -> int:
        """Pixels of the marker's colour in a line."""
        names = [image.pixelColor(x, y).name() for x in range(top.x() - 2, top.x() + 20)]
        return names.count(MARKER_COLOURS["A"][0])

    widths = [width(y) for y in range(top.y() + 1, top.y() + 60)]
    title = round(view.item.layout.titles[0].y + 1.25 * view.marks.frame.row_px)
    assert max(widths[: title - 2]) <= 3
    assert max(widths) >= 5
