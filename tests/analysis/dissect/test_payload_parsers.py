# SPDX-License-Identifier: MIT
"""DNS, DHCP, HTTP and TLS in payloads: Wireshark's name and Info."""

from __future__ import annotations

import struct

import dpkt

from skbviewer.analysis.dissect import payload_summary
from skbviewer.analysis.dissect.decoded_payload import Line

TCP, UDP = 6, 17


def test_dns_question_and_answer() -> None:
    question = dpkt.dns.DNS(id=0x1234, qd=[dpkt.dns.DNS.Q(name="example.org", type=1)])
    summary = payload_summary(UDP, 40000, 53, bytes(question))
    assert summary is not None
    assert (summary.protocol, summary.info) == ("DNS", "Standard query 0x1234 A example.org")
    answer = b"\x12\x34\x81\x80\0\1\0\1\0\0\0\0\7example\3org\0\0\1\0\1"
    answer += b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc0\0\2\1"
    summary = payload_summary(UDP, 53, 40000, answer)
    assert summary is not None
    assert summary.info == "Standard query response 0x1234 A example.org A 192.0.2.1"
    assert [(line.offset, line.length) for line in summary.lines] == [(0, 2), (12, 17), (29, 16)]
    over_tcp = payload_summary(TCP, 53, 40000, struct.pack(">H", len(answer)) + answer)
    assert over_tcp is not None and over_tcp.info == summary.info
    assert [line.offset for line in over_tcp.lines] == [2, 14, 31]
    missing = answer[:3] + b"\x83" + answer[4:7] + b"\0" + answer[8:29]
    summary = payload_summary(UDP, 53, 40000, missing)
    assert summary is not None and "No such name" in summary.info


def test_dhcp() -> None:
    asked = ((50, b"\xc0\0\2\7"), (51, b"\0\0\2\x58"), (12, b"host\0"), (99, b"\1\2"))
    summary = payload_summary(UDP, 68, 67, bytes(dpkt.dhcp.DHCP(opts=((53, b"\3"), *asked))))
    assert summary is not None
    assert [line.text for line in summary.lines[-4:]] == [
        "Option (50) Requested IP Address: 192.0.2.7",
        "Option (51) IP Address Lease Time: 600 s",
        "Option (12) Host Name: host",
        "Option (99): 0102",
    ]
    discover = dpkt.dhcp.DHCP(xid=0xBEEF, opts=((53, b"\1"),), chaddr=b"\2\0\0\0\0\1")
    summary = payload_summary(UDP, 68, 67, bytes(discover))
    assert summary is not None
    assert summary.info == "DHCP Discover - Transaction ID 0xbeef"
    assert Line("Client MAC address: 02:00:00:00:00:01", 28, 6) in summary.lines
    assert summary.lines[-1] == Line("Option (53) DHCP Message Type: Discover (1)", 240, 3)


def test_http_request_response_and_the_middle_of_a_body() -> None:
    summary = payload_summary(TCP, 40000, 80, b"GET /a?b HTTP/1.1\r\nHost: example.org\r\n\r\n")
    assert summary is not None
    assert (summary.protocol, summary.info) == ("HTTP", "GET /a?b HTTP/1.1")
    assert summary.lines == (
        Line("GET /a?b HTTP/1.1", 0, 19),
        Line("Host: example.org", 19, 19),
    )
    summary = payload_summary(TCP, 80, 40000, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<half")
    assert summary is not None and summary.info == "HTTP/1.1 200 OK"
    assert payload_summary(TCP, 80, 40000, b"the rest of it") is None


def hello(kind: int, extensions: bytes) -> bytes:
    rest = struct.pack(">H", 0x303) + bytes(32) + b"\0"
    rest += b"\0\2\x13\x01\1\0" if kind == 1 else b"\x13\x01\0"
    rest += struct.pack(">H", len(extensions)) + extensions
    body = bytes([kind]) + len(rest).to_bytes(3, "big") + rest
    return b"\x16\3\1" + struct.pack(">H", len(body)) + body


def test_what_is_no_text_is_shown_escaped() -> None:
    """A sender moves nobody's cursor, and makes no XML that cannot be read."""
    summary = payload_summary(TCP, 1000, 80, b"GET /\x1b[2J HTTP/1.1\r\nHost: \x01a\r\n\r\n")
    assert summary is not None
    assert summary.info == r"GET /\x1b[2J HTTP/1.1"
    assert [line.text for line in summary.lines] == [summary.info, r"Host: \x01a"]


def test_tls() -> None:
    name = b"\0\0\0\x10\0\x0e\0\0\x0bexample.org"
    summary = payload_summary(TCP, 40000, 443, hello(1, name))
    assert summary is not None
    assert (summary.protocol, summary.info) == ("TLSv1.2", "Client Hello (SNI=example.org)")
    summary = payload_summary(TCP, 443, 40000, hello(2, b"\0\x2b\0\2\3\4") + b"\x14\3\3\0\1\1")
    assert summary is not None
    assert (summary.protocol, summary.info) == ("TLSv1.3", "Server Hello, Change Cipher Spec")
    whole = len(hello(2, b"\0\x2b\0\2\3\4"))
    assert [(line.offset, line.length) for line in summary.lines] == [(0, whole), (whole, 6)]
    assert payload_summary(TCP, 443, 40000, b"\x99" * 20) is None


def test_what_cannot_be_parsed_is_nothing() -> None:
    for sport, dport in ((9, 53), (9, 67), (9, 10)):
        assert payload_summary(UDP, sport, dport, b"\xff" * 9) is None
    assert payload_summary(UDP, 9, 53, b"") is None
