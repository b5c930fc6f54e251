# SPDX-License-Identifier: MIT
"""Decode one EXT slot into the values of a footprint: loops that record_column_loops.py calls."""

from __future__ import annotations

import numpy as np

from ...records import FOOTPRINT_DTYPE, empty
from ...records import kbl_layout as kbl
from ...records.compiled import Int, allocation_free
from ...records.header_layout import EXTENSIONS, IP_OFFSET, IPV6_SIZE
from ...records.protocols import ICMP, ICMPV6, TCP
from ...records.types import Int64s

IPV4, IPV6, IPV6_L4, SKB = (int(kbl.KblExtType[n]) for n in ("IPV4", "IPV6", "IPV6_L4", "SKB"))
NAMES = FOOTPRINT_DTYPE.names or ()
IFINDEX, NETNS, SKB_LEN, GSO_SIZE, GSO_SEGS, MARK, SK, ETHERTYPE = (
    NAMES.index(name)
    for name in (
        *("ifindex", "netns", "skb_len", "gso_size", "gso_segs", "mark", "sk", "ethertype"),
    )
)
IP_VERSION, SADDR_HI, SADDR_LO, DADDR_HI, DADDR_LO, IP_ID, PROTOCOL, FRAG_OFF, TOT_LEN = (
    NAMES.index(name)
    for name in (
        *("ip_version", "saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo", "ip_id", "protocol"),
        *("frag_off", "tot_len"),
    )
)
SPORT, DPORT, SEQ, ACK, TCP_FLAGS, FLOW_LABEL, FRAG_ID = (
    NAMES.index(name)
    for name in ("sport", "dport", "seq", "ack", "tcp_flags", "flow_label", "frag_id")
)
NARROW = (np.int8, np.int16, np.int32)
UNKNOWN = np.array([int(empty(FOOTPRINT_DTYPE, 1)[name][0]) for name in NAMES], np.int64)
LAYOUTS = {
    IPV4: kbl.KBL_EXT_IPV4,
    IPV6: kbl.KBL_EXT_IPV6,
    IPV6_L4: kbl.KBL_EXT_IPV6_L4,
    SKB: kbl.KBL_EXT_SKB,
}
V4_V6 = ("sport", "dport", "seq", "ack", "frag_off", "tcp_flags")  # in slots of both IP versions
COLUMN_SOURCES: dict[str, tuple[tuple[int, str], ...]] = {
    **{name: ((IPV4, name), (IPV6_L4, name)) for name in V4_V6},
    **{name: ((SKB, name),) for name in ("ifindex", "netns", "gso_size", "gso_segs", "mark", "sk")},
    "skb_len": ((SKB, "len"),),
    "ethertype": ((SKB, "ethertype"),),
    "ip_version": ((IPV4, "kind"), (IPV6, "kind")),
    "saddr_hi": ((IPV6, "saddr_hi"),),
    "saddr_lo": ((IPV4, "saddr"), (IPV6, "saddr_lo")),
    "daddr_hi": ((IPV6, "daddr_hi"),),
    "daddr_lo": ((IPV4, "daddr"), (IPV6_L4, "daddr_lo")),
    "ip_id": ((IPV4, "ip_id"),),
    "protocol": ((IPV4, "protocol"), (IPV6, "nexthdr")),
    "tot_len": ((IPV4, "tot_len"), (IPV6_L4, "payload_len")),
    "flow_label": ((IPV6, "flow_label"),),
    "frag_id": ((IPV6_L4, "frag_id"),),
}


@allocation_free
def or_unknown(value: Int) -> Int:
    """Return `value`, or -1 for 0, which the module writes for unknown values."""
    return np.int64(-1) if value == 0 else np.int64(value)


@allocation_free
def _swapped32(value: Int) -> Int:
    """Reverse the bytes of a 32-bit number that is in network order."""
    v = np.int64(value)
    return (v & 0xFF) << 24 | (v >> 8 & 0xFF) << 16 | (v >> 16 & 0xFF) << 8 | v >> 24 & 0xFF


