# SPDX-License-Identifier: MIT
"""The detail tree shows each header and its bytes, and survives any input."""

from __future__ import annotations

import random
import struct
import sys
from collections.abc import Iterator

import dpkt
import pytest

from skbviewer import readers
from skbviewer.analysis.dissect import Node, dissect, payload_of
from skbviewer.records import Capture, Silent, resource

ETHERNET = 1
SRC, DST = b"\x02\0\0\0\0\x01", b"\x02\0\0\0\0\x02"


def ip(protocol: int, payload: bytes, **rest: object) -> bytes:
    packet = dpkt.ip.IP(
        src=b"\x0a\0\0\x01", dst=b"\x0a\0\0\x02", p=protocol, id=7, data=payload, **rest
    )
    return bytes(packet)


def frame(payload: bytes, kind: int = 0x0800) -> bytes:
    return bytes(dpkt.ethernet.Ethernet(src=SRC, dst=DST, type=kind, data=payload))


def udp(payload: bytes, dport: int = 9) -> bytes:
    return struct.pack(">HHHH", 4000, dport, 8 + len(payload), 0) + payload


def titles(data: bytes, linktype: int = ETHERNET) -> list[str]:
    nodes = dissect(data, linktype, len(data))
    return [node.text.split(",")[0].split(":")[0] for node in nodes]


def every(nodes: tuple[Node, ...]) -> Iterator[Node]:
    for node in nodes:
        yield node
        yield from every(node.children)


def field(data: bytes, name: str, linktype: int = ETHERNET) -> Node:
    return next(n for n in every(dissect(data, linktype, len(data))) if n.field == name)


def test_each_field_knows_its_bytes() -> None:
    data = frame(ip(17, udp(b"hello"), ttl=33))
    for name, value, raw in (
        ("eth.src", "02:00:00:00:00:01", SRC),
        ("ip.ttl", "33", b"\x21"),
        ("ip.src", "10.0.0.1", b"\x0a\0\0\x01"),
        ("ip.id", "7", b"\0\x07"),
        ("udp.dstport", "9", b"\0\x09"),
    ):
        node = field(data, name)
        assert node.value == value
        assert data[node.offset : node.offset + node.length] == raw
    assert titles(data)[-1] == "Data (5 bytes)"


def test_bits_share_their_bytes() -> None:
    data = frame(ip(6, bytes(dpkt.tcp.TCP(sport=1, dport=2, flags=0x12)), df=1))
    assert field(data, "ip.flags.df").value == "1"
    assert field(data, "ip.flags.mf").value == "0"
    flags = field(data, "tcp.flags")
    assert flags.text == "Flags: 0x012 (SYN, ACK)"
    assert [n.value for n in flags.children if n.text.startswith(("Syn", "Ack", "Fin"))] == [
        "1",
        "1",
        "0",
    ]


def test_tcp_options() -> None:
    options = b"\x02\x04\x05\xb4\x01\x03\x03\x07\x05\x0a\0\0\0\x01\0\0\0\x02\0\0"
    tcp = bytes(dpkt.tcp.TCP(sport=1, dport=2, opts=options, off=10))
    texts = [node.text for node in every(dissect(frame(ip(6, tcp)), ETHERNET, 74))]
    assert "TCP Option - Maximum segment size: 1460 bytes" in texts
    assert "TCP Option - Window scale: 7 (multiply by 128)" in texts
    assert "TCP Option - SACK: 1-2" in texts


def test_vlan_arp_and_ipv6_with_extensions() -> None:
    tagged = frame(struct.pack(">HH", 0x6005, 0x0800) + ip(17, udp(b"")), 0x8100)
    assert titles(tagged)[1] == "802.1Q Virtual LAN"
    assert field(tagged, "vlan.id").value == "5"
    arp = bytes(dpkt.arp.ARP(sha=SRC, spa=b"\x0a\0\0\x01", tpa=b"\x0a\0\0\x02", op=1))
    assert titles(frame(arp + bytes(18), 0x0806))[1:] == [
        "Address Resolution Protocol (request)",
        "Trailer (18 bytes)",
    ]
    inner = struct.pack(">BBHI", 17, 0, 0x0009, 0xABC) + udp(b"")
    six = struct.pack(">IHBB", 6 << 28, len(inner), 44, 64) + bytes(15) + b"\1" + bytes(15) + b"\2"
    assert titles(frame(six + inner, 0x86DD))[1:3] == [
        "Internet Protocol Version 6",
        "IPv6 Fragment header",
    ]
    assert field(frame(six + inner, 0x86DD), "ipv6.src").value == "::1"


