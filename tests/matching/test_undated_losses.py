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
from skbviewer.matching.match_rule_numbers import Rung

from .joined import MS, OFFSET, A, send, sent
from .story import HOST, Story, udp4, udp4_frame, wire

TIMES = [MS * n for n in range(1, 9)]
ANCHORS = [(ts, udp4(100 + n)) for n, ts in enumerate(TIMES)]  # as many as show a device


def found(folder: Path, story: Story, lost: int, frame: bytes) -> tuple[int, int]:
    """Return verdict and rung of a packet captured at 10 ms; `lost`: records without a time."""
    story.lasting(OFFSET)
    log = replace(story.log(folder), lost_records=lost)
    series = build_series(log)
    legs = build_legs(log, series)
    frames = [(ts, udp4_frame(100 + n)) for n, ts in enumerate(TIMES)] + [(10 * MS, frame)]
    packets = wire(folder, [(ts + OFFSET, frame) for ts, frame in frames])
    rows = match(packets, build_kernel_side(log, series, legs)).rows
    (row,) = rows[rows["packet"] == len(TIMES)]
    return int(row["verdict"]), int(row["rung"])


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
    assert found(tmp_path, story, lost, udp4_frame(ip_id)) == verdict


@pytest.mark.parametrize(
    ("ifindex", "lost", "verdict"),
    [
        (0, 0, (EXACT, BY_KEY)),
        (0, 3, (AMBIGUOUS, Rung.LACKING)),
        (HOST.ifindex, 3, (EXACT, BY_KEY)),
    ],
)
def test_a_lifetime_that_the_log_shows_at_no_device(
    tmp_path: Path, ifindex: int, lost: int, verdict: tuple[int, int]
) -> None:
    """Another skb with these bytes may have been at the device, and the log may lack its calls."""
    story = sent(ANCHORS)
    send(story, 10 * MS, A + 0x900, udp4(9), HOST._replace(ifindex=ifindex))
    assert found(tmp_path, story, lost, udp4_frame(9)) == verdict


@pytest.mark.parametrize(("lost", "verdict"), [(0, EXACT), (3, AMBIGUOUS)])
def test_few_packets_show_no_device(tmp_path: Path, lost: int, verdict: int) -> None:
    """The log may lack their moments at the device where they were captured."""
    story = sent([*ANCHORS[:4], (10 * MS, udp4(9))])
    assert found(tmp_path, story, lost, udp4_frame(9))[0] == verdict
