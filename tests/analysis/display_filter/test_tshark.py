# SPDX-License-Identifier: MIT
"""Each filter passes the same packets as in tshark, on all bundled recordings."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .conftest import SAMPLES, Opened, capture_of, passed
from .tshark import tshark_finds

# Wireshark also looks into the packet that an ICMP error quotes.
NO_QUOTES = " && !(icmp.type == 3) && !(icmpv6.type in {1..4})"
FILTERS = r"""
eth
arp
ip
ipv6
tcp
udp
icmp
icmpv6
frame.number == 5
frame.number in {1, 3..5}
frame.len > 100
frame.cap_len <= 60
frame.time_relative > 0.01
frame.time_delta < 0.0001
frame.time_epoch > 1795283400.85
frame.time > "2026-11-21 17:50:00.87"
frame.time == "2026-11-21 17:50:00.842340673"
eth.src == eth.dst
eth.addr == ff:ff:ff:ff:ff:ff
eth.dst[0] & 1
eth[0] & 1
eth[5] > 20
eth.type == 0x0806
eth.src[:3] == ae:f8:9d
arp.opcode == 1
arp.src.proto_ipv4 == 10.9.0.1
arp.dst.proto_ipv4 == 10.9.0.0/24
arp.src.hw_mac == eth.src
arp.hw.type == 1
ip.version == 4
ip.src == 10.9.0.1
ip.addr == 10.9.0.2
ip.addr != 10.9.0.2
ip.addr !== 10.9.0.1
ip.addr === 10.9.0.1
ip.addr == 10.9.0.0/31
ip.src == ip.dst
ip.src > 10.9.0.1
ip.src >= 10.9.0.2 and ip.src <= 10.9.0.9
ip.src in {10.9.0.1, 10.9.1.0..10.9.2.255}
ip.addr == 10.9.0.1 && ip.addr == 10.9.0.2
!(ip.addr == 10.9.0.1)
ip.id > 1000
ip.ttl == 64
ip.ttl in {1..63}
ip.proto == 6
ip.proto != 6
ip.len >= 60
ip.flags == 2
ip.flags.df
ip.flags.df == 1
ip.flags.mf == 1
ip.flags.rb == 0
ip.frag_offset > 0
ip.hdr_len == 20
ip.dsfield == 0
ip.dsfield.dscp > 0
ip.dsfield.ecn == 0
ip.checksum > 0x8000
ip[0] == 45
ip[8:2] == 40:06
ipv6.src == fd09::1
ipv6.addr == fd09::/64
ipv6.addr != fd09::1
ipv6.dst == ff02::/16
ipv6.src < fd09::2
ipv6.hlim == 255
ipv6.hlim in {1, 64}
ipv6.plen > 40
ipv6.nxt == 58
ipv6.nxt == 44
ipv6.flow > 0
ipv6.tclass == 0
tcp.srcport == 7
tcp.port == 7
tcp.port != 7
tcp.port in {7, 5201}
tcp.port > 40000
any tcp.port > 1000
all tcp.port > 1000
tcp.srcport < tcp.dstport
tcp.seq_raw > 2000000000
tcp.ack_raw > 0
tcp.seq == 1
tcp.seq > 100
tcp.ack == 0
tcp.ack > 50
tcp.stream == 1
tcp.stream in {2, 3}
tcp.flags == 0x12
tcp.flags & 2
tcp.flags & 0x11
tcp.flags.syn == 1
tcp.flags.fin == 1 || tcp.flags.reset == 1
tcp.flags.push
tcp.flags.ack == 0
tcp.flags.ece == 1
tcp.flags.cwr == 1
tcp.flags.urg == 1
tcp.len > 0
tcp.len not in {0, 31}
tcp.window_size_value > 500
tcp.hdr_len > 20
tcp.checksum > 0x7000
tcp.urgent_pointer == 0
tcp.analysis.flags
tcp.analysis.retransmission
tcp.analysis.window_update
tcp.payload
tcp.payload contains "the"
tcp.payload matches "[a-z]{5}"
len(tcp.payload) > 20
tcp[13] == 12
tcp[13] & 2
tcp[0:2] == 00:07
tcp[12:4] contains 10
tcp contains "a"
tcp matches "^.."
eth[12:2] == 08:00
eth[12-13] == 08:00
frame[12:2] == 86:dd
frame[0:6] == ff:ff:ff:ff:ff:ff
frame[-4:] contains 00
frame contains "hello"
frame contains 0a:09
frame matches "HELLO"
udp.port == 7
udp.srcport > udp.dstport
udp.dstport == 1009 || udp.dstport == 1010
udp.stream == 3
udp.length > 20
udp.checksum > 0
udp.payload
udp.payload contains "probe"
udp contains 00
icmp.type == 8
icmp.code == 0
icmp.ident > 0
icmp.seq
icmp.checksum > 0x8000
icmpv6.type == 135
icmpv6.type in {135, 136}
icmpv6.echo.sequence_number == 0
icmpv6.echo.identifier > 0
icmpv6.nd.ns.target_address == fd09::2
icmpv6.nd.na.target_address
icmpv6.checksum > 0x8000
!tcp
not (tcp or udp)
!tcp && !udp
tcp and ip.ttl == 64 or arp
tcp.port == 7 && tcp.flags.syn == 1
frame.len > 60 && frame.len < 100
frame.len > 60 and not arp or icmp
(ip.dst != 224.0.0.0/4 && ip.ttl < 5 && !(pim || ospf || eigrp || bgp || tcp.port==179))
(ipv6.dst != ff00::/8 && ipv6.hlim < 5 && !( ospf|| bgp || tcp.port==179))
ipv6.dst==ff00::/8 && ipv6.hlim not in {1, 64, 255}
icmp.type in { 3..5, 11 } || icmpv6.type in { 1..4 }
""".strip().splitlines()


@pytest.mark.parametrize("name", SAMPLES)
def test_the_same_packets_pass_as_in_tshark(name: str, sample: Opened, tmp_path: Path) -> None:
    assert shutil.which("tshark"), "tests/packages.txt: tshark"
    session = sample(name)
    filters = [f"({text}){NO_QUOTES}" for text in FILTERS]
    found = tshark_finds(capture_of(session), filters, tmp_path)
    wrong = [
        (text, ours, theirs)
        for text, theirs in zip(filters, found, strict=True)
        if (ours := passed(session, text)) != theirs
    ]
    assert wrong == []


def test_most_filters_pass_something(sample: Opened) -> None:
    """Else they would agree about nothing."""
    hits = [any(passed(sample(name), text) for name in SAMPLES) for text in FILTERS]
    assert sum(hits) > 0.8 * len(FILTERS)