@allocation_free
def _swapped64(value: Int) -> Int:
    """Reverse the bytes of a 64-bit number in network order; the result is signed."""
    v = np.int64(value)
    return _swapped32(v & 0xFFFFFFFF) << 32 | _swapped32(v >> 32 & 0xFFFFFFFF)


@allocation_free
def fill_ipv4(slot: np.void, values: Int64s) -> None:
    """Decode an EXT slot IPV4 into `values`, which has a number for each column of FOOTPRINT_DTYPE.

    If the slot has no value for a column, that value in `values` does not change.  Addresses are
    stored in host order.
    """
    values[IP_VERSION] = 4
    values[PROTOCOL] = slot["ipv4_protocol"]
    values[IP_ID] = slot["ipv4_ip_id"]
    values[FRAG_OFF] = slot["ipv4_frag_off"]
    values[SADDR_LO] = _swapped32(slot["ipv4_saddr"])
    values[DADDR_LO] = _swapped32(slot["ipv4_daddr"])
    values[TOT_LEN] = or_unknown(slot["ipv4_tot_len"])
    if slot["ipv4_l4_valid"] != 0:
        values[SPORT] = slot["ipv4_sport"]
        values[DPORT] = slot["ipv4_dport"]
        protocol = slot["ipv4_protocol"]
        if protocol == TCP:
            values[ACK] = slot["ipv4_ack"]
            values[TCP_FLAGS] = slot["ipv4_tcp_flags"]
        if protocol in (TCP, ICMP, ICMPV6):
            values[SEQ] = slot["ipv4_seq"]


@allocation_free
def fill_ipv6(slot: np.void, values: Int64s) -> None:
    """Decode an EXT slot IPV6 into `values`, as fill_ipv4() does."""
    values[IP_VERSION] = 6
    values[PROTOCOL] = slot["ipv6_nexthdr"]
    values[FLOW_LABEL] = np.int32(slot["ipv6_flow_label"])
    values[SADDR_HI] = _swapped64(slot["ipv6_saddr_hi"])
    values[SADDR_LO] = _swapped64(slot["ipv6_saddr_lo"])
    values[DADDR_HI] = _swapped64(slot["ipv6_daddr_hi"])


@allocation_free
def fill_ipv6_l4(slot: np.void, values: Int64s) -> None:
    """Decode an EXT slot IPV6_L4 into `values`, whose PROTOCOL must be set already."""
    values[DADDR_LO] = _swapped64(slot["l4_daddr_lo"])
    payload = np.int64(slot["l4_payload_len"])
    values[TOT_LEN] = payload + IPV6_SIZE if payload > 0 else -1
    if slot["l4_frag_id"] != 0:
        values[FRAG_OFF] = slot["l4_frag_off"]
        values[FRAG_ID] = slot["l4_frag_id"]
    if slot["l4_frag_off"] & IP_OFFSET == 0 and values[PROTOCOL] in EXTENSIONS:
        values[PROTOCOL] = -1
    if slot["l4_l4_valid"] != 0:
        values[SPORT] = slot["l4_sport"]
        values[DPORT] = slot["l4_dport"]
        protocol = values[PROTOCOL]
        if protocol == TCP:
            values[ACK] = slot["l4_ack"]
            values[TCP_FLAGS] = slot["l4_tcp_flags"]
        if protocol in (TCP, ICMP, ICMPV6):
            values[SEQ] = slot["l4_seq"]


@allocation_free
def fill_skb(slot: np.void, values: Int64s) -> None:
    """Decode an EXT slot SKB into `values`, as fill_ipv4() does."""
    values[IFINDEX] = slot["skb_ifindex"]
    values[GSO_SIZE] = slot["skb_gso_size"]
    values[GSO_SEGS] = slot["skb_gso_segs"]
    values[MARK] = slot["skb_mark"]
    values[ETHERTYPE] = or_unknown(slot["skb_ethertype"])
    values[NETNS] = or_unknown(slot["skb_netns"])
    values[SKB_LEN] = slot["skb_len"]
    values[SK] = np.int64(slot["skb_sk"])
