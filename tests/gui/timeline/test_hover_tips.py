# SPDX-License-Identifier: MIT
"""What the timeline shows of the item under the pointer."""

from __future__ import annotations

from skbviewer.analysis.timeline.session_overview import Gap
from skbviewer.gui.timeline.hover_tips import call_tip, gap_tip, leg_rows, log_rows
from skbviewer.records import HOLE, Captured

from ..fake import legs


def test_of_a_hole_in_the_file_only_the_least_is_known() -> None:
    text = gap_tip(Gap(0, 1000, 3, 1, 2, HOLE))
    assert "At least 2 records lost" in text and "missing or damaged" in text
    assert "<b>2 records lost" in gap_tip(Gap(0, 1000, 3, 1, 2, 1))


def test_a_call_of_another_log_says_which_and_how_well_its_clock_is_known() -> None:
    (leg, *_) = legs(0)
    other = leg._replace(log="server", session_error_ns=632_410)
    text = call_tip(leg.calls[0], 0, log_rows(other))
    assert "server" in text and "± 632.4 µs" in text
    assert "unknown" in call_tip(leg.calls[0], 0, log_rows(other._replace(session_error_ns=None)))
    assert log_rows(leg) == ()


def test_a_call_of_the_leg_in_which_the_packet_was_captured_says_where_and_when() -> None:
    (leg, *_) = legs(0)
    seen = leg._replace(captured=Captured("veth-c", "out", 28_500, 29_250, True))
    text = call_tip(seen.calls[0], 0, leg_rows(seen, 0))
    assert "as veth-c sent it, +28.500 µs to +29.250 µs" in text
    assert leg_rows(leg, 0) == ()
