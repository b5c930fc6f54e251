# SPDX-License-Identifier: MIT
"""What link types are called, as Wireshark has it.  Numbers: tcpdump.org/linktypes.html."""

from __future__ import annotations

NAMES = {
    0: "NULL/Loopback",
    1: "Ethernet",
    9: "PPP",
    12: "Raw IP",
    14: "Raw IP",
    50: "PPP in HDLC framing",
    51: "PPP over Ethernet",
    101: "Raw IP",
    104: "Cisco HDLC",
    105: "IEEE 802.11",
    108: "OpenBSD loopback",
    113: "Linux cooked-mode capture v1",
    127: "IEEE 802.11 with radiotap",
    204: "PPP with direction",
    228: "Raw IPv4",
    229: "Raw IPv6",
    276: "Linux cooked-mode capture v2",
}


def link_name(linktype: int) -> str:
    """ "Ethernet"; the number where it has no name here."""
    return NAMES.get(linktype, f"link type {linktype}")
