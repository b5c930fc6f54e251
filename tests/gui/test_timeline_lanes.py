# SPDX-License-Identifier: MIT
"""Lanes of all calls, the overview, markers, ranges and notes, by key and mouse."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QInputDialog
from pytestqt.qtbot import QtBot

from skbviewer.analysis.timeline_overview import Overview
from skbviewer.gui.theme import layer_colours
from skbviewer.gui.timeline_paint import Look, rects_of
from skbviewer.gui.timeline_view import TimelineView
from skbviewer.session.timeline import CallPlace

from .fake import STYLES, FakeRecording

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
MIDDLE = Qt.MouseButton.MiddleButton
SHIFT, NO_KEY = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.NoModifier


def wait_lanes(view: TimelineView, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not view.loader.busy)
    QApplication.processEvents()
    view.plot.viewport().grab()  # paints: places are those of the last paint


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[TimelineView]:
    view = TimelineView()
    qtbot.addWidget(view)
    view.resize(1100, 560)
    view.set_colours(layer_colours(STYLES, False))
    with qtbot.waitExposed(view):
        view.show()
    recording = FakeRecording()
    view.show_recording(recording)
    view.show_visible((1, 2, 3))
    view.show_path(recording.path(packet=3))
    wait_lanes(view, qtbot)
    yield view
    view.close_tasks()


@pytest.fixture
def cpus(view: TimelineView, qtbot: QtBot) -> TimelineView:
    choose(view, "cpu")
    wait_lanes(view, qtbot)
    return view


def choose(view: TimelineView, kind: str) -> None:
    """Choose lanes in the combo, as a user does."""
    view.kind.setCurrentIndex(view.kind.findData(kind))
    view.kind.activated.emit(view.kind.currentIndex())


def span(view: TimelineView) -> float:
    low, high = view.box.viewRange()[0]
    return float(high - low)


def place_of(view: TimelineView, begin: int, end: int, row: int) -> QPoint:
    """The middle of a box, in the plot's viewport."""
    y = float(view.lanes.places.row_y[row]) + 0.5
    scene = view.box.mapViewToScene(QPointF((begin + end) / 2, y))
    place: QPoint = view.plot.mapFromScene(scene)
    return place


def call_box(view: TimelineView, function: str, nth: int = 0) -> tuple[int, int, int, int]:
    """(begin, end, row, item) of the nth call of a function, by time."""
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


def test_lanes_by_cpu_have_all_calls_and_the_wire(cpus: TimelineView) -> None:
    timeline = cpus.lanes.timeline
    assert timeline is not None
    assert [lane.title for lane in timeline.lanes] == ["wire: x.pcap", "CPU 1"]
    assert cpus.lanes.bins is not None
    assert cpus.lanes.bins["count"].sum() == 40 + 40 * 14
    assert cpus.gutter.isVisible()


@pytest.mark.parametrize(("kind", "lanes"), [("packet", 3), ("layer", 2), ("process", 2)])
def test_the_combo_chooses_what_lanes_are(
    view: TimelineView, qtbot: QtBot, kind: str, lanes: int
) -> None:
    choose(view, kind)
    wait_lanes(view, qtbot)
    assert view.lanes.timeline is not None
    assert len(view.lanes.timeline.lanes) == lanes
    assert not view.item.isVisible()
    choose(view, "selected")
    assert view.item.isVisible()
    assert not view.lanes.isVisible()


def test_lanes_of_packets_follow_the_list(view: TimelineView, qtbot: QtBot) -> None:
    choose(view, "packet")
    wait_lanes(view, qtbot)
    view.show_visible((7, 8))
    qtbot.waitUntil(
        lambda: (
            view.lanes.timeline is not None
            and [lane.key for lane in view.lanes.timeline.lanes] == [7, 8]
        )
    )


def test_boxes_have_their_layers_colours_and_merged_ones_paler(cpus: TimelineView) -> None:
    begin, end, row, _ = call_box(cpus, "veth_xmit")
    look = Look(layer_colours(STYLES, False), cpus.palette())
    assert cpus.lanes.bins is not None
    merged = next(one for one in cpus.lanes.bins if one["count"] > 1 and one["row"] == 1)
    image = cpus.plot.viewport().grab().toImage()
    (rect,) = rects_of(
        cpus.lanes.bins[cpus.lanes.bins == merged], cpus.lanes.places, cpus.lanes.frame
    )
    corner = cpus.plot.mapFromScene(cpus.box.mapToScene(QPointF(0, 0)))
    seen = image.pixelColor(corner + QPoint(int(rect[0]), int(rect[1] + rect[3] / 2)))
    wanted = look.merged("ip")
    assert abs(seen.hue() - wanted.hue()) < 25
    zoom_to(cpus, begin, end)
    image = cpus.plot.viewport().grab().toImage()
    place = place_of(cpus, begin, end, row)
    assert image.pixelColor(place + QPoint(0, 7)) == QColor("#7a4a1d")


def test_merged_boxes_tell_how_many_they_are(cpus: TimelineView) -> None:
    assert cpus.lanes.bins is not None
    many = cpus.lanes.bins[cpus.lanes.bins["count"] > 1][0]
    tip = cpus.mouse.tip_at(
        cpus.plot.mapToScene(place_of(cpus, many["begin"], many["end"], int(many["row"])))
    )
    assert f"{int(many['count'])} " in tip
    assert "Zoom in" in tip


