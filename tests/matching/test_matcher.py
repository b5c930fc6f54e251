# SPDX-License-Identifier: MIT
"""Packets of a capture match skb lifetimes, or the verdict says that they do not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skbviewer.matching import (
    AMBIGUOUS,
    BY_KEY,
    BY_TIME,
    EXACT,
    LATE,
    NAMELESS,
    UNSURE,
    build_kernel_side,
    build_legs,
    build_series,
    match,
)
from skbviewer.matching.match_rule_numbers import TWICE
from skbviewer.records import UNTIMED
from skbviewer.records.kbl_layout import KblEvent
from tests.readers import build

from .joined import ANCHOR_FRAMES, ANCHORS, MS, OFFSET, A, Found, join, send, sent
from .story import HOST, HOUR, OTHER, SOFTIRQ, Story, tcp4, tcp4_frame, udp4, udp4_frame, wire


def test_two_pairs_that_no_clock_joins_are_not_believed(tmp_path: Path) -> None:
    """A capture of another run may hold two numbers that came here, too."""
    frames = [(HOUR // 2, udp4_frame(2)), (HOUR, udp4_frame(1))]
    found = join(tmp_path, sent([(MS, udp4(1)), (2 * MS, udp4(2))]), frames)
    assert found.pairs() == [(0, 1, AMBIGUOUS, UNSURE), (1, 0, AMBIGUOUS, UNSURE)]


@pytest.mark.parametrize(("count", "verdict"), [(9, EXACT), (5, AMBIGUOUS)])
def test_many_pairs_of_one_clock_are_exact_whatever_it_shows(
    tmp_path: Path, count: int, verdict: int
) -> None:
    """Five pairs may agree by chance if the wall clock of the log's host contradicts them."""
    numbers = range(1, count + 1)
    found = join(
        tmp_path,
        sent([(MS * n, udp4(n)) for n in numbers]),
        [(MS * n + HOUR, udp4_frame(n)) for n in numbers],
    )
    assert {pair[:3] for pair in found.pairs()} == {(n, n, verdict) for n in range(count)}


def test_the_clock_comes_from_the_pairs(tmp_path: Path) -> None:
    found = join(tmp_path, sent(ANCHORS), ANCHOR_FRAMES)
    assert found.matches.clock is not None
    assert found.matches.clock.segments[0].offset_ns == OFFSET
    assert found.matches.clock.pairs == 5
    assert found.matches.sniffer == (100, 2)
    assert found.matches.rows["delta_ns"].tolist() == [0] * 5


def test_a_wire_packet_without_a_life_stays_alone(tmp_path: Path) -> None:
    found = join(tmp_path, sent([(MS, udp4(1))]), [(MS, udp4_frame(1)), (2 * MS, udp4_frame(2))])
    assert {pair[0] for pair in found.pairs()} == {0}


def test_a_life_without_a_wire_packet_stays_alone(tmp_path: Path) -> None:
    found = join(tmp_path, sent([(MS, udp4(1)), (2 * MS, udp4(2))]), [(2 * MS, udp4_frame(2))])
    assert found.pairs() == [(0, 1, EXACT, BY_KEY)]


def test_twins_far_apart_are_decided_by_time(tmp_path: Path) -> None:
    twins = [(10 * MS, udp4(0)), (20 * MS, udp4(0))]
    frames = [*ANCHOR_FRAMES, (10 * MS, udp4_frame(0)), (20 * MS, udp4_frame(0))]
    found = join(tmp_path, sent([*ANCHORS, *twins]), frames)
    assert found.pairs()[5:] == [(5, 5, EXACT, BY_TIME), (6, 6, EXACT, BY_TIME)]
    assert found.matches.rows["confidence"][5:].tolist() == [1.0, 1.0]


def test_twins_too_near_for_the_clock_are_decided_by_their_order(tmp_path: Path) -> None:
    twins = [(10 * MS, udp4(0)), (10 * MS + 1000, udp4(0))]
    frames = [*ANCHOR_FRAMES, (10 * MS, udp4_frame(0)), (10 * MS + 1000, udp4_frame(0))]
    found = join(tmp_path, sent([*ANCHORS, *twins]), frames)
    assert found.pairs()[5:] == [(5, 5, EXACT, BY_TIME), (6, 6, EXACT, BY_TIME)]


def test_one_of_twins_too_near_for_the_clock_is_ambiguous(tmp_path: Path) -> None:
    """The capture may lack the first or the second."""
    twins = [(10 * MS, udp4(0)), (10 * MS + 100, udp4(0))]
    frames = [*ANCHOR_FRAMES, (10 * MS + 50, udp4_frame(0))]
    found = join(tmp_path, sent([*ANCHORS, *twins]), frames)
    assert found.pairs()[5:] == [(5, 5, AMBIGUOUS, BY_TIME), (5, 6, AMBIGUOUS, BY_TIME)]


