# SPDX-License-Identifier: MIT
"""The ladder: which packet lives could be which wire packet, before time is asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skbviewer.matching import build_series
from skbviewer.matching.identity.identity_candidates import candidates, footprints
from tests.readers import build
from tests.readers.build_kbl import Ipv4, Ipv6, SkbInfo

from ..story import Story, tcp4, tcp4_frame, udp4, udp4_frame, wire

A, B = 0xFFFF888000001000, 0xFFFF888000002000
KEY, PORTS, SEQUENCE, LENGTH = range(4)
Pair = tuple[int, int, int]


def climb(
    folder: Path,
    kernel: Sequence[Ipv4 | Ipv6],
    frames: Sequence[bytes],
    tap: Sequence[int] = (),
    snaplen: int = 262144,
) -> list[Pair]:
    """(packet, series, rung) for one packet life per kernel footprint."""
    story = Story()
    for number, ip in enumerate(kernel):
        begin, skb = 1000 * (number + 1), A + 0x100 * number
        if isinstance(ip, Ipv4):
            story.call("ip_output", begin, begin + 100, skb, ipv4=ip)
        else:
            story.call("ip6_output", begin, begin + 100, skb, ipv6=ip)
    log = story.log(folder)
    packets = wire(folder, [(10**9 + i, frame) for i, frame in enumerate(frames)], snaplen)
    series = build_series(log)
    prints = footprints(log.records, series.of, np.array(tap, np.int64))
    found = candidates(packets, prints)
    rows = (found.packet.tolist(), found.series.tolist(), found.rung.tolist())
    return list(zip(*rows, strict=True))


def test_a_unique_key_needs_nothing_else(tmp_path: Path) -> None:
    kernel = [udp4(1), udp4(2), udp4(3)]
    frames = [udp4_frame(2), udp4_frame(1), udp4_frame(4)]
    assert climb(tmp_path, kernel, frames) == [(0, 1, KEY), (1, 0, KEY)]


def test_a_unique_key_holds_even_if_more_is_unknown(tmp_path: Path) -> None:
    kernel = [Ipv4("10.0.0.1", "10.0.0.2", 1, 17, l4_valid=0)]
    assert climb(tmp_path, kernel, [udp4_frame(1)]) == [(0, 0, KEY)]


def test_direction_counts(tmp_path: Path) -> None:
    assert climb(tmp_path, [Ipv4("10.0.0.2", "10.0.0.1", 1, 17)], [udp4_frame(1)]) == []


def test_ports_tell_apart(tmp_path: Path) -> None:
    kernel = [udp4(0, 1000), udp4(0, 1001)]
    frames = [udp4_frame(0, 1001), udp4_frame(0, 1000)]
    assert climb(tmp_path, kernel, frames) == [(0, 1, PORTS), (1, 0, PORTS)]


def test_sequence_numbers_tell_apart(tmp_path: Path) -> None:
    kernel = [tcp4(0, seq=1), tcp4(0, seq=2), tcp4(0, seq=2, flags=0x18)]
    frames = [tcp4_frame(0, seq=2), tcp4_frame(0, seq=1), tcp4_frame(0, seq=2, flags=0x18)]
    assert climb(tmp_path, kernel, frames) == [(0, 1, SEQUENCE), (1, 0, SEQUENCE), (2, 2, SEQUENCE)]


def test_length_distinguishes(tmp_path: Path) -> None:
    kernel = [udp4(0, size=10), udp4(0, size=20)]
    frames = [udp4_frame(0, size=20), udp4_frame(0, size=10)]
    assert climb(tmp_path, kernel, frames) == [(0, 1, LENGTH), (1, 0, LENGTH)]


def test_the_fragment_offset_distinguishes(tmp_path: Path) -> None:
    first, second = 0x2000, 0x0002
    kernel = [udp4(9, frag_off=first), udp4(9, l4_valid=0, frag_off=second)]
    frames = [udp4_frame(9, frag_off=second), udp4_frame(9, frag_off=first)]
    pairs = {(packet, series) for packet, series, _ in climb(tmp_path, kernel, frames)}
    assert pairs == {(0, 1), (1, 0)}


def test_twins_stay_candidates_of_each_other(tmp_path: Path) -> None:
    found = climb(tmp_path, [udp4(0), udp4(0)], [udp4_frame(0), udp4_frame(0)])
    assert found == [(0, 0, LENGTH), (0, 1, LENGTH), (1, 0, LENGTH), (1, 1, LENGTH)]


def test_a_sniffers_copy_is_no_candidate(tmp_path: Path) -> None:
    assert climb(tmp_path, [udp4(1), udp4(1)], [udp4_frame(1)], tap=[1]) == [(0, 0, KEY)]


def test_ports_distinguish_ipv6_packets(tmp_path: Path) -> None:
    kernel = [Ipv6("fe80::1", "fe80::2", 17, port, 53, payload_len=8) for port in (1000, 1001)]
    frames = [
        build.ethernet(build.ipv6("fe80::1", "fe80::2", 17, build.udp(port, 53)), 0x86DD)
        for port in (1001, 1000, 1002)
    ]
    found = climb(tmp_path, kernel, frames)
    assert [pair for pair in found if pair[0] < 2] == [(0, 1, PORTS), (1, 0, PORTS)]


def test_id_and_sequence_distinguish_icmp(tmp_path: Path) -> None:
    kernel = [Ipv4("10.0.0.1", "10.0.0.2", 0, 1, 8 << 8, i, s) for i, s in ((7, 1), (7, 2), (8, 1))]
    frames = [
        build.ethernet(build.ipv4("10.0.0.1", "10.0.0.2", 1, build.icmp(8, 0, ident, seq)))
        for ident, seq in ((8, 1), (7, 2), (7, 1))
    ]
    found = climb(tmp_path, kernel, frames)
    assert {(packet, series) for packet, series, _ in found} == {(0, 2), (1, 1), (2, 0)}


def test_a_packet_that_contradicts_the_only_life_is_none_of_its_packets(tmp_path: Path) -> None:
    """Same key, other ports: the life's own packet was not captured."""
    kernel = [udp4(0, 1000)]
    frames = [udp4_frame(0, 1001)]
    assert climb(tmp_path, kernel, frames) == []


