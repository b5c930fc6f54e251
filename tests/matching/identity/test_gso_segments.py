# SPDX-License-Identifier: MIT
"""One skb in the kernel, many packets on the wire: GSO on the way out, GRO on the way in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from skbviewer.matching import BY_SEGMENT, EXACT, build_kernel_side, build_legs, build_series, match
from tests.readers import build
from tests.readers.build_kbl import Ipv4, Ipv6

from ..story import HOST, Story, udp4, udp4_frame, wire

A = 0xFFFF888000001000
OFFSET = 1_700_000_000_000_000_000
MS = 1_000_000
SIZE = 1000
LARGE = HOST._replace(gso_size=SIZE, gso_segs=3, len=14 + 40 + 2500)
ACK, PSH_ACK = 0x10, 0x18
ANCHORS = [(MS * n, udp4(100 + n)) for n in range(1, 6)]
ANCHOR_FRAMES = [(MS * n, udp4_frame(100 + n)) for n in range(1, 6)]


def large(seq: int, ip_id: int = 7, ack: int = 5) -> Ipv4:
    """An skb of 2500 bytes of payload."""
    return Ipv4("10.0.0.1", "10.0.0.2", ip_id, 6, 1000, 80, seq, ack, PSH_ACK, 2540)


def segment(ip_id: int, seq: int, size: int = SIZE, flags: int = ACK, ack: int = 5) -> bytes:
    """One of its packets."""
    payload = build.tcp(1000, 80, seq, ack, flags) + bytes(size)
    return build.ethernet(build.ipv4("10.0.0.1", "10.0.0.2", 6, payload, ip_id))


def pairs(
    folder: Path,
    kernel: Sequence[Ipv4 | Ipv6],
    frames: Sequence[bytes],
    late_ns: int = 0,
    snaplen: int = 262144,
) -> list[tuple[int, int, int, int]]:
    """(packet, series, verdict, rung) of the frames, counted from 0, and of the large skbs."""
    story = Story()
    for number, (ts, ip) in enumerate(ANCHORS):
        story.alloc(ts - 100, A + 0x100 * number)
        story.call("dev_hard_start_xmit", ts, ts + 50, A + 0x100 * number, skbinfo=HOST, ipv4=ip)
        story.free(ts + 60, A + 0x100 * number)
    for number, one in enumerate(kernel):
        ts, skb = (10 + number) * MS, A + 0x10000 * (number + 1)
        ipv4, ipv6 = (one if isinstance(one, kind) else None for kind in (Ipv4, Ipv6))
        story.alloc(ts - 100, skb)
        place = (ts, ts + 50_000, skb)
        story.call("dev_hard_start_xmit", *place, skbinfo=LARGE, ipv4=ipv4, ipv6=ipv6)
        story.free(ts + 50_100, skb)
    story.lasting(OFFSET)
    log = story.log(folder)
    seen = [(10 * MS + late_ns + 1000 * number, frame) for number, frame in enumerate(frames)]
    stamped = [(ts + OFFSET, frame) for ts, frame in [*ANCHOR_FRAMES, *seen]]
    packets = wire(folder, stamped, snaplen)
    series = build_series(log)
    legs = build_legs(log, series)
    rows = match(packets, build_kernel_side(log, series, legs)).rows
    found = zip(
        (rows["packet"] - len(ANCHORS)).tolist(),
        (legs.rows["series"][rows["leg"]] - len(ANCHORS)).tolist(),
        rows["verdict"].tolist(),
        rows["rung"].tolist(),
        strict=True,
    )
    return sorted({pair for pair in found if pair[0] >= 0})


def test_all_segments_are_the_skbs(tmp_path: Path) -> None:
    frames = [segment(7, 100), segment(8, 1100), segment(9, 2100, 500, PSH_ACK)]
    assert pairs(tmp_path, [large(100)], frames) == [
        (0, 0, EXACT, BY_SEGMENT),
        (1, 0, EXACT, BY_SEGMENT),
        (2, 0, EXACT, BY_SEGMENT),
    ]


def test_segments_may_share_an_identification(tmp_path: Path) -> None:
    frames = [segment(7, 100), segment(7, 1100)]
    assert [p[:3] for p in pairs(tmp_path, [large(100)], frames)] == [(0, 0, EXACT), (1, 0, EXACT)]


def test_each_segment_is_its_own_skbs(tmp_path: Path) -> None:
    both = [large(100, 7), large(2600, 10)]
    for number, frame in enumerate((segment(8, 1100), segment(11, 3600))):
        found = pairs(tmp_path, both, [frame], late_ns=number * MS + 20_000)
        assert [p[:3] for p in found] == [(0, number, EXACT)]


def test_sequence_numbers_wrap_around(tmp_path: Path) -> None:
    begin = (1 << 32) - 1500
    frames = [segment(7, begin), segment(8, begin + 1000), segment(9, 500, 500, PSH_ACK)]
    found = pairs(tmp_path, [large(begin)], frames)
    assert [p[:3] for p in found] == [(n, 0, EXACT) for n in range(3)]


@pytest.mark.parametrize(
    "frame",
    [
        segment(8, 100),  # another identification than that place has
        segment(8, 1101),  # not where a segment begins
        segment(10, 3100),  # behind the skb
        segment(6, (100 - SIZE) % (1 << 32)),  # before it
        segment(8, 1100, ack=6),
        segment(8, 1100, flags=0x11 | 0x20),
    ],
)
def test_what_is_no_segment_is_on_the_wire_only(tmp_path: Path, frame: bytes) -> None:
    assert pairs(tmp_path, [large(100)], [frame]) == []


def test_ipv6_segments_have_no_identification(tmp_path: Path) -> None:
    """A packet without a number must be captured while its skb exists."""
    kernel = Ipv6("fe80::1", "fe80::2", 6, 1000, 80, 100, 5, PSH_ACK, payload_len=2520)
    frames = [
        build.ethernet(
            build.ipv6("fe80::1", "fe80::2", 6, build.tcp(1000, 80, seq, 5, ACK) + bytes(SIZE)),
            0x86DD,
        )
        for seq in (100, 1100)
    ]
    found = pairs(tmp_path, [kernel], frames)
    assert [p[:3] for p in found] == [(0, 0, EXACT), (1, 0, EXACT)]
    late = pairs(tmp_path, [kernel], frames, late_ns=5 * MS)
    assert {p[2] for p in late} != {EXACT}


def test_segments_cut_before_their_tcp_header(tmp_path: Path) -> None:
    """Their identification and length say which they are."""
    frames = [segment(7, 100), segment(8, 1100), segment(9, 2100, 500, PSH_ACK)]
    found = pairs(tmp_path, [large(100)], frames, snaplen=34)
    assert [p[:3] for p in found] == [(n, 0, EXACT) for n in range(3)]


@pytest.mark.parametrize(
    "frame",
    [
        segment(10, 3100),  # behind the skb
        segment(6, 0),  # before it
        segment(8, 1100, 500),  # only the last one may be short
        segment(8, 1100, SIZE + 100),
    ],
)
def test_what_is_no_segment_is_none_when_cut(tmp_path: Path, frame: bytes) -> None:
    assert pairs(tmp_path, [large(100)], [frame], snaplen=34) == []


def test_identifications_of_segments_wrap_around(tmp_path: Path) -> None:
    frames = [segment(65535, 100), segment(0, 1100), segment(1, 2100, 500, PSH_ACK)]
    found = pairs(tmp_path, [large(100, 65535)], frames, snaplen=34)
    assert (2, 0, EXACT) in [p[:3] for p in found]
