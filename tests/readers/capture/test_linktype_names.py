# SPDX-License-Identifier: MIT
"""One IPv4 packet is found behind every link header, and frames without one do no harm."""

from __future__ import annotations

import struct
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from skbviewer import readers
from skbviewer.records import Capture, Packets, Silent
from tests.readers.build import ethernet, ipv4, udp, write_pcap

PACKET = ipv4("192.0.2.1", "198.51.100.2", 17, udp(1000, 53, b"question"), ip_id=77)
A1, A2, A3, A4 = (bytes.fromhex(f"0200000000{n:02x}") for n in (1, 2, 3, 4))
SNAP = bytes.fromhex("aaaa030000000800")

INNER = struct.pack(">H", len(SNAP + PACKET))


def wifi(flags: int, qos: bytes = b"", fourth: bytes = b"", more: bytes = b"") -> bytes:
    """The header of an 802.11 data frame."""
    control = 0x88 if qos else 0x08
    return bytes([control, flags]) + bytes(2) + A1 + A2 + A3 + bytes(2) + fourth + qos + more


def radiotap(present: list[int], fields: bytes) -> bytes:
    words = struct.pack(f"<{len(present)}I", *present)
    return struct.pack("<BBH", 0, 0, 4 + len(words) + len(fields)) + words + fields


def attribute(type_: int, value: bytes, order: str = "<") -> bytes:
    """One of NFLOG's, padded."""
    head = struct.pack(order + "HH", 4 + len(value), type_)
    return head + value + bytes(-len(value) % 4)


LOGGED = (b"\x08\x00\x03\x00", b"rule 7\0", struct.pack(">I", 2))  # packet header, prefix, device
BIG = b"\x02\0\0\0" + attribute(1, LOGGED[0], ">") + attribute(9, PACKET, ">")
NFLOG = attribute(1, LOGGED[0]) + attribute(10, LOGGED[1]) + attribute(4, LOGGED[2])
PPI_FIELD = struct.pack("<HH", 2, 20) + bytes(20)  # 802.11-Common
PKTAP = struct.pack("<III24s", 108, 1, 1, b"en0") + bytes(72)
ENC = struct.pack("<III", 2, 0x1234, 0)
IEEE_1394 = A1 + bytes(2) + A2 + bytes(2)

