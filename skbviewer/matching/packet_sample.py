# SPDX-License-Identifier: MIT
"""Find the packets that a recorder left out because it recorded one packet in N.

Input: packets.  Output: flags.  The hash is that of kmod/kbl_filter_sample.c; docs/filter.md
defines it.
"""

from __future__ import annotations

import numpy as np

from ..records import Packets, part
from ..records.header_layout import IP_DF, IP_MF, IP_OFFSET
from ..records.protocols import ICMP, ICMPV6, TCP, UDP, UDPLITE
from ..records.types import Bools, Int64s
from .connection_sample import EXTENSIONS, hash_of_ends, is_chosen, mixed

WITH_HEADER = (TCP, UDP, UDPLITE, ICMP, ICMPV6)  # the recorder reads their transport headers
WORD = np.uint64(32)
IPV6_HEADER = 40  # tot_len counts it, the header's own length does not


def packet_left_out(packets: Packets, some: slice, rate: int, seed: int) -> Bools:
    """Return for each packet in `some` whether a sample of packets leaves it out.

    The result is False if that is unknown, because header fields are missing (short captures), and
    for packets without an IP header, which are never left out.
    """
    version, protocol, dport, seq, ack = (
        part(packets, name, some) for name in ("ip_version", "protocol", "dport", "seq", "ack")
    )
    is_ipv6 = np.asarray(version == 6)
    fragment, whole = _kinds(packets, some)
    has_header = np.isin(protocol, WITH_HEADER)
    known = (version != 0) & ((protocol >= 0) | fragment)
    known &= fragment | ~is_ipv6 | ~np.isin(protocol, EXTENSIONS)
    complete = (dport >= 0) & (np.isin(protocol, (UDP, UDPLITE)) | (seq >= 0))
    known &= ~whole | ~has_header | complete & ((protocol != TCP) | (ack >= 0))
    hashed = hash_of_ends(packets, some, seed, np.asarray(whole & has_header))
    hashed = mixed(hashed ^ np.where(fragment, 0, protocol).astype(np.uint64))
    number = np.where(is_ipv6, part(packets, "frag_id", some), part(packets, "ip_id", some))
    hashed = mixed(hashed ^ _from_zero(number))
    longer = mixed(hashed ^ (_from_zero(seq * has_header) << WORD | _from_zero(ack * has_header)))
    longer = mixed(longer ^ _from_zero(part(packets, "tot_len", some) - IPV6_HEADER * is_ipv6))
    return np.asarray(known & ~is_chosen(np.where(whole, longer, hashed), rate), np.bool_)


def _kinds(packets: Packets, some: slice) -> tuple[Bools, Bools]:
    """Return which packets are IPv6 fragments, and which are no fragments and never will be."""
    is_ipv6 = part(packets, "ip_version", some) == 6
    bits = part(packets, "frag_off", some)
    fragment = is_ipv6 & ((part(packets, "frag_id", some) > 0) | (bits > 0))
    dont = (bits & (IP_DF | IP_MF | IP_OFFSET)) == IP_DF
    return np.asarray(fragment), np.asarray(np.where(is_ipv6, ~fragment, dont))


def _from_zero(values: Int64s) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return the values without a sign; unknown ones are 0, as the recorder has them."""
    return np.asarray(np.maximum(values, 0).astype(np.uint64))
