# SPDX-License-Identifier: MIT
"""Packets with equal headers are told apart by what their packet sockets were given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skbviewer.matching import AMBIGUOUS, EXACT, build_legs, build_series, match, sightable
from skbviewer.records import TAP_DTYPE, KernelLog, Packets, empty
from tests.readers import build

from .joined import ANCHOR_FRAMES, ANCHORS, MS, OFFSET, A, Found, send
from .story import HOST, Story, find, udp4, wire

Pairs = set[tuple[int, int, int]]
AT = (10 * MS, 10 * MS + 1000)  # too near for any clock
PAYLOADS = (b"first datagram", b"other datagram")
TWINS = {(p, s, AMBIGUOUS) for p in (5, 6) for s in (5, 7)}  # series 6 is a copy


def frame(payload: bytes) -> bytes:
    datagram = build.udp(1000, 2000, payload)
    return build.ethernet(build.ipv4("10.0.0.1", "10.0.0.2", 17, datagram, 0, 0x4000))


def sniffed(story: Story, ts: int, skb: int) -> None:
    """A packet of PAYLOADS' size whose copy a sniffer's socket is given on its way out."""
    ip, copy = udp4(0, size=len(PAYLOADS[0])), skb + 0x10
    story.alloc(ts - 100, skb)
    story.call("dev_hard_start_xmit", ts, ts + 50, skb, skbinfo=HOST, ipv4=ip)
    story.clone(ts + 5, skb, copy, by="dev_queue_xmit_nit", skbinfo=HOST, ipv4=ip)
    story.call("tpacket_rcv", ts + 20, ts + 30, copy, skbinfo=HOST, ipv4=ip)
    story.free(ts + 31, copy)
    story.free(ts + 60, skb)


@pytest.fixture
def log(tmp_path: Path) -> KernelLog:
    story = Story()
    for number, (ts, ip) in enumerate(ANCHORS):
        send(story, ts, A + 0x100 * number, ip)
    for number, ts in enumerate(AT, start=len(ANCHORS)):
        sniffed(story, ts, A + 0x100 * number)
    story.function("packet_rcv")
    return story.log(tmp_path)


@pytest.fixture
def packets(tmp_path: Path) -> Packets:
    """Of the two the one that was sent later stands first: only its bytes say so."""
    frames = [(AT[0], frame(PAYLOADS[1])), (AT[1], frame(PAYLOADS[0]))]
    return wire(tmp_path, [(ts + OFFSET, f) for ts, f in (*ANCHOR_FRAMES, *frames)])


def given(log: KernelLog, contents: list[int], calls: list[int] | None = None) -> KernelLog:
    """The log in which the packet sockets' calls say what they were given."""
    taps = empty(TAP_DTYPE, len(contents))
    taps["record"], taps["content"] = calls or find(log, "tpacket_rcv"), contents
    return replace(log, taps=taps)


def of_payloads(packets: Packets) -> list[int]:
    """Their contents in the order of PAYLOADS, by another capture's packets."""
    return [int(packets["content"][6]), int(packets["content"][5])]


def matched(log: KernelLog, packets: Packets) -> Pairs:
    series = build_series(log)
    legs = build_legs(log, series)
    found = Found(packets, legs, match(packets, sightable(log, series, legs)))
    return {pair[:3] for pair in found.pairs() if pair[0] >= len(ANCHORS)}


def test_without_contents_they_are_ambiguous(log: KernelLog, packets: Packets) -> None:
    assert matched(log, packets) == TWINS


def test_contents_tell_them_apart(log: KernelLog, packets: Packets) -> None:
    known = given(log, of_payloads(packets))
    assert matched(known, packets) == {(5, 7, EXACT), (6, 5, EXACT)}


def test_an_unknown_content_contradicts_nothing(log: KernelLog, packets: Packets) -> None:
    assert matched(given(log, [-1, -1]), packets) == TWINS