FRAMES = {
    "ppp": (9, b"\xff\x03\x00\x21" + PACKET),
    "ppp without address": (9, b"\x00\x21" + PACKET),
    "ppp short protocol": (9, b"\x21" + PACKET),
    "ppp hdlc": (50, b"\xff\x03\x00\x21" + PACKET),
    "cisco hdlc in ppp hdlc": (50, b"\x0f\x00\x08\x00" + PACKET),
    "pppoe": (51, b"\x11\x00\x12\x34" + struct.pack(">H", len(PACKET) + 2) + b"\0\x21" + PACKET),
    "cisco hdlc": (104, b"\x0f\x00\x08\x00" + PACKET),
    "ppp with direction": (204, b"\x01\xff\x03\x00\x21" + PACKET),
    "cisco hdlc in ppp": (9, b"\x0f\x00\x08\x00" + PACKET),
    "cisco hdlc with direction": (205, b"\x01\x0f\x00\x08\x00" + PACKET),
    "ppp of pppd": (166, b"\x01\x03\x00\x21" + PACKET),
    "frame relay": (107, b"\x18\x41\x03\xcc" + PACKET),
    "frame relay padded": (107, b"\x18\x41\x03\x00\xcc" + PACKET),
    "frame relay snap": (107, b"\x18\x41\x03\x00\x80" + bytes(3) + b"\x08\0" + PACKET),
    "frame relay four bytes": (107, b"\x18\x40\x80\x03\x03\xcc" + PACKET),
    "frame relay cisco": (107, b"\x18\x41\x08\x00" + PACKET),
    "frame relay ethernet": (107, b"\x18\x41" + ethernet(PACKET)),
    "frame relay bridged": (
        107,
        b"\x18\x41\x03\x00\x80\x00\x80\xc2\x00\x07" + ethernet(PACKET),
    ),
    "frame relay with direction": (206, b"\x01\x18\x41\x03\xcc" + PACKET),
    "nflog": (239, b"\x02\0\0\x05" + NFLOG + attribute(9, PACKET)),
    "nflog and more": (239, b"\x02\0\0\x05" + attribute(9, PACKET) + attribute(11, bytes(4))),
    "nflog big-endian": (239, BIG),
    "ipoib": (242, bytes(40) + b"\x08\x00\0\0" + PACKET),
    "broadcom tag": (281, A2 + A1 + b"\x20\0\0\x08\x08\x00" + PACKET),
    "broadcom tag before": (282, b"\x20\0\0\x08" + ethernet(PACKET)),
    "dsa": (284, A2 + A1 + b"\x40\x00\x00\x01\x08\x00" + PACKET),
    "edsa": (285, A2 + A1 + b"\xda\xda\0\0\x40\x00\x00\x01\x08\x00" + PACKET),
    "ppi 802.11": (
        192,
        struct.pack("<BBHI", 0, 0, 32, 105) + PPI_FIELD + wifi(2) + SNAP + PACKET,
    ),
    "ppi ethernet": (192, struct.pack("<BBHI", 0, 0, 8, 1) + ethernet(PACKET)),
    "pktap": (258, PKTAP + ethernet(PACKET)),
    "prism": (119, struct.pack(">II", 0x44, 144) + bytes(136) + wifi(2) + SNAP + PACKET),
    "avs": (163, struct.pack(">II", 0x80211001, 64) + bytes(56) + wifi(2) + SNAP + PACKET),
    "arcnet": (7, b"\x01\x02\xd4\x00\x00\x05" + PACKET),
    "arcnet exception": (7, b"\x01\x02\xd4\xff\xff\xff\xd4\x00\x00\x05" + PACKET),
    "arcnet rfc 1051": (7, b"\x01\x02\xf0" + PACKET),
    "linux arcnet": (129, b"\x01\x02\0\0\xd4\x00\x00\x05" + PACKET),
    "fddi": (10, b"\x50" + A2 + A1 + SNAP + PACKET),
    "token ring": (6, b"\x10\x40" + A2 + A1 + SNAP + PACKET),
    "token ring routed": (6, b"\x10\x40" + A2 + b"\x82" + A1[1:] + b"\x04\x30\0\1" + SNAP + PACKET),
    "rfc 1483": (100, SNAP + PACKET),
    "fibre channel": (122, bytes(16) + SNAP + PACKET),
    "ieee 1394": (138, IEEE_1394 + b"\x08\x00" + PACKET),
    "ipnet": (226, struct.pack(">BBHI", 1, 2, 0, len(PACKET)) + bytes(16) + PACKET),
    "pflog": (117, b"\x3d\x02" + bytes(62) + PACKET),
    "enc": (109, ENC + PACKET),
    "enc big-endian": (109, struct.pack(">III", 2, 0x1234, 0) + PACKET),
    "mpls": (219, b"\x00\x01\x00\x40" + b"\x00\x02\x01\x40" + PACKET),
    "netanalyzer": (240, bytes(4) + ethernet(PACKET)),
    "netanalyzer transparent": (241, bytes(12) + ethernet(PACKET)),
    "802.11 from ds": (105, wifi(2) + SNAP + PACKET),
    "802.11 to ds": (105, wifi(1) + SNAP + PACKET),
    "802.11 ad hoc": (105, wifi(0) + SNAP + PACKET),
    "802.11 four addresses": (105, wifi(3, fourth=A4) + SNAP + PACKET),
    "802.11 qos": (105, wifi(2, b"\0\0") + SNAP + PACKET),
    "802.11 qos order": (105, wifi(0x82, b"\0\0", more=bytes(4)) + SNAP + PACKET),
    "802.11 a-msdu": (105, wifi(2, b"\x80\0") + A1 + A3 + INNER + SNAP + PACKET),
    "radiotap": (127, radiotap([0], b"") + wifi(2) + SNAP + PACKET),
    "radiotap fields": (127, radiotap([0x2E], b"\x10" + bytes(9)) + wifi(2) + SNAP + PACKET),
    "radiotap pad": (
        127,
        radiotap([3], bytes(8) + b"\x20") + wifi(2, b"\0\0") + bytes(2) + SNAP + PACKET,
    ),
    "radiotap two words": (
        127,
        radiotap([1 << 31 | 3, 0], bytes(4) + bytes(8) + b"\x20")
        + wifi(2, b"\0\0")
        + bytes(2)
        + SNAP
        + PACKET,
    ),
}


def load(tmp_path: Path, linktype: int, *frames: bytes) -> Capture:
    path = write_pcap(tmp_path / "a.pcap", [(0, f) for f in frames], linktype=linktype)
    found = readers.read(path, Silent())
    assert isinstance(found, Capture)
    return found


def shows_the_packet(packets: Packets) -> bool:
    names = ("ip_version", "saddr_lo", "daddr_lo", "ip_id", "protocol", "sport", "dport", "payload")
    source, target = int(IPv4Address("192.0.2.1")), int(IPv4Address("198.51.100.2"))
    expected = (4, source, target, 77, 17, 1000, 53, 8)
    return all(tuple(packet[n] for n in names) == expected for packet in packets)


@pytest.mark.parametrize("name", FRAMES)
def test_packet_is_found(tmp_path: Path, name: str) -> None:
    linktype, frame = FRAMES[name]
    found = load(tmp_path, linktype, frame)
    assert found.warnings == ()
    assert shows_the_packet(found.packets)
    assert found.packets["flags"].tolist() == [0]


def test_wireless_addresses(tmp_path: Path) -> None:
    frames = [
        FRAMES[f"802.11 {way}"][1] for way in ("ad hoc", "from ds", "to ds", "four addresses")
    ]
    packets = load(tmp_path, 105, *frames).packets
    ends = [(1, 2), (1, 3), (3, 2), (3, 4)]
    for packet, (target, source) in zip(packets, ends, strict=True):
        assert packet["eth_dst"] == 0x0200_0000_0000 + target
        assert packet["eth_src"] == 0x0200_0000_0000 + source


