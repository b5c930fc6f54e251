# SPDX-License-Identifier: MIT
"""Made packets, each as a frame for libpcap and as the footprint the module would read."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

import numpy as np

from skbviewer.records import kbl_layout as layout

ETHERTYPE = {"ip": 0x0800, "ip6": 0x86DD, "arp": 0x0806, "rarp": 0x8035, "lldp": 0x88CC}
TCP, UDP, SCTP, UDPLITE, ICMP, ICMP6, FRAGMENT = 6, 17, 132, 136, 1, 58, 44
SOCK = struct.Struct("=HHBxHH4s4s16s16s6x")
SUBJECT_TAIL = struct.Struct("=4s4s16sII")


@dataclass(frozen=True)
class Packet:
    """One packet.  `frag_off` in units of 8 bytes; `fragment`: IPv6 with a fragment header."""

    layer3: str
    src: str = ""
    dst: str = ""
    protocol: int = 0
    sport: int = 0
    dport: int = 0
    frag_off: int = 0
    fragment: bool = False
    dev: str = ""
    mark: int = 0
    netns: int = 0
    tid: int = 0

    @property
    def whole(self) -> bool:
        """Return whether the module can decide: it is no fragment, and its ports can be read."""
        return not (self.frag_off or self.fragment or self.protocol == SCTP)


def address(text: str) -> bytes:
    """Return the address in network byte order."""
    return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)


def layer4(packet: Packet) -> bytes:
    """Return 24 bytes of the upper layer; only type, ports and ids matter."""
    if packet.protocol == TCP:
        head = struct.pack(">HHIIBBHHH", packet.sport, packet.dport, 1, 2, 0x50, 2, 9, 0, 0)
    elif packet.protocol == UDP:
        head = struct.pack(">HHHH", packet.sport, packet.dport, 24, 0)
    else:
        head = struct.pack(">HHI", packet.sport, packet.dport, 7)
    return head.ljust(24, b"\0")


def frame(packet: Packet) -> bytes:
    """Return the Ethernet frame."""
    ether = bytes(12) + struct.pack(">H", ETHERTYPE[packet.layer3])
    payload = layer4(packet)
    if packet.layer3 == "ip":
        head = struct.pack(">BBHHHBBH", 0x45, 0, 44, 1, packet.frag_off, 64, packet.protocol, 0)
        return ether + head + address(packet.src) + address(packet.dst) + payload
    if packet.layer3 == "ip6":
        upper = packet.protocol
        if packet.fragment:
            payload = struct.pack(">BBHI", upper, 0, packet.frag_off << 3, 5) + payload
            upper = FRAGMENT
        head = struct.pack(">IHBB", 6 << 28, len(payload), upper, 64)
        return ether + head + address(packet.src) + address(packet.dst) + payload
    if packet.layer3 in ("arp", "rarp"):
        head = struct.pack(">HHBBH", 1, 0x0800, 6, 4, 1)
        return ether + head + bytes(6) + address(packet.src) + bytes(6) + address(packet.dst)
    return ether + bytes(46)


def slot(dtype: np.dtype[np.void], **fields: object) -> bytes:
    """Return one struct of the layout with these fields set."""
    item = np.zeros(1, dtype)
    for name, value in fields.items():
        if isinstance(value, bytes):
            item[name][0] = np.frombuffer(value, np.uint8)
        else:
            item[name] = value
    return item.tobytes()


def ipv4_slot(packet: Packet) -> bytes:
    """Return KBL_EXT_IPV4 as kbl_skb.c reads it."""
    if packet.layer3 != "ip":
        return bytes(layout.KBL_SLOT_SIZE)
    ports = packet.protocol in (TCP, UDP, UDPLITE, ICMP, ICMP6) and not packet.frag_off
    return slot(
        layout.KBL_EXT_IPV4, protocol=packet.protocol, l4_valid=int(ports),
        saddr=address(packet.src), daddr=address(packet.dst),
        sport=packet.sport * ports, dport=packet.dport * ports, frag_off=packet.frag_off,
    )  # fmt: skip


def ipv6_slots(packet: Packet) -> bytes:
    """Return KBL_EXT_IPV6 and KBL_EXT_IPV6_L4 as kbl_skb.c reads them."""
    if packet.layer3 != "ip6":
        return bytes(2 * layout.KBL_SLOT_SIZE)
    ports = packet.protocol in (TCP, UDP, UDPLITE, ICMP, ICMP6) and not packet.frag_off
    src, dst = address(packet.src), address(packet.dst)
    nexthdr = FRAGMENT if packet.fragment else packet.protocol
    return slot(
        layout.KBL_EXT_IPV6, nexthdr=nexthdr, saddr_hi=src[:8], saddr_lo=src[8:], daddr_hi=dst[:8]
    ) + slot(
        layout.KBL_EXT_IPV6_L4, l4_valid=int(ports), daddr_lo=dst[8:],
        sport=packet.sport * ports, dport=packet.dport * ports,
    )  # fmt: skip


def subject(packet: Packet) -> bytes:
    """Return the packet as a struct subject of verdicts.c."""
    arp = packet.layer3 in ("arp", "rarp")
    flags = bytes([0, packet.layer3 == "ip", packet.layer3 == "ip6", arp, 0, 0, 0, 0])
    skb = slot(layout.KBL_EXT_SKB, ethertype=ETHERTYPE.get(packet.layer3, 0), mark=packet.mark,
               netns=packet.netns)  # fmt: skip
    ends = [address(a) if arp else bytes(4) for a in (packet.src, packet.dst)]
    tail = SUBJECT_TAIL.pack(*ends, packet.dev.encode(), packet.tid, 0)
    return flags + skb + ipv4_slot(packet) + ipv6_slots(packet) + tail + bytes(SOCK.size)


@dataclass(frozen=True)
class Sock:
    """What the module reads of a struct sock; `family` and `state` are the kernel's numbers."""

    family: int
    protocol: int
    local: str = ""
    remote: str = ""
    num: int = 0
    dport: int = 0
    state: int = 1
    outgoing: bool = True


def sock_subject(sock: Sock) -> bytes:
    """Return the socket as a struct subject of verdicts.c."""
    four, six = [bytes(4), bytes(4)], [bytes(16), bytes(16)]
    for i, text in enumerate((sock.local, sock.remote)):
        if text:
            (six if sock.family == socket.AF_INET6 else four)[i] = address(text)
    body = SOCK.pack(sock.family, sock.protocol, sock.state, sock.num, sock.dport, *four, *six)
    flags = bytes([1, 0, 0, 0, sock.outgoing, 0, 0, 0])
    return flags + bytes(4 * layout.KBL_SLOT_SIZE + SUBJECT_TAIL.size) + body
