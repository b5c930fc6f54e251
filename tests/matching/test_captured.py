# SPDX-License-Identifier: MIT
"""An exact match names the tap moment at which its packet was captured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skbviewer import readers
from skbviewer.matching import (
    AMBIGUOUS,
    BY_KEY,
    BY_TIME,
    CAPTURED_DTYPE,
    EXACT,
    MATCH_DTYPE,
    Matches,
    build_kernel_side,
    build_legs,
    build_series,
    match,
)
from skbviewer.matching.one_way_delay import _without
from skbviewer.records import NO_DELTA, UNTIMED, Capture, Silent
from tests.readers import build

from .joined import ANCHOR_FRAMES, ANCHORS, MS, OFFSET, A, Found, join, sent
from .story import HOST, HOUR, OTHER, SOFTIRQ, Story, udp4, udp4_frame, wire


def received() -> Story:
    """The anchors as they are received, each by a packet socket for 400 ns from its time on."""
    story = Story()
    story.function("skb_clone")  # else each skb may be a sniffer's own copy
    for number, (ts, ip) in enumerate(ANCHORS):
        skb = A + 0x100 * number
        shown: dict[str, Any] = {"skbinfo": HOST, "ipv4": ip, "context": SOFTIRQ}
        story.alloc(ts - 1000, skb, context=SOFTIRQ)
        story.enter(ts - 100, "netif_receive_skb", skb, **shown)
        story.call("tpacket_rcv", ts, ts + 400, skb, **shown)
        story.leave(ts + 900, "netif_receive_skb", skb, context=SOFTIRQ)
        story.free(ts + 1000, skb, context=SOFTIRQ)
    return story


def stamps_lie_inside(found: Found) -> bool:
    moments, clock = found.matches.moments, found.matches.clock
    assert clock is not None
    packet = moments["packet"]
    at, error = clock.to_kernel(found.packets["ts"][packet], packet), clock.segments[0].residual_ns
    inside = (moments["after_ns"] - error <= at) & (at <= moments["before_ns"] + error)
    return bool(inside.all())


def test_what_is_sent_was_captured_on_its_way_out(tmp_path: Path) -> None:
    found = join(tmp_path, sent(ANCHORS), ANCHOR_FRAMES)
    moments, rows = found.matches.moments, found.matches.rows
    assert moments["packet"].tolist() == list(range(5))
    assert moments["leg"].tolist() == rows["leg"].tolist()
    assert {row[2:6] for row in moments.tolist()} == {(100, 2, 1, False)}
    assert stamps_lie_inside(found)


def test_the_packet_socket_of_what_is_received_shows_when(tmp_path: Path) -> None:
    found = join(tmp_path, received(), [(ts + 200, frame) for ts, frame in ANCHOR_FRAMES])
    moments = found.matches.moments
    assert {row[2:6] for row in moments.tolist()} == {(100, 2, 0, True)}
    assert moments["before_ns"].tolist() == [ts + 400 for ts, _ in ANCHORS]
    assert len(moments) == 5 and stamps_lie_inside(found)


def test_a_packet_that_is_not_exact_has_no_moment(tmp_path: Path) -> None:
    twins = [(10 * MS, udp4(0)), (10 * MS + 100, udp4(0))]
    frames = [*ANCHOR_FRAMES, (10 * MS + 50, udp4_frame(0))]
    found = join(tmp_path, sent([*ANCHORS, *twins]), frames)
    assert (5, 5, AMBIGUOUS, BY_TIME) in found.pairs()
    assert found.matches.moments["packet"].tolist() == list(range(5))


def test_the_leg_that_the_sniffer_saw_is_the_moments(tmp_path: Path) -> None:
    """The skb goes on to a device where nobody captures."""
    story, skb = sent(ANCHORS), A + 0x10000
    there: dict[str, Any] = {"skbinfo": OTHER, "context": SOFTIRQ, "ipv4": udp4(1)}
    story.alloc(10 * MS, skb)
    story.call("dev_hard_start_xmit", 11 * MS, 12 * MS, skb, skbinfo=HOST, ipv4=udp4(1))
    story.call("__netif_rx", 12 * MS + 500, 12 * MS + 900, skb, **there)
    story.call("__netif_receive_skb", 13 * MS, 14 * MS, skb, **there)
    found = join(tmp_path, story, [*ANCHOR_FRAMES, (11 * MS, udp4_frame(1))])
    rows, moments = found.matches.rows, found.matches.moments
    assert np.count_nonzero(rows["packet"] == 5) == 2
    (mine,) = moments[moments["packet"] == 5]
    assert mine["leg"] == rows["leg"][rows["packet"] == 5][0]
    assert (mine["ifindex"], mine["sends"]) == (2, 1)


def test_a_leg_that_no_call_shows_at_a_device_names_none(tmp_path: Path) -> None:
    """Records are missing: the skb may have passed a device meanwhile, which one is not known."""
    story, skb = sent(ANCHORS), A + 0x10000
    story.alloc(10 * MS, skb)
    story.call("ip_output", 10 * MS + 500, 12 * MS, skb, skbinfo=HOST, ipv4=udp4(1))
    story.free(13 * MS, skb)
    story.lost(1200 * MS, 3, 1100 * MS)
    found = join(tmp_path, story, [*ANCHOR_FRAMES, (11 * MS, udp4_frame(1))])
    assert (5, 5, EXACT, BY_KEY) in found.pairs()
    assert found.matches.moments["packet"].tolist() == list(range(5))


def test_packets_of_several_interfaces_keep_their_numbers(tmp_path: Path) -> None:
    story, parts = sent(ANCHORS), [build.section_header("<")]
    story.lasting(OFFSET)
    parts += [build.interface_block(1, "<", name) for name in ("a", "b")]
    for ts, frame in ANCHOR_FRAMES:
        parts += [build.enhanced_packet(ts + at + OFFSET, frame, at, "<") for at in (0, 1)]
    path = tmp_path / "both.pcapng"
    path.write_bytes(b"".join(parts))
    log = story.log(tmp_path)
    series = build_series(log)
    legs = build_legs(log, series)
    capture = readers.read(path, Silent())
    assert isinstance(capture, Capture)
    found = match(capture.packets, build_kernel_side(log, series, legs))
    assert found.moments["packet"].tolist() == list(range(10))
    assert found.moments["leg"].tolist() == [n for n in range(5) for _ in (0, 1)]


def test_what_becomes_ambiguous_loses_its_moment() -> None:
    rows, moments = np.zeros(3, MATCH_DTYPE), np.zeros(3, CAPTURED_DTYPE)
    rows["packet"] = moments["packet"] = [1, 4, 6]
    rows["rung"] = [BY_TIME, BY_TIME, BY_KEY]
    none = np.zeros(0, np.int64)
    found, left = _without(Matches(rows, moments, (), none, none, none), np.array([4, 6]))
    assert found.rows["verdict"].tolist() == [EXACT, AMBIGUOUS, EXACT]
    assert found.moments["packet"].tolist() == [1, 6]
    assert left.tolist() == [6]


def test_without_a_clock_no_distance_is_known(tmp_path: Path) -> None:
    packets = wire(tmp_path, [(ts + OFFSET, frame) for ts, frame in ANCHOR_FRAMES[:2]])
    packets["ts"][:] = UNTIMED
    story = sent(ANCHORS)
    story.lasting(OFFSET)
    log = story.log(tmp_path)
    series = build_series(log)
    legs = build_legs(log, series)
    found = match(packets, build_kernel_side(log, series, legs))
    assert found.clock is None
    assert found.rows["delta_ns"].tolist() == [NO_DELTA] * 2
    assert not len(found.moments)


def test_another_runs_capture_has_no_moments(tmp_path: Path) -> None:
    frames = [(HOUR // 2, udp4_frame(2)), (HOUR, udp4_frame(1))]
    found = join(tmp_path, sent([(MS, udp4(1)), (2 * MS, udp4(2))]), frames)
    assert not len(found.matches.moments)
