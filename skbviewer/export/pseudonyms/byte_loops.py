# SPDX-License-Identifier: MIT
"""Read and write numbers in packets, and sum up words for checksums, in compiled loops.

The loops read the original bytes and write to a copy, so that the sums of both can be compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.compiled import Int, allocation_free, compiled
from ...records.types import Int64s, UInt8s
from .address_loops import Keyed, ipv4, ipv6, mac

ONES = 0xFFFF  # one's complement sums are numbers modulo this
FIELD, BEGIN, END, MORE, NEVER_ZERO, SET, COLUMNS = range(7)  # columns of Packet.checksums
MOST_CHECKSUMS = 32


class Packet(NamedTuple):
    """A packet's original bytes, a copy to change, and the checksums found so far."""

    old: UInt8s
    new: UInt8s
    keyed: Keyed
    checksums: Int64s  # (MOST_CHECKSUMS, COLUMNS)
    found: Int64s  # [0] is the number of checksums


@allocation_free
def number(data: UInt8s, at: Int, size: Int) -> np.int64:
    """Return the big-endian number of `size` bytes at index `at` of `data`."""
    value = np.int64(0)
    for i in range(size):
        value = value << np.int64(8) | np.int64(data[at + i])
    return value


@allocation_free
def put_number(data: UInt8s, at: Int, value: Int, size: Int) -> None:
    """Write `value` at index `at` of `data` as a big-endian number of `size` bytes."""
    left = np.int64(value)
    for i in range(size):
        data[at + size - 1 - i] = np.uint8(left & np.int64(255))
        left >>= np.int64(8)


@compiled
def word_sum(data: UInt8s, begin: Int, end: Int) -> np.int64:
    """Return the sum of the 16-bit words in data[begin:end]; an odd byte at the end is padded."""
    total, at = np.int64(0), np.int64(begin)
    while at + 1 < end:
        total += np.int64(data[at]) << np.int64(8) | np.int64(data[at + 1])
        at += 2
    if at < end:
        total += np.int64(data[at]) << np.int64(8)
    return total


@compiled
def fill(packet: Packet, begin: Int, end: Int, value: Int) -> None:
    """Set the bytes from `begin` to `end` - 1 of the copy to `value`."""
    for at in range(begin, end):
        packet.new[at] = np.uint8(value)


@compiled
def blank(packet: Packet, begin: Int, end: Int) -> None:
    """Overwrite the payload from `begin` to `end` - 1 with zeros, except for its first two bytes.

    The first word becomes the sum of the payload. A correct checksum over the payload stays
    correct, and a wrong one stays wrong, even if the checksum is in another fragment. The packet's
    checksums reveal this sum in any case.
    """
    if end <= begin:
        return
    folded = word_sum(packet.old, begin, end)
    while folded > ONES:
        folded = (folded & np.int64(ONES)) + (folded >> np.int64(16))
    fill(packet, begin, end, np.int64(0))
    packet.new[begin] = np.uint8(folded >> np.int64(8))
    if begin + 1 < end:
        packet.new[begin + 1] = np.uint8(folded & np.int64(255))


@compiled
def put_ipv4(packet: Packet, at: Int) -> None:
    """Write the pseudonym of the packet's IPv4 address at `at` into the copy."""
    put_number(packet.new, at, ipv4(packet.keyed, number(packet.old, at, np.int64(4))), np.int64(4))


@compiled
def put_ipv6(packet: Packet, at: Int) -> None:
    """Write the pseudonym of the packet's IPv6 address at `at` into the copy."""
    eight = np.int64(8)
    high, low = number(packet.old, at, eight), number(packet.old, at + eight, eight)
    high, low = ipv6(packet.keyed, high, low)
    put_number(packet.new, at, high, eight)
    put_number(packet.new, at + eight, low, eight)


@compiled
def put_prefix(packet: Packet, at: Int, bits: Int, size: Int) -> None:
    """Write the pseudonym of an IPv6 prefix of `bits` bits into the copy; zero the other bits.

    The prefix is in the `size` bytes at `at`.
    """
    high, low = np.int64(0), np.int64(0)
    for i in range(16):
        value = np.int64(packet.old[at + i]) if i < size else np.int64(0)
        if i < 8:
            high = high << np.int64(8) | value
        else:
            low = low << np.int64(8) | value
    high, low = ipv6(packet.keyed, high, low)
    for i in range(size):
        half = high if i < 8 else low
        value = (half >> np.int64(56 - 8 * (i % 8))) & np.int64(255)
        kept = min(max(bits - 8 * i, 0), 8)
        packet.new[at + i] = np.uint8(value & ((np.int64(0xFF00) >> np.int64(kept)) & 255))


@compiled
def put_mac(packet: Packet, at: Int) -> None:
    """Write the pseudonym of the packet's MAC address at `at` into the copy."""
    put_number(packet.new, at, mac(packet.keyed, number(packet.old, at, np.int64(6))), np.int64(6))


@compiled
def note_checksum(
    packet: Packet, field: Int, begin: Int, end: Int, more: Int, never_zero: Int
) -> None:
    """Note a checksum at `field` to be adjusted; it covers the bytes from `begin` to `end` - 1.

    `more` is the amount by which the sum of other bytes (a pseudo-header) has decreased. With
    `never_zero`, a checksum of 0 is written as 0xffff.
    """
    count = packet.found[0]
    if count == MOST_CHECKSUMS or field + 2 > end:
        return
    row = packet.checksums[count]
    row[FIELD], row[BEGIN], row[END] = field, begin, end
    row[MORE], row[NEVER_ZERO] = more, never_zero
    packet.found[0] = count + 1


@compiled
def adjust_checksums(packet: Packet) -> None:
    """Adjust noted checksums, innermost first: correct ones stay correct, wrong ones wrong."""
    for n in range(packet.found[0] - 1, -1, -1):
        row = packet.checksums[n]
        field, begin, end = row[FIELD], row[BEGIN], row[END]
        less = word_sum(packet.old, begin, end) - word_sum(packet.new, begin, end) + row[MORE]
        less %= np.int64(ONES)
        if less == 0:
            continue
        made = (number(packet.old, field, np.int64(2)) + less) % np.int64(ONES)
        if made == 0 and row[NEVER_ZERO] == 1:
            made = np.int64(ONES)
        put_number(packet.new, field, made, np.int64(2))
