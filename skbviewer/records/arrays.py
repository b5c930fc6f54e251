# SPDX-License-Identifier: MIT
"""The two bulk tables, as numpy structured arrays: packets of captures, records of KBLs.

Both carry the same identity columns, so that matching compares like with like.  Unknown values are
-1 where a column is a number; addresses are valid only where ip_version is not 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_IDENTITY: list[tuple[str, str]] = [
    ("ethertype", "<i4"),
    ("ip_version", "u1"),  # 0 (none), 4 or 6
    ("saddr_hi", "<i8"),  # IPv6: upper 64 bits as signed; IPv4: 0
    ("saddr_lo", "<i8"),  # IPv6: lower 64 bits as signed; IPv4: the address as a number
    ("daddr_hi", "<i8"),
    ("daddr_lo", "<i8"),
    ("ip_id", "<i4"),  # RFC 791 identification
    ("protocol", "<i2"),  # IPv4 protocol or last IPv6 next header
    ("frag_off", "<i4"),  # flags and offset as in struct iphdr
    ("tot_len", "<i4"),  # IPv4 total length, or 40 + IPv6 payload length
    ("sport", "<i4"),  # ICMP: type << 8 | code; ARP: operation
    ("dport", "<i4"),  # ICMP: id
    ("seq", "<i8"),  # TCP; ICMP: sequence; ARP: sender protocol address
    ("ack", "<i8"),  # TCP; ARP: target protocol address
    ("tcp_flags", "<i2"),  # byte 13 of the TCP header
]

PACKET_DTYPE = np.dtype(
    [
        ("ts", "<i8"),  # ns since the epoch, of the sniffer's clock
        ("caplen", "<i8"),
        ("len", "<i8"),
        ("offset", "<i8"),  # of the packet's first byte in its file
        ("interface", "<i4"),
        ("linktype", "<i4"),  # LINKTYPE_ value, see tcpdump.org/linktypes.html
        ("eth_src", "<i8"),  # 48-bit number
        ("eth_dst", "<i8"),
        ("vlan", "<i4"),  # outermost VLAN id
        ("ttl", "<i2"),
        ("window", "<i4"),
        ("payload", "<i4"),  # bytes after the TCP or UDP header, by the IP length
        *_IDENTITY,
    ]
)

RECORD_DTYPE = np.dtype(
    [
        ("ts", "<i8"),  # ns of the KBL's clock
        ("ordinal", "<i8"),  # position among the head slots of the file, from 0
        ("kind", "u1"),  # kbl.h enum kbl_kind
        ("event", "u1"),  # kbl.h enum kbl_event, 0 when kind is not EVENT
        ("flags", "u1"),
        ("context", "u1"),
        ("cpu", "<i4"),
        ("func", "<i4"),  # probe id
        ("pid", "<i8"),
        ("skb", "<i8"),  # address as signed 64 bits, 0 = none
        ("caller", "<i8"),  # absolute address as signed 64 bits, 0 = unknown; ENTRY and CALL only
        ("data", "<i8"),  # EVENT: its data; EXIT and CALL: return value; LOST: count
        ("dur", "<i8"),  # CALL: ns; LOST: ns from the gap's begin to ts
        ("ifindex", "<i8"),
        ("netns", "<i8"),
        ("skb_len", "<i8"),
        ("gso_size", "<i4"),
        ("gso_segs", "<i4"),
        ("sk", "<i8"),
        *_IDENTITY,
    ]
)

Packets = npt.NDArray[np.void]
Records = npt.NDArray[np.void]


def empty(dtype: np.dtype[np.void], count: int) -> npt.NDArray[np.void]:
    """An array of `count` rows in which every number is unknown (-1; 0 for the unsigned)."""
    row = np.zeros(1, dtype)
    for name in dtype.names or ():
        if dtype[name].kind == "i" and not name.endswith(("_hi", "_lo")):
            row[name] = -1
    return np.full(count, row[0], dtype)
