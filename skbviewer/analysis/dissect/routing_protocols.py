# SPDX-License-Identifier: MIT
"""Routing and bridging protocols: Wireshark's protocol name and Info, from their first bytes.

Input: captured bytes.  They begin after the IP header, at the payload of TCP or UDP, or at the LLC
header.  The parsers raise IndexError or struct.error if the bytes are too short.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from ipaddress import IPv4Address

from ...readers import printable
from ...records.protocols import TCP, UDP
from ..words.packet_info import mac
from .decoded_payload import Line, PayloadSummary
from .neighbour_discovery import neighbour_summary

ControlParser = Callable[[bytes], tuple[str, str]]
Asked = Callable[[bytes], tuple[str, str] | None]

HSRP_MESSAGES = ("Hello", "Coup", "Resign", "Advertise")  # RFC 2281
HSRP_STATES = {0: "Initial", 1: "Learn", 2: "Listen", 4: "Speak", 8: "Standby", 16: "Active"}
EIGRP_CODES = {1: "Update", 2: "Request", 3: "Query", 4: "Reply", 5: "Hello", 10: "SIA-Query"}
EIGRP_CODES |= {11: "SIA-Reply"}  # RFC 7868
OSPF_KINDS = ("", "Hello Packet", "DB Description", "LS Request", "LS Update", "LS Acknowledge")
PIM_KINDS: tuple[str, ...] = (
    "Hello",
    "Register",
    "Register-stop",
    "Join/Prune",
    "Bootstrap",
    "Assert",
    "Graft",
)
PIM_KINDS += ("Graft-Ack", "Candidate-RP-Advertisement")  # RFC 7761
BGP_KINDS = ("", "OPEN", "UPDATE", "NOTIFICATION", "KEEPALIVE", "ROUTE-REFRESH")  # RFC 4271
BGP_HEADER = 19
SCTP_CHUNKS: tuple[str, ...] = (
    "DATA",
    "INIT",
    "INIT_ACK",
    "SACK",
    "HEARTBEAT",
    "HEARTBEAT_ACK",
    "ABORT",
)
SCTP_CHUNKS += ("SHUTDOWN", "SHUTDOWN_ACK", "ERROR", "COOKIE_ECHO", "COOKIE_ACK", "ECNE", "CWR")
SCTP_CHUNKS += ("SHUTDOWN_COMPLETE",)  # RFC 9260
NBSS_KINDS = {
    0x81: "Session request",
    0x82: "Positive session response",
    0x85: "Session keep-alive",
}
NBSS_KINDS |= {0x83: "Negative session response"}
SMB_NAMES = {b"\xffSMB": "SMB", b"\xfeSMB": "SMB2"}
BPDU_NAMES = {0: "Conf", 2: "RST"}
TOPOLOGY_CHANGE, GVRP_GROUP = 0x80, bytes.fromhex("0180c2000021")
CDP_DEVICE, CDP_PORT = 1, 3
UNNUMBERED_INFORMATION = 0x03
EXCLUDE, INCLUDE = (2, 4), (1, 3)  # record types of IGMPv3 (RFC 3376)


def _igmp(data: bytes) -> tuple[str, str]:
    kind, group = data[0], IPv4Address(data[4:8])
    where = f" group {group}" if int(group) else ", general"
    if kind == 0x11:
        version = 3 if len(data) >= 12 else 2 if data[1] else 1
        about = f"specific for group {group}" if int(group) else "general"
        return f"IGMPv{version}", f"Membership Query, {about}"
    if kind == 0x22:
        return "IGMPv3", "Membership Report" + _igmp_records(data)
    names = {0x12: (1, "Membership Report"), 0x16: (2, "Membership Report")}
    if kind in names:
        version, text = names[kind]
        return f"IGMPv{version}", text + where
    return ("IGMPv2", f"Leave Group {group}") if kind == 0x17 else ("IGMP", f"Type 0x{kind:02x}")


def _igmp_records(data: bytes) -> str:
    """Return the groups that a host joins or leaves, from those records that list no sources."""
    said, at = "", 8
    for _ in range(struct.unpack_from(">H", data, 6)[0]):
        kind, extra, sources = struct.unpack_from(">BBH", data, at)
        group = IPv4Address(data[at + 4 : at + 8])
        if kind in EXCLUDE and not sources:
            said += f" / Join group {group} for any sources"
        elif kind in INCLUDE and not sources:
            said += f" / Leave group {group}"
        at += 8 + sources * 4 + extra * 4
    return said


def _eigrp(data: bytes) -> tuple[str, str]:
    (acknowledged,) = struct.unpack_from(">I", data, 12)
    name = EIGRP_CODES.get(data[1], f"Opcode {data[1]}")
    return "EIGRP", name + (" (Ack)" if name == "Hello" and acknowledged else "")


def _ospf(data: bytes) -> tuple[str, str]:
    return "OSPF", _named(OSPF_KINDS, data[1])


def _named(names: tuple[str, ...], kind: int) -> str:
    return (names[kind] if kind < len(names) else "") or f"Type {kind}"


def _pim(data: bytes) -> tuple[str, str]:
    return f"PIMv{data[0] >> 4}", _named(PIM_KINDS, data[0] & 15)


def _vrrp(data: bytes) -> tuple[str, str]:
    return "VRRP", f"Announcement (v{data[0] >> 4})"


def _sctp(data: bytes) -> tuple[str, str]:
    names, at = [], 12
    while at + 4 <= len(data):
        kind, _, size = struct.unpack_from(">BBH", data, at)
        names.append(SCTP_CHUNKS[kind] if kind < len(SCTP_CHUNKS) else f"Chunk {kind}")
        at += max(size + 3 & ~3, 4)
    return "SCTP", " ".join(names)


def _hsrp(data: bytes) -> tuple[str, str]:
    version, message, state = data[:3]
    if version:  # version 2 consists of type, length, value
        return "HSRPv2", "HSRP"
    name = HSRP_MESSAGES[message]
    return "HSRP", name if message == 3 else f"{name} (state {HSRP_STATES[state]})"


def _bgp(data: bytes) -> tuple[str, str]:
    names, at = [], 0
    while at + BGP_HEADER <= len(data) and data[at : at + 16] == b"\xff" * 16:
        names.append(f"{_named(BGP_KINDS, data[at + 18])} Message")
        at += max(int.from_bytes(data[at + 16 : at + 18], "big"), BGP_HEADER)
    return "BGP", ", ".join(names) or "Continuation"


def _rip(data: bytes) -> tuple[str, str]:
    return f"RIPv{data[1]}", ("Request", "Response")[data[0] - 1]


def _nbss(data: bytes) -> tuple[str, str]:
    """Decode a NetBIOS session message (RFC 1002, 4.3).

    A segment that continues an earlier message is not recognised.
    """
    if data[4:8] in SMB_NAMES:
        return SMB_NAMES[data[4:8]], "NetBIOS session message"
    return "NBSS", NBSS_KINDS[data[0]]


def _bpdu(data: bytes) -> tuple[str, str]:
    version, kind = data[5], data[6]
    if kind == TOPOLOGY_CHANGE:
        return "STP", "Topology Change Notification"
    name = "MST" if version >= 3 else BPDU_NAMES[kind]
    flags, priority, root, cost = struct.unpack_from(">BH6sI", data, 7)
    (port,) = struct.unpack_from(">H", data, 28)
    change = "TC + " if flags & 1 else ""
    tree = f"{priority & 0xF000}/{priority & 0xFFF}/{mac(int.from_bytes(root, 'big'))}"
    return "STP", f"{name}. {change}Root = {tree}  Cost = {cost}  Port = 0x{port:04x}"


def _cdp(data: bytes) -> tuple[str, str]:
    at, said = 12, {}
    while at + 4 <= len(data):
        kind, size = struct.unpack_from(">HH", data, at)
        said[kind] = data[at + 4 : at + max(size, 4)].decode("utf-8", "replace")
        at += max(size, 4)
    shown = ((CDP_DEVICE, "Device ID"), (CDP_PORT, "Port ID"))
    return "CDP", "  ".join(f"{name}: {said[kind]}" for kind, name in shown if kind in said)


def _llc(frame: bytes) -> tuple[str, str] | None:
    """Decode an Ethernet frame that has a length; None if it has an EtherType instead."""
    at = 14
    while frame[at - 2 : at] in (b"\x81\0", b"\x88\xa8", b"\x91\0"):
        at += 4
    data = frame[at:]
    if int.from_bytes(frame[at - 2 : at], "big") >= 0x600:
        return None
    if data[:2] == b"\xff\xff":
        return None  # IPX without LLC
    if data[:2] == b"\x42\x42":
        return ("GVRP", "GVRP") if frame[:6] == GVRP_GROUP else _bpdu(data)
    if data[:8] == b"\xaa\xaa\x03\0\0\x0c\x20\0":
        return _cdp(data)
    carries = data[2] & 1 == 0 or data[2] & 0xEF == UNNUMBERED_INFORMATION
    return ("NetBIOS", "NetBIOS") if data[0] == 0xF0 and carries else ("LLC", "LLC")


IP_PROTOCOLS: dict[int, Asked] = {2: _igmp, 88: _eigrp, 89: _ospf, 103: _pim, 112: _vrrp}
IP_PROTOCOLS |= {58: neighbour_summary, 132: _sctp}
PAYLOADS: dict[tuple[int, int], ControlParser] = {
    (UDP, 1985): _hsrp,
    (UDP, 2029): _hsrp,
    (TCP, 179): _bgp,
}
PAYLOADS |= {(UDP, 520): _rip, (TCP, 139): _nbss, (TCP, 445): _nbss}


def control_summary(protocol: int, data: bytes) -> tuple[str, str] | None:
    """Return (Protocol, Info) of an IP packet that is neither TCP nor UDP; None if unknown.

    `protocol` is the IP protocol number, and `data` are the bytes after the IP headers.
    """
    return _tried(IP_PROTOCOLS[protocol], data) if protocol in IP_PROTOCOLS else None


def llc_summary(frame: bytes) -> tuple[str, str] | None:
    """Return (Protocol, Info) of an Ethernet frame that has no EtherType; None if unknown."""
    return _tried(_llc, frame)


def _tried(parser: Asked, data: bytes) -> tuple[str, str] | None:
    try:
        found = parser(data)
    except (struct.error, IndexError, KeyError, ValueError):
        return None
    return None if found is None else (found[0], printable(found[1]))


def parsers() -> dict[tuple[int, int], Callable[[bytes], PayloadSummary | None]]:
    """Return the parsers of payloads, by protocol (6 or 17) and port."""

    def parser(parse_bytes: ControlParser) -> Callable[[bytes], PayloadSummary | None]:
        def parse(data: bytes) -> PayloadSummary:
            name, info = parse_bytes(data)
            return PayloadSummary(name, info, (Line(info, 0, len(data)),))

        return parse

    return {key: parser(parse_bytes) for key, parse_bytes in PAYLOADS.items()}
