# SPDX-License-Identifier: MIT
"""Read the common packets in one compiled loop: IP without options or extension headers.

A common packet has IPv4 or IPv6 directly after the link header or after one VLAN tag.  A common
packet is not a fragment, and has a valid TCP, UDP or ICMP header.  All other packets are read by
the modules of the single layers, which would return the same values for a common packet.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Bools, UInt8s
from ..numbers_in_bytes import Block
from .plain_ip_packet_loops import (
    NO,
    SOME,
    SOME_ETHERNET,
    SOME_V4,
    SOME_V6,
    SOME_VLAN,
    SOMES,
    Columns,
    fill_common,
    sort_packets,
)

ONLY = {
    SOME_V4: ("ip_id", "frag_off"),
    SOME_V6: ("saddr_hi", "daddr_hi", "flow_label"),
    SOME_ETHERNET: ("eth_src", "eth_dst"),
    SOME_VLAN: ("vlan",),
}
OFTEN = tuple(n for n in Columns._fields if not any(n in names for names in ONLY.values()))


def fill_plain(data: UInt8s, begin: int, packets: Block) -> Bools:
    """Fill the columns of the common packets in a block; return a flag for each packet.

    The flag is True for common packets.

    `data` are the bytes of the file from `begin` on; they contain all packets of the block.
    """
    kind, at = np.empty(len(packets), np.uint8), np.empty(len(packets), np.int64)
    among = np.zeros(SOMES, np.bool_)
    offset, caplen, length = (packets[name] for name in ("offset", "caplen", "len"))
    sort_packets(data, begin, packets["linktype"], offset, caplen, length, kind, at, among)
    if among[SOME]:
        columns = Columns(**{name: packets.memory(name) for name in Columns._fields})
        fill_common(data, begin, packets["linktype"], kind, at, offset, caplen, among, columns)
        for what, names in (*ONLY.items(), (SOME, OFTEN)):
            for name in names if among[what] else ():
                packets.blank(name)
    return np.asarray(kind != NO, np.bool_)
