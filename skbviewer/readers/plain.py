# SPDX-License-Identifier: MIT
"""The packets that nearly all are, read as one struct each: IP without options or extensions.

IPv4 or IPv6 right behind the link header or one VLAN tag, whole, with a sane TCP, UDP or ICMP
header.  All others are left to the layers' own modules, which would say the same of these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .link import ETH_P_IP, ETH_P_IPV6
from .transport import ICMP, ICMPV6, TCP, UDP
from .wire import Bytes, Ints, Mask, Rows, numbers_at

ETH_P_8021Q = 0x8100
VLAN_ID = 0x0FFF
MORE_OR_LATER = 0x3FFF  # of frag_off: a fragment
FLOW_LABEL = 0xFFFFF
NEED = {TCP: 20, UDP: 8, ICMP: 8, ICMPV6: 8}
ETHERNET = np.dtype(
    [("dst_hi", ">u2"), ("dst_lo", ">u4"), ("src_hi", ">u2"), ("src_lo", ">u4"), ("type", ">u2")]
    + [("tci", ">u2"), ("inner", ">u2")]
)
TRANSPORT: list[tuple[str, str]] = [
    ("sport", ">u2"),
    ("dport", ">u2"),
    ("seq", ">u4"),
    ("ack", ">u4"),
    ("offset", "u1"),
    ("tcp_flags", "u1"),
    ("window", ">u2"),
]
IPV4 = np.dtype(
    [("version", "u1"), ("tos", "u1"), ("tot_len", ">u2"), ("ip_id", ">u2"), ("frag_off", ">u2")]
    + [("ttl", "u1"), ("protocol", "u1"), ("checksum", ">u2"), ("saddr", ">u4"), ("daddr", ">u4")]
    + TRANSPORT
)
IPV6 = np.dtype(
    [("flow", ">u4"), ("payload_len", ">u2"), ("protocol", "u1"), ("ttl", "u1")]
    + [("saddr_hi", ">i8"), ("saddr_lo", ">i8"), ("daddr_hi", ">i8"), ("daddr_lo", ">i8")]
    + TRANSPORT
)
RAW = (12, 14, 101)
LINKTYPE_ETHERNET, LINKTYPE_IPV4, LINKTYPE_IPV6 = 1, 228, 229

Structs = npt.NDArray[np.void]


class _Network(NamedTuple):
    """Where each packet's network header begins, of what EtherType (-1 = not plain)."""

    at: Ints
    kind: Ints


class Plain:
    """Reads plain packets of a file."""

    def __init__(self, data: Bytes) -> None:
        self._data = data
        self._u16 = numbers_at(data, ">u2")
        self._u8 = data

    def fill(self, packets: Rows, linktype: int) -> Mask:
        """Fill the plain packets of rows of one link type in place, and tell which they are."""
        done = np.zeros(len(packets), np.bool_)
        network = self._network(packets, linktype)
        if network is None:
            return done
        end, stop = (packets["offset"] + packets[name] for name in ("caplen", "len"))
        for kind, dtype, read in ((ETH_P_IP, IPV4, _ipv4), (ETH_P_IPV6, IPV6, _ipv6)):
            rows = np.flatnonzero((network.kind == kind) & (network.at <= len(self._data) - 60))
            if not len(rows):
                continue
            header = self._structs(dtype, network.at[rows])
            room, limit = end[rows] - network.at[rows], stop[rows] - network.at[rows]
            columns, good = read(header, room, limit)
            columns["ethertype"] = np.broadcast_to(np.int32(kind), len(rows))
            if good.all() and len(rows) == len(packets):
                for name, values in columns.items():
                    packets[name] = values
            else:
                for name, values in columns.items():
                    packets[name][rows[good]] = values[good]
            done[rows[good]] = True
        return done

    def _structs(self, dtype: np.dtype[np.void], at: Ints) -> Structs:
        return np.asarray(numbers_at(self._data, f"V{dtype.itemsize}")[at].view(dtype))

    def _network(self, packets: Rows, linktype: int) -> _Network | None:
        """Step over the link header; fills its columns for all packets that have a whole one."""
        at = packets["offset"].copy()
        end = at + packets["caplen"]
        if linktype == LINKTYPE_ETHERNET:
            return self._ethernet(packets, at, end)
        if linktype in (LINKTYPE_IPV4, LINKTYPE_IPV6):
            kind = ETH_P_IP if linktype == LINKTYPE_IPV4 else ETH_P_IPV6
            return _Network(at, np.full(len(at), kind))
        if linktype in RAW:
            some = np.minimum(at, len(self._data) - 1)
            version = np.where(at < end, self._u8[some] >> 4, 0)
            return _Network(at, _KINDS[version])
        return None

    def _ethernet(self, packets: Rows, at: Ints, end: Ints) -> _Network:
        rows = np.flatnonzero((at + 18 <= end) & (at <= len(self._data) - ETHERNET.itemsize))
        everything = len(rows) == len(at)
        header = self._structs(ETHERNET, at if everything else at[rows])
        index = slice(None) if everything else rows
        kind = np.full(len(at), -1)
        for name, high, low in (("eth_dst", "dst_hi", "dst_lo"), ("eth_src", "src_hi", "src_lo")):
            address = header[high].astype(np.int64) << 32 | header[low]
            if everything:
                packets[name] = address
            else:
                packets[name][rows] = address
        inner = header["type"].astype(np.int64)
        size = np.full(len(rows), 14)
        tagged = np.flatnonzero(inner == ETH_P_8021Q)
        if len(tagged):
            packets["vlan"][rows[tagged]] = header["tci"][tagged] & VLAN_ID
            inner[tagged], size[tagged] = header["inner"][tagged], 18
        kind[index] = inner
        at[index] += size
        return _Network(at, kind)


