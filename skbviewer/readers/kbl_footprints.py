# SPDX-License-Identifier: MIT
"""From EXT slots to footprints: which packet, in which skb."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..records import ColumnTable, no_footprints
from . import _kbl_layout as kbl
from .kbl_rows import Rows
from .kbl_slots import Heads, Slots
from .wire import Ints

TCP, ICMP, ICMPV6 = 6, 1, 58
TYPE = kbl.KblExtType
STRUCTS = {
    TYPE.IPV4: kbl.KBL_EXT_IPV4,
    TYPE.IPV6: kbl.KBL_EXT_IPV6,
    TYPE.IPV6_L4: kbl.KBL_EXT_IPV6_L4,
    TYPE.SKB: kbl.KBL_EXT_SKB,
}


def read_footprints(rows: Rows, heads: Heads, version: int) -> ColumnTable:
    """All footprints of the file; fills `rows.footprint` of the rows that tell one.

    A call that was given a sock has a footprint of which nothing else is known.
    """
    found = {type_: heads.of_type(type_, dtype) for type_, dtype in STRUCTS.items()}
    tells = np.zeros(len(rows), np.bool_)
    for owner, _ in found.values():
        tells[owner] = True
    sock = _socks(rows, heads, version)
    tells[sock] = True
    told = np.flatnonzero(tells)
    rows.footprint[told] = np.arange(1, len(told) + 1)
    table = no_footprints(len(told))
    table["sk"][rows.footprint[sock]] = heads.view(kbl.KBL_EVENT_SLOT)["skb"][sock].astype(np.int64)
    for type_, fill in FILLERS.items():
        owner, slots = found[type_]
        fill(table, rows.footprint[owner].astype(np.int64), slots)
    return table


def _socks(rows: Rows, heads: Heads, version: int) -> Ints:
    kinds = [kbl.KblKind.ENTRY, kbl.KblKind.EXIT] + ([kbl.KblKind.CALL] if version > 2 else [])
    given = np.flatnonzero((rows.flags & kbl.KBL_FLAG_SOCK) != 0)
    return given[np.isin(heads.kind[given], kinds)]


def _fill_ipv4(records: ColumnTable, owner: Ints, slots: Slots) -> None:
    records["ip_version"][owner] = 4
    for name in ("protocol", "ip_id", "frag_off"):
        records[name][owner] = slots[name]
    for name in ("saddr", "daddr"):
        records[name + "_lo"][owner] = np.ascontiguousarray(slots[name]).view(">u4")[:, 0]
    records["tot_len"][owner] = or_unknown(slots["tot_len"].astype(np.int64))
    _fill_l4(records, owner, slots, slots["protocol"])


def or_unknown(values: Ints) -> Ints:
    """The module writes 0 where it does not know."""
    return np.where(values == 0, -1, values)


def _fill_ipv6(records: ColumnTable, owner: Ints, slots: Slots) -> None:
    records["ip_version"][owner] = 6
    records["protocol"][owner] = slots["nexthdr"]
    records["flow_label"][owner] = slots["flow_label"]
    for name in ("saddr_hi", "saddr_lo", "daddr_hi"):
        records[name][owner] = np.ascontiguousarray(slots[name]).view(">i8")[:, 0]


def _fill_ipv6_l4(records: ColumnTable, owner: Ints, slots: Slots) -> None:
    records["daddr_lo"][owner] = np.ascontiguousarray(slots["daddr_lo"]).view(">i8")[:, 0]
    payload_len = or_unknown(slots["payload_len"].astype(np.int64))
    records["tot_len"][owner] = np.where(payload_len > 0, payload_len + 40, -1)
    fragment = slots["frag_id"] != 0
    for name in ("frag_off", "frag_id"):
        records[name][owner[fragment]] = slots[name][fragment]
    _fill_l4(records, owner, slots, records["protocol"][owner])


def _fill_l4(
    records: ColumnTable, owner: Ints, slots: Slots, protocol: npt.NDArray[np.integer]
) -> None:
    """Ports and what else the protocol has, as the packet reader fills them."""
    valid = slots["l4_valid"] != 0
    tcp, icmp = valid & (protocol == TCP), valid & np.isin(protocol, (ICMP, ICMPV6))
    for name, rows in (
        ("sport", valid),
        ("dport", valid),
        ("seq", tcp | icmp),
        ("ack", tcp),
        ("tcp_flags", tcp),
    ):
        records[name][owner[rows]] = slots[name][rows]


def _fill_skb(records: ColumnTable, owner: Ints, slots: Slots) -> None:
    for name in ("ifindex", "gso_size", "gso_segs", "mark"):
        records[name][owner] = slots[name]
    for name in ("ethertype", "netns"):
        records[name][owner] = or_unknown(slots[name].astype(np.int64))
    records["skb_len"][owner] = slots["len"]
    records["sk"][owner] = slots["sk"].astype(np.int64)


FILLERS = {
    TYPE.IPV4: _fill_ipv4,
    TYPE.IPV6: _fill_ipv6,
    TYPE.IPV6_L4: _fill_ipv6_l4,
    TYPE.SKB: _fill_skb,
}
