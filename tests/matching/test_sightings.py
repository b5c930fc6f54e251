# SPDX-License-Identifier: MIT
"""The same packet seen several times, in one capture or several; and packets without IP."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from skbviewer import readers
from skbviewer.matching import (
    AMBIGUOUS,
    EXACT,
    LegTable,
    Matches,
    build_legs,
    build_series,
    match,
    sightable,
)
from skbviewer.records import Capture, Silent
from tests.readers import build
from tests.readers.build_kbl import Ipv4

from .story import HOST, OTHER, SOFTIRQ, Story, udp4

A = 0xFFFF888000001000
OFFSET = 1_700_000_000_000_000_000
MS, US = 1_000_000, 1_000
SLL = 113
WAY = 300 * US  # from one end of the veth pair to the other


def across(times: Sequence[tuple[int, Ipv4]]) -> Story:
    """Packets that go over a veth pair."""
    story = Story()
    for number, (ts, ip) in enumerate(times):
        skb = A + 0x1000 * number
        story.alloc(ts - 10 * US, skb)
        story.call("dev_hard_start_xmit", ts, ts + 50 * US, skb, skbinfo=HOST, ipv4=ip)
        place = (ts + WAY, ts + WAY + 50 * US)
        story.call("__netif_receive_skb", *place, skb, skbinfo=OTHER, context=SOFTIRQ, ipv4=ip)
        story.free(ts + 2 * WAY, skb)
    return story


def cooked(ip_id: int) -> bytes:
    """A packet as `tcpdump -i any` writes it (LINKTYPE_LINUX_SLL)."""
    payload = build.udp(1000, 2000, bytes(10))
    head = bytes.fromhex("0000 0001 0006") + bytes(8) + bytes.fromhex("0800")
    return head + build.ipv4("10.0.0.1", "10.0.0.2", 17, payload, ip_id, 0x4000)


def joined(folder: Path, story: Story, path: Path) -> tuple[LegTable, Matches]:
    log = story.log(folder)
    capture = readers.read(path, Silent())
    assert isinstance(capture, Capture)
    series = build_series(log)
    legs = build_legs(log, series)
    return legs, match(capture.packets, sightable(log, series, legs))


def exact(legs: LegTable, found: Matches) -> list[tuple[int, int]]:
    """(packet, series) of exact matches."""
    rows = found.rows[found.rows["verdict"] == EXACT]
    series = legs.rows["series"][rows["leg"]]
    return sorted(set(zip(rows["packet"].tolist(), series.tolist(), strict=True)))


@pytest.mark.parametrize("ip_id", [1, 0])
def test_a_sniffer_on_all_devices_sees_each_packet_at_each(tmp_path: Path, ip_id: int) -> None:
    """With identification 0 as well: there each sighting must be near a point of its own."""
    times = [(MS * (n + 1), udp4(100 + n)) for n in range(6)] + [(20 * MS, udp4(ip_id))]
    frames = []
    for ts, ip in times:
        frames += [(ts + OFFSET, cooked(ip.ip_id)), (ts + WAY + OFFSET, cooked(ip.ip_id))]
    path = build.write_pcap(tmp_path / "any.pcap", frames, linktype=SLL)
    legs, found = joined(tmp_path, across(times), path)
    assert exact(legs, found) == [(2 * n + end, n) for n in range(7) for end in (0, 1)]
    assert found.clock is not None
    assert found.sniffer is None
    assert [segment.offset_ns for segment in found.clock.segments] == [OFFSET]


def test_interfaces_of_one_file_are_sniffers_of_their_own(tmp_path: Path) -> None:
    times = [(MS * (n + 1), udp4(n)) for n in range(6)]
    parts = [build.section_header("<")]
    parts += [build.interface_block(1, "<", name) for name in ("vc", "vs")]
    for ts, ip in times:
        frame = build.ethernet(
            build.ipv4("10.0.0.1", "10.0.0.2", 17, build.udp(1000, 2000, bytes(10)), ip.ip_id)
        )
        parts += [build.enhanced_packet(ts + end * WAY + OFFSET, frame, end, "<") for end in (0, 1)]
    path = tmp_path / "both.pcapng"
    path.write_bytes(b"".join(parts))
    legs, found = joined(tmp_path, across(times), path)
    assert exact(legs, found) == [(2 * n + end, n) for n in range(6) for end in (0, 1)]


def announced(folder: Path, lost: int, near_ns: int) -> set[int]:
    """The verdicts of an ARP packet seen `near_ns` from one in the log, which lost records."""
    story = across([(MS * (n + 1), udp4(100 + n)) for n in range(6)])
    info = HOST._replace(ethertype=0x0806)
    story.alloc(20 * MS, A + 0x100000)
    story.call("dev_hard_start_xmit", 21 * MS, 22 * MS, A + 0x100000, skbinfo=info)
    story.free(25 * MS, A + 0x100000)
    if lost:
        story.kbl.lost(19 * MS, 0, 18 * MS, lost)
    frames = [
        (MS * (n + 1) + OFFSET, build.ethernet(
            build.ipv4("10.0.0.1", "10.0.0.2", 17, build.udp(1000, 2000, bytes(10)), 100 + n)))
        for n in range(6)
    ]  # fmt: skip
    arp = build.ethernet(build.arp(1, "10.0.0.1", "10.0.0.2"), 0x0806)
    frames.append((21 * MS + near_ns + OFFSET, arp))
    path = build.write_pcap(folder / "arp.pcap", frames)
    rows = joined(folder, story, path)[1].rows
    return set(rows["verdict"][rows["packet"] == 6].tolist())


def test_arp_is_exact_while_its_life_lasts(tmp_path: Path) -> None:
    assert announced(tmp_path, 0, 300 * US) == {EXACT}
    assert announced(tmp_path, 0, 10 * MS) == {AMBIGUOUS}


def test_where_lives_are_missing_arp_must_be_near(tmp_path: Path) -> None:
    assert announced(tmp_path, 7, 300 * US) == {AMBIGUOUS}
    assert announced(tmp_path, 7, 500) == {EXACT}