_KINDS = np.full(16, -1)
_KINDS[4], _KINDS[6] = ETH_P_IP, ETH_P_IPV6
_NEED = np.full(256, 1 << 20)
for _protocol, _bytes in NEED.items():
    _NEED[_protocol] = _bytes

Read = tuple[dict[str, npt.NDArray[np.generic]], Mask]


def _ipv4(header: Structs, room: Ints, limit: Ints) -> Read:
    tot_len = header["tot_len"].astype(np.int64)
    columns = _transport(header, tot_len - 20)
    columns |= {
        "ip_version": np.broadcast_to(np.uint8(4), len(header)),
        "tot_len": tot_len,
        "saddr_lo": header["saddr"],
        "daddr_lo": header["daddr"],
    }
    for name in ("ip_id", "frag_off", "ttl", "protocol"):
        columns[name] = header[name]
    good = (header["version"] == 0x45) & (header["frag_off"] & MORE_OR_LATER == 0)
    good &= (tot_len <= limit) & (header["protocol"] != ICMPV6)
    return columns, good & _sane(header, tot_len - 20, room - 20)


def _ipv6(header: Structs, room: Ints, limit: Ints) -> Read:
    length = header["payload_len"].astype(np.int64)
    columns = _transport(header, length)
    flow = header["flow"].astype(np.int64)
    columns |= {
        "ip_version": np.broadcast_to(np.uint8(6), len(header)),
        "tot_len": length + 40,
        "flow_label": flow & FLOW_LABEL,
    }
    for name in ("saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo", "ttl", "protocol"):
        columns[name] = header[name]
    good = (flow >> 28 == 6) & (length + 40 <= limit) & (header["protocol"] != ICMP)
    return columns, good & _sane(header, length, room - 40)


def _transport(header: Structs, length: Ints) -> dict[str, npt.NDArray[np.generic]]:
    """Ports and the like; `length` is that of the header and what follows it."""
    protocol = header["protocol"]
    tcp, udp = protocol == TCP, protocol == UDP
    echo = ~(tcp | udp)
    seq = header["seq"].astype(np.int64)
    # Of ICMP type and code stand where TCP has its source port, id and sequence in its seq.
    return {
        "sport": header["sport"],
        "dport": np.where(echo, seq >> 16, header["dport"]),
        "seq": np.where(tcp, seq, np.where(echo, seq & 0xFFFF, -1)),
        "ack": np.where(tcp, header["ack"].astype(np.int64), -1),
        "tcp_flags": np.where(tcp, header["tcp_flags"].astype(np.int16), -1),
        "window": np.where(tcp, header["window"].astype(np.int32), -1),
        "payload": np.where(echo, -1, length - np.where(tcp, _data_offset(header), 8)),
    }


def _sane(header: Structs, length: Ints, room: Ints) -> Mask:
    """Whether the transport header is whole and its lengths fit."""
    protocol = header["protocol"]
    need = _NEED[protocol]
    good = (length >= need) & (room >= need)
    offset = _data_offset(header)
    good &= (protocol != TCP) | ((offset >= 20) & (offset <= length))
    udp_len = header["seq"] >> 16
    return np.asarray(good & ((protocol != UDP) | (udp_len == length)), np.bool_)


def _data_offset(header: Structs) -> Ints:
    return np.asarray((header["offset"] >> 4).astype(np.int64) * 4)
