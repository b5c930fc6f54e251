# SPDX-License-Identifier: MIT
"""A capture most of whose packets the log does not show is not of the log's run."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.matching import EXACT

from .joined import ANCHOR_FRAMES, ANCHORS, MS, join, sent
from .story import udp4_frame


def others(count: int) -> list[tuple[int, bytes]]:
    """Return packets that the log does not show, at times between the anchors'."""
    return [(2 * MS + 10_000 * n, udp4_frame(900 + n)) for n in range(count)]


@pytest.mark.parametrize(("unknown", "exact"), [(0, 2), (2, 2), (3, 0)])
def test_the_wall_clock_alone_is_no_evidence_if_most_packets_are_unknown(
    tmp_path: Path, unknown: int, exact: int
) -> None:
    frames = sorted([ANCHOR_FRAMES[0], *others(unknown), ANCHOR_FRAMES[3]])
    found = join(tmp_path, sent(ANCHORS), frames)
    assert sum(verdict == EXACT for _, _, verdict, _ in found.pairs()) == exact


def test_a_packet_counts_as_unknown_only_if_the_log_lacks_nothing_then(tmp_path: Path) -> None:
    story = sent(ANCHORS)
    story.lost(3 * MS, 1, int(1.5 * MS))
    frames = sorted([ANCHOR_FRAMES[0], *others(3), *ANCHOR_FRAMES[3:]])
    found = join(tmp_path, story, frames)
    assert found.matches.clock is not None
