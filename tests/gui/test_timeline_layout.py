# SPDX-License-Identifier: MIT
"""Where bars stand."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF

from skbviewer.gui.timeline_item import above_all
from skbviewer.gui.timeline_layout import bar_at, call_rows, lay_out
from skbviewer.records import Leg

from .fake import KBL_T0, RX, TX, FakeRecording, calls, legs


def test_bars_are_exact_to_the_nanosecond_since_the_first_entry() -> None:
    layout = lay_out(FakeRecording().path(packet=3))
    tx = layout.bars[layout.bars["leg"] == 0]
    assert tx["begin"].tolist() == [row[3] for row in TX]
    assert (tx["end"] - tx["begin"]).tolist() == [row[4] for row in TX]
    assert layout.wire == 29_000
    assert layout.wire_error == 850


def test_lanes_do_not_overlap() -> None:
    layout = lay_out(FakeRecording().path(packet=3))
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
    path = FakeRecording().path(packet=3)
    assert path.wire_ns is not None
    far = lay_out(path._replace(wire_ns=path.wire_ns + 10**9))
    assert far.wire is None
    assert far.end == 45_000


def test_hit_test_finds_the_bar_under_the_pointer_and_thin_ones_nearby() -> None:
    layout = lay_out(FakeRecording().path(packet=3))
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
    path = FakeRecording().path(packet=3)._replace(legs=(leg._replace(calls=(send, *leg.calls)),))
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
