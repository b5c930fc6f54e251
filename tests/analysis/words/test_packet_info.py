# SPDX-License-Identifier: MIT
"""A packet's text in Wireshark's words, from the bytes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skbviewer.analysis import address, describe, mac, or_none
from skbviewer.readers import read
from skbviewer.records import Capture, Silent
from tests.matching.story import Story, tcp4, wire
from tests.readers import build
from tests.readers.build import arp, ethernet, icmp, ipv4, ipv6, tcp, udp, write_pcap

HERE, THERE = "10.0.0.1", "10.0.0.2"


class Row:
    """A row of a numpy table as describe() takes it."""

    def __init__(self, row: np.void) -> None:
        self.__dict__ = {name: row[name].item() for name in row.dtype.names or ()}


CASES = {
    "tcp": (
        ipv4(HERE, THERE, 6, tcp(1000, 80, 5, 9, 0x18, b"abc"), 7),
        ("TCP", "1000 → 80 [PSH, ACK] Seq=5 Ack=9 Win=8192 Len=3"),
    ),
    "syn": (
        ipv4(HERE, THERE, 6, tcp(1000, 80, 5, 0, 0x02), 7),
        ("TCP", "1000 → 80 [SYN] Seq=5 Win=8192 Len=0"),
    ),
    "no flags": (
        ipv4(HERE, THERE, 6, tcp(1000, 80, 5, 0, 0), 7),
        ("TCP", "1000 → 80 [<None>] Seq=5 Win=8192 Len=0"),
    ),
    "udp": (ipv4(HERE, THERE, 17, udp(1000, 53, b"abcd"), 7), ("UDP", "1000 → 53 Len=4")),
    "ping": (
        ipv4(HERE, THERE, 1, icmp(8, 0, 0x1234, 2), 7),
        ("ICMP", "Echo (ping) request  id=0x1234, seq=2/512, ttl=64"),
    ),
    "pong": (
        ipv4(HERE, THERE, 1, icmp(0, 0, 0x1234, 2), 7, ttl=63),
        ("ICMP", "Echo (ping) reply    id=0x1234, seq=2/512, ttl=63"),
    ),
    "unreachable": (
        ipv4(HERE, THERE, 1, icmp(3, 3, 0, 0), 7),
        ("ICMP", "Destination unreachable (Port unreachable)"),
    ),
    "fragment": (
        ipv4(HERE, THERE, 17, bytes(16), 0x00AB, frag_off=0x0002),
        ("IPv4", "Fragmented IP protocol (proto=UDP 17, off=16, ID=00ab)"),
    ),
    "other protocol": (ipv4(HERE, THERE, 89, bytes(16), 7), ("OSPF", "protocol 89")),
}


@pytest.mark.parametrize("case", CASES)
def test_ipv4(tmp_path: Path, case: str) -> None:
    payload, expected = CASES[case]
    (row,) = wire(tmp_path, [(0, ethernet(payload))])
    assert describe(Row(row)) == expected


def test_ipv6(tmp_path: Path) -> None:
    bodies = {
        58: (icmp(135, 0, 0, 0), ("ICMPv6", "Neighbor Solicitation")),
        17: (udp(1000, 53), ("UDP", "1000 → 53 Len=0")),
    }
    for protocol, (body, expected) in bodies.items():
        (row,) = wire(tmp_path, [(0, ethernet(ipv6("fe80::1", "fe80::2", protocol, body), 0x86DD))])
        assert describe(Row(row)) == expected
        assert address(6, int(row["saddr_hi"]), int(row["saddr_lo"])) == "fe80::1"


def test_arp(tmp_path: Path) -> None:
    frames = [ethernet(arp(op, HERE, THERE, build.MAC_A), 0x0806) for op in (1, 2)]
    asks, answers = wire(tmp_path, [(0, frame) for frame in frames])
    assert describe(Row(asks)) == ("ARP", "Who has 10.0.0.2? Tell 10.0.0.1")
    assert describe(Row(answers)) == ("ARP", "10.0.0.1 is at 02:00:00:00:00:01")


def test_arp_that_nobody_asked_for(tmp_path: Path) -> None:
    frames = [arp(op, HERE, HERE, build.MAC_A) for op in (1, 2)]
    frames.append(arp(1, "0.0.0.0", THERE, build.MAC_A))
    rows = wire(tmp_path, [(0, ethernet(frame, 0x0806)) for frame in frames])
    assert [describe(Row(row))[1] for row in rows] == [
        "Gratuitous ARP for 10.0.0.1 (Request)",
        "Gratuitous ARP for 10.0.0.1 (Reply)",
        "Who has 10.0.0.2? (ARP Probe)",
    ]


def test_another_ethertype(tmp_path: Path) -> None:
    (row,) = wire(tmp_path, [(0, ethernet(bytes(50), 0x88CC))])
    assert describe(Row(row)) == ("LLDP", "EtherType 0x88cc")


def test_a_cut_packet_says_what_is_missing(tmp_path: Path) -> None:
    frame = ethernet(ipv4(HERE, THERE, 6, tcp(1000, 80), 7))[:36]
    (row,) = wire(tmp_path, [(0, frame)])
    assert describe(Row(row)) == ("TCP", "header not captured [Malformed Packet]")
    whole = ethernet(ipv4(HERE, THERE, 6, tcp(1000, 80), 7))
    path = write_pcap(tmp_path / "cut.pcap", [(0, whole)], snaplen=36)
    capture = read(path, Silent())
    assert isinstance(capture, Capture)
    missing = "header not captured [Packet size limited during capture]"
    assert describe(Row(capture.packets[0])) == ("TCP", missing)


def test_a_kernels_record_shows_what_it_knows(tmp_path: Path) -> None:
    story = Story()
    story.call("ip_output", 100, 200, 0xFFFF888000001000, ipv4=tcp4(7, seq=5, ack=9))
    row = story.log(tmp_path).records[0]
    assert describe(Row(row)) == ("TCP", "1000 → 80 [ACK] Seq=5 Ack=9")


def test_addresses() -> None:
    assert address(0, 0, 0) is None
    assert address(4, 0, 0xC0A80001) == "192.168.0.1"
    assert address(6, -1, -1) == "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
    assert mac(0x020000000001) == "02:00:00:00:00:01"
    assert mac((1 << 48) - 1) == "Broadcast"
    assert mac(-1) == ""
    assert or_none(-1) is None
    assert or_none(0) == 0
