# SPDX-License-Identifier: MIT
"""Frames of control protocols, and packets whose checksums are right and wrong."""

from __future__ import annotations

import struct

from dpkt.icmp import ICMP
from dpkt.icmp6 import ICMP6
from dpkt.ip import IP
from dpkt.ip6 import IP6
from dpkt.tcp import TCP
from dpkt.udp import UDP

from tests.readers import build

A, B = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
A6, B6 = bytes.fromhex("fd09" + 27 * "0" + "1"), bytes.fromhex("fd09" + 27 * "0" + "2")


def ip(protocol: int, payload: bytes, daddr: str = "10.0.0.2", ttl: int = 64) -> bytes:
    return build.ethernet(build.ipv4("10.0.0.1", daddr, protocol, payload, ttl=ttl))


def llc(payload: bytes, dst: str, tagged: bool = False) -> bytes:
    vlans = ((0x8100, 5),) if tagged else ()
    return build.ethernet(payload, len(payload), dst=bytes.fromhex(dst), vlans=vlans)


def bpdu(kind: int) -> bytes:
    head = struct.pack("!3sHBB", b"\x42\x42\x03", 0, 2 if kind == 2 else 0, kind)
    if kind == 0x80:
        return head
    bridge = bytes.fromhex("8000020000000001")
    body = b"\x01" + bridge + bytes(4) + bridge + struct.pack("!5H", 0x8001, 0, 5120, 512, 3840)
    return head + body + (b"\0" if kind == 2 else b"")


def hsrp(operation: int, state: int) -> bytes:
    body = struct.pack("!8B", 0, operation, state, 3, 10, 100, 1, 0) + b"cisco\0\0\0" + A
    if operation == 3:
        body = struct.pack("!BBHHBBHHI", 0, 3, 1, 10, 1, 0, 1, 1, 0)
    return ip(17, build.udp(1985, 1985, body), "224.0.0.2", 1)


def ospf(kind: int) -> bytes:
    body = bytes(20) if kind == 1 else bytes(8)
    head = struct.pack("!BBH4s4sHH", 2, kind, 24 + len(body), A, bytes(4), 0, 0)
    return ip(89, head + bytes(8) + body, "224.0.0.5", 1)


def sctp(*chunks: tuple[int, bytes]) -> bytes:
    body = b"".join(
        struct.pack("!BBH", kind, 0, 4 + len(data)) + data + bytes(-len(data) % 4)
        for kind, data in chunks
    )
    return ip(132, struct.pack("!HHII", 4000, 5000, 7, 0) + body)


INIT = (1, struct.pack("!IIHHI", 1, 65535, 1, 1, 1))
DATA = (0, struct.pack("!IHHI", 1, 0, 0, 0) + b"hello")
ABORT = (6, b"")
SMB = b"\xffSMB" + bytes.fromhex("72000000001843c8") + bytes(20)
NAME = b"\x20" + b"EKEDFEEIEDCACACACACACACACACACAAA" + b"\0"
DATAGRAM = struct.pack("!BBH4sHHH", 16, 2, 1, A, 138, 82 + len(SMB) - 14, 0) + NAME + NAME
NAME_QUERY = struct.pack("!6H", 1, 0x0110, 1, 0, 0, 0) + NAME + struct.pack("!HH", 32, 1)
REQUEST = struct.pack("<BBBB4sHHIIHH", 5, 0, 0, 3, b"\x10\0\0\0", 28, 0, 1, 4, 0, 2) + bytes(4)
CDP = b"\xaa\xaa\x03\0\0\x0c\x20\0" + bytes.fromhex("02b40000") + b"\0\x01\0\x05R"
GVRP = b"\x42\x42\x03\0\x01" + bytes.fromhex("0102000000")
KEEPALIVE = b"\xff" * 16 + b"\0\x13\x04"