def test_hovering_over_a_call_tells_all_of_it(cpus: TimelineView, qtbot: QtBot) -> None:
    begin, end, row, _ = call_box(cpus, "veth_xmit", 2)
    zoom_to(cpus, begin, end)
    told: list[str] = []
    cpus.mouse.show_tip = lambda text, _: told.append(text)  # type: ignore[method-assign, assignment]
    scene = cpus.plot.mapToScene(place_of(cpus, begin, end, row))
    assert "veth_xmit" in cpus.mouse.tip_at(scene)
    qtbot.waitUntil(lambda: bool(told))
    for part in ("veth_xmit", "client [412]", "19.0 µs", "Packet", ">3<"):
        assert part in told[0]


def test_a_click_on_a_call_selects_it_and_its_packet(cpus: TimelineView, qtbot: QtBot) -> None:
    begin, end, row, item = call_box(cpus, "ip_rcv", 4)
    zoom_to(cpus, begin, end)
    with qtbot.waitSignal(cpus.call_located) as located:
        QTest.mouseClick(cpus.plot.viewport(), LEFT, pos=place_of(cpus, begin, end, row))
    assert located.args is not None
    place: CallPlace = located.args[0]
    assert (place.packet, place.leg, place.told.function) == (5, 1, "ip_rcv")
    assert cpus.lanes.selected == item


def test_a_call_selected_elsewhere_is_brought_into_view(cpus: TimelineView) -> None:
    cpus.box.setXRange(0, 100_000)
    cpus.show_path(FakeRecording().path(packet=20))
    cpus.show_call(1, 1)
    begin, _, _, item = call_box(cpus, "ip_rcv", 19)
    low, high = cpus.box.viewRange()[0]
    assert low <= begin <= high
    assert cpus.lanes.selected == item


def test_a_click_on_a_wire_time_asks_for_its_packet(cpus: TimelineView, qtbot: QtBot) -> None:
    assert cpus.lanes.timeline is not None
    at = int(cpus.lanes.timeline.boxes.begin[6])
    zoom_to(cpus, at - 1000, at + 1000)
    with qtbot.waitSignal(cpus.packet_asked) as asked:
        QTest.mouseClick(cpus.plot.viewport(), LEFT, pos=place_of(cpus, at, at, 0))
    assert asked.args == [7]


def test_dragging_selects_a_range_and_a_click_none(cpus: TimelineView) -> None:
    told: list[object] = []
    cpus.range_finished.connect(told.append)
    start, end = QPoint(200, 300), QPoint(400, 300)
    drag(cpus, start, end)
    box, plot = cpus.box, cpus.plot
    low, high = (box.mapSceneToView(plot.mapToScene(p)).x() for p in (start, end))
    (times,) = told
    assert isinstance(times, tuple)
    pixel = box.viewPixelSize()[0]
    for found, wanted in zip(times, (low, high), strict=True):
        assert abs(found - cpus.mode.origin_ns - wanted) <= 1.5 * pixel
    QTest.mouseClick(plot.viewport(), LEFT, pos=QPoint(600, 440))
    assert told[1:] == [None]


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
    assert cpus.legend.hint == "B − A = +19.000 µs"
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
    answers = iter([("slow here", True), ("very slow here", True), ("", True)])
    monkeypatch.setattr(QInputDialog, "getMultiLineText", lambda *_: next(answers))
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
    monkeypatch.setattr(QInputDialog, "getMultiLineText", lambda *_: ("look", True))
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


def test_the_overview_hatches_gaps_and_marks_drops(cpus: TimelineView) -> None:
    strip = cpus.overview
    strip.show_window(cpus.window_ns())
    image = strip.grab().toImage()
    assert strip.overview is not None
    gap = strip.overview.gaps[0]
    t0 = strip.overview.t0_ns
    column = round(strip.point_of(t0 + (gap.begin + gap.end) // 2).x())
    beside = round(strip.point_of(t0 + gap.end).x()) + 12
    dark = {x: _darkness(image, x) for x in (column, beside)}
    assert dark[column] > dark[beside]
    drop = round(strip.point_of(t0 + int(strip.overview.drops[0])).x())
    reds = [image.pixelColor(x, strip.height() - 5).red() for x in (drop - 1, drop)]
    assert max(reds) > 120


def _darkness(image: object, x: int) -> int:
    return sum(255 - image.pixelColor(x, y).lightness() for y in range(4, 12))  # type: ignore[attr-defined]


def test_lost_records_are_hatched_in_their_lane(cpus: TimelineView) -> None:
    gap = cpus.lanes.gaps[0]
    cpus.box.setXRange(gap.begin - 1_000_000, gap.end + 1_000_000)
    image = cpus.plot.viewport().grab().toImage()
    row = cpus.lanes.timeline.lanes[1].first if cpus.lanes.timeline else 0
    place = place_of(cpus, gap.begin + 300_000, gap.begin + 300_000, row)
    colours = {
        image.pixelColor(place + QPoint(dx, dy)).name() for dx in range(8) for dy in range(-6, 6)
    }
    assert len(colours) > 1


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
    cpus.show_path(FakeRecording().path(packet=50))
    assert "do not tell" in cpus.marks.message


def test_aligned_packets_all_begin_at_zero(view: TimelineView, qtbot: QtBot) -> None:
    told: list[object] = []
    choose(view, "aligned")
    wait_lanes(view, qtbot)
    timeline = view.lanes.timeline
    assert timeline is not None
    for lane in timeline.lanes:
        low, high = timeline.boxes.starts[[lane.first, lane.first + lane.rows]]
        assert timeline.boxes.begin[low:high].min() == 0
    assert {wire.at for wire in timeline.wires} == {29_000}
    assert view.overview.box().isNull()
    view.range_finished.connect(told.append)
    drag(view, QPoint(300, 200), QPoint(400, 200))
    assert view.state.range is not None
    assert told == []
    choose(view, "cpu")
    wait_lanes(view, qtbot)
    assert view.state.range is None
