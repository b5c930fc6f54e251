# SPDX-License-Identifier: MIT
"""Prefix-preserving pseudonyms of addresses, made almost as Crypto-PAn makes them.

Two pseudonyms share exactly as many leading bits as the two addresses (Xu, Fan, Ammar and Moon,
"Prefix-preserving IP address anonymization", ICNP 2002). A keyed hash of an address's preceding
bits decides whether a bit is flipped. These rules differ from Crypto-PAn:

- No bit is flipped after the prefix of an address block that stays unchanged (multicast, loopback,
  ...). Therefore, the pseudonym of an address outside an unchanged block is outside this block,
  too.
- The pseudonym of the last 24 bits of an IPv6 or MAC address depends on these bits only.  The
  pseudonym of an IPv6 address therefore also determines the pseudonym of its solicited-node
  multicast group (RFC 4291, 2.7.1), whose address contains these 24 bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.compiled import Int, allocation_free, compiled
from ...records.types import Int64s
from .siphash import keyed_hash

IPV4, IPV6_HIGH, IPV6_LOW, MAC, LAST24 = range(1, 6)  # what a hash is for
LOW24, LOW32 = 0xFFFFFF, 0xFFFFFFFF
# Blocks of IPv4 addresses: bits, number of bits, and whether the rest stays too.
STAY4 = np.array([[0, 8, 1], [127, 8, 1], [0b111, 3, 1], [0xA9FE, 16, 0]], np.int64)
# Blocks of upper halves of IPv6 addresses: ::, 64:ff9b::, fe80::, ff00::/8.
NAT64, LINK_LOCAL, MULTICAST6 = 0x0064FF9B << 32, (0xFE80 << 48) - (1 << 64), 0xFF
STAY6 = np.array([[0, 64, 0], [NAT64, 64, 0], [LINK_LOCAL, 64, 0], [MULTICAST6, 8, 1]], np.int64)
# Blocks of lower halves after ::, those of ::1 and ::ffff:0:0/96, and after 64:ff9b::.
STAY_LOW = np.array([[0, 40, 1], [0xFFFF, 32, 1]], np.int64)
STAY_NAT64 = np.array([[0, 32, 1]], np.int64)
NOTHING_STAYS = np.zeros((0, 3), np.int64)
ALL_NODES = (0xFF02 << 48) - (1 << 64)  # the upper half of ff02::
SOLICITED, SOLICITED_MAC = 0x1FF, 0x3333FF
FLAGS = (6, 7)  # the bits of a MAC address that stay: local, group
CACHED = 1 << 12


class Keyed(NamedTuple):
    """The key, and pseudonyms that have been computed already."""

    key0: np.int64
    key1: np.int64
    four: Int64s  # (CACHED, 3): 1 if used, address, pseudonym
    six: Int64s  # (CACHED, 5): 1 if used, address and pseudonym, each as high and low


@allocation_free
def _upper(value: Int, width: Int, bits: Int) -> np.int64:
    """Return the upper `bits` bits of a number of `width` bits."""
    if bits == 0:
        return np.int64(0)
    whole = np.int64(value) >> np.int64(width - bits)
    if bits == 64:
        return whole
    return np.int64(whole & ((np.int64(1) << np.int64(bits)) - np.int64(1)))


@compiled
def _staying(value: Int, width: Int, blocks: Int64s) -> np.int64:
    """Return how many of an address's upper bits stay unchanged, according to `blocks`."""
    stay = np.int64(0)
    for row in range(len(blocks)):
        size, same = blocks[row, 1], np.int64(0)
        while same < size and _upper(value, width, same + 1) == _upper(
            blocks[row, 0], size, same + 1
        ):
            same += 1
        here = same + 1
        if same == size:
            here = np.int64(width) if blocks[row, 2] == 1 else size
        stay = max(stay, here)
    return stay


@compiled
def _flipped(
    keyed: Keyed, what: Int, above: Int, value: Int, width: Int, stay: Int, bits: Int
) -> np.int64:
    """Return a number of `width` bits; its bits from `stay` to `bits` - 1 are made pseudonymous.

    `above` are the address bits above the number.
    """
    made = np.int64(value)
    for n in range(stay, bits):
        word = np.int64(what) | np.int64(n) << np.int64(8)
        hashed = keyed_hash(keyed.key0, keyed.key1, word, above, _upper(value, width, n))
        made ^= (hashed & np.int64(1)) << np.int64(width - 1 - n)
    return made


@compiled
def last24(keyed: Keyed, value: Int) -> np.int64:
    """Return the pseudonym of `value`, the last 24 bits of a MAC or IPv6 address."""
    return _flipped(keyed, LAST24, np.int64(0), value, np.int64(24), np.int64(0), np.int64(24))


