# SPDX-License-Identifier: MIT
"""Frames with addresses in all kinds of places, with good checksums computed plainly."""

from __future__ import annotations

import struct
from ipaddress import IPv4Address, IPv6Address

from tests.readers.build import ethernet, icmp, ipv4, ipv6, tcp, udp

FOUR = ("203.0.113.77", "198.51.100.23", "192.0.2.201")
SIX = ("2001:db8:77::a1:b2c3", "2001:db8:23::9f:8e7d", "fe80::1cff:fe5a:6b7c", "2001:db8:99::5")
MACS = tuple(bytes.fromhex(text) for text in ("021c425a6b7c", "00163e77a1b2", "5254009f8e7d"))
SECRET = b"from 203.0.113.77 to 2001:db8:77::a1:b2c3 " + IPv4Address(FOUR[0]).packed
TCP, UDP, ICMP, ICMPV6, IGMP = 6, 17, 1, 58, 2
CHECKSUM_AT = {TCP: 16, UDP: 6, ICMP: 2, ICMPV6: 2, IGMP: 2}


def checksum(data: bytes) -> int:
    """Return the checksum of RFC 1071."""
    data += bytes(len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _put(data: bytes, at: int, value: int) -> bytes:
    return data[:at] + struct.pack("!H", value) + data[at + 2 :]


def with_checksum(protocol: int, data: bytes, pseudo: bytes = b"") -> bytes:
    """Return a transport header and payload with a checksum."""
    value = checksum(pseudo + data)
    return _put(data, CHECKSUM_AT[protocol], value or (0xFFFF if protocol == UDP else 0))


def four(protocol: int, data: bytes, ends: tuple[str, str] = FOUR[:2], **more: object) -> bytes:
    """Return an IPv4 packet with good checksums."""
    both = b"".join(IPv4Address(end).packed for end in ends)
    pseudo = both + struct.pack("!HH", protocol, len(data))
    if protocol in CHECKSUM_AT:
        data = with_checksum(protocol, data, pseudo if protocol in (TCP, UDP) else b"")
    packet = ipv4(*ends, protocol, data, **more)  # type: ignore[arg-type]
    size = (packet[0] & 15) * 4
    return _put(packet[:size], 10, checksum(packet[:size])) + packet[size:]


def six(
    protocol: int, data: bytes, ends: tuple[str, str] = SIX[:2], before: bytes = b"", first: int = 0
) -> bytes:
    """Return an IPv6 packet with a good checksum.

    `before` are extension headers, the first of which is of kind `first`.
    """
    both = b"".join(IPv6Address(end).packed for end in ends)
    data = with_checksum(protocol, data, both + struct.pack("!II", len(data), protocol))
    return ipv6(*ends, first or protocol, before + data, 255)


def fragments(packet: bytes, size: int = 800) -> list[bytes]:
    """Return an IPv4 packet in fragments."""
    made, body = [], packet[20:]
    for at in range(0, len(body), size):
        more = 0x2000 if at + size < len(body) else 0
        head = _put(_put(packet[:20], 2, 20 + len(body[at : at + size])), 6, more | at // 8)
        head = _put(head, 10, 0)
        made.append(_put(head, 10, checksum(head)) + body[at : at + size])
    return made


def fragments6(packet: bytes, size: int = 800) -> list[bytes]:
    """Return an IPv6 packet without extension headers in fragments."""
    made, body = [], packet[40:]
    for at in range(0, len(body), size):
        more = int(at + size < len(body))
        part = struct.pack("!BBHI", packet[6], 0, at | more, 77) + body[at : at + size]
        head = packet[:4] + struct.pack("!HBB", len(part), 44, 64) + packet[8:40]
        made.append(head + part)
    return made


def _arp(operation: int, tha: bytes) -> bytes:
    ends = (IPv4Address(end).packed for end in FOUR[:2])
    head = struct.pack("!HHBBH", 1, 0x0800, 6, 4, operation)
    return head + MACS[0] + next(ends) + tha + next(ends)


def _option(kind: int, value: bytes) -> bytes:
    """Return an option of neighbour discovery."""
    return struct.pack("!BB", kind, (len(value) + 2) // 8) + value


def _packed(text: str) -> bytes:
    return IPv6Address(text).packed


def _prefix(text: str, bits: int) -> bytes:
    return struct.pack("!BBIII", bits, 0xC0, 3600, 1800, 0) + _packed(text)


def _solicited(text: str) -> str:
    return str(IPv6Address(_packed("ff02::1:ff00:0")[:13] + _packed(text)[13:]))


def neighbours() -> list[bytes]:
    """Return frames of neighbour discovery and of multicast listeners."""
    source = _option(1, MACS[0])
    solicit = struct.pack("!BBHI", 135, 0, 0, 0) + _packed(SIX[1]) + source
    advert = struct.pack("!BBHI", 136, 0, 0, 0x60000000) + _packed(SIX[1]) + _option(2, MACS[2])
    router = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 1800, 0, 0) + source
    router += _option(3, _prefix("2001:db8:77::", 64)) + _option(5, struct.pack("!HI", 0, 1500))
    router += _option(25, struct.pack("!HI", 0, 600) + _packed(SIX[3]))
    router += _option(24, struct.pack("!BBI", 48, 0, 600) + _packed("2001:db8:23::")[:8])
    router += _option(31, struct.pack("!HI", 0, 600) + b"\x03lab\x04home\0\0\0\0\0\0\0")
    quoted = six(UDP, udp(9, 10, SECRET[:40]))
    redirect = struct.pack("!BBHI", 137, 0, 0, 0) + _packed(SIX[2]) + _packed(SIX[1])
    redirect += _option(4, bytes(6) + quoted)
    listener = struct.pack("!BBHHH", 143, 0, 0, 0, 2)
    listener += struct.pack("!BBH", 4, 0, 0) + _packed(_solicited(SIX[1]))
    listener += struct.pack("!BBH", 5, 0, 1) + _packed("ff05::99") + _packed(SIX[3])
    group = _solicited(SIX[1])
    made = [
        (solicit, (SIX[0], group)), (advert, SIX[1::-1]), (router, (SIX[2], "ff02::1")),
        (redirect, (SIX[2], SIX[0])), (listener, (SIX[2], "ff02::16")),
        (struct.pack("!BBHHH", 131, 0, 0, 0, 0) + _packed(group), (SIX[2], group)),
    ]  # fmt: skip
    return [six(ICMPV6, data, (ends[0], ends[1])) for data, ends in made]


def frames() -> list[bytes]:
    """Return frames of all kinds, Ethernet."""
    sent4 = [
        four(TCP, tcp(4000, 80, 7, 9, 0x18, SECRET)),
        four(TCP, tcp(4000, 80, 7, 9, 0x10)),
        four(TCP, struct.pack("!HHIIBBHHH", 5, 6, 7, 8, 0x80, 2, 99, 0, 0)
             + bytes.fromhex("020405b4") + b"\x1e\x08\x30\x01" + IPv4Address(FOUR[1]).packed),
        four(UDP, udp(5000, 9999, SECRET)), four(UDP, udp(5000, 9999, b"x")),
        four(UDP, udp(5000, 9999)), four(UDP, udp(5000, 9999, SECRET + b"odd"), FOUR[1::-1]),
        four(ICMP, icmp(8, 0, 1, 2, SECRET)),
        four(ICMP, icmp(3, 3, 0, 0, four(UDP, udp(1, 2, SECRET))), FOUR[1::-1]),
        four(ICMP, icmp(11, 0, 0, 0, four(TCP, tcp(1, 2))[:28]), FOUR[1::-1]),
        four(ICMP, struct.pack("!BBH", 5, 1, 0) + IPv4Address(FOUR[2]).packed
             + four(UDP, udp(1, 2, SECRET)), FOUR[1::-1]),
        four(UDP, udp(7, 8, b"options"),
             options=b"\x07\x07\x08" + IPv4Address(FOUR[2]).packed + b"\0"),
        four(IGMP, struct.pack("!BBHHHBBH", 0x22, 0, 0, 0, 1, 6, 0, 1)
             + IPv4Address("232.1.1.1").packed + IPv4Address(FOUR[2]).packed,
             (FOUR[0], "224.0.0.22"), options=b"\x94\x04\0\0"),
        four(4, four(TCP, tcp(1, 2, payload=SECRET), FOUR[1:])),
        four(41, six(UDP, udp(1, 2, SECRET))),
        four(47, struct.pack("!HHI", 0x2000, 0x0800, 99) + four(UDP, udp(3, 4, SECRET), FOUR[1:])),
        four(UDP, udp(55555, 4789, struct.pack("!II", 0x08000000, 0x4200)
             + ethernet(four(TCP, tcp(1, 2, payload=SECRET), FOUR[1:]), 0x0800, MACS[2], MACS[1]))),
        *fragments(four(UDP, udp(600, 700, SECRET * 40), frag_off=0)),
    ]  # fmt: skip
    options = b"\x01\x04" + bytes(4)
    home = struct.pack("!BB", 17, 2) + b"\x01\x02\0\0\xc9\x10" + _packed(SIX[3])
    segments = struct.pack("!BBBBBBH", UDP, 4, 4, 1, 1, 0, 0) + _packed(SIX[3]) + _packed(SIX[1])
    routed = six(UDP, udp(1, 2, SECRET), (SIX[0], SIX[3]))[40:]
    sent6 = [
        six(TCP, tcp(4000, 80, 7, 9, 0x18, SECRET)), six(UDP, udp(1, 2, SECRET + b"!")),
        six(ICMPV6, icmp(128, 0, 1, 2, SECRET)),
        six(ICMPV6, icmp(2, 0, 0, 1280, six(UDP, udp(1, 2, SECRET))), SIX[1::-1]),
        six(UDP, udp(1, 2, SECRET), before=bytes([UDP, 0]) + options, first=60),
        ipv6(SIX[0], SIX[1], 43, segments + routed),
        ipv6(SIX[0], SIX[1], 60, b"\x3b" + home[1:]),
        *neighbours(),
        *fragments6(six(UDP, udp(600, 700, SECRET * 40))),
    ]  # fmt: skip
    made = [ethernet(packet, 0x0800, MACS[0], MACS[1]) for packet in sent4]
    made += [ethernet(packet, 0x86DD, MACS[0], MACS[1]) for packet in sent6]
    made += [
        ethernet(_arp(1, bytes(6)), 0x0806, MACS[0], b"\xff" * 6, ((0x8100, 7),)),
        ethernet(_arp(2, MACS[1]), 0x0806, MACS[0], MACS[1]) + b"leftover" + MACS[2],
        ethernet(b"\x02\x07\x04" + MACS[0] + b"\x04\x07\x03" + MACS[1] + bytes(10), 0x88CC,
                 MACS[0], bytes.fromhex("0180c200000e")),
    ]  # fmt: skip
    return made
