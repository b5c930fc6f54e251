# SPDX-License-Identifier: MIT
"""Write values of fields as text, many packets at once."""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free, compiled
from ...records.types import Bools, Int64s, UInt8s
from .byte_copies import copy_ahead

NUMBER, HEXADECIMAL, ADDRESS4, ADDRESS6, TEXT = range(5)
WIDTHS = (20, 18, 15, 39)  # the most bytes of a value of each form; of TEXT, the longest text
COMPARED = 64  # a value is not repeated among this many distinct values of a packet
COMMA, DOT, COLON, MINUS, ZERO = 44, 46, 58, 45, 48
MOST_DIGITS = 20  # of a 64-bit number
HEX_LETTER = 87  # "a" is this plus 10


@allocation_free
def _decimal(value: Int, out: UInt8s, at: Int) -> np.int64:
    """Write a signed number at `at`; returns the position after it."""
    end = np.int64(at)
    left = np.uint64(value)
    if value < 0:
        out[end] = MINUS
        end += 1
        left = np.uint64(0) - left
    digits, power = np.uint64(1), np.uint64(10)
    while left >= power and digits < MOST_DIGITS:  # after 10**19, a power overflows
        digits += np.uint64(1)
        power *= np.uint64(10)
    after = np.uint64(end) + digits  # unsigned: an index never counts from the end of the array
    for i in range(np.uint64(1), digits + np.uint64(1)):
        rest = left // np.uint64(10)
        out[after - np.uint64(i)] = np.uint8(np.uint64(ZERO) + left - rest * np.uint64(10))
        left = rest
    return np.int64(after)


@allocation_free
def _hexadecimal(value: Int, bits: Int, out: UInt8s, at: Int) -> np.int64:
    """Write the lower `bits` of a number without leading zeros."""
    end, started = np.int64(at), False
    for i in range(bits // 4):
        digit = (np.uint64(value) >> np.uint64(bits - 4 - 4 * i)) & np.uint64(15)
        if digit > 0 or started or i == bits // 4 - 1:
            started = True
            out[end] = np.uint8(digit) + (ZERO if digit < 10 else HEX_LETTER)
            end += 1
    return end


@allocation_free
def _groups(value: Int, out: UInt8s, at: Int) -> np.int64:
    """Write four groups of an IPv6 address."""
    end = np.int64(at)
    for i in range(4):
        if i > 0:
            out[end] = COLON
            end += 1
        end = _hexadecimal(np.int64(value) >> np.int64(48 - 16 * i), np.int64(16), out, end)
    return end


@allocation_free
def _address4(value: Int, out: UInt8s, at: Int) -> np.int64:
    end = np.int64(at)
    for i in range(4):
        if i > 0:
            out[end] = DOT
            end += 1
        end = _decimal((np.int64(value) >> np.int64(24 - 8 * i)) & np.int64(255), out, end)
    return end


@allocation_free
def _value(
    form: int, low: Int, high: Int, texts: UInt8s, ends: Int64s, out: UInt8s, at: Int
) -> np.int64:
    """Write one value in its form; text n is texts[ends[n] : ends[n + 1]]."""
    end = np.int64(at)
    if form == TEXT:
        begin, stop = ends[np.int64(low)], ends[np.int64(low) + 1]
        end = copy_ahead(texts, begin, stop, out, end)
    elif form == HEXADECIMAL:
        out[end], out[end + 1] = ZERO, 120
        end = _hexadecimal(low, np.int64(64), out, end + 2)
    elif form == ADDRESS4:
        end = _address4(low, out, end)
    elif form == ADDRESS6:
        end = _groups(high, out, end)
        out[end] = COLON
        end = _groups(low, out, end + 1)
    else:
        end = _decimal(low, out, end)
    return end


@compiled
def write_values(
    form: int,
    bounds: Int64s,
    low: Int64s,
    high: Int64s,
    known: Bools,
    texts: UInt8s,
    text_ends: Int64s,
    out: UInt8s,
    ends: Int64s,
    count: Int64s,
) -> None:
    """Write the known values of each packet, separated by commas and without repetition.

    Packet i has the values of rows bounds[i] to bounds[i + 1] - 1. Its text begins at out[ends[i]]
    and ends before out[ends[i + 1]]; count[i] becomes the number of its values. The caller sets
    ends[0]. `out` must be large enough, with AHEAD bytes more.
    """
    seen = np.zeros((COMPARED, 2), np.int64)
    at = ends[0]
    for i in range(len(bounds) - 1):
        distinct = np.int64(0)
        for row in range(bounds[i], bounds[i + 1]):
            if not known[row]:
                continue
            is_new = True
            for k in range(COMPARED):
                if k == distinct:
                    break
                if seen[k, 0] == low[row] and seen[k, 1] == high[row]:
                    is_new = False
                    break
            if not is_new:
                continue
            seen[distinct % COMPARED, 0], seen[distinct % COMPARED, 1] = low[row], high[row]
            if distinct > 0:
                out[at] = COMMA
                at += 1
            at = _value(form, low[row], high[row], texts, text_ends, out, at)
            distinct += 1
        count[i] = distinct
        ends[i + 1] = at


@compiled
def join_fields(
    names: UInt8s,
    name_ends: Int64s,
    values: UInt8s,
    value_ends: Int64s,
    count: Int64s,
    out: UInt8s,
    ends: Int64s,
) -> None:
    """Write the fields that each packet has, one packet after the other.

    Name f is names[name_ends[f] : name_ends[f + 1]]. The values of packet i follow the name:
    values[value_ends[f, i] : value_ends[f, i + 1]]. The packet has the field if count[f, i] is not
    0. ends[i + 1] becomes the end of packet i in `out`, which must be large enough. `names`,
    `values` and `out` have AHEAD more bytes than are needed.

    The loop goes packet by packet, because the comments of many packets are larger than the cache:
    going field by field took three times as long.
    """
    at = np.int64(0)
    ends[0] = 0
    for i in range(len(ends) - 1):
        for f in range(len(count)):
            if count[f, i] > 0:
                at = copy_ahead(names, name_ends[f], name_ends[f + 1], out, at)
                at = copy_ahead(values, value_ends[f, i], value_ends[f, i + 1], out, at)
        ends[i + 1] = at
