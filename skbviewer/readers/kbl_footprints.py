# SPDX-License-Identifier: MIT
"""From EXT slots to the footprint columns of RECORD_DTYPE: which packet, in which skb."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..records import Records
from . import _kbl_layout as kbl
from .kbl_slots import Heads, Slots
from .wire import Ints

TCP, ICMP, ICMPV6 = 6, 1, 58


def fill_footprints(records: Records, heads: Heads) -> None:
    """Fill the rows (one a head slot) whose records have footprint slots."""
    types = kbl.KblExtType
    _fill_ipv4(records, heads, *heads.of_type(types.IPV4))
    _fill_ipv6(records, heads, *heads.of_type(types.IPV6))
    _fill_ipv6_l4(records, heads, *heads.of_type(types.IPV6_L4))
    _fill_skb(records, heads, *heads.of_type(types.SKB))


def _fill_ipv4(records: Records, heads: Heads, owner: Ints, ext: Ints) -> None:
    slots = heads.view(kbl.KBL_EXT_IPV4, ext)
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


def _fill_ipv6(records: Records, heads: Heads, owner: Ints, ext: Ints) -> None:
    slots = heads.view(kbl.KBL_EXT_IPV6, ext)
    records["ip_version"][owner] = 6
    records["protocol"][owner] = slots["nexthdr"]
    records["flow_label"][owner] = slots["flow_label"]
    for name in ("saddr_hi", "saddr_lo", "daddr_hi"):
        records[name][owner] = np.ascontiguousarray(slots[name]).view(">i8")[:, 0]


def _fill_ipv6_l4(records: Records, heads: Heads, owner: Ints, ext: Ints) -> None:
    slots = heads.view(kbl.KBL_EXT_IPV6_L4, ext)
    records["daddr_lo"][owner] = np.ascontiguousarray(slots["daddr_lo"]).view(">i8")[:, 0]
    payload_len = or_unknown(slots["payload_len"].astype(np.int64))
    records["tot_len"][owner] = np.where(payload_len > 0, payload_len + 40, -1)
    fragment = slots["frag_id"] != 0
    for name in ("frag_off", "frag_id"):
        records[name][owner[fragment]] = slots[name][fragment]
    _fill_l4(records, owner, slots, records["protocol"][owner])


def _fill_l4(
    records: Records, owner: Ints, slots: Slots, protocol: npt.NDArray[np.integer]
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


def _fill_skb(records: Records, heads: Heads, owner: Ints, ext: Ints) -> None:
    slots = heads.view(kbl.KBL_EXT_SKB, ext)
    for name in ("ifindex", "gso_size", "gso_segs", "mark"):
        records[name][owner] = slots[name]
    for name in ("ethertype", "netns"):
        records[name][owner] = or_unknown(slots[name].astype(np.int64))
    records["skb_len"][owner] = slots["len"]
    records["sk"][owner] = slots["sk"].astype(np.int64)
