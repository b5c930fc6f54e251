# SPDX-License-Identifier: MIT
"""Packets that go on in the skb of another one."""

from __future__ import annotations

from pathlib import Path

from skbviewer.matching import build_series, merges
from skbviewer.records import KernelLog
from skbviewer.records.kbl_layout import KblEvent

from ..story import SOFTIRQ, Story, find, udp4

A, B, C = 0xFFFF888000001000, 0xFFFF888000002000, 0xFFFF888000003000


def received(story: Story, ts: int, skb: int, ip_id: int) -> None:
    story.alloc(ts, skb, context=SOFTIRQ)
    story.call("dev_gro_receive", ts + 20, ts + 60, skb, context=SOFTIRQ, ipv4=udp4(ip_id))


def pairs(log: KernelLog) -> list[tuple[int, int]]:
    found = merges(log, build_series(log))
    return list(zip(found.series.tolist(), found.into.tolist(), strict=True))


def test_what_gro_merges_goes_on_in_the_first(tmp_path: Path) -> None:
    story = Story()
    for number, skb in enumerate((A, B, C)):
        received(story, 100 * number, skb, number)
        if number:
            story.event(100 * number + 50, KblEvent.GRO_MERGE, skb, A, context=SOFTIRQ)
            story.free(100 * number + 70, skb, context=SOFTIRQ)
    story.call("ip_rcv", 400, 450, A, context=SOFTIRQ, ipv4=udp4(0))
    assert pairs(story.log(tmp_path)) == [(1, 0), (2, 0)]


def test_it_is_the_packet_that_is_at_the_address_now(tmp_path: Path) -> None:
    story = Story()
    received(story, 100, A, 1)
    story.free(200, A, context=SOFTIRQ)
    received(story, 300, A, 2)
    received(story, 400, B, 3)
    story.event(450, KblEvent.GRO_MERGE, B, A, context=SOFTIRQ)
    story.call("ip_rcv", 500, 510, A, context=SOFTIRQ, ipv4=udp4(2))
    assert pairs(story.log(tmp_path)) == [(2, 1)]


def test_a_packet_that_is_gone_is_none(tmp_path: Path) -> None:
    """The log does not show whose skb is there by now."""
    story = Story()
    received(story, 100, A, 1)
    story.free(200, A, context=SOFTIRQ)
    received(story, 400, B, 3)
    story.event(450, KblEvent.GRO_MERGE, B, A, context=SOFTIRQ)
    assert pairs(story.log(tmp_path)) == []


def test_a_packet_that_was_never_seen_is_none(tmp_path: Path) -> None:
    story = Story()
    received(story, 400, B, 3)
    story.event(450, KblEvent.COALESCE, B, A, context=SOFTIRQ)
    assert pairs(story.log(tmp_path)) == []


def test_the_first_fragment_goes_on_in_the_last_to_come(tmp_path: Path) -> None:
    """ip_frag_reasm() moves the first one's content into the last; the event names the last."""
    story = Story()
    received(story, 100, A, 1)
    received(story, 200, B, 1)
    story.event(250, KblEvent.MORPH, B, A, context=SOFTIRQ)
    log = story.log(tmp_path)
    first, last = build_series(log).of[find(log, "dev_gro_receive")].tolist()
    assert pairs(log) == [(first, last)]
