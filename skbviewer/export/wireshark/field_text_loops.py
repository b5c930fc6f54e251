# SPDX-License-Identifier: MIT
"""Write values of fields as text, many packets at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.compiled import Int, allocation_free, compiled
from ...records.types import Bools, Int64s, UInt8s
from .byte_copy_loops import copy_ahead

NUMBER, HEXADECIMAL, ADDRESS4, ADDRESS6, TEXT, NAME_ALONE = range(6)  # forms of values
WIDTHS = (20, 18, 15, 39)  # the most bytes of a value of each form; of TEXT, the longest text
FORM, TABLE, FIRST, FIRST_TEXT, NAME, NAME_END = range(6)  # of a field: write_comments()
COMPARED = 64  # a value is not repeated among this many distinct values of a packet
COMMA, DOT, COLON, MINUS, ZERO = 44, 46, 58, 45, 48
MOST_DIGITS = 20  # of a 64-bit number
HEX_LETTER = 87  # "a" is this plus 10


class Texts(NamedTuple):
    """A text for each packet; the text of packet i is data[ends[i] : ends[i + 1]].

    `data` has at least AHEAD more bytes than the texts need.
    """

    data: UInt8s
    ends: Int64s


class Column(NamedTuple):
    """The values of a field, one for each row of its table; `high` is set for IPv6 addresses only.

    If values are texts, `low` is the index among the field's texts.
    """

    low: Int64s
    high: Int64s
    known: Bools


@allocation_free
def _decimal(value: Int, out: UInt8s, at: Int) -> np.int64:
    """Write a signed number as text at `at`; return the position after it."""
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
    """Write the lower `bits` of a number in hexadecimal, without leading zeros."""
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
    """Write four groups of an IPv6 address as text."""
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
    """Write one value in the form of its field; text n is texts[ends[n] : ends[n + 1]]."""
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


@allocation_free
def _values(
    field: Int64s, rows: tuple[Int, Int], values: Column, texts: Texts, seen: Int64s,
    head: tuple[UInt8s, Int, Int], out: UInt8s, at: Int,
) -> np.int64:  # fmt: skip
    """Write the head and the distinct known values of a field, or nothing if no value is known.

    The head of the field is head[0][head[1] : head[2]].
    """
    form, end, distinct = field[FORM], np.int64(at), np.int64(0)
    for row in range(np.uint64(rows[0]), np.uint64(rows[1])):
        if not values.known[row]:
            continue
        lower, upper = values.low[row], values.high[row] if form == ADDRESS6 else np.int64(0)
        is_new = True
        for k in range(distinct if distinct < COMPARED else np.int64(COMPARED)):
            if seen[k, 0] == lower and seen[k, 1] == upper:
                is_new = False
                break
        if not is_new:
            continue
        seen[distinct % COMPARED, 0], seen[distinct % COMPARED, 1] = lower, upper
        if distinct == 0:
            end = copy_ahead(head[0], head[1], head[2], out, end)
        else:
            out[end] = COMMA
            end += 1
        if form != NAME_ALONE:
            number = lower + field[FIRST_TEXT]
            end = _value(form, number, upper, texts.data, texts.ends, out, end)
        distinct += 1
    return end


@compiled
def write_comments(
    fields: Int64s,
    names: Texts,
    always: bool,
    bounds: Int64s,
    values: Column,
    texts: Texts,
    out: UInt8s,
    ends: Int64s,
) -> None:
    """Write each packet's comment: a prefix, then the name and the values of each of its fields.

    `fields` has a row for each field, with the columns FORM to NAME_END. The last two columns are
    the bounds of the field's name in names.data; the prefix is the first of `names`. Packet i has
    the known `values` from FIRST + bounds[TABLE, i] to FIRST + bounds[TABLE, i + 1]. If FORM is
    TEXT, a value is the number of one of `texts`, counted from FIRST_TEXT (0 for other forms). The
    end of packet i in `out` is written to ends[i + 1]. `out` must be large enough, with AHEAD more
    bytes. Without `always`, a packet without fields gets an empty text.
    """
    seen = np.zeros((COMPARED, 2), np.int64)
    at = np.int64(0)
    ends[0] = 0
    for i in range(len(ends) - 1):
        start = at
        at = copy_ahead(names.data, names.ends[0], names.ends[1], out, at)
        empty = at
        for f in range(len(fields)):
            field = fields[f]
            first, table = field[FIRST], field[TABLE]
            rows = first + bounds[table, i], first + bounds[table, i + 1]
            head = names.data, field[NAME], field[NAME_END]
            at = _values(field, rows, values, texts, seen, head, out, at)
        if at == empty and not always:
            at = start
        ends[i + 1] = at
