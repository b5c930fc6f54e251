# SPDX-License-Identifier: MIT
"""Link layer headers: Ethernet and VLAN tags, Linux cooked capture, loopback, raw IP, ARP, LLC."""

from __future__ import annotations

import dpkt

from ..words.packet_info import BROADCAST, ETHERTYPES
from .detail_tree_lines import Node, Spec, Step, fields, hexadecimal, name_format

ETHERTYPE = name_format(
    ETHERTYPES | {0x8100: "802.1Q Virtual LAN", 0x88A8: "802.1ad", 0x8864: "PPPoE session"},
    hexadecimal(4),
)
NEXT = {0x0800: "ipv4", 0x86DD: "ipv6", 0x0806: "arp", 0x8100: "vlan", 0x88A8: "vlan"}
PACKET_TYPES = {0: "Unicast to us", 1: "Broadcast", 2: "Multicast", 3: "Unicast to another host"}
PACKET_TYPES |= {4: "Sent by us"}
ARP_OPCODES = {1: "request", 2: "reply"}
HARDWARE = {1: "Ethernet", 772: "Loopback", 801: "802.11", 803: "802.11 radiotap"}
LENGTH_LIMIT = 0x600  # a smaller EtherType is a length (IEEE 802.3)


def ethernet(data: bytes, at: int, end: int) -> Step:
    """Dissect the Ethernet header at byte `at` of `data`; its payload goes on to byte `end`.

    If the type is below LENGTH_LIMIT, it is a length, and an LLC header follows.
    """
    kind = int.from_bytes(data[at + 12 : at + 14], "big")
    specs = (
        Spec("dst", "Destination", "eth.dst", hardware),
        Spec("src", "Source", "eth.src", hardware),
        Spec("type", "Type", "eth.type", ETHERTYPE),
    )
    if kind < LENGTH_LIMIT:
        specs = (*specs[:2], Spec("type", "Length"))
    inner = fields(data, at, dpkt.ethernet.Ethernet, specs)
    text = f"Ethernet II, {inner[1].text.replace('Source', 'Src')}, "
    text += inner[0].text.replace("Destination", "Dst")
    following = NEXT.get(kind, "data") if kind >= LENGTH_LIMIT else "llc"
    return Step(Node(text, at, 14, inner), following, at + 14, end)


def vlan(data: bytes, at: int, end: int) -> Step:
    """Dissect the 802.1Q tag at byte `at` of `data`, after its EtherType 0x8100 or 0x88a8.

    The payload goes on to byte `end`.
    """
    tag = int.from_bytes(data[at : at + 2], "big")
    kind = int.from_bytes(data[at + 2 : at + 4], "big")
    inner = (
        Node(f"Priority: {tag >> 13}", at, 2, (), "vlan.priority", str(tag >> 13)),
        Node(f"DEI: {tag >> 12 & 1}", at, 2),
        Node(f"ID: {tag & 0xFFF}", at, 2, (), "vlan.id", str(tag & 0xFFF)),
        Node(f"Type: {ETHERTYPE(kind)}", at + 2, 2, (), "vlan.etype", f"0x{kind:04x}"),
    )
    node = Node(f"802.1Q Virtual LAN, PRI: {tag >> 13}, ID: {tag & 0xFFF}", at, 4, inner)
    return Step(node, NEXT.get(kind, "data"), at + 4, end)


def cooked(data: bytes, at: int, end: int) -> Step:
    """Dissect the header of a Linux cooked capture, version 1 (SLL), at byte `at` of `data`.

    The payload goes on to byte `end`.
    """
    specs = (
        Spec("type", "Packet type", "", name_format(PACKET_TYPES)),
        Spec("hrd", "Link-layer address type", "", name_format(HARDWARE)),
        Spec("hlen", "Link-layer address length"),
        Spec("ethtype", "Protocol", "eth.type", ETHERTYPE),
    )
    inner = fields(data, at, dpkt.sll.SLL, specs)
    kind = int.from_bytes(data[at + 14 : at + 16], "big")
    return Step(
        Node("Linux cooked capture v1", at, 16, inner), NEXT.get(kind, "data"), at + 16, end
    )


