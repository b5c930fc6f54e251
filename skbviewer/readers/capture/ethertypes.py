# SPDX-License-Identifier: MIT
"""The kinds of the next header: EtherTypes, which may also follow from other fields.

Each frame has one of these numbers as its `kind`.  A number below 0x600 is a length (IEEE 802.3);
-1 means unknown.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Int64s
from .linktype_names import linktype_name

ETH_P_IP = 0x0800
ETH_P_ARP = 0x0806
ETH_P_IPV6 = 0x86DD
ETH_P_802_3_MIN = 0x0600
ETH_P_LLC = 0  # in the place of an EtherType: an IEEE 802.3 length, so LLC follows
ETH_P_TEB = 0x6558  # an Ethernet frame follows
ETH_P_8021Q, ETH_P_8021AD, ETH_P_QINQ1 = 0x8100, 0x88A8, 0x9100
ETH_P_MPLS_UC, ETH_P_MPLS_MC = 0x8847, 0x8848
ETH_P_PPPOE_SESSION = 0x8864
ETH_P_JUMBO_LLC = 0x8870
ETH_P_MACSEC, ETH_P_PBB = 0x88E5, 0x88E7
ETH_P_HSR, ETH_P_RTAG = 0x892F, 0xF1C1
ETH_P_VNTAG, ETH_P_ETAG = 0x8926, 0x893F
ETH_P_FABRICPATH, ETH_P_TRILL = 0x8903, 0x22F3
ETH_P_NSH, ETH_P_ARISTA = 0x894F, 0xD28B
AF_INET, AF_INET6 = 2, (10, 23, 24, 28, 30)  # Linux, Windows, NetBSD, FreeBSD, macOS

# Encapsulations that can carry IP; encapsulation.py dissects some of them in part.
NAMES = {
    ETH_P_NSH: "NSH",
    ETH_P_ARISTA: "Arista",
    0x4305: "batman-adv",
    0x876B: "compressed TCP/IP",
    0x880B: "PPP",
    0x8906: "Fibre Channel",
    0x8909: "Cisco MetaData",
    0x8947: "GeoNetworking",
    0x9200: "VLAN",
    0xA0ED: "6LoWPAN",
    0xDADA: "Marvell EDSA",
    0xDADB: "DSA 802.1Q",
    0xE001: "DSA A5PSW",
}
# Added to the EtherType, or to the link type inside PPI or PKTAP, that hides the network header.
UNREAD, UNREAD_LINK = 1 << 16, 1 << 17


def unread_name(kind: int) -> str:
    """Return the name of a kind: "NSH (EtherType 0x894f)", "LINKTYPE_NFLOG (239)"."""
    if kind >= UNREAD_LINK:
        return linktype_name(kind - UNREAD_LINK)
    return f"{NAMES[kind - UNREAD]} (EtherType 0x{kind - UNREAD:04x})"


def by_version(first: Int64s) -> Int64s:
    """Return the EtherType of each IP header by its first byte; -1 if it is not IP."""
    version = first >> 4
    return np.select([version == 4, version == 6], [ETH_P_IP, ETH_P_IPV6], -1)


def by_family(family: Int64s) -> Int64s:
    """Return the EtherType of each address family of Linux, Windows, macOS or a BSD; -1 = none."""
    kinds = np.where(np.isin(family, AF_INET6), ETH_P_IPV6, -1)
    return np.where(family == AF_INET, ETH_P_IP, kinds)
