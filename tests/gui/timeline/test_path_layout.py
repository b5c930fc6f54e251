# SPDX-License-Identifier: MIT
"""Where bars stand."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF

from skbviewer.gui.timeline.path_layout import bar_at, call_rows, lay_out
from skbviewer.gui.timeline.path_painter import above_all
from skbviewer.records import Leg, PacketPath

from ..fake import KBL_T0, RX, TX, FakeRecording, calls, legs


def test_bars_are_exact_to_the_nanosecond_since_the_first_entry() -> None:
    layout = lay_out(FakeRecording().paths.path(packet=3))
    tx = layout.bars[layout.bars["leg"] == 0]
    assert tx["begin"].tolist() == [row[3] for row in TX]
    assert (tx["end"] - tx["begin"]).tolist() == [row[4] for row in TX]
    assert layout.wire == 29_000
    assert layout.wire_error == 850


def test_lanes_do_not_overlap() -> None:
    layout = lay_out(FakeRecording().paths.path(packet=3))
    first, second = layout.titles
    assert first.bottom < second.y
    assert layout.bars["y"][layout.bars["leg"] == 0].max() + 1 == first.bottom
    assert layout.bars["y"][layout.bars["leg"] == 1].min() >= second.y + 2  # title and wait


def test_a_call_that_interrupts_another_gets_rows_of_its_own() -> None:
    outer, inner = calls(TX, KBL_T0), calls(RX[:3], KBL_T0 + 5_000)
    later = calls(TX[:1], KBL_T0 + 40_000)
    shifted = tuple(c._replace(parent=c.parent + len(outer) if c.depth else -1) for c in inner)
    leg = legs(KBL_T0)[0]._replace(calls=(*outer, *shifted, *later))
    rows, height = call_rows(leg)
    assert rows[: len(outer)] == [row[2] for row in TX]
    assert rows[len(outer) : -1] == [7, 8, 9]
    assert rows[-1] == 0
    assert height == 10


def test_a_wire_time_far_off_does_not_squeeze_the_picture() -> None:
    path = FakeRecording().paths.path(packet=3)
    far = lay_out(
        path._replace(legs=tuple(leg._replace(wire_ns=leg.begin_ns + 10**9) for leg in path.legs))
    )
    assert far.wire is None
    assert far.end == 45_000


def test_hit_test_finds_the_bar_under_the_pointer_and_thin_ones_nearby() -> None:
    layout = lay_out(FakeRecording().paths.path(packet=3))
    y = float(layout.bars["y"][5]) + 0.5
    assert bar_at(layout, 6_000.0, y, 0) == 5
    assert bar_at(layout, 3_950.0, y, 100) == 5
    assert bar_at(layout, 3_950.0, y, 10) is None


def test_nothing_has_no_bars() -> None:
    empty = lay_out(None)
    assert len(empty.bars) == 0
    assert np.isfinite([empty.begin, empty.end, empty.rows]).all()
    lonely: Leg = legs(0)[0]._replace(calls=())
    assert call_rows(lonely) == ([], 1)


def test_a_call_with_only_the_socket_is_drawn_as_long_as_the_packet_is_there() -> None:
    leg = legs(KBL_T0)[0]
    first = leg.calls[0]
    send = first._replace(entry_ns=KBL_T0 - 10**9, exit_ns=KBL_T0 + 10**9, skb=0)
    path = (
        FakeRecording()
        .paths.path(packet=3)
        ._replace(legs=(leg._replace(calls=(send, *leg.calls)),))
    )
    layout = lay_out(path)
    last = max(call.exit_ns for call in leg.calls if call.exit_ns is not None)
    assert layout.bars["begin"][0] == 0
    assert layout.bars["end"][0] == last - KBL_T0


def test_the_label_of_the_wire_covers_no_title() -> None:
    upper, lower = QRectF(6, 80, 200, 20), QRectF(6, 100, 200, 20)
    beside, plate = QRectF(300, 110, 60, 17), QRectF(100, 110, 60, 17)
    assert above_all(beside, [upper, lower]) == beside
    moved = above_all(plate, [upper, lower])
    assert moved == QRectF(100, 60, 60, 17)


def of_two_logs(error_ns: int | None) -> PacketPath:
    """The receiver's clock is 7 s ahead, and the packet was 2 us longer under way."""
    path = FakeRecording().paths.path(packet=3)
    sent, got = path.legs
    late = 7 * 10**9
    got = got._replace(
        begin_ns=got.begin_ns + late,
        end_ns=got.end_ns + late,
        calls=tuple(
            call._replace(
                entry_ns=call.entry_ns + late,
                exit_ns=None if call.exit_ns is None else call.exit_ns + late,
            )
            for call in got.calls
        ),
        waits=tuple(wait._replace(begin_ns=wait.begin_ns + late) for wait in got.waits),
        wire_ns=(got.wire_ns or 0) + late,
        wire_error_ns=40,
        source=3,
        log="right",
        session_offset_ns=got.session_offset_ns - late + 2_000,
        session_error_ns=error_ns,
    )
    return path._replace(legs=(sent._replace(source=2, log="left"), got))


def test_legs_of_two_logs_share_one_axis() -> None:
    path, one = of_two_logs(632_410), lay_out(FakeRecording().paths.path(packet=3))
    layout = lay_out(path)
    sent, got = (layout.bars["begin"][layout.bars["leg"] == leg] for leg in (0, 1))
    assert sent.tolist() == one.bars["begin"][one.bars["leg"] == 0].tolist()
    assert (got - one.bars["begin"][one.bars["leg"] == 1]).tolist() == [2_000.0] * len(got)
    assert layout.origin_ns == one.origin_ns
    assert layout.waits[0].begin == one.waits[0].begin + 2_000
    assert (layout.wire, layout.wire_error) == (31_000, 40)  # by the log that knows it best
    assert layout.titles[0].text.startswith("left, Sending, veth-c")
    assert layout.titles[1].text.endswith(", 38.0 µs ± 632.4 µs after leg 1")


def test_a_leg_that_nothing_joins_to_the_first_stands_behind_it() -> None:
    layout = lay_out(of_two_logs(None))
    last, first = (layout.bars[layout.bars["leg"] == leg] for leg in (0, 1))
    assert first["begin"].min() == last["end"].max()
    assert layout.titles[1].text.endswith("offset from leg 1 unknown")
