# SPDX-License-Identifier: MIT
"""Fields from the columns of packets and rows K<n>: eth, vlan, arp, ip, tcp, ...

These fields have the names and meanings of Wireshark's fields (wireshark.org/docs/dfref), and refer
to the outermost headers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...records.header_layout import IP_OFFSET
from ...records.protocols import ICMP, ICMPV6, TCP, UDP
from ...records.types import Bools
from .field_definition import Field, Kind, Make, Values, known_column
from .field_source_tables import PACKET, View

ETH_P_8021Q, ETH_P_ARP = 0x8100, 0x0806
DLT_EN10MB = 1
PROTOCOLS = {
    "igmp": 2, "gre": 47, "esp": 50, "ah": 51, "eigrp": 88, "ospf": 89, "pim": 103, "vrrp": 112,
    "carp": 112, "sctp": 132, "udplite": 136,
}  # fmt: skip
PORTS: dict[str, tuple[int, ...]] = {
    "dns": (53,), "dhcp": (67, 68), "http": (80, 8080), "tls": (443,), "mdns": (5353,),
    "bgp": (179,), "rip": (520,), "ntp": (123,), "ssh": (22,), "dhcpv6": (546, 547),
    "hsrp": (1985, 2029), "glbp": (3222,), "nbns": (137,), "nbss": (139, 445), "dcerpc": (135,),
}  # fmt: skip
_UDP_ONLY = ("dhcp", "mdns", "rip", "ntp", "dhcpv6", "hsrp", "glbp", "nbns")
_TCP_ONLY = ("http", "tls", "bgp", "ssh", "nbss", "dcerpc")
_QUERIES = (8, 0, 13, 14, 15, 16, 17, 18)  # ICMP types that have an identifier
TCP_FLAGS = {
    "fin": "FIN", "syn": "SYN", "reset": "RST", "push": "PSH", "ack": "ACK", "urg": "URG",
    "ece": "ECE", "cwr": "CWR",
}  # fmt: skip


def _mask(name: str, make: Callable[[View], Bools]) -> Callable[[View], Bools]:
    def masked(view: View) -> Bools:
        found: Bools = view.cached(name, make)
        return found

    return masked


def _protocol(number: int) -> Callable[[View], Bools]:
    def carried(view: View) -> Bools:
        found: Bools = (view.column("protocol") == number) & (view.column("sport") >= 0)
        return found

    return _mask(f"protocol {number}", carried)


def _version(number: int) -> Callable[[View], Bools]:
    return _mask(f"version {number}", lambda view: view.column("ip_version") == number)


def _ethernet_header(view: View) -> Bools:
    if not view.has("eth_dst"):
        return np.zeros(view.size, np.bool_)
    found: Bools = (view.column("eth_dst") >= 0) & (view.column("linktype") == DLT_EN10MB)
    return found


is_eth = _mask("eth", _ethernet_header)
is_vlan = _mask("vlan", lambda view: view.column("vlan") >= 0)
is_arp = _mask("arp", lambda view: view.column("ethertype") == ETH_P_ARP)
is_ip, is_ipv6 = _version(4), _version(6)
is_tcp, is_udp, is_icmp, is_icmpv6 = (_protocol(p) for p in (TCP, UDP, ICMP, ICMPV6))
is_frame = _mask("frame", lambda view: np.full(view.size, view.table == PACKET))


def _there(where: Callable[[View], Bools]) -> Make:
    return lambda view: [Values(where(view), where(view))]


def _column(name: str, where: Callable[[View], Bools]) -> Make:
    return lambda view: [known_column(view, name, where(view))]


def _columns(names: tuple[str, ...], where: Callable[[View], Bools]) -> Make:
    return lambda view: [known_column(view, name, where(view)) for name in names]


def _bits(name: str, where: Callable[[View], Bools], shift: int, mask: int) -> Make:
    """Return a function for Field.make that returns (column >> shift) & mask.

    `name` is the column.  A value is known only in the rows for which where(view) is true.
    """

    def make(view: View) -> list[Values]:
        whole = known_column(view, name, where(view))
        low = whole.low
        if mask > np.iinfo(low.dtype).max:  # columns are as narrow as their values allow
            low = low.astype(np.int64)
        low = low >> shift & mask if shift else low & mask
        return [Values(low, whole.known)]

    return make


def _ipv4(*names: str) -> Make:
    return lambda view: [Values(view.column(f"{name}_lo"), is_ip(view)) for name in names]


def _ipv6(*names: str) -> Make:
    return lambda view: [
        Values(view.column(f"{name}_lo"), is_ipv6(view), view.column(f"{name}_hi"))
        for name in names
    ]


def _scaled(name: str, where: Callable[[View], Bools], mask: int, factor: int, plus: int) -> Make:
    def make(view: View) -> list[Values]:
        whole = known_column(view, name, where(view))
        return [Values((whole.low.astype(np.int64) & mask) * factor + plus, whole.known)]

    return make


def _ethertype(view: View) -> list[Values]:
    ethertype = view.column("ethertype").astype(np.int32)  # a column is as narrow as its values
    tagged = np.where(is_vlan(view), ETH_P_8021Q, ethertype)
    return [Values(tagged, is_eth(view) & (ethertype >= 0))]


def _query(view: View) -> Bools:
    found: Bools = is_icmp(view) & np.isin(view.column("sport") >> 8, _QUERIES)
    return found


def _echo6(view: View) -> Bools:
    found: Bools = is_icmpv6(view) & np.isin(view.column("sport") >> 8, (128, 129))
    return found


def _by_port(name: str) -> Make:
    def make(view: View) -> list[Values]:
        either = np.isin(view.column("sport"), PORTS[name])
        either |= np.isin(view.column("dport"), PORTS[name])
        carries = view.column("payload") > 0 if view.has("payload") else np.True_
        tcp, udp = is_tcp(view) & carries, is_udp(view)
        carried = tcp if name in _TCP_ONLY else udp if name in _UDP_ONLY else tcp | udp
        return [Values(either, either & carried)]

    return make


def _protocols() -> list[Field]:
    def one(name: str, number: int) -> Field:
        make = _there(lambda view: view.column("protocol") == number)
        return Field(name, Kind.LABEL, f"IP protocol {number}", make)

    def port(name: str) -> Field:
        ports = " or ".join(map(str, PORTS[name]))
        return Field(name, Kind.LABEL, f"TCP or UDP port {ports}, with data", _by_port(name))

    return [one(*pair) for pair in PROTOCOLS.items()] + [port(name) for name in PORTS]


def _tcp_flags() -> list[Field]:
    return [
        Field(f"tcp.flags.{name}", Kind.BOOLEAN, label, _bits("tcp_flags", is_tcp, bit, 1), bits=1)
        for bit, (name, label) in enumerate(TCP_FLAGS.items())
    ]


def _f(name: str, kind: Kind, text: str, make: Make, bits: int = 64, layer: str = "") -> Field:
    return Field(name, kind, text, make, layer=layer, bits=bits)


_U, _B, _P = Kind.UNSIGNED, Kind.BOOLEAN, Kind.PROTOCOL
_ENDS = ("eth_dst", "eth_src")
_IP_SRC, _IP_DST = ("saddr",), ("daddr",)

PACKET_FIELDS: tuple[Field, ...] = (
    _f("eth", _P, "Ethernet", _there(is_eth), layer="eth"),
    _f("eth.src", Kind.ETHER, "Source", _column("eth_src", is_eth), 48),
    _f("eth.dst", Kind.ETHER, "Destination", _column("eth_dst", is_eth), 48),
    _f("eth.addr", Kind.ETHER, "Source or destination", _columns(_ENDS, is_eth), 48),
    _f("eth.type", _U, "EtherType; 0x8100 before a VLAN tag", _ethertype, 16),
    _f("vlan", Kind.LABEL, "802.1Q VLAN tag", _there(is_vlan)),
    _f("vlan.id", _U, "VLAN id in the outermost VLAN tag", _column("vlan", is_vlan), 12),
    _f("vlan.etype", _U, "EtherType after the tags", _column("ethertype", is_vlan), 16),
    _f("arp", _P, "Address Resolution Protocol", _there(is_arp), layer="arp"),
    _f("arp.opcode", _U, "1 request, 2 reply", _column("sport", is_arp), 16),
    _f("arp.src.proto_ipv4", Kind.IPV4, "Sender's IP address", _column("seq", is_arp), 32),
    _f("arp.dst.proto_ipv4", Kind.IPV4, "Target's IP address", _column("ack", is_arp), 32),
    _f("ip", _P, "Internet Protocol version 4", _there(is_ip), layer="ip"),
    _f("ip.version", _U, "Version: 4", _column("ip_version", is_ip), 4),
    _f("ip.src", Kind.IPV4, "Source", _ipv4(*_IP_SRC), 32),
    _f("ip.dst", Kind.IPV4, "Destination", _ipv4(*_IP_DST), 32),
    _f("ip.addr", Kind.IPV4, "Source or destination", _ipv4(*_IP_SRC, *_IP_DST), 32),
    _f("ip.id", _U, "Identification", _column("ip_id", is_ip), 16),
    _f("ip.ttl", _U, "Time to live", _column("ttl", is_ip), 8),
    _f("ip.proto", _U, "Protocol", _column("protocol", is_ip), 8),
    _f("ip.len", _U, "Total length", _column("tot_len", is_ip), 16),
    _f("ip.flags", _U, "IP flags: 1 more fragments, 2 don't "
        "fragment", _bits("frag_off", is_ip, 13, 7), 8),
    _f("ip.flags.rb", _B, "Reserved bit", _bits("frag_off", is_ip, 15, 1), 1),
    _f("ip.flags.df", _B, "Don't fragment", _bits("frag_off", is_ip, 14, 1), 1),
    _f("ip.flags.mf", _B, "More fragments", _bits("frag_off", is_ip, 13, 1), 1),
    _f("ip.frag_offset", _U, "Offset in bytes", _scaled("frag_off", is_ip, IP_OFFSET, 8, 0), 16),
    _f("ipv6", _P, "Internet Protocol version 6", _there(is_ipv6), layer="ipv6"),
    _f("ipv6.src", Kind.IPV6, "Source", _ipv6(*_IP_SRC), 128),
    _f("ipv6.dst", Kind.IPV6, "Destination", _ipv6(*_IP_DST), 128),
    _f("ipv6.addr", Kind.IPV6, "Source or destination", _ipv6(*_IP_SRC, *_IP_DST), 128),
    _f("ipv6.hlim", _U, "Hop limit", _column("ttl", is_ipv6), 8),
    _f("ipv6.plen", _U, "Payload length", _scaled("tot_len", is_ipv6, -1, 1, -40), 16),
    _f("tcp", _P, "Transmission Control Protocol", _there(is_tcp), layer="tcp"),
    _f("tcp.srcport", _U, "Source port", _column("sport", is_tcp), 16),
    _f("tcp.dstport", _U, "Destination port", _column("dport", is_tcp), 16),
    _f("tcp.port", _U, "Source or destination port", _columns(("sport", "dport"), is_tcp), 16),
    _f("tcp.seq_raw", _U, "Sequence number", _column("seq", is_tcp), 32),
    _f("tcp.ack_raw", _U, "Acknowledgment number", _column("ack", is_tcp), 32),
    _f("tcp.flags", _U, "TCP flags: byte 13 of the header", _column("tcp_flags", is_tcp), 8),
    *_tcp_flags(),
    _f("tcp.len", _U, "Number of data bytes, computed from the length in the IP "
        "header", _column("payload", is_tcp), 32),
    _f("tcp.window_size_value", _U, "Window field of the header", _column("window", is_tcp), 16),
    _f("udp", _P, "User Datagram Protocol", _there(is_udp), layer="udp"),
    _f("udp.srcport", _U, "Source port", _column("sport", is_udp), 16),
    _f("udp.dstport", _U, "Destination port", _column("dport", is_udp), 16),
    _f("udp.port", _U, "Source or destination port", _columns(("sport", "dport"), is_udp), 16),
    _f("icmp", _P, "Internet Control Message Protocol", _there(is_icmp), layer="icmp"),
    _f("icmp.type", _U, "Type", _bits("sport", is_icmp, 8, 255), 8),
    _f("icmp.code", _U, "Code", _bits("sport", is_icmp, 0, 255), 8),
    _f("icmp.ident", _U, "Identifier of a query", _column("dport", _query), 16),
    _f("icmp.seq", _U, "Sequence number of a query", _column("seq", _query), 16),
    _f("icmpv6", _P, "ICMP for IPv6", _there(is_icmpv6), layer="icmpv6"),
    _f("icmpv6.type", _U, "Type", _bits("sport", is_icmpv6, 8, 255), 8),
    _f("icmpv6.code", _U, "Code", _bits("sport", is_icmpv6, 0, 255), 8),
    _f("icmpv6.echo.identifier", _U, "Identifier of an echo", _column("dport", _echo6), 16),
    _f("icmpv6.echo.sequence_number", _U, "Sequence number of an echo", _column("seq", _echo6), 16),
    *_protocols(),
)  # fmt: skip
