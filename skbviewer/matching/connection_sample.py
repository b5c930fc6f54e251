# SPDX-License-Identifier: MIT
"""Find the packets that a sampling recorder left out, because it recorded one connection in N.

Input: the META of a kernel log, and packets.  Output: a flag for each packet.  The hash is defined
in docs/filter.md; kmod/kbl_filter_sample.c computes it, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import Packets, part
from ..records.protocols import TCP, UDP, UDPLITE
from ..records.types import Bools
from .arrays.array_blocks import blocks

WITH_PORTS = (TCP, UDP, UDPLITE)
EXTENSIONS = (0, 43, 44, 51, 60, 135, 139, 140)  # IPv6 headers that hide the protocol
MULTIPLIER = np.uint64(0xC4CEB9FE1A85EC53)
SHIFT, HALF = np.uint64(33), np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)

UInt64s = npt.NDArray[np.uint64]


class Sample(NamedTuple):
    """What a sampling recorder recorded: one connection in `rate`, chosen by a hash with `seed`."""

    rate: int
    seed: int


def sample_of(meta: Mapping[str, str]) -> Sample | None:
    """Return how a log was sampled, by its META; None if it has all connections."""
    rate, seed = meta.get("sample.rate", ""), meta.get("sample.seed", "0")
    if not (rate.isdecimal() and seed.isdecimal() and 0 < int(rate) < 1 << 32 > int(seed)):
        return None
    return Sample(int(rate), int(seed))


def is_left_out(packets: Packets, sample: Sample) -> Bools:
    """Return for each packet whether `sample` leaves out its connection.

    The flag is False if ports are missing (later fragments, short captures), and for packets
    without an IP header, which are never left out.
    """
    made = np.zeros(len(packets), np.bool_)
    for some in blocks(len(packets)):
        made[some] = _is_left_out(packets, some, sample)
    return made


def _is_left_out(packets: Packets, some: slice, sample: Sample) -> Bools:
    version, protocol = part(packets, "ip_version", some), part(packets, "protocol", some)
    with_ports = np.isin(protocol, WITH_PORTS)
    ports = [part(packets, name, some) for name in ("sport", "dport")]
    known = (version != 0) & (protocol >= 0)
    known &= ~((version == 6) & np.isin(protocol, EXTENSIONS))
    known &= ~with_ports | (ports[0] >= 0) & (ports[1] >= 0)
    seed = _mixed(np.full(len(version), sample.seed + 1, np.uint64))
    total = np.zeros(len(version), np.uint64)
    for name, port in zip(("saddr", "daddr"), ports, strict=True):
        high, low = (part(packets, f"{name}_{half}", some).view(np.uint64) for half in ("hi", "lo"))
        number = np.where(with_ports, port, 0).astype(np.uint64)
        total += _hash_of_end(seed, version == 6, high, low, number)
    hashed = _mixed(total ^ protocol.astype(np.uint64))
    chosen = (hashed >> HALF) * np.uint64(sample.rate) >> HALF == 0
    return np.asarray(known & ~chosen, np.bool_)


def _hash_of_end(
    seed: UInt64s, is_ipv6: Bools, high: UInt64s, low: UInt64s, port: UInt64s
) -> UInt64s:
    """Return the hash of an address and port; IPv4 addresses have one word, IPv6 addresses four."""
    long = _mixed(_mixed(_mixed(seed ^ high >> HALF) ^ high & LOW) ^ low >> HALF)
    return _mixed(_mixed(np.where(is_ipv6, long, seed) ^ low & LOW) ^ port)


def _mixed(values: UInt64s) -> UInt64s:
    values = values ^ values >> SHIFT
    values = values * MULTIPLIER
    return values ^ values >> SHIFT