@compiled
def ipv4(keyed: Keyed, value: Int) -> np.int64:
    """Return the pseudonym of the IPv4 address `value`."""
    row = (np.int64(value) ^ (np.int64(value) >> np.int64(12))) & np.int64(CACHED - 1)
    if keyed.four[row, 0] == 1 and keyed.four[row, 1] == value:
        return np.int64(keyed.four[row, 2])
    stay = _staying(value, np.int64(32), STAY4)
    made = _flipped(keyed, IPV4, np.int64(0), value, np.int64(32), stay, np.int64(32))
    keyed.four[row, 0], keyed.four[row, 1], keyed.four[row, 2] = 1, value, made
    return made


@compiled
def _low64(keyed: Keyed, high: Int, low: Int) -> np.int64:
    """Return the lower half of an IPv6 address that is not a multicast address."""
    stay = np.int64(0)
    if high == 0:
        if np.int64(low) >> np.int64(32) == 0xFFFF:
            return np.int64(0xFFFF << 32) | ipv4(keyed, np.int64(low) & np.int64(LOW32))
        stay = _staying(low, np.int64(64), STAY_LOW)
    elif high == NAT64:
        if np.int64(low) >> np.int64(32) == 0:
            return ipv4(keyed, np.int64(low))
        stay = _staying(low, np.int64(64), STAY_NAT64)
    if stay == 64:
        return np.int64(low)
    made = _flipped(keyed, IPV6_LOW, high, low, np.int64(64), stay, np.int64(40))
    rest = last24(keyed, np.int64(low) & np.int64(LOW24))
    return (made & ~np.int64(LOW24)) | rest


@compiled
def _new_ipv6(keyed: Keyed, high: Int, low: Int) -> tuple[np.int64, np.int64]:
    if (np.int64(high) >> np.int64(56)) & np.int64(0xFF) == MULTICAST6:
        if high == ALL_NODES and np.int64(low) >> np.int64(24) == SOLICITED:
            rest = last24(keyed, np.int64(low) & np.int64(LOW24))
            return np.int64(high), (np.int64(low) & ~np.int64(LOW24)) | rest
        return np.int64(high), np.int64(low)
    stay = _staying(high, np.int64(64), STAY6)
    made = _flipped(keyed, IPV6_HIGH, np.int64(0), high, np.int64(64), stay, np.int64(64))
    return made, _low64(keyed, high, low)


@compiled
def ipv6(keyed: Keyed, high: Int, low: Int) -> tuple[np.int64, np.int64]:
    """Return the pseudonym of an IPv6 address; argument and result are (upper half, lower half)."""
    mixed = np.int64(high) ^ np.int64(low) ^ (np.int64(low) >> np.int64(32))
    row = (mixed ^ (mixed >> np.int64(16))) & np.int64(CACHED - 1)
    six = keyed.six
    if six[row, 0] == 1 and six[row, 1] == high and six[row, 2] == low:
        return six[row, 3], six[row, 4]
    made = _new_ipv6(keyed, high, low)
    six[row, 0], six[row, 1], six[row, 2] = 1, high, low
    six[row, 3], six[row, 4] = made
    return made


@compiled
def _mac_once(keyed: Keyed, value: Int) -> np.int64:
    upper, above = np.int64(value) >> np.int64(24), np.int64(0)
    made = _flipped(keyed, MAC, above, upper, np.int64(24), np.int64(0), np.int64(24))
    for bit in FLAGS:
        mask = np.int64(1) << np.int64(23 - bit)
        made = (made & ~mask) | (upper & mask)
    return made << np.int64(24) | last24(keyed, np.int64(value) & np.int64(LOW24))


@compiled
def mac(keyed: Keyed, value: Int) -> np.int64:
    """Return the pseudonym of `value`, a MAC address of 48 bits; zero and group addresses stay."""
    if (np.int64(value) >> np.int64(24)) == SOLICITED_MAC:
        rest = last24(keyed, np.int64(value) & np.int64(LOW24))
        return np.int64(SOLICITED_MAC) << np.int64(24) | rest
    if value == 0 or (np.int64(value) >> np.int64(40)) & np.int64(1) == 1:
        return np.int64(value)
    made = _mac_once(keyed, value)
    while made == 0:
        made = _mac_once(keyed, made)
    return made


@compiled
def all_ipv4(keyed: Keyed, values: Int64s, out: Int64s) -> None:
    """Write the pseudonym of each IPv4 address in `values` to `out`."""
    for i in range(len(values)):
        out[i] = ipv4(keyed, values[i])


@compiled
def all_ipv6(keyed: Keyed, high: Int64s, low: Int64s, out_high: Int64s, out_low: Int64s) -> None:
    """Write the pseudonym of each IPv6 address `high`, `low` to `out_high` and `out_low`."""
    for i in range(len(high)):
        out_high[i], out_low[i] = ipv6(keyed, high[i], low[i])


@compiled
def all_mac(keyed: Keyed, values: Int64s, out: Int64s) -> None:
    """Write the pseudonym of each MAC address in `values` to `out`."""
    for i in range(len(values)):
        out[i] = mac(keyed, values[i])