def test_an_icmp_error_shows_what_it_complains_about() -> None:
    error = bytes([3, 3, 0, 0, 0, 0, 0, 0]) + ip(17, udp(b""))
    assert titles(frame(ip(1, error)))[2:] == [
        "Internet Control Message Protocol",
        "Internet Protocol Version 4",
        "User Datagram Protocol",
    ]


@pytest.mark.parametrize(("linktype", "head"), [(101, b""), (0, b"\2\0\0\0"), (108, b"\0\0\0\2")])
def test_other_link_types(linktype: int, head: bytes) -> None:
    assert titles(head + ip(17, udp(b"")), linktype)[1] == "Internet Protocol Version 4"


def test_what_is_missing_is_said() -> None:
    data = frame(ip(17, udp(b"hello")))
    cut = dissect(data[:38], ETHERNET, len(data))
    assert cut[-2].text == "[UDP header is cut short]"
    assert cut[-1].text == "[Packet size limited during capture: 9 bytes missing]"


def test_no_bytes_make_it_stumble_or_point_outside() -> None:
    rest = random.Random(7)
    path = resource("samples/ipv6-and-fragments/ipv6-and-fragments.pcap")
    capture = readers.read(path, Silent())
    assert isinstance(capture, Capture)
    for row in capture.packets:
        data = readers.packet_bytes(path, int(row["offset"]), int(row["caplen"]))
        for _ in range(20):
            noisy = bytearray(data[: rest.randrange(len(data) + 1)])
            for _ in range(min(4, len(noisy))):
                noisy[rest.randrange(len(noisy))] = rest.randrange(256)
            nodes = dissect(bytes(noisy), ETHERNET, len(data))
            assert all(0 <= n.offset <= n.offset + n.length <= len(noisy) for n in every(nodes))


def test_the_quick_way_to_a_payload_is_the_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rest = random.Random(9)
    frames = []
    for name in ("handshake", "drops", "ipv6-and-fragments"):
        path = resource(f"samples/{name}/{name}.pcap")
        capture = readers.read(path, Silent())
        assert isinstance(capture, Capture)
        for row in range(len(capture.packets)):
            offset, caplen = (int(capture.packets[c][row]) for c in ("offset", "caplen"))
            data = readers.packet_bytes(path, offset, caplen)
            frames += [data, data + bytes(9), data[: rest.randrange(len(data) + 1)]]
            noisy = bytearray(data)
            noisy[rest.randrange(len(noisy))] = rest.randrange(256)
            frames.append(bytes(noisy))
    quick = [payload_of(data, ETHERNET) for data in frames]
    module = sys.modules[
        "skbviewer.analysis.dissect.detail_tree"
    ]  # the package has a dissect() too
    monkeypatch.setattr(module, "_plain", lambda _: None)
    assert quick == [payload_of(data, ETHERNET) for data in frames]
    assert any(found is not None and found.data for found in quick)


def test_what_is_behind_headers_that_are_not_explained() -> None:
    inner = ip(17, udp(b"hello"))
    ppp, nflog = b"\xff\x03\x00\x21" + inner, struct.pack("<4xHH", 4 + len(inner), 9)
    nflog = b"\x02" + nflog[1:] + inner + bytes(-len(inner) % 4)
    rest = ["Internet Protocol Version 4", "User Datagram Protocol", "Data (5 bytes)"]
    assert titles(ppp, 9) == ["PPP (4 bytes)", *rest]
    assert titles(nflog, 239) == ["NFLOG (8 bytes)", *rest, "Trailer (3 bytes)"]
    pbb = struct.pack(">I", 5) + frame(inner)
    assert titles(frame(pbb, 0x88E7)) == ["Ethernet II", "Encapsulation (18 bytes)", *rest]
    mpls = b"\0\0\x11\xff" + inner
    assert titles(frame(mpls, 0x8847)) == ["Ethernet II", "Encapsulation (4 bytes)", *rest]
    assert titles(frame(bytes(40), 0x88CC)) == ["Ethernet II", "Data (40 bytes)"]


def test_bytes_of_what_is_behind_headers_that_are_not_explained() -> None:
    data = b"\x0f\x00\x08\x00" + ip(17, udp(b"hello", 53))
    assert payload_of(data, 104) == (17, 4000, 53, b"hello")
    assert field(data, "udp.dstport", 104).offset == 4 + 20 + 2
    for size in range(len(data)):
        for node in every(dissect(data[:size], 104, len(data))):
            assert node.offset + node.length <= size