CONTROL = (
    hsrp(0, 8), hsrp(0, 16), hsrp(0, 4), hsrp(1, 2), hsrp(3, 0),
    ip(88, bytes([2, 5]) + bytes(18), "224.0.0.10", 1),
    ospf(1), ospf(4), ospf(2),
    ip(112, bytes.fromhex("2101640100010000") + A + bytes(8), "224.0.0.18", 255),
    ip(112, bytes.fromhex("2101640100010000") + A + bytes(8), "224.0.0.18", 7),
    ip(2, bytes.fromhex("1600000000000000"), "224.0.0.251", 1),
    ip(103, bytes.fromhex("2000dfff"), "224.0.0.13", 1),
    sctp(INIT), sctp(DATA, ABORT), sctp(DATA, DATA), sctp(ABORT),
    llc(CDP, "01000ccccccc"), llc(GVRP, "0180c2000021"),
    llc(bpdu(0), "0180c2000000"), llc(bpdu(2), "0180c2000000"), llc(bpdu(0x80), "0180c2000000"),
    llc(bpdu(0x80), "0180c2000000", tagged=True),
    llc(b"\xf0\xf0\x03" + bytes.fromhex("2c00ffef0a00000000000000") + bytes(32), "030000000001"),
    build.ethernet(bytes(40), 0x81FD),
    ip(6, build.tcp(179, 5000, 1, 1, payload=KEEPALIVE)),
    ip(6, build.tcp(4000, 445, 1, 1, payload=struct.pack("!I", len(SMB)) + SMB)),
    ip(6, build.tcp(4001, 139, 1, 1, payload=b"\x85\0\0\0")),
    ip(17, build.udp(137, 137, NAME_QUERY)),
    ip(17, build.udp(138, 138, DATAGRAM + SMB)),
    ip(6, build.tcp(4002, 135, 1, 1, payload=REQUEST)),
    ip(17, build.udp(3222, 3222, bytes.fromhex("010000010000020000000001")), "224.0.0.102", 255),
    ip(17, build.udp(520, 520, bytes.fromhex("02020000") + bytes(20)), "224.0.0.9", 1),
    ip(6, build.tcp(4003, 22, 1, 1, payload=b"x" * 5), ttl=2),
    ip(17, build.udp(4004, 9, b"multi"), "224.0.0.77", 9),
)  # fmt: skip


def _spoiled(frame: bytes, at: int) -> bytes:
    return frame[:at] + bytes([frame[at] ^ 1]) + frame[at + 1 :]


def checksums() -> tuple[bytes, ...]:
    """Return right packets, packets with a wrong bit in the data, and with one in the IP header."""
    inner = (TCP(sport=7, dport=9, data=b"odd"), UDP(sport=7, dport=9, data=b"even", ulen=12))
    frames = []
    for protocol, data in zip((6, 17), inner, strict=True):
        four = IP(src=A, dst=B, p=protocol, data=data)
        four.len = 20 + len(bytes(data))
        six = IP6(src=A6, dst=B6, nxt=protocol, hlim=64, data=data, plen=len(bytes(data)))
        frames += [build.ethernet(bytes(four)), build.ethernet(bytes(six), 0x86DD)]
    echo = IP(src=A, dst=B, p=1, data=ICMP(type=8, data=ICMP.Echo(id=1, seq=2, data=b"ping")))
    echo.len = 20 + len(bytes(echo.data))
    message = ICMP6(type=128, data=ICMP6.Echo(id=1, seq=2, data=b"ping"))
    echo6 = IP6(src=A6, dst=B6, nxt=58, hlim=64, data=message, plen=12)
    frames += [build.ethernet(bytes(echo)), build.ethernet(bytes(echo6), 0x86DD)]
    spoiled = [_spoiled(frame, len(frame) - 1) for frame in frames]
    ttl = [_spoiled(frame, 22) for frame in frames if frame[12:14] == b"\x08\0"]
    none = ip(17, build.udp(7, 9, b"none"))
    return (*frames, *spoiled, *ttl, none)