def test_frames_without_a_network_header(tmp_path: Path) -> None:
    encrypted = wifi(0x42) + SNAP + PACKET
    beacon, ack = b"\x80" + bytes(40), b"\xd4" + bytes(9)
    no_data = b"\x48\x01" + wifi(1)[2:]
    packets = load(tmp_path, 105, encrypted, beacon, ack, no_data).packets
    assert packets["ip_version"].tolist() == [0, 0, 0, 0]
    assert packets["flags"].tolist() == [0, 0, 0, 0]
    lcp = load(tmp_path, 9, b"\xff\x03\xc0\x21\x01\x01\x00\x04").packets
    assert (lcp["ip_version"][0], lcp["ethertype"][0], lcp["flags"][0]) == (0, -1, 0)


@pytest.mark.parametrize("name", FRAMES)
def test_cut_anywhere_it_is_no_other_packet(tmp_path: Path, name: str) -> None:
    linktype, frame = FRAMES[name]
    for size in range(1, len(frame)):
        path = write_pcap(tmp_path / "b.pcap", [(0, frame)], linktype=linktype, snaplen=size)
        found = readers.read(path, Silent())
        assert isinstance(found, Capture)
        packet = found.packets[0]
        assert packet["flags"] == 1, "cut short, not malformed"
        assert packet["ip_id"] in (-1, 77)
        assert packet["sport"] in (-1, 1000)


def test_link_types_not_understood_keep_time_and_length(tmp_path: Path) -> None:
    path = write_pcap(tmp_path / "a.pcap", [(5, bytes(60)), (9, bytes(70))], linktype=147)
    found = readers.read(path, Silent())
    assert isinstance(found, Capture)
    assert found.packets["ts"].tolist() == [5, 9]
    assert found.packets["len"].tolist() == [60, 70]
    expected = f"{path}: 2 packets of LINKTYPE_USER0 (147), which skbviewer cannot dissect"
    assert found.warnings == (f"{expected}, so their addresses stay unknown",)


def test_one_packet_is_no_packets(tmp_path: Path) -> None:
    (warning,) = load(tmp_path, 195, bytes(60)).warnings
    expected = f"{tmp_path / 'a.pcap'}: 1 packet of LINKTYPE_IEEE802_15_4_WITHFCS (195), which"
    assert warning == f"{expected} skbviewer cannot dissect, so its addresses stay unknown"


MALFORMED = {
    "short ethernet": bytes(10),
    "short ip": ethernet(PACKET[:12]),
    "version": ethernet(b"\x55" + PACKET[1:]),
    "header length": ethernet(b"\x44" + PACKET[1:]),
    "total length beyond": ethernet(ipv4("192.0.2.1", "198.51.100.2", 17, b"", tot_len=1000)),
    "total length below": ethernet(ipv4("192.0.2.1", "198.51.100.2", 17, bytes(8), tot_len=10)),
    "short udp": ethernet(ipv4("192.0.2.1", "198.51.100.2", 17, bytes(4))),
    "udp length": ethernet(
        ipv4("192.0.2.1", "198.51.100.2", 17, struct.pack("!HHHH", 1, 2, 90, 0))
    ),
    "short tcp": ethernet(ipv4("192.0.2.1", "198.51.100.2", 6, bytes(12))),
    "tcp offset": ethernet(ipv4("192.0.2.1", "198.51.100.2", 6, bytes(12) + b"\x40" + bytes(7))),
    "tcp offset beyond": ethernet(
        ipv4("192.0.2.1", "198.51.100.2", 6, bytes(12) + b"\xf0" + bytes(7))
    ),
    "short icmp": ethernet(ipv4("192.0.2.1", "198.51.100.2", 1, bytes(3))),
    "short ipv6": ethernet(b"\x60" + bytes(20), 0x86DD),
    "ipv6 payload beyond": ethernet(b"\x60" + bytes(3) + b"\1\0\x3b\x40" + bytes(32), 0x86DD),
    "short arp": ethernet(bytes(4), 0x0806),
}


def test_malformed_packets_stay_and_are_marked(tmp_path: Path) -> None:
    sane = [ethernet(PACKET), ethernet(PACKET + bytes(20)), FRAMES["ppp"][1]]
    found = load(tmp_path, 1, *MALFORMED.values(), *sane[:2])
    marks = dict(zip([*MALFORMED, "sane", "padded"], found.packets["flags"].tolist(), strict=True))
    assert marks == dict.fromkeys(MALFORMED, 2) | {"sane": 0, "padded": 0}


def test_first_fragment_is_not_malformed(tmp_path: Path) -> None:
    first = ipv4("192.0.2.1", "198.51.100.2", 17, struct.pack("!HHHH", 1, 2, 3000, 0), 5, 0x2000)
    assert load(tmp_path, 1, ethernet(first)).packets["flags"].tolist() == [0]
