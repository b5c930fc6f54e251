# SPDX-License-Identifier: MIT
"""Writes small captures for tests: packets as bytes, and pcap and pcapng files around them.

KBLs are written by tests/readers/build_kbl.py.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

Packet = tuple[int, bytes]  # (ns since the epoch, the packet's bytes)

MAC_A = bytes.fromhex("020000000001")
MAC_B = bytes.fromhex("020000000002")


def tcp(
    sport: int, dport: int, seq: int = 0, ack: int = 0, flags: int = 0x10, payload: bytes = b""
) -> bytes:
    """Return a TCP segment (checksum 0)."""
    return struct.pack("!HHIIBBHHH", sport, dport, seq, ack, 0x50, flags, 8192, 0, 0) + payload


def udp(sport: int, dport: int, payload: bytes = b"") -> bytes:
    return struct.pack("!HHHH", sport, dport, 8 + len(payload), 0) + payload


def icmp(type_: int, code: int, ident: int, seq: int, payload: bytes = b"") -> bytes:
    """Return an ICMP or ICMPv6 message (checksum 0)."""
    return struct.pack("!BBHHH", type_, code, 0, ident, seq) + payload


def ipv4(
    saddr: str,
    daddr: str,
    protocol: int,
    payload: bytes,
    ip_id: int = 0,
    frag_off: int = 0x4000,
    ttl: int = 64,
    options: bytes = b"",
    tot_len: int | None = None,
) -> bytes:
    """Return an IPv4 packet (checksum 0); `options` is a multiple of 4 bytes."""
    header_len = 20 + len(options)
    length = header_len + len(payload) if tot_len is None else tot_len
    fields = (0x40 | header_len // 4, 0, length, ip_id, frag_off, ttl, protocol, 0)
    addresses = IPv4Address(saddr).packed + IPv4Address(daddr).packed
    return struct.pack("!BBHHHBBH", *fields) + addresses + options + payload


def ipv6(saddr: str, daddr: str, nexthdr: int, payload: bytes, hop_limit: int = 64) -> bytes:
    addresses = IPv6Address(saddr).packed + IPv6Address(daddr).packed
    return struct.pack("!IHBB", 6 << 28, len(payload), nexthdr, hop_limit) + addresses + payload


def arp(
    operation: int, sender: str, target: str, sha: bytes = MAC_A, tha: bytes = bytes(6)
) -> bytes:
    head = struct.pack("!HHBBH", 1, 0x0800, 6, 4, operation)
    return head + sha + IPv4Address(sender).packed + tha + IPv4Address(target).packed


def ethernet(
    payload: bytes,
    ethertype: int = 0x0800,
    src: bytes = MAC_A,
    dst: bytes = MAC_B,
    vlans: Sequence[tuple[int, int]] = (),
) -> bytes:
    """Return an Ethernet frame; `vlans` are (tag protocol id, VLAN id), outermost first."""
    tags = b"".join(struct.pack("!HH", tpid, vlan) for tpid, vlan in vlans)
    return dst + src + tags + struct.pack("!H", ethertype) + payload


def pcap_bytes(
    packets: Sequence[Packet],
    order: str = "<",
    nano: bool = True,
    linktype: int = 1,
    snaplen: int = 262144,
) -> bytes:
    """Return a pcap file; packets longer than `snaplen` are cut (0 = no limit)."""
    magic, unit = (0xA1B23C4D, 1) if nano else (0xA1B2C3D4, 1000)
    out = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snaplen, linktype)]
    for ts, data in packets:
        kept = data[:snaplen] if snaplen else data
        stamp = (ts // 10**9, ts % 10**9 // unit)
        out.append(struct.pack(order + "IIII", *stamp, len(kept), len(data)) + kept)
    return b"".join(out)


def write_pcap(
    path: Path,
    packets: Sequence[Packet],
    order: str = "<",
    nano: bool = True,
    linktype: int = 1,
    snaplen: int = 262144,
) -> Path:
    path.write_bytes(pcap_bytes(packets, order, nano, linktype, snaplen))
    return path


def block(type_: int, body: bytes, order: str = "<") -> bytes:
    """Return one pcapng block, padded."""
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", type_) + length + body + length


def option(code: int, value: bytes, order: str = "<") -> bytes:
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def section_header(order: str = "<") -> bytes:
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface_block(
    linktype: int = 1,
    order: str = "<",
    name: str = "",
    snaplen: int = 0,
    tsresol: int | None = 9,
    tsoffset: int | None = None,
) -> bytes:
    """Return an IDB; `tsresol` is the option's byte as it stands in the file (None = left out)."""
    options = b""
    if name:
        options += option(2, name.encode(), order)
    if tsresol is not None:
        options += option(9, bytes([tsresol]), order)
    if tsoffset is not None:
        options += option(14, struct.pack(order + "q", tsoffset), order)
    if options:
        options += option(0, b"", order)
    return block(1, struct.pack(order + "HHI", linktype, 0, snaplen) + options, order)


def enhanced_packet(ticks: int, data: bytes, interface: int = 0, order: str = "<") -> bytes:
    fields = (interface, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data))
    return block(6, struct.pack(order + "5I", *fields) + data, order)


def write_pcapng(
    path: Path, packets: Sequence[Packet], order: str = "<", linktype: int = 1, name: str = "veth0"
) -> Path:
    """Return one section, one interface with ns times, one EPB a packet."""
    parts = [section_header(order), interface_block(linktype, order, name)]
    parts += [enhanced_packet(ts, data, 0, order) for ts, data in packets]
    path.write_bytes(b"".join(parts))
    return path
