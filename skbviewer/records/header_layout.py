# SPDX-License-Identifier: MIT
"""Offsets (bytes) of the fields in Ethernet, IP, TCP, UDP, ICMP and ARP headers.

The offsets are Python numbers, so that compiled loops can use them as constants. `..._SIZE` is the
size of a header without options. Numbers in headers are big-endian.
"""

from __future__ import annotations

ETH_DST, ETH_SRC, ETH_TYPE, ETH_SIZE = 0, 6, 12, 14
VLAN_TCI, VLAN_TYPE, VLAN_SIZE = 14, 16, 18  # from the start of a tagged Ethernet header

IPV4_TOS, IPV4_TOT_LEN, IPV4_ID, IPV4_FRAG_OFF, IPV4_TTL, IPV4_PROTOCOL = 1, 2, 4, 6, 8, 9
IPV4_CHECKSUM, IPV4_SADDR, IPV4_DADDR, IPV4_SIZE = 10, 12, 16, 20
IP_DF = 0x4000  # in frag_off: may not be cut into fragments
IP_MF = 0x2000  # in frag_off: more fragments follow
IP_OFFSET = 0x1FFF  # mask of frag_off: the fragment's offset in units of 8 bytes

IPV6_PAYLOAD_LEN, IPV6_NEXT, IPV6_HOP_LIMIT, IPV6_SADDR, IPV6_DADDR, IPV6_SIZE = 4, 6, 7, 8, 24, 40
FLOW_LABEL = 0xFFFFF  # mask in the first 32 bits of the IPv6 header (RFC 8200)
HOPOPTS, ROUTING, FRAGMENT, AUTH, DSTOPTS = 0, 43, 44, 51, 60  # extension headers
EXTENSIONS = (HOPOPTS, ROUTING, FRAGMENT, AUTH, DSTOPTS)
EXTENSION_LEN = 1
FRAGMENT_FIELD, FRAGMENT_ID = 2, 4  # in the fragment header

SPORT, DPORT, PORTS_SIZE = 0, 2, 4  # of TCP, UDP, UDP-Lite and SCTP
TCP_SEQ, TCP_ACK, TCP_OFFSET, TCP_FLAGS, TCP_WINDOW, TCP_CHECKSUM = 4, 8, 12, 13, 14, 16
TCP_URGENT, TCP_SIZE = 18, 20
UDP_LEN, UDP_CHECKSUM, UDP_SIZE = 4, 6, 8
ICMP_TYPE, ICMP_CHECKSUM, ICMP_ID, ICMP_SEQ, ICMP_SIZE = 0, 2, 4, 6, 8
ND_TARGET = 8  # of a neighbour solicitation or advertisement (RFC 4861, 4.3 and 4.4)

# ARP for IPv4 over Ethernet.
ARP_HW_TYPE, ARP_PROTOCOL, ARP_SIZES, ARP_OPERATION = 0, 2, 4, 6
ARP_SENDER_MAC, ARP_SENDER, ARP_TARGET_MAC, ARP_TARGET, ARP_SIZE = 8, 14, 18, 24, 28