def test_three_packets_of_two_lifetimes_are_ambiguous(tmp_path: Path) -> None:
    """One of them was captured twice, or is of another recording."""
    twins = [(10 * MS, udp4(0)), (10 * MS + 100, udp4(0))]
    again = [(10 * MS + 50 * n, udp4_frame(0)) for n in range(3)]
    found = join(tmp_path, sent([*ANCHORS, *twins]), [*ANCHOR_FRAMES, *again])
    assert {pair[2:] for pair in found.pairs()[5:]} == {(AMBIGUOUS, TWICE)}


def test_twins_without_any_sure_pair_are_ambiguous(tmp_path: Path) -> None:
    found = join(
        tmp_path,
        sent([(10 * MS, udp4(0)), (20 * MS, udp4(0))]),
        [(10 * MS, udp4_frame(0)), (20 * MS, udp4_frame(0))],
    )
    assert found.matches.clock is None
    assert {pair[2] for pair in found.pairs()} == {AMBIGUOUS}


@pytest.mark.parametrize(("after_ns", "verdict"), [(MS, EXACT), (20_000 * MS, AMBIGUOUS)])
def test_twins_are_not_decided_by_a_clock_that_may_be_farther_off(
    tmp_path: Path, after_ns: int, verdict: int
) -> None:
    """Nothing is lost, but five packets of 4 ms do not show how the sniffer's clock drifts."""
    twins = [(10 * MS + after_ns + n * 200_000, udp4(0)) for n in range(2)]
    frames = [*ANCHOR_FRAMES, (twins[0][0], udp4_frame(0))]
    drifting = [(ts + ts // 100_000, frame) for ts, frame in frames]
    found = join(tmp_path, sent([*ANCHORS, *twins]), drifting)
    assert {pair[2] for pair in found.pairs()[5:]} == {verdict}


def test_identifications_that_come_again_by_chance_match_nothing(tmp_path: Path) -> None:
    """A capture of another run, in which some random numbers are the same."""
    rng = np.random.default_rng(20261123)
    mine, other = (rng.integers(1, 65536, 1500).tolist() for _ in range(2))
    story = sent([(10 * MS * (n + 1), udp4(ip_id)) for n, ip_id in enumerate(mine)])
    found = join(
        tmp_path, story, [(10 * MS * (n + 1), udp4_frame(ip_id)) for n, ip_id in enumerate(other)]
    )
    assert len(set(mine) & set(other)) > 20
    assert {pair[2] for pair in found.pairs()} == {AMBIGUOUS}


def test_the_sequence_numbers_of_tcp_do_not_come_again_by_chance(tmp_path: Path) -> None:
    """Even if the times under way scatter by milliseconds."""
    rng = np.random.default_rng(20261123)
    late = rng.integers(0, 5, 30).tolist()
    segments = [(10 * MS * (n + 1), n + 1, 1000 * n) for n in range(30)]
    story = sent([(ts, tcp4(ip_id, seq)) for ts, ip_id, seq in segments])
    frames = [(ts + MS * late[n], tcp4_frame(i, seq)) for n, (ts, i, seq) in enumerate(segments)]
    assert {pair[2] for pair in join(tmp_path, story, frames).pairs()} == {EXACT}


@pytest.mark.parametrize(("numbers", "verdict"), [(0, AMBIGUOUS), (40, EXACT)])
@pytest.mark.parametrize("untimed", [False, True])
def test_a_segment_that_tcp_sends_again_is_not_the_one_before(
    tmp_path: Path, numbers: int, verdict: int, untimed: bool
) -> None:
    """The log ended before TCP sent them again.  New ones have other identifications, if any."""
    late = [0, 3, 1, 8, 2, 5]
    first = [(MS * (n + 1), tcp4(numbers + n if numbers else 0, 1000 * n)) for n in range(6)]
    frames = [
        (UNTIMED if untimed else 1000 * MS + MS * (n + late[n] + 1),
         tcp4_frame(numbers + n if numbers else 0, 1000 * n))
        for n in range(6)
    ]  # fmt: skip
    found = join(tmp_path, sent(first), frames)
    assert {pair[2] for pair in found.pairs()} == {verdict}


def test_a_packet_seen_again_by_a_sniffer_with_another_clock_is_not_called_unknown(
    tmp_path: Path,
) -> None:
    """One capture merged from two; a packet that is not numbered may be another one."""
    recorded = [(10 * MS, udp4(50)), (11 * MS, udp4(0))]
    frames = [(10 * MS, udp4_frame(50)), (11 * MS, udp4_frame(0))]
    again = [(ts + 50 * MS, frame) for ts, frame in frames]
    found = join(tmp_path, sent([*ANCHORS, *recorded]), [*ANCHOR_FRAMES, *frames, *again])
    assert [pair[:3] for pair in found.pairs()[5:]] == [
        (5, 5, EXACT),
        (6, 6, EXACT),
        (7, 5, AMBIGUOUS),
        (8, 6, AMBIGUOUS),
    ]


def test_time_distinguishes_a_retransmission_from_its_original(tmp_path: Path) -> None:
    again = [(10 * MS, tcp4(0, seq=5)), (230 * MS, tcp4(0, seq=5))]
    frames = [*ANCHOR_FRAMES, (10 * MS, tcp4_frame(0, seq=5)), (230 * MS, tcp4_frame(0, seq=5))]
    found = join(tmp_path, sent([*ANCHORS, *again]), frames)
    assert found.pairs()[5:] == [(5, 5, EXACT, BY_TIME), (6, 6, EXACT, BY_TIME)]


def test_of_twins_of_which_one_was_captured_the_near_one_matches(tmp_path: Path) -> None:
    twins = [(10 * MS, udp4(0)), (20 * MS, udp4(0))]
    found = join(tmp_path, sent([*ANCHORS, *twins]), [*ANCHOR_FRAMES, (20 * MS, udp4_frame(0))])
    assert found.pairs()[5:] == [(5, 6, EXACT, BY_TIME)]


def test_both_legs_of_a_packet_match(tmp_path: Path) -> None:
    story = sent(ANCHORS)
    skb = A + 0x10000
    story.alloc(10 * MS, skb)
    story.call("dev_hard_start_xmit", 11 * MS, 12 * MS, skb, skbinfo=HOST, ipv4=udp4(1))
    story.call(
        "__netif_receive_skb", 13 * MS, 14 * MS, skb, skbinfo=OTHER, context=SOFTIRQ, ipv4=udp4(1)
    )
    found = join(tmp_path, story, [*ANCHOR_FRAMES, (11 * MS, udp4_frame(1))])
    mine = found.matches.rows[found.matches.rows["packet"] == 5]
    assert mine["verdict"].tolist() == [EXACT, EXACT]
    assert mine["delta_ns"].tolist() == [0, -2 * MS]


def test_a_sniffers_copy_matches_nothing(tmp_path: Path) -> None:
    story = Story()
    story.alloc(1000, A)
    story.call("dev_hard_start_xmit", 2000, 5000, A, skbinfo=HOST, ipv4=udp4(1))
    story.clone(2100, A, A + 0x100, by="dev_queue_xmit_nit")
    story.call("packet_rcv", 2200, 2300, A + 0x100, skbinfo=HOST, ipv4=udp4(1))
    found = join(tmp_path, story, [(2000, udp4_frame(1))])
    assert found.pairs() == [(0, 0, EXACT, BY_KEY)]


def test_arp_is_matched_by_time(tmp_path: Path) -> None:
    story = sent(ANCHORS)
    info = HOST._replace(ethertype=0x0806)
    for number, ts in enumerate((20 * MS, 400 * MS)):
        send(story, ts, A + 0x10000 * (number + 1), None, info)
    frame = build.ethernet(build.arp(1, "10.0.0.1", "10.0.0.2"), 0x0806)
    frames = [*ANCHOR_FRAMES, (20 * MS, frame), (400 * MS, frame), (900 * MS, frame)]
    found = join(tmp_path, story, frames)
    assert found.pairs()[5:] == [(5, 5, EXACT, BY_TIME), (6, 6, EXACT, BY_TIME)]


def test_arp_without_a_clock_is_not_guessed(tmp_path: Path) -> None:
    story = Story()
    send(story, MS, A, None, HOST._replace(ethertype=0x0806))
    frame = build.ethernet(build.arp(1, "10.0.0.1", "10.0.0.2"), 0x0806)
    assert join(tmp_path, story, [(MS, frame)]).pairs() == [(0, 0, AMBIGUOUS, NAMELESS)]


def test_packets_of_unknown_time_leave_the_clock_alone(tmp_path: Path) -> None:
    """Sixteen bits may be another run's, where no clock confirms them."""
    lives = [*ANCHORS, (10 * MS, udp4(7)), (20 * MS, udp4(0)), (30 * MS, udp4(0))]
    frames = [*ANCHOR_FRAMES, (10 * MS, udp4_frame(7)), (20 * MS, udp4_frame(0))]
    packets = wire(tmp_path, [(ts + OFFSET, frame) for ts, frame in frames])
    packets["ts"][5:] = UNTIMED
    story = sent(lives)
    story.lasting(OFFSET)
    log = story.log(tmp_path)
    series = build_series(log)
    legs = build_legs(log, series)
    found = Found(packets, legs, match(packets, build_kernel_side(log, series, legs)))
    exact = [(n, n, EXACT, BY_KEY) for n in range(5)]
    assert found.pairs() == [
        *exact,
        (5, 5, AMBIGUOUS, UNSURE),
        (6, 6, AMBIGUOUS, BY_TIME),
        (6, 7, AMBIGUOUS, BY_TIME),
    ]
    assert found.matches.clock is not None
    (segment,) = found.matches.clock.segments
    assert (segment.offset_ns, segment.pairs, segment.first) == (OFFSET, 5, 0)


def test_an_empty_capture_matches_nothing(tmp_path: Path) -> None:
    found = join(tmp_path, sent(ANCHORS), [])
    assert found.pairs() == []
    assert found.matches.clock is None


def test_an_empty_log_matches_nothing(tmp_path: Path) -> None:
    found = join(tmp_path, Story(), ANCHOR_FRAMES)
    assert found.pairs() == []
    assert found.matches.clock is None


def twice_seen(folder: Path, second: int, ip_id: int = 1) -> Found:
    """One life with two legs, at 11 and 13 ms, and two wire packets, at 11 ms and `second`."""
    story = sent(ANCHORS)
    skb = A + 0x10000
    story.alloc(10 * MS, skb)
    story.call("dev_hard_start_xmit", 11 * MS, 12 * MS, skb, skbinfo=HOST, ipv4=udp4(ip_id))
    ip, times = udp4(ip_id), (13 * MS, 14 * MS)
    story.call("__netif_receive_skb", *times, skb, skbinfo=OTHER, context=SOFTIRQ, ipv4=ip)
    again = [(ts, udp4_frame(ip_id)) for ts in (11 * MS, second)]
    return join(folder, story, [*ANCHOR_FRAMES, *again])


@pytest.mark.parametrize(("second", "ip_id"), [(13 * MS, 1), (500 * MS, 0), (13 * MS, 0)])
def test_what_was_not_captured_at_the_sniffers_device_is_no_second_sighting(
    tmp_path: Path, second: int, ip_id: int
) -> None:
    """The other packets say where the capture was taken."""
    found = twice_seen(tmp_path, second, ip_id)
    assert [pair[:3] for pair in found.pairs()[5:]] == [(5, 5, EXACT), (6, 5, AMBIGUOUS)]
    assert found.pairs()[-1][3] == LATE


def received(delays: Sequence[int]) -> Story:
    """Packets that wait in a backlog after their arrival, each for another time."""
    story = Story()
    for number, delay in enumerate(delays):
        ts, skb, ip = MS * (number + 1), A + 0x100 * number, udp4(100 + number)
        story.alloc(ts - 100, skb)
        story.call("__netif_rx", ts, ts + 10, skb, skbinfo=HOST, ipv4=ip)
        story.call("__netif_receive_skb", ts + delay, ts + delay + 10, skb, skbinfo=HOST, ipv4=ip)
    return story


def test_the_clock_is_that_of_the_tap_which_the_capture_used(tmp_path: Path) -> None:
    delays = (1000, 70_000, 4000, 9000, 300_000)
    arrived = [(MS * (n + 1), udp4_frame(100 + n)) for n in range(5)]
    handed_over = [(ts + delay, frame) for (ts, frame), delay in zip(arrived, delays, strict=True)]
    for frames in (arrived, handed_over):
        matches = join(tmp_path, received(delays), frames).matches
        assert matches.clock is not None
        (segment,) = matches.clock.segments
        assert (segment.spread_ns, segment.offset_ns) == (0, OFFSET)
        assert matches.rows["delta_ns"].tolist() == [0] * 5


def test_a_segment_is_not_the_packet_whose_header_it_begins_with(tmp_path: Path) -> None:
    """skb_segment() copies the whole packet's header and corrects it later; GRO merges them again.

    The first segment becomes the packet that is sent on to the sniffer.
    """
    whole, story = udp4(7, size=2000), sent(ANCHORS)
    for number in range(2):
        ts, skb = 10 * MS + 300 * number, A + 0x1000 * (number + 1)
        story.alloc(ts, skb)
        story.call(
            "skb_zerocopy_clone", ts + 20, ts + 30, skb, skbinfo=HOST._replace(len=42), ipv4=whole
        )
        part = udp4(7 + number, size=1000)
        story.call("ip_rcv", ts + 100, ts + 150, skb, skbinfo=OTHER._replace(len=1028), ipv4=part)
    sent_on = HOST._replace(len=2042)
    story.call(
        "dev_hard_start_xmit", 10 * MS + 700, 10 * MS + 750, A + 0x1000, skbinfo=sent_on, ipv4=whole
    )
    frames = [*ANCHOR_FRAMES, (10 * MS + 700, udp4_frame(7, size=2000))]
    found = join(tmp_path, story, frames)
    assert [pair[:3] for pair in found.pairs()[5:]] == [(5, 5, EXACT)]


def test_a_packet_of_which_only_events_are_left_is_known_by_them(tmp_path: Path) -> None:
    """The probes missed its calls; a FOOTPRINT precedes events, too."""
    story = sent(ANCHORS)
    story.event(9 * MS, KblEvent.FOOTPRINT, A, skbinfo=HOST, ipv4=udp4(7))
    story.event(9 * MS, KblEvent.START_XMIT, A)
    found = join(tmp_path, story, [*ANCHOR_FRAMES, (9 * MS, udp4_frame(7))])
    assert [pair[:3] for pair in found.pairs()[5:]] == [(5, 5, EXACT)]


def test_events_of_a_sniffers_copy_make_it_no_candidate(tmp_path: Path) -> None:
    story = sent(ANCHORS)
    story.alloc(9 * MS - 100, A)
    story.call("dev_hard_start_xmit", 9 * MS - 50, 9 * MS + 50, A, skbinfo=HOST)
    story.clone(9 * MS - 40, A, A + 0x9000, by="dev_queue_xmit_nit")
    story.event(9 * MS, KblEvent.FOOTPRINT, A + 0x9000, skbinfo=HOST, ipv4=udp4(7))
    story.event(9 * MS, KblEvent.CONSUME, A + 0x9000)
    found = join(tmp_path, story, [*ANCHOR_FRAMES, (9 * MS, udp4_frame(7))])
    assert found.pairs()[5:] == []


def test_the_bare_begin_of_a_life_is_no_sighting(tmp_path: Path) -> None:
    """ARP is known by time alone: of this one the log shows no device that had it."""
    story, arp = sent(ANCHORS), HOST._replace(ethertype=0x0806)
    story.call("consume_skb", 9 * MS, 9 * MS + 20, A, skbinfo=arp)
    request = build.ethernet(build.arp(1, "10.0.0.1", "10.0.0.2"), 0x0806)
    found = join(tmp_path, story, [*ANCHOR_FRAMES, (9 * MS, request)])
    assert EXACT not in {pair[2] for pair in found.pairs()[5:]}
    story = sent(ANCHORS)
    story.call("dev_hard_start_xmit", 9 * MS, 9 * MS + 20, A, skbinfo=arp)
    found = join(tmp_path, story, [*ANCHOR_FRAMES, (9 * MS, request)])
    assert [pair[:3] for pair in found.pairs()[5:]] == [(5, 5, EXACT)]


def test_what_waited_in_a_backlog_was_stamped_before_it(tmp_path: Path) -> None:
    """Resets look alike. The sniffer's socket gets both late, when the second one is nearer."""
    story = Story()
    for number in range(1, 6):
        ts, skb = MS * number, A + 0x100 * number
        story.call("packet_rcv", ts, ts + 20, skb, skbinfo=OTHER, ipv4=udp4(100 + number))
    for begin, skb in ((10 * MS, A + 0x1000), (15 * MS, A + 0x2000)):
        here: dict[str, Any] = {"skbinfo": OTHER, "ipv4": tcp4(0), "context": SOFTIRQ}
        story.call("netif_rx_internal", begin, begin + 100, skb, **here)
        late = 17 * MS + (begin - 10 * MS) // 20
        story.call("__netif_receive_skb_core", late, late + 90, skb, **here)
        story.call("packet_rcv", late + 10, late + 30, skb, **here)
    story.clone(HOUR // 2, A + 0x9000, A + 0x9100, by="netem_enqueue")  # clones are recorded
    twins = [(10 * MS, tcp4_frame(0)), (15 * MS, tcp4_frame(0))]
    found = join(tmp_path, story, [*ANCHOR_FRAMES, *twins])
    exact = {pair[:2] for pair in found.pairs() if pair[2] == EXACT and pair[0] >= 5}
    assert exact == {(5, 5), (6, 6)}
