# SPDX-License-Identifier: MIT
"""Overview, markers, ranges and notes of the timeline, by key and mouse."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from skbviewer.analysis.timeline.session_overview import Overview
from skbviewer.gui.timeline.overview_strip import OverviewStrip
from skbviewer.gui.timeline.timeline_view import TimelineView

from ..fake import FakeRecording
from .timeline_hands import (
    LEFT,
    MIDDLE,
    NO_KEY,
    RIGHT,
    SHIFT,
    call_box,
    choose,
    drag,
    place_of,
    shown_view,
    span,
    wait_lanes,
    zoom_to,
)


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[TimelineView]:
    yield from shown_view(qtbot)


@pytest.fixture
def cpus(view: TimelineView, qtbot: QtBot) -> TimelineView:
    choose(view, "cpu")
    wait_lanes(view, qtbot)
    return view


def test_dragging_selects_a_range_and_a_click_none(cpus: TimelineView) -> None:
    ranges: list[object] = []
    cpus.range_finished.connect(ranges.append)
    start, end = QPoint(200, 300), QPoint(400, 300)
    drag(cpus, start, end)
    box, plot = cpus.box, cpus.plot
    low, high = (box.mapSceneToView(plot.mapToScene(p)).x() for p in (start, end))
    (times,) = ranges
    assert isinstance(times, tuple)
    pixel = box.viewPixelSize()[0]
    for found, wanted in zip(times, (low, high), strict=True):
        assert abs(found - cpus.mode.origin_ns - wanted) <= 1.5 * pixel
    QTest.mouseClick(plot.viewport(), LEFT, pos=QPoint(600, 440))
    assert ranges[1:] == [None]


@pytest.mark.parametrize(("button", "keys"), [(LEFT, SHIFT), (MIDDLE, NO_KEY)])
def test_shift_and_the_middle_button_pan(
    cpus: TimelineView, button: Qt.MouseButton, keys: Qt.KeyboardModifier
) -> None:
    before = cpus.box.viewRange()[0]
    drag(cpus, QPoint(300, 300), QPoint(400, 300), button, keys)
    after = cpus.box.viewRange()[0]
    assert after[0] < before[0]
    assert after[1] - after[0] == pytest.approx(before[1] - before[0])
    assert cpus.state.range is None


def test_the_right_button_zooms_to_a_box(cpus: TimelineView) -> None:
    before = span(cpus)
    drag(cpus, QPoint(300, 200), QPoint(400, 400), RIGHT)
    assert span(cpus) == pytest.approx(100 * before / cpus.box.width(), rel=0.05)


def test_a_double_click_on_the_ruler_shows_everything(cpus: TimelineView) -> None:
    whole = cpus.box.viewRange()[0]
    zoom_to(cpus, 1_000_000, 1_100_000)
    QTest.mouseDClick(cpus.plot.viewport(), LEFT, pos=QPoint(300, 8))
    assert cpus.box.viewRange()[0] == pytest.approx(whole)


def test_markers_snap_to_edges_and_tell_their_difference(cpus: TimelineView) -> None:
    begin, end, row, _ = call_box(cpus, "veth_xmit")
    zoom_to(cpus, begin, end)
    viewport = cpus.plot.viewport()
    for letter, at in (("A", begin), ("B", end)):
        edge = place_of(cpus, at, at, row) + QPoint(3, 0)
        QTest.mouseMove(viewport, edge)
        QTest.keyClick(cpus, getattr(Qt.Key, f"Key_{letter}"), SHIFT)
    assert cpus.state.difference == 19_000
    assert cpus.legend.message == "B − A = +19.000 µs"
    QTest.mouseClick(viewport, RIGHT, pos=QPoint(500, 400))
    assert (cpus.state.a is not None, cpus.state.b) == (True, None)


def test_a_double_click_sets_the_active_marker(cpus: TimelineView) -> None:
    begin, end, row, _ = call_box(cpus, "veth_xmit")
    zoom_to(cpus, begin, end)
    cpus.mouse.pointer = None
    QTest.keyClick(cpus, Qt.Key.Key_B, SHIFT)
    QTest.mouseDClick(cpus.plot.viewport(), LEFT, pos=place_of(cpus, end, end, row) - QPoint(2, 0))
    assert cpus.state.b == end + cpus.mode.origin_ns
    assert cpus.state.a is None


def test_markers_are_drawn_where_they_are(cpus: TimelineView) -> None:
    cpus.set_marker("A", cpus.mode.origin_ns + 10_000_000)
    image = cpus.plot.viewport().grab().toImage()
    x = cpus.plot.mapFromScene(cpus.box.mapViewToScene(QPointF(10_000_000, 0))).x()
    y = image.height() - 60
    greens = [image.pixelColor(column, y) for column in range(x - 2, x + 3)]
    assert any(c.green() > c.red() + 40 and c.green() > c.blue() + 40 for c in greens)


def test_m_notes_the_range_and_a_double_click_changes_it(
    cpus: TimelineView, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["slow here", "very slow here", ""])
    monkeypatch.setattr("skbviewer.gui.timeline.timeline_notes.ask_text", lambda *_: next(answers))
    drag(cpus, QPoint(300, 300), QPoint(420, 300))
    times = cpus.state.range
    QTest.keyClick(cpus, Qt.Key.Key_M)
    (place,) = cpus.state.notes
    assert (place.note.text, (place.begin_ns, place.end_ns)) == ("slow here", times)
    for text in (["very slow here"], []):
        cpus.plot.viewport().grab()
        corner = cpus.plot.mapFromScene(cpus.box.mapToScene(QPointF(0, 0)))
        tag = cpus.marks.tags[0].box.center().toPoint()
        QTest.mouseDClick(cpus.plot.viewport(), LEFT, pos=corner + tag)
        assert [note.note.text for note in cpus.state.notes] == text


def test_m_notes_the_selected_call_else_the_packet(
    view: TimelineView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skbviewer.gui.timeline.timeline_notes.ask_text", lambda *_: "look")
    QTest.keyClick(view, Qt.Key.Key_M)
    view.show_call(0, 7)
    QTest.keyClick(view, Qt.Key.Key_M)
    first, second = (place.note for place in view.state.notes)
    assert (first.kind, first.packet) == ("comment", 3)
    assert (second.kind, second.call) == ("call_note", 2 * 14 + 8)


def test_period_and_comma_step_through_calls(view: TimelineView) -> None:
    view.call_chosen.connect(view.show_call)
    chosen: list[tuple[int, int]] = []
    view.call_chosen.connect(lambda leg, call: chosen.append((leg, call)))
    for key in (Qt.Key.Key_Period, Qt.Key.Key_Period, Qt.Key.Key_Comma):
        QTest.keyClick(view, key)
    assert chosen == [(0, 0), (0, 1), (0, 0)]


def test_the_overview_shows_everything_and_moves_the_window(cpus: TimelineView) -> None:
    strip = cpus.overview
    overview: Overview | None = strip.overview
    assert overview is not None
    zoom_to(cpus, 5_000_000, 6_000_000)
    box = strip.box()
    assert box.width() < strip.width() / 3
    QTest.mousePress(strip, LEFT, pos=box.center().toPoint())
    QTest.mouseMove(strip, box.center().toPoint() + QPoint(100, 0))
    QTest.mouseRelease(strip, LEFT, pos=box.center().toPoint() + QPoint(100, 0))
    moved = strip.box().left() - box.left()
    assert moved == pytest.approx(100, abs=2)
    assert strip.box().width() == pytest.approx(box.width(), abs=1)
    QTest.mouseClick(strip, LEFT, pos=QPoint(20, 20))
    assert strip.box().left() <= 20 <= strip.box().right()


def column_of(strip: OverviewStrip, ns: int) -> float:
    """Return the x at which session time `ns` is painted."""
    assert strip.overview is not None
    return (ns - strip.overview.t0_ns) / strip.overview.span_ns * strip.width()


def test_the_overview_hatches_gaps_and_marks_drops(cpus: TimelineView) -> None:
    strip = cpus.overview
    strip.show_window(cpus.window_ns())
    image = strip.grab().toImage()
    assert strip.overview is not None
    gap = strip.overview.gaps[0]
    t0 = strip.overview.t0_ns
    column = round(column_of(strip, t0 + (gap.begin + gap.end) // 2))
    beside = round(column_of(strip, t0 + gap.end)) + 12
    dark = {x: _darkness(image, x) for x in (column, beside)}
    assert dark[column] > dark[beside]
    drop = round(column_of(strip, t0 + int(strip.overview.drops[0])))
    reds = [image.pixelColor(x, strip.height() - 5).red() for x in (drop - 1, drop)]
    assert max(reds) > 120


def _darkness(image: object, x: int) -> int:
    return sum(255 - image.pixelColor(x, y).lightness() for y in range(4, 12))  # type: ignore[attr-defined]


def test_wheel_keys_and_fit_work_on_lanes(cpus: TimelineView) -> None:
    whole = span(cpus)
    viewport = cpus.plot.viewport()
    place = QPoint(400, 300)
    wheel = QWheelEvent(
        QPointF(place),
        QPointF(viewport.mapToGlobal(place)),
        QPoint(),
        QPoint(0, 240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(viewport, wheel)
    assert span(cpus) == pytest.approx(whole * 0.64)
    QTest.keyClick(cpus, Qt.Key.Key_F)
    assert span(cpus) == pytest.approx(whole)
    drag(cpus, QPoint(300, 300), QPoint(350, 300))
    QTest.keyClick(cpus, Qt.Key.Key_Z)
    assert span(cpus) < whole / 5
    QTest.keyClick(cpus, Qt.Key.Key_Escape)
    assert cpus.state.range is None


def test_closing_the_recording_empties_everything(cpus: TimelineView) -> None:
    cpus.set_marker("A", 5)
    cpus.show_recording(None)
    assert cpus.lanes.timeline is None
    assert cpus.state.a is None
    assert not cpus.overview.isVisible()


def test_no_empty_area_is_left_without_a_word(cpus: TimelineView) -> None:
    assert cpus.marks.message == ""
    cpus.box.setXRange(1_100_000, 1_150_000)  # between two packets
    assert "F shows everything" in cpus.marks.message
    choose(cpus, "selected")
    assert cpus.marks.message == ""
    cpus.show_path(None)
    assert cpus.marks.message.startswith("Select a packet")
    cpus.show_path(FakeRecording().paths.path(packet=50))
    assert cpus.marks.message == "No kernel log has a record of this packet."


def test_a_range_within_a_path_is_measured_and_filters_nothing(view: TimelineView) -> None:
    ranges: list[object] = []
    view.range_finished.connect(ranges.append)
    drag(view, QPoint(300, 300), QPoint(400, 300))
    assert view.state.range is not None
    assert ranges == []


def test_keys_that_mean_nothing_here_are_let_through(view: TimelineView) -> None:
    before = view.box.viewRange()[0]
    for key in (0x4E2D, Qt.Key.Key_Launch0):  # a Chinese character, a media key
        press = QKeyEvent(QEvent.Type.KeyPress, key, NO_KEY, "")
        QApplication.sendEvent(view, press)
    assert view.box.viewRange()[0] == before
