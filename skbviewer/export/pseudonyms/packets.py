# SPDX-License-Identifier: MIT
"""The bytes of packets with pseudonyms."""

from __future__ import annotations

import numpy as np

from ...readers.capture.header_offsets import Place, header_extents
from ...records.header_layout import ETH_DST, ETH_SIZE, ETH_SRC, ETH_TYPE
from ...records.types import Int64s, UInt8s
from .byte_loops import COLUMNS, MOST_CHECKSUMS, Packet
from .packet_loops import rewrite
from .pseudonyms import Pseudonyms

ETHERNET, SLL, SLL2 = 1, 113, 276
# Bytes of link headers that are kept, where the MAC addresses among them are known.
COOKED = {SLL: (16, 6), SLL2: (20, 12)}  # size, and where the sender's address is
# Ethernet's types after which there are no MAC addresses: IP, ARP, MPLS, PPPoE; and VLAN tags.
DIRECT, TAGS = (0x0800, 0x86DD, 0x0806, 0x8847, 0x8848, 0x8864), (0x8100, 0x88A8)
MOST_TAGS, TAG = 3, 4
NO_ADDRESS = (0, 12, 14, 101, 108, 228, 229)  # link types whose headers have none
ALL = 1 << 20  # more than any link header


def with_pseudonyms(
    data: UInt8s, linktype: Int64s, offset: Int64s, caplen: Int64s, length: Int64s,
    pseudonyms: Pseudonyms,
) -> UInt8s:  # fmt: skip
    """Return a copy of `data` with pseudonyms in the packets at `offset`, which must lie in `data`.

    For each packet: link type, offset in `data`, captured and original length.

    Payloads become zeros, except for their first word, which gets the sum of the payload. Link
    headers of unknown form become zeros, and so do all bytes of a packet whose link type is
    unknown.
    """
    found = header_extents(data, linktype, offset, caplen, length)
    end = (offset + caplen).astype(np.int64)
    network = [_inside(found[name], end) for name in ("ip", "ipv6", "arp")]
    macs, kept = _link(data, linktype, offset, caplen)
    kept = np.where(np.max(network, 0) < 0, np.minimum(kept, ETH_SIZE), kept)
    made = data.copy()
    checksums = np.zeros((MOST_CHECKSUMS, COLUMNS), np.int64)
    packet = Packet(data, made, pseudonyms.keyed, checksums, np.zeros(1, np.int64))
    rewrite(packet, offset.astype(np.int64), end, macs, kept, *network)
    return made


def _inside(place: Place, end: Int64s) -> Int64s:
    """Return the offset of a header; -1 if it is beyond the captured bytes."""
    begin, _ = place
    made: Int64s = np.where(begin < end, begin, -1).astype(np.int64)
    return made


def _link(data: UInt8s, linktype: Int64s, offset: Int64s, caplen: Int64s) -> tuple[Int64s, Int64s]:
    """Return the offsets of MAC addresses in link headers, and how many header bytes are kept."""
    macs = np.full((len(offset), 2), -1, np.int64)
    ethernet = (linktype == ETHERNET) & (caplen >= ETH_SIZE)
    kept = np.where(np.isin(linktype, NO_ADDRESS), ALL, 0).astype(np.int64)
    kept[ethernet] = _ethernet_header(data, offset[ethernet], (offset + caplen)[ethernet])
    macs[ethernet] = offset[ethernet, None] + [ETH_DST, ETH_SRC]
    for kind, (size, at) in COOKED.items():
        cooked = (linktype == kind) & (caplen >= size)
        macs[cooked, 0], kept[cooked] = offset[cooked] + at, size
    return macs, kept


def _ethernet_header(data: UInt8s, offset: Int64s, end: Int64s) -> Int64s:
    """Return how many bytes before each packet's network header are kept."""
    kept = np.full(len(offset), ETH_SIZE, np.int64)
    at, tagged = offset + ETH_TYPE, np.ones(len(offset), np.bool_)
    for _ in range(MOST_TAGS + 1):
        here = np.where(at + 2 <= end, at, offset)
        kind = data[here].astype(np.int64) << 8 | data[here + 1]
        kept[tagged & np.isin(kind, DIRECT)] = ALL
        tagged &= np.isin(kind, TAGS)
        at = at + TAG
    return kept