def cooked2(data: bytes, at: int, end: int) -> Step:
    """Dissect the header of a Linux cooked capture, version 2 (SLL2), at byte `at` of `data`.

    The payload goes on to byte `end`.
    """
    specs = (
        Spec("ethtype", "Protocol", "eth.type", ETHERTYPE),
        Spec("intindex", "Interface index"),
        Spec("hrd", "Link-layer address type", "", name_format(HARDWARE)),
        Spec("type", "Packet type", "", name_format(PACKET_TYPES)),
        Spec("hlen", "Link-layer address length"),
    )
    inner = fields(data, at, dpkt.sll2.SLL2, specs)
    kind = int.from_bytes(data[at : at + 2], "big")
    return Step(
        Node("Linux cooked capture v2", at, 20, inner), NEXT.get(kind, "data"), at + 20, end
    )


def null(data: bytes, at: int, end: int) -> Step:
    """Dissect the BSD loopback header at byte `at` of `data`; its payload goes on to byte `end`.

    The header is the number of an address family, in the byte order of the capturing host.
    """
    family = min(int.from_bytes(data[at : at + 4], order) for order in ("big", "little"))
    node = Node(f"Null/Loopback, Family: {family}", at, 4)
    return Step(
        node, {2: "ipv4", 24: "ipv6", 28: "ipv6", 30: "ipv6"}.get(family, "data"), at + 4, end
    )


def raw(data: bytes, at: int, end: int) -> Step:
    """Return an empty link header for an IP packet from byte `at` to byte `end` of `data`."""
    version = data[at] >> 4
    node = Node("Raw packet data", at, 0)
    return Step(node, {4: "ipv4", 6: "ipv6"}.get(version, "data"), at, end)


def llc(data: bytes, at: int, end: int) -> Step:
    """Dissect the LLC header (IEEE 802.2) at byte `at` of `data`, with a SNAP header if it has one.

    The payload goes on to byte `end`.
    """
    inner = (
        Node(f"DSAP: 0x{data[at]:02x}", at, 1),
        Node(f"SSAP: 0x{data[at + 1]:02x}", at + 1, 1),
        Node(f"Control: 0x{data[at + 2]:02x}", at + 2, 1),
    )
    snap = data[at : at + 3] == b"\xaa\xaa\x03"
    kind = int.from_bytes(data[at + 6 : at + 8], "big") if snap else 0
    size = 8 if snap else 3
    node = Node("Logical-Link Control", at, size, inner)
    return Step(node, NEXT.get(kind, "data"), at + size, end)


def arp(data: bytes, at: int, end: int) -> Step:
    """Dissect the ARP packet at byte `at` of `data`; show addresses of Ethernet and IPv4 only."""
    specs = (
        Spec("hrd", "Hardware type", "arp.hw.type", name_format(HARDWARE)),
        Spec("pro", "Protocol type", "", ETHERTYPE),
        Spec("hln", "Hardware size"),
        Spec("pln", "Protocol size"),
        Spec("op", "Opcode", "arp.opcode", name_format(ARP_OPCODES)),
    )
    inner = list(fields(data, at, dpkt.arp.ARP, specs))
    if data[at + 4 : at + 6] == b"\x06\x04":
        more = (
            Spec("sha", "Sender MAC address", "arp.src.hw_mac", hardware),
            Spec("spa", "Sender IP address", "arp.src.proto_ipv4", dotted),
            Spec("tha", "Target MAC address", "arp.dst.hw_mac", hardware),
            Spec("tpa", "Target IP address", "arp.dst.proto_ipv4", dotted),
        )
        inner += fields(data, at, dpkt.arp.ARP, more)
    kind = ARP_OPCODES.get(int.from_bytes(data[at + 6 : at + 8], "big"), "other")
    if data[at + 14 : at + 18] == data[at + 24 : at + 28] and kind in ARP_OPCODES.values():
        kind += "/gratuitous ARP"
    node = Node(f"Address Resolution Protocol ({kind})", at, min(28, end - at), tuple(inner))
    return Step(node, "trailer", at + 28, end)


def dotted(value: int) -> str:
    """Return the IPv4 address `value` as text: "10.0.0.1"."""
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def hardware(value: int) -> str:
    """Return the MAC address `value` as text: "00:16:3e:00:00:01"."""
    text = ":".join(f"{value:012x}"[i : i + 2] for i in range(0, 12, 2))
    return f"Broadcast ({text})" if value == BROADCAST else text
