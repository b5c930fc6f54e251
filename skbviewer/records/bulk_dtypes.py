# SPDX-License-Identifier: MIT
"""The bulk tables as numpy structured arrays: packets of captures, records of KBLs.

Packets and records have the same identity columns, so that matching can compare them. In a signed
column, -1 means unknown. Addresses are valid only where ip_version is not 0.
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
    ("flow_label", "<i4"),  # IPv6
    ("frag_id", "<i8"),  # IPv6: identification of the fragment header
]

IDENTITY_DTYPE = np.dtype(_IDENTITY)  # the columns that packets and records have in common

PACKET_DTYPE = np.dtype(
    [
        ("ts", "<i8"),  # ns since the epoch, on the sniffer's clock; or UNTIMED
        ("caplen", "<i8"),
        ("len", "<i8"),
        ("offset", "<i8"),  # position of the packet's first byte in its file
        ("interface", "<i4"),
        ("linktype", "<i4"),  # LINKTYPE_ value, see tcpdump.org/linktypes.html
        ("eth_src", "<i8"),  # 48-bit number
        ("eth_dst", "<i8"),
        ("vlan", "<i4"),  # outermost VLAN id
        ("ttl", "<i2"),
        ("flags", "u1"),  # PACKET_* below
        ("window", "<i4"),
        ("payload", "<i4"),  # bytes after the TCP or UDP header, according to the IP length
        (
            "content",
            "<i4",
        ),  # hash of the bytes after the IP header, see readers/capture/content_hash.py
        ("sll_ifindex", "<i4"),  # the device, by the header of LINKTYPE_LINUX_SLL2
        ("sll_outgoing", "i1"),  # 1: the device sent the packet, by the header of SLL or SLL2
        *_IDENTITY,
    ]
)

FOR_MATCHING = ("content", "sll_ifindex", "sll_outgoing")  # columns that no session stores
STORED_PACKET_DTYPE = PACKET_DTYPE[[n for n in PACKET_DTYPE.names or () if n not in FOR_MATCHING]]

UNTIMED = -1  # ts of a packet without a timestamp (pcapng: simple packet blocks)

NO_DELTA = -(1 << 63)  # delta_ns of a match without a clock fit; -1 ns is a valid distance

PACKET_CUT = 1  # the sniffer kept only the beginning of the packet
PACKET_MALFORMED = 2  # a header is incomplete, or lengths contradict each other

RECORD_DTYPE = np.dtype(
    [
        ("ts", "<i8"),  # ns of the KBL's clock
        ("ordinal", "<i8"),  # index of its head slot among all head slots of the file
        ("kind", "u1"),  # kbl.h enum kbl_kind: ENTRY (a call), EXIT (alone), EVENT, LOST; or SEEN
        ("event", "u1"),  # kbl.h enum kbl_event, 0 when kind is not EVENT
        ("flags", "u1"),  # KBL_FLAG_*; LOST: kbl.h enum kbl_lost
        ("context", "u1"),
        ("cpu", "<i4"),
        ("func", "<i4"),  # probe id
        ("pid", "<i8"),  # thread
        ("skb", "<i8"),  # address as signed 64 bits, 0 = none
        ("caller", "<i8"),  # absolute address as signed 64 bits, 0 = unknown; ENTRY only
        ("data", "<i8"),  # EVENT: its data; EXIT: return value; LOST: count; ENTRY: see CARRIED
        ("exit_ts", "<i8"),  # ENTRY: when the function returned, -1 = unknown
        ("exit_cpu", "<i4"),
        ("ret", "<i8"),  # return value; with KBL_FLAG_SKB_IS_RET the skb returned
        ("dur", "<i8"),  # LOST: ns from the start of the gap to ts
        ("counter", "<i8"),  # ENTRY: events of the hardware counter in the call
        # From here on: the footprint, the kernel's facts about the packet.
        ("ifindex", "<i8"),
        ("netns", "<i8"),
        ("skb_len", "<i8"),
        ("gso_size", "<i4"),
        ("gso_segs", "<i4"),
        ("mark", "<i8"),
        ("sk", "<i8"),  # struct sock: the skb's; with KBL_FLAG_SOCK the argument of the call
        *_IDENTITY,
    ]
)

SEEN = 128  # a kind that is not in kbl.h: a function had the skb, and its return is unknown

DETAIL_BITS = 32  # in a SEEN record's `data`, above these bits: number of its sections, 0 = none

FOOTPRINT = "ifindex"  # the footprint's columns in RECORD_DTYPE: from this one to the last

# Details of records, in tables of their own, sorted by `ordinal`, which is the record's.
FRAME_DTYPE = np.dtype(  # stacks of drops
    [
        ("ordinal", "<i8"),
        ("position", "<i4"),  # 0 = innermost
        ("address", "<i8"),  # return address as signed 64 bits
    ]
)
DROP_DTYPE = np.dtype(
    [
        ("ordinal", "<i8"),
        ("hook", "<i4"),  # netfilter: hook | pf << 8; -1 = outside netfilter
        ("depth", "<i4"),  # frames of the whole stack
    ]
)
CHANGE_DTYPE = np.dtype(  # neighbours, addresses, routes, links
    [
        ("ordinal", "<i8"),
        ("family", "u1"),  # AF_INET, AF_INET6, 0 = none
        ("prefix_len", "<i2"),  # addresses and routes
        ("ifindex", "<i8"),
        ("netns", "<i8"),
        ("addr_hi", "<i8"),  # as in the address columns of the identity
        ("addr_lo", "<i8"),
        ("gateway_hi", "<i8"),  # routes; valid where `gateway` is 4 or 6
        ("gateway_lo", "<i8"),
        ("gateway", "u1"),
        ("state", "<i8"),  # neighbour: NUD_*; address, link: IFF_* of the device; route: table
        ("lladdr", "<i8"),  # neighbour: 48-bit number
    ]
)
SYSCALL_DTYPE = np.dtype(
    [
        ("ordinal", "<i8"),
        ("family", "<i4"),  # of the socket, 0 = unknown
        ("fd", "<i8"),
        ("sk", "<i8"),  # 0 = unknown
        ("arg1", "<i8"),  # connect, bind: the first 16 bytes of the sockaddr
        ("arg2", "<i8"),
    ]
)

# The packets that packet sockets received, according to their calls in the KBL; in file order.
TAP_DTYPE = np.dtype(
    [
        ("record", "<i8"),  # the call's row among the records
        ("sock", "<i8"),  # struct sock of the packet socket, 0 = unknown
        ("content", "<i4"),  # as in PACKET_DTYPE, computed for the packet that the sniffer gets
        ("checksum", "<i4"),  # of the transport header, as it was in memory at that time
        ("summed", "i1"),  # skb->ip_summed: CHECKSUM_PARTIAL and others
        ("direction", "i1"),  # skb->pkt_type: PACKET_OUTGOING and others
    ]
)

Table = npt.NDArray[np.void]


def empty(dtype: np.dtype[np.void], count: int) -> npt.NDArray[np.void]:
    """Return an array of `count` rows in which all values are unknown: -1, or 0 if unsigned."""
    row = np.zeros(1, dtype)
    for name in dtype.names or ():
        if dtype[name].kind == "i" and not name.endswith(("_hi", "_lo")):
            row[name] = -1
    return np.repeat(row, count)
