# SPDX-License-Identifier: MIT
"""Wireshark's names of link types.  The numbers are those of tcpdump.org/linktypes.html."""

from __future__ import annotations

from ...readers import linktype_name

NAMES = {
    0: "NULL/Loopback",
    1: "Ethernet",
    6: "Token Ring",
    7: "ARCNET",
    9: "PPP",
    10: "FDDI",
    12: "Raw IP",
    14: "Raw IP",
    50: "PPP in HDLC framing",
    51: "PPP over Ethernet",
    100: "RFC 1483 ATM",
    101: "Raw IP",
    104: "Cisco HDLC",
    105: "IEEE 802.11",
    107: "Frame Relay",
    108: "OpenBSD loopback",
    109: "OpenBSD enc(4)",
    113: "Linux cooked-mode capture v1",
    117: "PF firewall logs",
    119: "IEEE 802.11 with Prism header",
    122: "IP over Fibre Channel",
    127: "IEEE 802.11 with radiotap",
    129: "Linux ARCNET",
    138: "Apple IP over IEEE 1394",
    163: "IEEE 802.11 with AVS header",
    166: "PPP of pppd",
    192: "Per-Packet Information",
    204: "PPP with direction",
    205: "Cisco HDLC with direction",
    206: "Frame Relay with direction",
    219: "MPLS",
    226: "Solaris IPNET",
    228: "Raw IPv4",
    229: "Raw IPv6",
    239: "NFLOG",
    240: "netANALYZER",
    241: "netANALYZER, transparent",
    242: "IP over InfiniBand",
    258: "Apple PKTAP",
    276: "Linux cooked-mode capture v2",
    281: "Ethernet with Broadcom tag",
    282: "Broadcom tag before Ethernet",
    284: "Ethernet with DSA tag",
    285: "Ethernet with EDSA tag",
}


def link_name(linktype: int) -> str:
    """Return Wireshark's name of a link type, such as "Ethernet".

    If this table has no name, the result is "LINKTYPE_USER0 (147)", for example.
    """
    return NAMES.get(linktype) or linktype_name(linktype)
