# SPDX-License-Identifier: MIT
"""Texts about a packet, from its columns: addresses, Wireshark's protocol name and Info.

Input: an object with the columns of PACKET_DTYPE as attributes (a packet or a record).  Sequence
numbers are those in the header, unless the numbers relative to the stream are passed.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Protocol

from ...records import PACKET_CUT, PACKET_MALFORMED
from ...records.header_layout import IP_OFFSET
from ...records.protocols import ICMP, ICMPV6, OSPF, SCTP, TCP, UDP, UDPLITE
from .icmp_words import icmp_info, icmpv6_info

MASK64 = (1 << 64) - 1

NAMES = {ICMP: "ICMP", TCP: "TCP", UDP: "UDP", ICMPV6: "ICMPv6", SCTP: "SCTP", UDPLITE: "UDP-Lite"}
NAMES |= {2: "IGMP", 47: "GRE", 50: "ESP", 51: "AH"}
NAMES |= {88: "EIGRP", OSPF: "OSPF", 103: "PIM", 112: "VRRP"}
ETHERTYPES = {0x0800: "IPv4", 0x0806: "ARP", 0x8035: "RARP", 0x86DD: "IPv6", 0x88CC: "LLDP"}
ETHERTYPES |= {0x81FD: "ISMP"}
TCP_FLAGS = tuple(enumerate(["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"]))  # by bit
BROADCAST = (1 << 48) - 1


@lru_cache(maxsize=1 << 16)
def address(version: int, high: int, low: int) -> str | None:
    """Return an IP address as text; None if `version` is 0.

    `high` and `low` are the upper and lower 64 bits of the address, as signed numbers.  `high` is
    ignored for IPv4.
    """
    if version == 4:
        return str(IPv4Address(low & 0xFFFFFFFF))
    if version == 6:
        return str(IPv6Address((high & MASK64) << 64 | low & MASK64))
    return None


def ends(row: Any) -> tuple[str, str]:
    """Return the IP addresses (source, destination) in a row of table `address`, as texts."""
    source = address(row.ip_version, row.saddr_hi, row.saddr_lo)
    return source or "", address(row.ip_version, row.daddr_hi, row.daddr_lo) or ""


@lru_cache(maxsize=1 << 16)
def mac(value: int) -> str:
    """Return a MAC address (a number) as aa:bb:cc:dd:ee:ff or "Broadcast"; "" if unknown (-1)."""
    if value == BROADCAST:
        return "Broadcast"
    return ":".join(f"{value:012x}"[i : i + 2] for i in range(0, 12, 2)) if value >= 0 else ""


def or_none(value: int) -> int | None:
    """Return `value`, but None in place of a negative number, which means unknown."""
    return None if value < 0 else value


class Stream(Protocol):
    """What depends on the stream of a TCP packet; see tcp_info_column_text.SegmentSummary."""

    @property
    def seq(self) -> int:
        """Return the sequence number, relative to the stream's first one."""

    @property
    def ack(self) -> int:
        """Return the acknowledgment number, relative to the stream's first sequence number."""

    @property
    def shift(self) -> int:
        """Return the number of bits by which the window is shifted (window scale)."""

    @property
    def words(self) -> str:
        """Return notes to put before the Info, such as "[TCP Retransmission] "."""


def describe(row: Any, stream: Stream | None = None, more: str = "") -> tuple[str, str]:
    """Return Wireshark's (Protocol, Info) of a packet, as far as `row` and `stream` show them.

    `more` is appended; it is text from the packet's bytes or from other packets, such as "
    MSS=1460" or " (reply in 4)".
    """
    name, info = _described(row, stream or row)
    return name, (stream.words if stream else "") + info + more + _marks(row)


def _marks(row: Any) -> str:
    """Return notes about a captured packet: truncated by the sniffer, malformed.

    As in Wireshark, there is no note if the TCP header is complete and only data are missing.
    """
    flags = row.flags if hasattr(row, "caplen") else 0
    said = flags & PACKET_CUT and not (row.protocol == TCP and row.tcp_flags >= 0)
    cut = " [Packet size limited during capture]" if said else ""
    return cut + (" [Malformed Packet]" if flags & PACKET_MALFORMED else "")


def _described(row: Any, stream: Any) -> tuple[str, str]:
    if row.ip_version:
        return _ip(row, stream)
    if row.ethertype == 0x0806:
        return "ARP", _arp(row)
    if row.ethertype > 0:
        name = ETHERTYPES.get(row.ethertype, f"0x{row.ethertype:04x}")
        return name, f"EtherType 0x{row.ethertype:04x}"
    return "Link", "no network header known"


def _ip(row: Any, stream: Any) -> tuple[str, str]:
    name = NAMES.get(row.protocol, f"IPv{row.ip_version}")
    if row.ip_version == 4 and row.frag_off > 0 and row.frag_off & IP_OFFSET:
        offset = (row.frag_off & IP_OFFSET) * 8
        carried = f"{NAMES.get(row.protocol, '')} {row.protocol}".lstrip()
        return "IPv4", f"Fragmented IP protocol (proto={carried}, off={offset}, ID={row.ip_id:04x})"
    if row.ip_version == 6 and row.frag_off > 0 and row.frag_off & IP_OFFSET:
        more = "y" if row.frag_off & 0x2000 else "n"
        offset = (row.frag_off & IP_OFFSET) * 8
        ident = f" ident=0x{row.frag_id:08x}" if getattr(row, "frag_id", -1) >= 0 else ""
        return "IPv6", f"IPv6 fragment (off={offset} more={more}{ident} nxt={row.protocol})"
    if row.protocol in (TCP, UDP, -1) and row.sport < 0:
        return name, "header not captured"
    if row.protocol == TCP:
        return name, _tcp(row, stream)
    if row.protocol == UDP:
        return name, f"{row.sport} → {row.dport}{_length(row)}"
    if row.protocol in (ICMP, ICMPV6) and row.seq >= 0:
        return name, _icmp(row)
    return name, f"protocol {row.protocol}"


def _length(row: Any) -> str:
    payload = getattr(row, "payload", -1)
    return f" Len={payload}" if payload >= 0 else ""


def _tcp(row: Any, stream: Any) -> str:
    if row.tcp_flags < 0:
        return f"{row.sport} → {row.dport} header cut"
    flags = ", ".join(name for bit, name in TCP_FLAGS if row.tcp_flags >> bit & 1) or "<None>"
    ack = f" Ack={stream.ack}" if row.tcp_flags & 0x10 else ""
    window = getattr(row, "window", -1)
    win = f" Win={window << getattr(stream, 'shift', 0)}" if window >= 0 else ""
    return f"{row.sport} → {row.dport} [{flags}] Seq={stream.seq}{ack}{win}{_length(row)}"


def _icmp(row: Any) -> str:
    worded = icmp_info if row.protocol == ICMP else icmpv6_info
    return worded(row.sport >> 8, row.sport & 0xFF, row.dport, row.seq, getattr(row, "ttl", -1))


def _arp(row: Any) -> str:
    if row.seq < 0:
        return "ARP"
    sender, target = IPv4Address(row.seq), IPv4Address(max(row.ack, 0))
    if sender == target and row.sport in (1, 2):
        return f"Gratuitous ARP for {sender} ({'Request' if row.sport == 1 else 'Reply'})"
    if row.sport == 1 and not row.seq:
        return f"Who has {target}? (ARP Probe)"
    if row.sport == 1:
        return f"Who has {target}? Tell {sender}"
    if row.sport == 2:
        return f"{sender} is at {mac(getattr(row, 'eth_src', -1))}"
    return f"Opcode {row.sport}"
