# SPDX-License-Identifier: MIT
"""Find the packets whose connections a sampling recorder left out: it recorded one in N.

Input: packets.  Output: flags.  The hash is that of kmod/kbl_filter_sample.c; docs/filter.md
defines it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..records import Packets, part
from ..records.protocols import TCP, UDP, UDPLITE
from ..records.types import Bools

WITH_PORTS = (TCP, UDP, UDPLITE)
EXTENSIONS = (0, 43, 44, 51, 60, 135, 139, 140)  # IPv6 headers that hide the protocol
MULTIPLIER = np.uint64(0xC4CEB9FE1A85EC53)
SHIFT, HALF = np.uint64(33), np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)

UInt64s = npt.NDArray[np.uint64]


def connection_left_out(packets: Packets, some: slice, rate: int, seed: int) -> Bools:
    """Return for each packet in `some` whether a sample of connections leaves it out.

    The flag is False if ports are missing (later fragments, short captures), and for packets
    without an IP header, which are never left out.
    """
    version, protocol = part(packets, "ip_version", some), part(packets, "protocol", some)
    with_ports = np.isin(protocol, WITH_PORTS)
    ports = [part(packets, name, some) for name in ("sport", "dport")]
    known = (version != 0) & (protocol >= 0)
    known &= ~((version == 6) & np.isin(protocol, EXTENSIONS))
    known &= ~with_ports | (ports[0] >= 0) & (ports[1] >= 0)
    hashed = hash_of_ends(packets, some, seed, with_ports)
    hashed = mixed(hashed ^ protocol.astype(np.uint64))
    return np.asarray(known & ~is_chosen(hashed, rate), np.bool_)


def hash_of_ends(packets: Packets, some: slice, seed: int, with_ports: Bools) -> UInt64s:
    """Return the sum of the hashes of both ends; without ports where `with_ports` is false."""
    is_ipv6 = np.asarray(part(packets, "ip_version", some) == 6)
    start = mixed(np.full(len(is_ipv6), seed + 1, np.uint64))
    total = np.zeros(len(is_ipv6), np.uint64)
    for name, port in (("saddr", "sport"), ("daddr", "dport")):
        high, low = (part(packets, f"{name}_{half}", some).view(np.uint64) for half in ("hi", "lo"))
        number = np.where(with_ports, part(packets, port, some), 0).astype(np.uint64)
        total += _hash_of_end(start, is_ipv6, high, low, number)
    return total


def is_chosen(hashed: UInt64s, rate: int) -> Bools:
    """Return for each hash whether it is in the lowest `rate`-th part of the range of hashes."""
    return np.asarray((hashed >> HALF) * np.uint64(rate) >> HALF == 0)


def _hash_of_end(
    seed: UInt64s, is_ipv6: Bools, high: UInt64s, low: UInt64s, port: UInt64s
) -> UInt64s:
    """Return the hash of an address and port; an IPv4 address is one word, an IPv6 address four."""
    long = mixed(mixed(mixed(seed ^ high >> HALF) ^ high & LOW) ^ low >> HALF)
    return mixed(mixed(np.where(is_ipv6, long, seed) ^ low & LOW) ^ port)


def mixed(values: UInt64s) -> UInt64s:
    """Return the second half of MurmurHash3's finalizer of each value."""
    values = values ^ values >> SHIFT
    values = values * MULTIPLIER
    return values ^ values >> SHIFT