def test_another_sequence_number_is_another_packet(tmp_path: Path) -> None:
    assert climb(tmp_path, [tcp4(0, seq=1)], [tcp4_frame(0, seq=2)]) == []


def test_fragments_of_one_skb_are_all_its_packets(tmp_path: Path) -> None:
    kernel = [udp4(9, size=2000, frag_off=0)]
    frames = [udp4_frame(9, size=1000, frag_off=0x2000), udp4_frame(9, frag_off=0x007E)]
    found = climb(tmp_path, kernel, frames)
    assert {(packet, series) for packet, series, _ in found} == {(0, 0), (1, 0)}


def test_more_agreement_is_better(tmp_path: Path) -> None:
    """The second fragment's header begins as a copy of the first's, its length not yet known."""
    story = Story()
    fragment = udp4(7, sport=0, dport=0, frag_off=0x20B9)._replace(l4_valid=0, tot_len=1500)
    story.alloc(1000, A)
    story.call("ip_output", 2000, 2100, A, ipv4=fragment)
    story.alloc(3000, B)
    story.call("ip_do_fragment", 4000, 4100, B, ipv4=fragment._replace(tot_len=0))
    story.call("ip_output", 5000, 5100, B, ipv4=fragment._replace(tot_len=1068, frag_off=0x172))
    log = story.log(tmp_path)
    frames = [
        build.ethernet(build.ipv4("10.0.0.1", "10.0.0.2", 17, bytes(size - 20), 7, frag_off))
        for size, frag_off in ((1500, 0x20B9), (1068, 0x172))
    ]
    packets = wire(tmp_path, [(number, frame) for number, frame in enumerate(frames)])
    series = build_series(log)
    prints = footprints(log.records, series.of, np.zeros(0, np.int64))
    found = candidates(packets, prints)
    assert list(zip(found.packet.tolist(), found.series.tolist(), strict=True)) == [(0, 0), (1, 1)]


def test_the_header_a_segment_was_sent_with_before_is_not_its_identity(tmp_path: Path) -> None:
    story = Story()
    story.alloc(900, A)  # births are known, so another header begins no other life
    story.call("__tcp_transmit_skb", 1000, 1900, A, ipv4=tcp4(7, seq=100))
    story.call("ip_output", 1100, 1800, A, ipv4=tcp4(9, seq=100))
    log = story.log(tmp_path)
    packets = wire(tmp_path, [(10**9 + n, tcp4_frame(n, seq=100)) for n in (7, 9)])
    prints = footprints(log.records, build_series(log).of, np.zeros(0, np.int64))
    assert candidates(packets, prints).packet.tolist() == [1]


def tcp6(seq: int, size: int = 0, **rest: Any) -> Ipv6:
    """What the kernel knows of a TCP packet without an identification."""
    packet = Ipv6("fd00::1", "fd00::2", 6, 1000, 80, seq, 1, 0x10, payload_len=20 + size)
    return packet._replace(**rest)


def tcp6_frame(seq: int, size: int = 0, before: bytes = b"") -> bytes:
    """The packet of tcp6() on the wire, with an extension header `before` its own."""
    segment = build.tcp(1000, 80, seq, 1, 0x10) + bytes(size)
    return build.ethernet(
        build.ipv6("fd00::1", "fd00::2", 60 if before else 6, before + segment), 0x86DD
    )


IPV6_END = 14 + 40
PAIRS_OF_TWO = {(0, 0), (0, 1), (1, 0), (1, 1)}


def pairs(found: list[Pair]) -> set[tuple[int, int]]:
    return {pair[:2] for pair in found}


def test_a_packet_cut_before_its_ports_may_be_any_of_its_hosts(tmp_path: Path) -> None:
    kernel, frames = [tcp6(1), tcp6(2)], [tcp6_frame(1), tcp6_frame(2)]
    assert pairs(climb(tmp_path, kernel, frames, snaplen=IPV6_END)) == PAIRS_OF_TWO
    assert pairs(climb(tmp_path, kernel, frames, snaplen=IPV6_END + 4)) == PAIRS_OF_TWO
    assert pairs(climb(tmp_path, kernel, frames, snaplen=IPV6_END + 14)) == {(0, 0), (1, 1)}


