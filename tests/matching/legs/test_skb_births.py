# SPDX-License-Identifier: MIT
"""When skbs were born, by the log's own words."""

from __future__ import annotations

from pathlib import Path

from skbviewer.matching import build_legs, build_series
from skbviewer.matching.legs.capture_points import build
from skbviewer.matching.legs.declared_losses import losses_declared_by
from skbviewer.matching.legs.skb_births import births
from skbviewer.matching.legs.tap_moments import WAIT_NS
from skbviewer.records.types import EARLIEST_NS

from ..story import HOST, Story, udp4

A, B = 0xFFFF888000001000, 0xFFFF888000002000
MS = 1_000_000
LATER = 2 * WAIT_NS


def born(story: Story, folder: Path) -> list[int]:
    log = story.log(folder)
    return [int(when) for when in births(log.records, build_series(log))]


def test_an_skb_is_born_in_the_call_that_makes_it(tmp_path: Path) -> None:
    story = Story()
    story.alloc(1100, A)
    story.call("ip_output", 2000, 2200, A, skbinfo=HOST, ipv4=udp4(1))
    (when,) = born(story, tmp_path)
    assert 1100 <= when <= 1110


def test_a_clone_is_born_with_its_own_event(tmp_path: Path) -> None:
    story = Story()
    story.call("ip_rcv", 900, 5000, A, skbinfo=HOST, ipv4=udp4(1))
    story.clone(3000, A, B)
    story.call("ip_output", 4000, 4200, B, skbinfo=HOST, ipv4=udp4(1))
    story.call("dev_hard_start_xmit", 4300, 4400, B, skbinfo=HOST, ipv4=udp4(1))
    first, clone = born(story, tmp_path)
    assert first == EARLIEST_NS
    assert 3000 <= clone <= 3010


def test_after_a_free_nothing_says_when_the_next_skb_was_born(tmp_path: Path) -> None:
    story = Story()
    story.alloc(1100, A)
    story.call("ip_output", 2000, 2200, A, skbinfo=HOST, ipv4=udp4(1))
    story.free(2500, A)
    story.call("ip_output", 3000, 3200, A, skbinfo=HOST, ipv4=udp4(2))
    first, following = born(story, tmp_path)
    assert 1100 <= first <= 1110
    assert following == EARLIEST_NS


def arrival(birth: bool, folder: Path) -> int:
    """From when on an skb that is sent may have been stamped, where a hit of another was missed."""
    story = Story()
    story.call("dev_hard_start_xmit", LATER - 5 * MS, LATER - 4 * MS, B, skbinfo=HOST, ipv4=udp4(2))
    story.missed(LATER + 5 * MS, 1, LATER - MS, "dev_hard_start_xmit")
    if birth:
        story.alloc(LATER + MS, A)
    story.call("ip_output", LATER + 2 * MS, LATER + 3 * MS, A, skbinfo=HOST, ipv4=udp4(1))
    log = story.log(folder)
    series = build_series(log)
    points = build(log, series, build_legs(log, series), losses_declared_by(log)).points
    return int(points["after"][points["series"] == points["series"].max()].min())


def test_where_hits_were_missed_a_stamp_is_not_before_the_birth(tmp_path: Path) -> None:
    assert LATER <= arrival(True, tmp_path) <= LATER + MS
    assert arrival(False, tmp_path) == LATER + 2 * MS - WAIT_NS
