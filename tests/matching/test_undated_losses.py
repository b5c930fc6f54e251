# SPDX-License-Identifier: MIT
"""In a log that lost records at unknown times, a packet without a number may be any like it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skbviewer.matching import (
    AMBIGUOUS,
    BY_KEY,
    EXACT,
    build_kernel_side,
    build_legs,
    build_series,
    match,
)
from skbviewer.matching.rules import Rung

from .joined import ANCHOR_FRAMES, ANCHORS, MS, OFFSET, sent
from .story import udp4, udp4_frame, wire


@pytest.mark.parametrize(
    ("ip_id", "lost", "verdict"),
    [
        (0, 0, (EXACT, BY_KEY)),
        (0, 3, (AMBIGUOUS, Rung.LACKING)),
        (9, 3, (EXACT, BY_KEY)),
    ],
)
def test_an_identity_without_a_number(
    tmp_path: Path, ip_id: int, lost: int, verdict: tuple[int, int]
) -> None:
    story = sent([*ANCHORS, (10 * MS, udp4(ip_id))])
    story.lasting(OFFSET)
    log = replace(story.log(tmp_path), lost_records=lost)
    series = build_series(log)
    legs = build_legs(log, series)
    frames = [*ANCHOR_FRAMES, (10 * MS, udp4_frame(ip_id))]
    packets = wire(tmp_path, [(ts + OFFSET, frame) for ts, frame in frames])
    rows = match(packets, build_kernel_side(log, series, legs)).rows
    (row,) = rows[rows["packet"] == 5]
    assert (row["verdict"], row["rung"]) == verdict