def test_what_a_cut_packet_does_tell_still_counts(tmp_path: Path) -> None:
    """Length and ports, though no sequence."""
    kernel = [tcp6(1), tcp6(2, size=9), tcp6(3, sport=1001)]
    frames = [tcp6_frame(1), tcp6_frame(2, size=9)]
    assert pairs(climb(tmp_path, kernel, frames, snaplen=IPV6_END + 4)) == {(0, 0), (1, 1)}
    assert climb(tmp_path, [tcp6(2)._replace(saddr="fd00::3")], frames, snaplen=IPV6_END) == []


def test_identification_0_cut_before_its_ports(tmp_path: Path) -> None:
    assert pairs(climb(tmp_path, [tcp4(0)], [tcp4_frame(0)], snaplen=34)) == {(0, 0)}
    assert climb(tmp_path, [tcp4(0)], [tcp4_frame(1)], snaplen=34) == []


def test_a_cut_extension_header_hides_the_protocol(tmp_path: Path) -> None:
    frames = [tcp6_frame(1, before=bytes([6, 0, 1, 4, 0, 0, 0, 0]))]
    kernel = [tcp6(1, payload_len=28)]
    assert pairs(climb(tmp_path, kernel, frames, snaplen=IPV6_END)) == {(0, 0)}


def test_a_life_that_never_shows_its_ports_meets_what_has_some(tmp_path: Path) -> None:
    assert pairs(climb(tmp_path, [tcp6(1, l4_valid=0)], [tcp6_frame(5)])) == {(0, 0)}


def test_a_life_that_shows_its_ports_later_meets_no_others(tmp_path: Path) -> None:
    story, info = Story(), SkbInfo(ethertype=0x86DD)
    story.alloc(900, A)
    story.call("ip6_xmit", 1000, 1900, A, ipv6=tcp6(1, l4_valid=0), skbinfo=info)
    story.call("ip6_output", 1100, 1800, A, ipv6=tcp6(1), skbinfo=info)
    log = story.log(tmp_path)
    packets = wire(tmp_path, [(10**9 + seq, tcp6_frame(seq)) for seq in (5, 1)])
    prints = footprints(log.records, build_series(log).of, np.zeros(0, np.int64))
    assert candidates(packets, prints).packet.tolist() == [1]


def test_ports_that_the_recorder_does_not_read_contradict_nothing(tmp_path: Path) -> None:
    """kmod/kbl_l4.h knows no SCTP."""
    segment = build.tcp(36412, 36412)
    frame = build.ethernet(build.ipv6("fd00::1", "fd00::2", 132, segment), 0x86DD)
    other = Ipv6("fd00::1", "fd00::2", 17, payload_len=20, l4_valid=0)
    kernel = [Ipv6("fd00::1", "fd00::2", 132, payload_len=20, l4_valid=0), other]
    assert pairs(climb(tmp_path, kernel, [frame])) == {(0, 0)}


def test_a_packet_that_is_no_fragment_meets_none(tmp_path: Path) -> None:
    """Cut as it is, its headers say that no fragment header comes."""
    kernel = [tcp6(1, l4_valid=0, frag_id=7, frag_off=0xB9)]
    assert climb(tmp_path, kernel, [tcp6_frame(1)], snaplen=IPV6_END) == []


def test_crowds_of_cut_packets_are_left_to_time(tmp_path: Path) -> None:
    """Neither many lives nor many packets of one identity make pairs of all with all."""
    kernel = [tcp6(seq) for seq in range(100)]
    assert climb(tmp_path, kernel, [tcp6_frame(1)], snaplen=IPV6_END) == []
    assert climb(tmp_path, kernel[:1], [tcp6_frame(1)] * 100, snaplen=IPV6_END) == []


def test_a_fragment_is_not_the_one_whose_header_its_skb_begins_with(tmp_path: Path) -> None:
    """ip_frag_next() copies it, before skb->protocol is set; its own life is not in the log."""
    story = Story()
    copied = Ipv4("10.0.0.1", "10.0.0.2", 7, 17, 1000, 2000, tot_len=0, frag_off=0x2000)
    own = copied._replace(tot_len=1500, frag_off=0x20B9, l4_valid=0)
    story.alloc(900, A)
    story.call("ip_copy_metadata", 1000, 1100, A, ipv4=copied, skbinfo=SkbInfo(ethertype=0))
    story.call("ip_output", 1200, 1300, A, ipv4=own)
    log = story.log(tmp_path)
    frames = [
        build.ethernet(build.ipv4("10.0.0.1", "10.0.0.2", 17, bytes(1480), 7, frag_off))
        for frag_off in (0x2000, 0x20B9)
    ]
    packets = wire(tmp_path, [(10**9 + n, frame) for n, frame in enumerate(frames)])
    prints = footprints(log.records, build_series(log).of, np.zeros(0, np.int64))
    assert candidates(packets, prints).packet.tolist() == [1]
