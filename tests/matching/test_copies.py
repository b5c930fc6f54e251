# SPDX-License-Identifier: MIT
"""Packets that a file has more than once, also if one copy's time was rounded to us."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.matching.match_with_clock import _copies

from .joined import ANCHOR_FRAMES, OFFSET
from .story import udp4_frame, wire

AT = OFFSET - OFFSET % 1000


@pytest.mark.parametrize(
    ("first", "second", "copied"),
    [(0, 0, True), (0, 518, True), (518, 518, True), (518, 519, False), (999, 1000, False)],
)
def test_copies_have_one_time_or_one_of_them_is_rounded(
    tmp_path: Path, first: int, second: int, copied: bool
) -> None:
    (_, frame), other = ANCHOR_FRAMES[0], udp4_frame(7)
    times = [(first, frame), (second, frame), (first, other)]
    packets = wire(tmp_path, [(AT + ts, data) for ts, data in times], 262144)
    shared, again = _copies(packets)
    assert shared.tolist() == [copied, copied, False]
    assert again.tolist() == [False, copied, False]
