# SPDX-License-Identifier: MIT
"""From packet bytes to identity columns, by link type and protocol; dpkt is the oracle."""

from __future__ import annotations

import random
import struct
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import dpkt
import numpy as np
import pytest

from skbviewer.readers import read
from skbviewer.records import Capture, Packets, Silent
from tests.readers.build import MAC_A, MAC_B, arp, ethernet, icmp, ipv4, ipv6, tcp, udp, write_pcap

A4, B4, A6, B6 = "10.9.0.1", "224.0.0.251", "2001:db8::1", "fe80::ffff:2"
V4 = ipv4(A4, B4, 6, tcp(1000, 2000, 0xFFFFFFF0, 5, 0x12, b"abc"), ip_id=65535, ttl=3)
V6 = ipv6(A6, B6, 17, udp(1000, 2000, b"abcd"), hop_limit=9)
IDENTITY = ("saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo", "protocol", "sport", "dport", "payload")


def load(tmp_path: Path, frames: list[bytes], linktype: int = 1) -> Capture:
    path = write_pcap(tmp_path / "a.pcap", list(enumerate(frames)), linktype=linktype)
    capture = read(path, Silent())
    assert isinstance(capture, Capture)
    return capture


def one(tmp_path: Path, frame: bytes, linktype: int = 1) -> dict[str, int]:
    (packet,) = load(tmp_path, [frame], linktype).packets
    return dict(zip(packet.dtype.names, packet.tolist(), strict=True))


def signed(half: bytes) -> int:
    return int.from_bytes(half, "big", signed=True)


def is_v4(packet: dict[str, int]) -> bool:
    found = tuple(packet[name] for name in IDENTITY)
    return found == (0, int(IPv4Address(A4)), 0, int(IPv4Address(B4)), 6, 1000, 2000, 3)


def is_v6(packet: dict[str, int]) -> bool:
    source, target = IPv6Address(A6).packed, IPv6Address(B6).packed
    halves = (signed(source[:8]), signed(source[8:]), signed(target[:8]), signed(target[8:]))
    return tuple(packet[name] for name in IDENTITY) == (*halves, 17, 1000, 2000, 4)


def sll(ethertype: int, payload: bytes) -> bytes:
    return struct.pack("!HHH6s2xH", 4, 1, 6, MAC_A, ethertype) + payload


def sll2(ethertype: int, payload: bytes) -> bytes:
    return struct.pack("!HHIHBB6s2x", ethertype, 0, 3, 1, 4, 6, MAC_A) + payload


def test_ipv4_columns(tmp_path: Path) -> None:
    packet = one(tmp_path, ethernet(V4))
    assert is_v4(packet)
    expected = {
        "eth_src": int.from_bytes(MAC_A, "big"), "eth_dst": int.from_bytes(MAC_B, "big"),
        "ethertype": 0x800, "vlan": -1, "ip_version": 4, "ip_id": 65535, "frag_off": 0x4000,
        "tot_len": 43, "ttl": 3, "seq": 0xFFFFFFF0, "ack": 5, "tcp_flags": 0x12, "window": 8192,
    }  # fmt: skip
    assert {name: packet[name] for name in expected} == expected


