# SPDX-License-Identifier: MIT
"""What the timeline tells of a thing under the pointer."""

from __future__ import annotations

from skbviewer.analysis.timeline_overview import Gap
from skbviewer.gui.timeline_tips import gap_tip
from skbviewer.records import HOLE


def test_of_a_hole_in_the_file_only_the_least_is_known() -> None:
    text = gap_tip(Gap(0, 1000, 3, 1, 2, HOLE))
    assert "At least 2 records lost" in text and "missing or damaged" in text
    assert "<b>2 records lost" in gap_tip(Gap(0, 1000, 3, 1, 2, 1))
