# SPDX-License-Identifier: MIT
"""Packets of which the sniffer kept too little to tell them for certain."""

from __future__ import annotations

from pathlib import Path

from skbviewer.matching import AMBIGUOUS, EXACT, NAMELESS
from skbviewer.matching.match_rule_numbers import LATE, Rung
from tests.readers import build
from tests.readers.build_kbl import Ipv6

from .joined import ANCHOR_FRAMES, ANCHORS, MS, A, join, send, sent
from .story import HOST, Story, udp4, udp4_frame


def test_a_packet_cut_in_its_ip_header_may_be_any_near_in_time(tmp_path: Path) -> None:
    """Not even the only one is it for certain."""
    story = sent(ANCHORS)
    send(story, 20 * MS, A + 0x10000, udp4(7))
    frames = [*ANCHOR_FRAMES, (20 * MS, udp4_frame(7)[:20]), (900 * MS, udp4_frame(7)[:20])]
    mine = [pair for pair in join(tmp_path, story, frames).pairs() if pair[0] >= 5]
    assert (5, 5, AMBIGUOUS, NAMELESS) in mine
    assert {pair[0] for pair in mine} == {5} and {pair[2] for pair in mine} == {AMBIGUOUS}


def of_ipv6(seq: int) -> Ipv6:
    return Ipv6("fd00::1", "fd00::2", 6, 1000, 80, seq, 1, 0x10, payload_len=20)


def crowd(story: Story, frames: list[tuple[int, bytes]]) -> None:
    """A hundred packets, one each ms, that are alike in their first 54 bytes."""
    info = HOST._replace(ethertype=0x86DD)
    for seq in range(100):
        ts, skb = (10 + seq) * MS, A + 0x10000 + 0x100 * seq
        story.alloc(ts - 100, skb)
        story.call("dev_hard_start_xmit", ts, ts + 50, skb, skbinfo=info, ipv6=of_ipv6(seq))
        story.free(ts + 60, skb)
        packet = build.ipv6("fd00::1", "fd00::2", 6, build.tcp(1000, 80, seq, 1))
        frames.append((ts, build.ethernet(packet, 0x86DD)))


def test_crowds_of_cut_packets_are_decided_by_time(tmp_path: Path) -> None:
    story, frames = sent(ANCHORS), list(ANCHOR_FRAMES)
    crowd(story, frames)
    frames.append((500 * MS, frames[-1][1]))  # nobody had it then
    found = join(tmp_path, story, frames, snaplen=54).pairs()
    assert [pair[:3] for pair in found if pair[0] < 105] == [(n, n, EXACT) for n in range(105)]
    assert {pair[2:4] for pair in found if pair[0] == 105} == {(AMBIGUOUS, LATE)}


def test_a_clock_that_was_set_among_them_is_noticed(tmp_path: Path) -> None:
    """By chance, packets after the step are at another packet's moment, except the last ones."""
    story, frames = sent(ANCHORS), list(ANCHOR_FRAMES)
    crowd(story, frames)
    late = [(ts + 7 * MS * (n >= 55), frame) for n, (ts, frame) in enumerate(frames)]
    found = join(tmp_path, story, late, snaplen=54).pairs()
    assert [pair[:3] for pair in found if pair[0] < 5] == [(n, n, EXACT) for n in range(5)]
    rest = {(pair[0], pair[2], pair[3]) for pair in found if pair[0] >= 5}
    assert {packet for packet, *_ in rest} == set(range(5, 105))
    assert {verdict for _, verdict, _ in rest} == {AMBIGUOUS}
    assert {why for packet, _, why in rest if packet < 98} == {Rung.DOUBTED}
    assert {why for packet, _, why in rest if packet >= 98} == {LATE}


def test_cut_packets_alone_make_no_clock(tmp_path: Path) -> None:
    """The only life of these hosts need not be its own: nothing vouches for the time."""
    story, info = Story(), HOST._replace(ethertype=0x86DD)
    place = (MS, MS + 50, A)
    story.call("dev_hard_start_xmit", *place, skbinfo=info, ipv6=of_ipv6(1))
    packet = build.ipv6("fd00::1", "fd00::2", 6, build.tcp(1000, 80, 2, 1))
    frame = build.ethernet(packet, 0x86DD)
    found = join(tmp_path, story, [(MS, frame)], snaplen=54)
    assert found.matches.clock is None
    assert [pair[:3] for pair in found.pairs()] == [(0, 0, AMBIGUOUS)]


def test_cut_packets_narrow_a_clock(tmp_path: Path) -> None:
    """One slow packet has an identification; the others agree with it, and are faster."""
    story, info = sent([]), HOST._replace(ethertype=0x86DD)
    story.call("dev_hard_start_xmit", MS, 3 * MS, A, skbinfo=HOST, ipv4=udp4(101))
    frames = [(2 * MS, udp4_frame(101))]
    for number in range(4):
        ts, skb = (10 + 10 * number) * MS, A + 0x10000 + 0x100 * number
        one = of_ipv6(number)._replace(payload_len=20 + number)
        story.alloc(ts - 100, skb)
        story.call("dev_hard_start_xmit", ts, ts + 50, skb, skbinfo=info, ipv6=one)
        story.free(ts + 60, skb)
        segment = build.tcp(1000, 80, number, 1) + bytes(number)
        packet = build.ipv6("fd00::1", "fd00::2", 6, segment)
        frames.append((ts + 20, build.ethernet(packet, 0x86DD)))
    found = join(tmp_path, story, frames, snaplen=54)
    assert found.matches.clock is not None
    assert found.matches.clock.segments[0].pairs == 5
    assert [pair[:3] for pair in found.pairs()] == [(n, n, EXACT) for n in range(5)]


def test_a_lifetime_without_a_header_may_be_the_packets(tmp_path: Path) -> None:
    """Its footprint was lost: it was at the device when the packet was captured."""
    story = sent(ANCHORS)
    send(story, 20 * MS, A + 0x10000, udp4(7))
    send(story, 30 * MS, A + 0x20000, udp4(8))
    send(story, 30 * MS, A + 0x30000, None)
    frames = [*ANCHOR_FRAMES, (20 * MS, udp4_frame(7)), (30 * MS, udp4_frame(8))]
    verdicts = {pair[0]: pair[2:4] for pair in join(tmp_path, story, frames).pairs()}
    assert verdicts[5][0] == EXACT
    assert verdicts[6] == (AMBIGUOUS, Rung.LACKING)