def test_ipv6_columns(tmp_path: Path) -> None:
    packet = one(tmp_path, ethernet(V6, 0x86DD))
    assert is_v6(packet)
    expected = {"ethertype": 0x86DD, "ip_version": 6, "ip_id": -1, "frag_off": -1, "tot_len": 52}
    expected |= {"ttl": 9, "seq": -1, "ack": -1, "tcp_flags": -1, "window": -1}
    assert {name: packet[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("linktype", "head4", "head6"),
    [
        (1, ethernet(b""), ethernet(b"", 0x86DD)),
        (113, sll(0x800, b""), sll(0x86DD, b"")),
        (276, sll2(0x800, b""), sll2(0x86DD, b"")),
        (101, b"", b""),
        (12, b"", b""),
        (14, b"", b""),
        (0, b"\x02\0\0\0", b"\x1e\0\0\0"),
        (0, b"\0\0\0\x02", b"\0\0\0\x0a"),
        (108, b"\0\0\0\x02", b"\0\0\0\x18"),
    ],
)
def test_link_types(tmp_path: Path, linktype: int, head4: bytes, head6: bytes) -> None:
    capture = load(tmp_path, [head4 + V4, head6 + V6], linktype)
    assert capture.warnings == ()
    assert capture.packets["ethertype"].tolist() == [0x800, 0x86DD]
    first, second = (dict(zip(p.dtype.names, p.tolist(), strict=True)) for p in capture.packets)
    assert is_v4(first) and is_v6(second)
    cooked = linktype in (113, 276)
    if cooked:
        assert first["eth_src"] == int.from_bytes(MAC_A, "big")


@pytest.mark.parametrize(
    ("linktype", "head", "expected"),
    [
        (113, struct.pack("!HHH8xH", 4, 1, 6, 0x800), (-1, 1)),
        (113, struct.pack("!HHH8xH", 1, 1, 6, 0x800), (-1, 0)),  # a broadcast that was received
        (113, struct.pack("!HHH8xH", 5, 1, 6, 0x800), (-1, -1)),  # PACKET_LOOPBACK
        (276, struct.pack("!HHIHBB8x", 0x800, 0, 7, 1, 4, 6), (7, 1)),
        (276, struct.pack("!HHIHBB8x", 0x800, 0, 1 << 31, 1, 0, 6), (-(1 << 31), 0)),
        (1, ethernet(b""), (-1, -1)),
    ],
)
def test_device_and_direction_of_cooked_packets(
    tmp_path: Path, linktype: int, head: bytes, expected: tuple[int, int]
) -> None:
    packet = one(tmp_path, head + V4, linktype)
    assert (packet["sll_ifindex"], packet["sll_outgoing"]) == expected


def test_ip_only_link_types(tmp_path: Path) -> None:
    assert is_v4(one(tmp_path, V4, 228))
    assert is_v6(one(tmp_path, V6, 229))


def test_unknown_link_type_is_counted(tmp_path: Path) -> None:
    capture = load(tmp_path, [b"x" * 60] * 5, 147)
    assert len(capture.packets) == 5
    assert capture.packets["ip_version"].tolist() == [0] * 5
    (warning,) = capture.warnings
    assert warning.startswith(f"{tmp_path}/a.pcap: 5 packets of LINKTYPE_USER0 (147)")


@pytest.mark.parametrize(
    ("tags", "vlan"),
    [
        ([(0x8100, 0x2005)], 5),
        ([(0x88A8, 100), (0x8100, 7)], 100),
        ([(0x9100, 1), (0x8100, 2), (0x8100, 3)], 1),
    ],
)
def test_vlan_tags(tmp_path: Path, tags: list[tuple[int, int]], vlan: int) -> None:
    packet = one(tmp_path, ethernet(V4, vlans=tags))
    assert is_v4(packet)
    assert (packet["vlan"], packet["ethertype"]) == (vlan, 0x800)


def test_ip_below_other_headers(tmp_path: Path) -> None:
    snap = b"\xaa\xaa\x03\0\0\0\x08\0" + V4
    mpls = struct.pack("!II", 16 << 12, 17 << 12 | 1 << 8) + V4
    pppoe = struct.pack("!BBHHH", 0x11, 0, 1, len(V6) + 2, 0x57) + V6
    assert is_v4(one(tmp_path, ethernet(snap, len(snap))))
    assert is_v4(one(tmp_path, ethernet(mpls, 0x8847)))
    packet = one(tmp_path, ethernet(pppoe, 0x8864))
    assert is_v6(packet) and packet["ethertype"] == 0x8864


def test_outermost_header_is_the_identity(tmp_path: Path) -> None:
    packet = one(tmp_path, ethernet(ipv4("1.1.1.1", "2.2.2.2", 4, V4, ip_id=9)))
    assert (packet["saddr_lo"], packet["ip_id"], packet["protocol"]) == (0x01010101, 9, 4)
    assert packet["sport"] == -1


def test_arp(tmp_path: Path) -> None:
    packet = one(tmp_path, ethernet(arp(2, "10.9.0.1", "10.9.0.2"), 0x0806))
    expected = {"ethertype": 0x806, "ip_version": 0, "sport": 2, "seq": 0x0A090001}
    expected |= {"ack": 0x0A090002, "protocol": -1, "dport": -1}
    assert {name: packet[name] for name in expected} == expected


@pytest.mark.parametrize("version", [4, 6])
def test_icmp(tmp_path: Path, version: int) -> None:
    message = icmp(8, 3, 0xABCD, 65535, b"ping")
    packet = ipv4(A4, B4, 1, message) if version == 4 else ipv6(A6, B6, 58, message)
    columns = one(tmp_path, packet, 101)
    found = [columns[name] for name in ("sport", "dport", "seq", "ack")]
    assert found == [8 << 8 | 3, 0xABCD, 65535, -1]


def test_fragments_have_no_ports(tmp_path: Path) -> None:
    first = ipv4(A4, B4, 17, udp(1, 2), frag_off=0x2000)
    later = ipv4(A4, B4, 17, udp(1, 2), frag_off=0x2001)
    packets = load(tmp_path, [first, later], 101).packets
    assert packets["sport"].tolist() == [1, -1]
    assert packets["payload"].tolist() == [0, -1]
    assert packets["frag_off"].tolist() == [0x2000, 0x2001]


def test_ipv6_extension_headers(tmp_path: Path) -> None:
    options = bytes([43, 1]) + bytes(14)
    routing = bytes([60, 0]) + bytes(6)
    destination = bytes([51, 0]) + bytes(6)
    auth = bytes([17, 4]) + bytes(22)
    chain = options + routing + destination + auth + udp(1000, 2000, b"abcd")
    packet = one(tmp_path, ipv6(A6, B6, 0, chain), 101)
    assert (packet["protocol"], packet["sport"], packet["payload"]) == (17, 1000, 4)


def test_ipv6_fragments(tmp_path: Path) -> None:
    def fragment(offset: int, more: int) -> bytes:
        head = struct.pack("!BBHI", 17, 0, offset << 3 | more, 0x12345678)
        return ipv6(A6, B6, 44, head + udp(1, 2, b"xyz"))

    packets = load(tmp_path, [fragment(0, 1), fragment(181, 0)], 101).packets
    assert packets["frag_off"].tolist() == [0x2000, 181]
    assert packets["protocol"].tolist() == [17, 17]
    assert packets["sport"].tolist() == [1, -1]


def test_padding_is_not_payload(tmp_path: Path) -> None:
    packet = one(tmp_path, ethernet(ipv4(A4, B4, 6, tcp(1, 2)) + bytes(6)))
    assert packet["payload"] == 0
    # A length that leaves no room for the ports: what follows are not ports.
    packet = one(tmp_path, ethernet(ipv4(A4, B4, 17, udp(1, 2), tot_len=22)))
    assert (packet["saddr_lo"] > 0, packet["sport"], packet["payload"]) == (True, -1, -1)


def test_large_send_packet_without_length(tmp_path: Path) -> None:
    packet = one(tmp_path, ethernet(ipv4(A4, B4, 6, tcp(1, 2, payload=b"x" * 70), tot_len=0)))
    assert (packet["tot_len"], packet["sport"], packet["payload"]) == (0, 1, 70)


def test_bogus_headers(tmp_path: Path) -> None:
    short_ihl, wrong_version, long_ihl = bytearray(V4), bytearray(V4), bytearray(V4)
    short_ihl[0], wrong_version[0], long_ihl[0] = 0x44, 0x55, 0x4F
    frames = [ethernet(bytes(data)) for data in (short_ihl, wrong_version, long_ihl)]
    packets = load(tmp_path, frames).packets
    assert packets["ip_version"].tolist() == [0, 0, 4]
    assert packets["sport"].tolist() == [-1, -1, -1]
    bad_offset = bytearray(V4)
    bad_offset[32] = 0xF0
    assert one(tmp_path, ethernet(bytes(bad_offset)))["payload"] == -1


FRAMES = [
    ethernet(V4, vlans=[(0x88A8, 1), (0x8100, 2)]),
    ethernet(
        ipv6(A6, B6, 0, bytes([44, 0]) + bytes(6) + bytes([6, 0, 0, 1, 0, 0, 0, 1]) + tcp(1, 2)),
        0x86DD,
    ),
    ethernet(V4),
    ethernet(ipv6(A6, B6, 58, icmp(128, 0, 7, 3)), 0x86DD),
    ethernet(arp(1, "1.2.3.4", "4.3.2.1"), 0x0806),
    ethernet(struct.pack("!I", 1 << 8) + V6, 0x8847),
]


OF_THE_CAPTURE = ("ts", "caplen", "offset", "flags")


@pytest.mark.parametrize("frame", FRAMES)
def test_capture_cut_anywhere_only_forgets(tmp_path: Path, frame: bytes) -> None:
    """Each column of a packet captured in part is unknown or equals the whole packet's."""
    whole = load(tmp_path, [frame]).packets[0]
    names = [name for name in whole.dtype.names or () if name not in OF_THE_CAPTURE]
    for size in range(len(frame)):
        path = write_pcap(tmp_path / "b.pcap", [(0, frame)], snaplen=size or 1)
        part = read(path, Silent()).packets[0]  # type: ignore[union-attr]
        for name in names:
            # Before the fragment header is reached, nobody knows of it.
            assert part[name] in (-1, 0, whole[name]), (size, name)
            assert name != "protocol" or part[name] in (-1, whole[name])


def test_parts_of_a_transport_header_tell_what_is_there(tmp_path: Path) -> None:
    path = write_pcap(tmp_path / "a.pcap", [(0, ethernet(V4))], snaplen=14 + 20 + 14)
    (packet,) = read(path, Silent()).packets  # type: ignore[union-attr]
    values = [packet[name] for name in ("sport", "seq", "ack", "tcp_flags", "payload", "window")]
    assert values == [1000, 0xFFFFFFF0, 5, 0x12, 3, -1]
    frame = ethernet(ipv6(A6, B6, 58, icmp(128, 0, 7, 3)), 0x86DD)
    path = write_pcap(tmp_path / "b.pcap", [(0, frame)], snaplen=14 + 40 + 6)
    (packet,) = read(path, Silent()).packets  # type: ignore[union-attr]
    assert [packet[name] for name in ("sport", "dport", "seq")] == [128 << 8, 7, -1]


def random_frame(dice: random.Random) -> bytes:
    payload = dice.randbytes(dice.randrange(40))
    ports = dice.randrange(65536), dice.randrange(65536)
    segment = tcp(*ports, dice.getrandbits(32), dice.getrandbits(32), dice.randrange(64), payload)
    protocol, data = dice.choice([(6, segment), (17, udp(*ports, payload))])
    vlans = [(0x8100, dice.randrange(4096))] * dice.randrange(2)
    if dice.random() < 0.5:
        saddr, daddr = (str(IPv4Address(dice.getrandbits(32))) for _ in range(2))
        options = bytes(4 * dice.randrange(3))
        packet = ipv4(saddr, daddr, protocol, data, dice.randrange(65536), 0, options=options)
        return ethernet(packet, vlans=vlans)
    saddr, daddr = (str(IPv6Address(dice.getrandbits(128))) for _ in range(2))
    return ethernet(ipv6(saddr, daddr, protocol, data), 0x86DD, vlans=vlans)


def by_dpkt(frame: bytes) -> dict[str, int]:
    ip = dpkt.ethernet.Ethernet(frame).data
    four = isinstance(ip, dpkt.ip.IP)
    found = {"ip_version": 4 if four else 6, "ip_id": ip.id if four else -1, "protocol": ip.p}
    for name, address in (("saddr", ip.src), ("daddr", ip.dst)):
        found[name + "_hi"] = 0 if four else signed(address[:8])
        found[name + "_lo"] = int.from_bytes(address, "big") if four else signed(address[8:])
    found |= {"sport": ip.data.sport, "dport": ip.data.dport, "payload": len(ip.data.data)}
    is_tcp = isinstance(ip.data, dpkt.tcp.TCP)
    found |= {"seq": ip.data.seq if is_tcp else -1, "ack": ip.data.ack if is_tcp else -1}
    return found | {"tcp_flags": ip.data.flags if is_tcp else -1}


def test_as_dpkt_says(tmp_path: Path) -> None:
    dice = random.Random(1)
    frames = [random_frame(dice) for _ in range(2000)]
    packets = load(tmp_path, frames).packets
    for packet, frame in zip(packets, frames, strict=True):
        expected = by_dpkt(frame)
        assert {name: int(packet[name]) for name in expected} == expected


def test_blocks_are_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result does not depend on how many packets are dissected at once."""
    dice = random.Random(4)
    frames = [random_frame(dice) for _ in range(50)]
    whole: Packets = load(tmp_path, frames).packets
    monkeypatch.setattr("skbviewer.readers.capture.header_columns.BLOCK", 7)
    assert np.array_equal(load(tmp_path, frames).packets, whole)
