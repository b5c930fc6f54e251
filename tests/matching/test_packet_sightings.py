# SPDX-License-Identifier: MIT
"""Packets seen several times, in one capture or several; and packets without IP."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from skbviewer import readers
from skbviewer.matching import (
    AMBIGUOUS,
    EXACT,
    LegTable,
    Matches,
    build_kernel_side,
    build_legs,
    build_series,
    match,
)
from skbviewer.matching.legs.capture_points import SOCKET
from skbviewer.records import Capture, Silent
from tests.readers import build
from tests.readers.build_kbl import Ipv4

from .story import HOST, OTHER, SOFTIRQ, Story, udp4, udp4_frame

A = 0xFFFF888000001000
OFFSET = 1_700_000_000_000_000_007
MS, US = 1_000_000, 1_000
SLL, SLL2 = 113, 276
PACKET_HOST, PACKET_OUTGOING = 0, 4  # linux/if_packet.h
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


def packet(ip_id: int) -> bytes:
    payload = build.udp(1000, 2000, bytes(10))
    return build.ipv4("10.0.0.1", "10.0.0.2", 17, payload, ip_id, 0x4000)


def cooked(ip_id: int, kind: int = PACKET_HOST) -> bytes:
    """A packet as `tcpdump -i any` wrote it until 2020 (LINKTYPE_LINUX_SLL)."""
    return struct.pack("!HHH8xH", kind, 1, 6, 0x800) + packet(ip_id)


def cooked2(ip_id: int, kind: int, ifindex: int) -> bytes:
    """A packet as `tcpdump -i any` writes it (LINKTYPE_LINUX_SLL2)."""
    return struct.pack("!HHIHBB8x", 0x800, 0, ifindex, 1, kind, 6) + packet(ip_id)


def joined(folder: Path, story: Story, path: Path) -> tuple[LegTable, Matches]:
    story.lasting(OFFSET)
    log = story.log(folder)
    capture = readers.read(path, Silent())
    assert isinstance(capture, Capture)
    series = build_series(log)
    legs = build_legs(log, series)
    return legs, match(capture.packets, build_kernel_side(log, series, legs))


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
    (segment,) = found.clock.segments
    assert abs(segment.offset_ns - OFFSET) <= segment.residual_ns


def sniffed_at_both_ends(times: Sequence[tuple[int, Ipv4]]) -> Story:
    """Packets that go over a veth pair, with a packet socket at each end."""
    story = Story()
    for number, (ts, ip) in enumerate(times):
        skb = A + 0x1000 * number
        clone = skb + 0x800
        story.alloc(ts - 10 * US, skb)
        story.enter(ts - 2 * US, "dev_hard_start_xmit", skb, skbinfo=HOST, ipv4=ip)
        story.clone(ts - US, skb, clone, "dev_queue_xmit_nit")
        story.call("tpacket_rcv", ts, ts + 8 * US, clone, skbinfo=HOST, ipv4=ip)
        story.free(ts + 9 * US, clone)
        story.leave(ts + 10 * US, "dev_hard_start_xmit", skb)
        seen: dict[str, Any] = {"skbinfo": OTHER, "ipv4": ip, "context": SOFTIRQ}
        there = ts + WAY
        story.enter(there - US, "netif_receive_skb", skb, **seen)
        story.call("tpacket_rcv", there, there + 8 * US, skb, **seen)
        story.leave(there + 9 * US, "netif_receive_skb", skb, context=SOFTIRQ)
        story.free(there + 10 * US, skb, context=SOFTIRQ)
    return story


def test_a_capture_of_all_devices_may_lack_most_sightings(tmp_path: Path) -> None:
    """Few packets are there twice, and no device can be the one of the capture.

    Odd series are those of the clones.
    """
    times = [(MS * (n + 1), udp4(100 + n)) for n in range(30)]
    ends = [(n, end) for n in range(30) for end in (0, 1) if n % 10 == 0 or n % 2 == end]
    frames = [
        (times[n][0] + end * WAY + 4 * US + OFFSET, cooked(times[n][1].ip_id)) for n, end in ends
    ]
    path = build.write_pcap(tmp_path / "any.pcap", frames, linktype=SLL)
    legs, found = joined(tmp_path, sniffed_at_both_ends(times), path)
    assert exact(legs, found) == [(place, 2 * n) for place, (n, _) in enumerate(ends)]
    assert found.clock is not None and found.sniffer is None
    (segment,) = found.clock.segments
    assert abs(segment.offset_ns - OFFSET) <= segment.residual_ns


def crossing(before: int) -> list[tuple[int, Ipv4]]:
    """Packets that identity decides, then two alike: the second is sent when the first arrives."""
    times = [(MS * (n + 1), udp4(100 + n)) for n in range(before)]
    return [*times, (20 * MS, udp4(7)), (20 * MS + WAY, udp4(7))]


@pytest.mark.parametrize(
    ("before", "stated", "used"),
    [(8, True, True), (8, False, False), (3, True, False)],
    ids=["all agree", "some contradict", "too few changes"],
)
@pytest.mark.parametrize("linktype", [SLL, SLL2])
def test_a_cooked_header_states_device_and_direction(
    tmp_path: Path, linktype: int, before: int, stated: bool, used: bool
) -> None:
    """Without these, either of two equal packets may be the one that was received."""
    times, frames = crossing(before), []
    for ts, ip in times:
        for end in (0, 1):
            kind = PACKET_OUTGOING if stated and end == 0 else PACKET_HOST
            device = 2 + end if stated else 0
            old, new = cooked(ip.ip_id, kind), cooked2(ip.ip_id, kind, device)
            frames.append((ts + end * WAY + 4 * US + OFFSET, old if linktype == SLL else new))
    path = build.write_pcap(tmp_path / "any.pcap", frames, linktype=linktype)
    legs, found = joined(tmp_path, sniffed_at_both_ends(times), path)
    sure = [(2 * n + end, 2 * n) for n in range(len(times)) for end in (0, 1)]
    assert exact(legs, found) == (sure if used else [*sure[:-3], sure[-1]])


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


def announced(folder: Path, lost: int, near_ns: int, until_ns: int = 19 * MS) -> set[int]:
    """The verdicts of an ARP packet seen `near_ns` from one in the log.

    The log lost records in the millisecond until `until_ns`.
    """
    story = across([(MS * (n + 1), udp4(100 + n)) for n in range(6)])
    info = HOST._replace(ethertype=0x0806)
    story.alloc(20 * MS, A + 0x100000)
    story.call("dev_hard_start_xmit", 21 * MS, 22 * MS, A + 0x100000, skbinfo=info)
    story.free(25 * MS, A + 0x100000)
    if lost:
        story.kbl.lost(until_ns, 0, until_ns - MS, lost)
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


def test_where_lives_are_missing_arp_is_ambiguous(tmp_path: Path) -> None:
    """Another ARP packet may be among them; before and after, nothing is missing."""
    assert announced(tmp_path, 7, 500, until_ns=21 * MS + 300 * US) == {AMBIGUOUS}
    assert announced(tmp_path, 7, 500) == {EXACT}


def test_of_two_arp_one_is_not_taken_for_the_other_whose_life_is_there(tmp_path: Path) -> None:
    """The clock drifts, which six pairs do not show, by as much as the two are apart."""
    story, late = across([(MS * (n + 1), udp4(100 + n)) for n in range(6)]), 200 * US
    second = 1000 * MS + late
    info = HOST._replace(ethertype=0x0806)
    story.alloc(second - 10 * US, A + 0x100000)
    story.call("dev_hard_start_xmit", second, second + 50 * US, A + 0x100000, skbinfo=info)
    story.free(second + 60 * US, A + 0x100000)
    story.lost(999 * MS, 7, 998 * MS)
    frames = [(MS * (n + 1) + OFFSET, udp4_frame(100 + n)) for n in range(6)]
    arp = build.ethernet(build.arp(1, "10.0.0.1", "10.0.0.2"), 0x0806)
    frames += [(at + late + OFFSET, arp) for at in (1000 * MS, second)]
    legs, found = joined(tmp_path, story, build.write_pcap(tmp_path / "two.pcap", frames))
    assert exact(legs, found) == [(n, n) for n in range(6)]


def again(folder: Path, lost: int, away_ns: int) -> set[int]:
    """The verdicts of a packet with identification 0, seen `away_ns` from the driver's call.

    Its lifetime lasts for 60 ms, in a log that lost records later.
    """
    story = across([(MS * (n + 1), udp4(100 + n)) for n in range(6)])
    skb = A + 0x100000
    story.alloc(20 * MS, skb)
    story.call("dev_hard_start_xmit", 21 * MS, 21 * MS + 50 * US, skb, skbinfo=HOST, ipv4=udp4(0))
    place = (21 * MS + WAY, 80 * MS)
    story.call("__netif_receive_skb", *place, skb, skbinfo=OTHER, context=SOFTIRQ, ipv4=udp4(0))
    story.free(81 * MS, skb)
    if lost:
        story.lost(200 * MS, lost, 190 * MS)
    frames = [(MS * (n + 1) + OFFSET, udp4_frame(100 + n)) for n in range(6)]
    frames.append((21 * MS + away_ns + OFFSET, udp4_frame(0)))
    path = build.write_pcap(folder / "again.pcap", frames)
    rows = joined(folder, story, path)[1].rows
    return set(rows["verdict"][rows["packet"] == 6].tolist())


@pytest.mark.parametrize("lost", [0, 7])
def test_what_may_come_again_is_exact_while_it_is_at_a_device(tmp_path: Path, lost: int) -> None:
    """The sniffer may have been at either one: the lifetime is the same."""
    assert again(tmp_path, lost, 20 * US) == {EXACT}
    assert again(tmp_path, lost, 50 * MS) == {EXACT}
    assert again(tmp_path, lost, 70 * MS) == {AMBIGUOUS}


def test_a_sniffers_copy_is_not_taken_for_a_later_one_at_its_address(tmp_path: Path) -> None:
    """The first copy's end is missing, and so is all but the second copy of the second packet."""
    story, copy = Story(), A + 0x2000
    story.alloc(1 * MS, A)
    story.enter(2 * MS, "dev_hard_start_xmit", A, skbinfo=HOST, ipv4=udp4(7))
    story.enter(2 * MS + 1 * US, "dev_queue_xmit_nit", A, skbinfo=HOST, ipv4=udp4(7))
    story.clone(2 * MS + 2 * US, A, copy, "dev_queue_xmit_nit")
    story.call("tpacket_rcv", 2 * MS + 3 * US, 2 * MS + 5 * US, copy, skbinfo=HOST, ipv4=udp4(7))
    story.leave(2 * MS + 6 * US, "dev_queue_xmit_nit", A)
    story.leave(2 * MS + 8 * US, "dev_hard_start_xmit", A)
    story.free(3 * MS, A)
    story.call("tpacket_rcv", 9 * MS, 9 * MS + 2 * US, copy, skbinfo=OTHER, ipv4=udp4(8))
    log = story.log(tmp_path)
    series = build_series(log)
    points = build_kernel_side(log, series, build_legs(log, series)).points
    seen = points.only_rows(points["how"] == SOCKET)
    sniffed = seen["ts"][seen["series"] == 0]
    assert sniffed.tolist() == [2 * MS + 4 * US]
