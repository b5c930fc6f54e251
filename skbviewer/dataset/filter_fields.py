# SPDX-License-Identifier: MIT
"""The fields of display filters that a dataset has, as SQL over its tables.

The tables of a dataset have no bytes, hardware addresses, notes or streams; fields that need any of
these are refused. In this SQL, the alias p is a packet, l a leg, c a call, and d a drop.
"""

from __future__ import annotations

from typing import NamedTuple

from ..analysis.fields.field_source_tables import CALL, DROP, LEG, ROW
from ..analysis.fields.packet_fields import PROTOCOLS, TCP_FLAGS
from ..records.protocols import TCP, UDP
from ..records.types import INT64_MAX

ICMP, ICMPV6 = 1, 58
ETHERNET, ARP, TAGGED = 1, 0x0806, 0x8100
NUMBER, WORDS, FLOAT = "number", "words", "float"
ADDRESS4, ADDRESS6 = "IPv4 text", "IPv6 text"  # as the tables hold them

# SQL functions that turn addresses of the tables into numbers.  ip_number() orders addresses as a
# session does, which compares the halves of IPv6 addresses as signed numbers.
SIGNS = (INT64_MAX + 1) * (2**64 + 1)  # of both halves
MACROS = (
    "CREATE MACRO ip4(a) AS (SELECT list_reduce(list_transform(string_split(a, '.'), "
    "lambda part: part::UBIGINT), lambda sum, part: sum * 256 + part))",
    "CREATE MACRO ip6(a) AS (SELECT list_reduce(list_transform(string_split(a, ':'), "
    "lambda part: ('0x' || part)::UBIGINT::UHUGEINT), lambda sum, part: sum * 65536 + part))",
    "CREATE MACRO ip_number(a) AS coalesce(ip4(CASE WHEN contains(a, '.') THEN a END)::UHUGEINT, "
    "xor(ip6(CASE WHEN contains(a, ':') THEN a END), "
    f"{SIGNS}::UHUGEINT))",
)
# What a field of calls may need besides the call.
COMM = (
    "LEFT JOIN (SELECT session, source, pid, last(comm) AS comm FROM processes "
    "GROUP BY ALL) t ON t.session = c.session AND t.source = c.source AND t.pid = c.pid"
)
LAYERS = "LEFT JOIN function_layers f ON f.function = c.function"


class SqlField(NamedTuple):
    """A field as SQL: expressions for its `values` in a row of `table`, NULL if it is missing."""

    table: str
    form: str
    values: tuple[str, ...]
    join: str = ""


def _row(value: str, *more: str, form: str = NUMBER) -> SqlField:
    return SqlField(ROW, form, (value, *more))


def _if(condition: str, value: str = "1") -> str:
    return f"CASE WHEN {condition} THEN {value} END"


def _where(condition: str, *columns: str, form: str = NUMBER) -> SqlField:
    return SqlField(ROW, form, tuple(_if(condition, column) for column in columns))


IP, IPV6 = "contains(p.saddr, '.')", "contains(p.saddr, ':')"
TAG, IS_ARP = "p.vlan IS NOT NULL", f"p.ethertype = {ARP}"
MATCHED = "p.verdict IN ('exact', 'ambiguous')"


def _carried(protocol: int) -> str:
    return f"p.protocol = {protocol} AND p.sport IS NOT NULL"


def _ports(name: str, protocol: int) -> dict[str, SqlField]:
    carried = _carried(protocol)
    return {
        name: _where(carried, "1"),
        f"{name}.srcport": _where(carried, "p.sport"),
        f"{name}.dstport": _where(carried, "p.dport"),
        f"{name}.port": _where(carried, "p.sport", "p.dport"),
    }


def _types(name: str, protocol: int) -> dict[str, SqlField]:
    carried = _carried(protocol)
    return {
        name: _where(carried, "1"),
        f"{name}.type": _where(carried, "p.sport >> 8"),
        f"{name}.code": _where(carried, "p.sport & 255"),
    }


_TCP = _carried(TCP)
_FLAGS = {
    f"tcp.flags.{name}": _where(_TCP, f"p.tcp_flags >> {bit} & 1")
    for bit, name in enumerate(TCP_FLAGS)
}


def _call(value: str, *more: str, form: str = NUMBER, join: str = "") -> SqlField:
    return SqlField(CALL, form, (value, *more), join)


