# SPDX-License-Identifier: MIT
"""A packet without a lifetime: the log may lack records that would show it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .joined import ANCHOR_FRAMES, ANCHORS, MS, join, sent
from .story import udp4_frame


@pytest.mark.parametrize("lost_at", [0, 2 * MS])
def test_a_packet_without_a_life_may_be_one_that_the_log_lacks(
    tmp_path: Path, lost_at: int
) -> None:
    story = sent(ANCHORS)
    if lost_at:
        story.lost(lost_at + MS, 1, lost_at)
    frames = [(2 * MS, udp4_frame(9)), (5 * MS, udp4_frame(8))]
    found = join(tmp_path, story, sorted([*ANCHOR_FRAMES, *frames]))
    lost = found.packets["ip_id"][found.matches.lost].tolist()
    assert lost == [9] * (lost_at > 0)
