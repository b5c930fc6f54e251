# SPDX-License-Identifier: MIT
"""Test the lanes of all calls: their boxes, colours, clicks and tips."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from skbviewer.gui.base.theme import layer_colours
from skbviewer.gui.timeline.lane_painter import Look, rects_of
from skbviewer.gui.timeline.pixel_frame import places
from skbviewer.gui.timeline.timeline_view import TimelineView
from skbviewer.session.kernel.call_positions_in_path import CallPlace

from ..fake import STYLES, FakeRecording
from .timeline_hands import (
    LEFT,
    call_box,
    choose,
    drag,
    place_of,
    shown_view,
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


def test_lanes_by_cpu_have_all_calls_and_the_wire(cpus: TimelineView) -> None:
    timeline = cpus.lanes.timeline
    assert timeline is not None
    assert [lane.title for lane in timeline.lanes] == ["wire: x.pcap", "CPU 1"]
    assert cpus.lanes.bins is not None
    assert cpus.lanes.bins["count"].sum() == 40 + 40 * 14
    assert cpus.gutter.isVisible()


def test_boxes_stay_with_the_axis_when_only_the_width_changes(
    cpus: TimelineView, qtbot: QtBot
) -> None:
    for width in (cpus.width() + 150, cpus.width() - 100):
        cpus.resize(width, cpus.height())
        qtbot.waitUntil(lambda: cpus.lanes.frame.width == cpus.box.width())
        assert cpus.marks.frame == cpus.lanes.frame


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


def test_hovering_over_a_call_shows_all_of_it(cpus: TimelineView, qtbot: QtBot) -> None:
    begin, end, row, _ = call_box(cpus, "veth_xmit", 2)
    zoom_to(cpus, begin, end)
    tips: list[str] = []
    cpus.mouse.show_tip = lambda text, _: tips.append(text)  # type: ignore[method-assign, assignment]
    scene = cpus.plot.mapToScene(place_of(cpus, begin, end, row))
    assert "veth_xmit" in cpus.mouse.tip_at(scene)
    qtbot.waitUntil(lambda: bool(tips))
    for part in ("veth_xmit", "client [412]", "19.0 µs", "Packet", ">3<"):
        assert part in tips[0]


def test_a_click_on_a_call_selects_it_and_its_packet(cpus: TimelineView, qtbot: QtBot) -> None:
    begin, end, row, item = call_box(cpus, "ip_rcv", 4)
    zoom_to(cpus, begin, end)
    with qtbot.waitSignal(cpus.call_located) as located:
        QTest.mouseClick(cpus.plot.viewport(), LEFT, pos=place_of(cpus, begin, end, row))
    assert located.args is not None
    place: CallPlace = located.args[0]
    assert (place.packet, place.leg, place.path_call.function) == (5, 1, "ip_rcv")
    assert cpus.lanes.selected == item


def test_a_call_selected_elsewhere_is_brought_into_view(cpus: TimelineView) -> None:
    cpus.box.setXRange(0, 100_000)
    cpus.show_path(FakeRecording().paths.path(packet=20))
    cpus.show_call(1, 1)
    begin, _, _, item = call_box(cpus, "ip_rcv", 19)
    low, high = cpus.box.viewRange()[0]
    assert low <= begin <= high
    assert cpus.lanes.selected == item


def test_a_call_is_found_where_its_clock_drifts_within_the_leg(cpus: TimelineView) -> None:
    path = FakeRecording().paths.path(packet=20)
    drifted = [leg._replace(session_offset_ns=leg.session_offset_ns + 20) for leg in path.legs]
    cpus.show_path(path._replace(legs=tuple(drifted)))
    cpus.show_call(1, 1)
    *_, item = call_box(cpus, "ip_rcv", 19)
    assert cpus.lanes.selected == item


def test_a_click_on_a_wire_time_asks_for_its_packet(cpus: TimelineView, qtbot: QtBot) -> None:
    assert cpus.lanes.timeline is not None
    at = int(cpus.lanes.timeline.boxes.begin[6])
    zoom_to(cpus, at - 1000, at + 1000)
    with qtbot.waitSignal(cpus.packet_asked) as asked:
        QTest.mouseClick(cpus.plot.viewport(), LEFT, pos=place_of(cpus, at, at, 0))
    assert asked.args == [7]


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
    tip = cpus.mode.tip_at(cpus.plot.mapToScene(place))
    assert "12 records lost" in tip
    assert "buffers were full" in tip


def test_a_lane_without_calls_has_room_for_its_title() -> None:
    made = places([2, 0, 8], 6)
    assert made.lane_y.tolist() == [0, 6.5, 13]
    assert made.row_y.tolist() == [0, 1, *range(13, 21)]
    assert made.total == 21
    assert (made.row_at(1.5), made.row_at(7), made.row_at(13.2)) == (1, None, 2)
    assert places([]).total == 0


def test_aligned_packets_all_begin_at_zero(view: TimelineView, qtbot: QtBot) -> None:
    ranges: list[object] = []
    choose(view, "aligned")
    wait_lanes(view, qtbot)
    timeline = view.lanes.timeline
    assert timeline is not None
    for lane in timeline.lanes:
        low, high = timeline.boxes.starts[[lane.first, lane.first + lane.rows]]
        assert timeline.boxes.begin[low:high].min() == 0
    assert {wire.at for wire in timeline.wires} == {29_000}
    assert view.overview.box().isNull()
    view.range_finished.connect(ranges.append)
    drag(view, QPoint(300, 200), QPoint(400, 200))
    assert view.state.range is not None
    assert ranges == []
    choose(view, "cpu")
    wait_lanes(view, qtbot)
    assert view.state.range is None


def test_lanes_come_back_with_the_time_they_showed(view: TimelineView, qtbot: QtBot) -> None:
    choose(view, "cpu")
    wait_lanes(view, qtbot)
    assert view.state.span is not None
    begin, end = view.state.span
    view.show_window(begin - 1000, end + 300_000)
    shown = view.window_ns()
    choose(view, "selected")
    assert view.window_ns() != shown
    choose(view, "cpu")
    assert view.window_ns() == pytest.approx(shown, abs=2)
    choose(view, "layer")
    wait_lanes(view, qtbot)
    assert view.window_ns() == pytest.approx(shown, abs=2)
    choose(view, "selected")
    view.show_path(FakeRecording().paths.path(packet=20))
    choose(view, "layer")  # another packet: as much time, but around that
    low, high = view.window_ns()
    assert high - low == pytest.approx(shown[1] - shown[0], rel=0.01)
    assert view.state.span is not None and low < view.state.span[0] < high
