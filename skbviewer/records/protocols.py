# SPDX-License-Identifier: MIT
"""IP protocol numbers, as IANA assigns them."""

from __future__ import annotations

ICMP = 1
TCP = 6
UDP = 17
ICMPV6 = 58
OSPF = 89
SCTP = 132
UDPLITE = 136