FIELDS: dict[str, SqlField] = {
    "frame": _row("1"),
    "frame.number": _row("p.number"),
    "frame.len": _row("p.len"),
    "frame.cap_len": _row("p.caplen"),
    "frame.time": _row("p.ts_ns"),
    "frame.time_epoch": _row("p.ts_ns"),
    "frame.interface_id": _row("p.interface"),
    "eth.type": _where(
        f"p.linktype = {ETHERNET} AND p.ethertype IS NOT NULL",
        f"CASE WHEN {TAG} THEN {TAGGED} ELSE p.ethertype END",
    ),
    "vlan": _where(TAG, "1"),
    "vlan.id": _row("p.vlan"),
    "vlan.etype": _where(TAG, "p.ethertype"),
    "arp": _where(IS_ARP, "1"),
    "arp.opcode": _where(IS_ARP, "p.sport"),
    "arp.src.proto_ipv4": _where(IS_ARP, "p.seq"),
    "arp.dst.proto_ipv4": _where(IS_ARP, "p.ack"),
    "ip": _where(IP, "1"),
    "ip.version": _where(IP, "4"),
    "ip.src": _where(IP, "p.saddr", form=ADDRESS4),
    "ip.dst": _where(IP, "p.daddr", form=ADDRESS4),
    "ip.addr": _where(IP, "p.saddr", "p.daddr", form=ADDRESS4),
    "ip.id": _where(IP, "p.ip_id"),
    "ip.ttl": _where(IP, "p.ttl"),
    "ip.proto": _where(IP, "p.protocol"),
    "ip.len": _where(IP, "p.tot_len"),
    "ipv6": _where(IPV6, "1"),
    "ipv6.src": _where(IPV6, "p.saddr", form=ADDRESS6),
    "ipv6.dst": _where(IPV6, "p.daddr", form=ADDRESS6),
    "ipv6.addr": _where(IPV6, "p.saddr", "p.daddr", form=ADDRESS6),
    "ipv6.hlim": _where(IPV6, "p.ttl"),
    "ipv6.plen": _where(IPV6, "p.tot_len - 40"),
    **_ports("tcp", TCP),
    "tcp.seq_raw": _where(_TCP, "p.seq"),
    "tcp.ack_raw": _where(_TCP, "p.ack"),
    "tcp.flags": _where(_TCP, "p.tcp_flags"),
    **_FLAGS,
    "tcp.len": _where(_TCP, "p.payload"),
    "tcp.window_size_value": _where(_TCP, 'p."window"'),
    **_ports("udp", UDP),
    **_types("icmp", ICMP),
    **_types("icmpv6", ICMPV6),
    **{name: _where(f"p.protocol = {number}", "1") for name, number in PROTOCOLS.items()},
    "kbl": _where(MATCHED, "1"),
    "kbl.matched": _row(f"({MATCHED})::INTEGER"),
    "kbl.verdict": _row("p.verdict", form=WORDS),
    "kbl.confidence": _where(MATCHED, "p.confidence", form=FLOAT),
    "kbl.in_kernel": _row("p.kernel_ns"),
    "kbl.latency": _row("p.kernel_ns"),
    "kbl.busy": _row("p.busy_ns"),
    "kbl.unknown": _row("p.unknown_ns"),
    "kbl.waiting": _row("p.kernel_ns - p.busy_ns - p.unknown_ns"),
    "kbl.cpu_time": _row("p.cpu_ns"),
    "kbl.functions": _row("p.functions"),
    "kbl.dev": SqlField(LEG, WORDS, ("l.device",)),
    "kbl.netns": SqlField(LEG, NUMBER, (_if("l.netns > 0", "l.netns"),)),
    "kbl.drop_reason": SqlField(DROP, WORDS, ("d.reason",)),
    "kbl.func": _call("c.function", form=WORDS),
    "kbl.caller": _call("c.caller_name", "split_part(c.caller_name, '+', 1)", form=WORDS),
    "kbl.layer": _call("f.layer", form=WORDS, join=LAYERS),
    "kbl.dur": _call("c.dur_ns"),
    "kbl.self": _call("c.self_ns"),
    "kbl.cpu": _call("c.cpu"),
    "kbl.context": _call("c.context", form=WORDS),
    "kbl.comm": _call(
        "CASE WHEN c.pid <> 0 THEN t.comm WHEN contains(t.comm, '/') "
        "THEN split_part(t.comm, '/', 1) || '/' || c.cpu ELSE coalesce(t.comm, '') END",
        form=WORDS, join=COMM,
    ),
    "kbl.pid": _call("c.pid"),
    "kbl.depth": _call("c.depth"),
}  # fmt: skip
