# SPDX-License-Identifier: MIT
"""Compiled loops that find tokens of JSON text: runs of strings, numbers, words, keys."""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free
from ...records.types import UInt8s
from .event_keys import FIRST_MASK, LONGEST_KEY, SECOND_MASK, SLOT_BITS, Keys
from .event_shape_loops import whole_number, word_at

QUOTE, COMMA, COLON, NEWLINE, BACKSLASH = 34, 44, 58, 10, 92
OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY = 123, 125, 91, 93
MINUS, ZERO, NINE, DOT, SMALL_E, BIG_E, PLUS = 45, 48, 57, 46, 101, 69, 43
SMALL_F = 102

# Bytes that end a plain run of a string: quote, backslash, control characters, non-ASCII bytes.
ENDS_RUN = np.array([b < 32 or b >= 128 or b in (QUOTE, BACKSLASH) for b in range(256)], np.uint8)
# For eight bytes at once: 1 in each byte; each byte's highest bit; the bytes above.
ONES, HIGHEST = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
QUOTES, BACKSLASHES = np.uint64(QUOTE) * ONES, np.uint64(BACKSLASH) * ONES
BLANKS = np.uint64(32) * ONES
INDEX = np.uint64(0x0001020304050607)  # times 1 << 8 * n, the highest byte is n


@allocation_free
def after_blanks(text: UInt8s, at: Int) -> Int:
    """Return the position of the first byte of `text` from `at` on that is not a blank.

    A line end does not count as a blank.
    """
    while at < len(text) and (text[at] == 32 or text[at] == 9 or text[at] == 13):
        at += 1
    return at


@allocation_free
def run_end(text: UInt8s, at: Int, ends_run: UInt8s) -> Int:
    """Return the position from `at` on at which a string has its first special character.

    Special are a quote, a backslash, a control character, and a byte above 127; `ends_run` marks
    them.
    """
    while at + 8 <= len(text):
        word = word_at(text, at)
        quote, backslash = word ^ QUOTES, word ^ BACKSLASHES
        # A byte's highest bit is set if it ends the run; in bytes after the first, also by chance.
        ends = (quote - ONES) & ~quote
        ends |= (backslash - ONES) & ~backslash
        ends |= (word - BLANKS) & ~word
        ends = (ends | word) & HIGHEST
        if ends != np.uint64(0):
            first = ends & (~ends + np.uint64(1))
            return at + np.int64(((first >> np.uint64(7)) * INDEX) >> np.uint64(56))
        at += 8
    while at < len(text) and ends_run[text[at]] == 0:
        at += 1
    return at


@allocation_free
def line_end(text: UInt8s, at: Int) -> Int:
    """Return the position of the first line end from `at` on, or the end of the text."""
    while at < len(text) and text[at] != NEWLINE:
        at += 1
    return at


@allocation_free
def value_end(text: UInt8s, at: Int) -> Int:
    """Return the position after the JSON value at `at`, which is an element of an array.

    The loop only counts brackets and quotes, so it skips broken JSON, too.  A line end ends the
    value.
    """
    depth, in_string = np.int64(0), False
    while at < len(text) and text[at] != NEWLINE:
        c = text[at]
        if in_string:
            if c == BACKSLASH and at + 1 < len(text) and text[at + 1] != NEWLINE:
                at += 1
            elif c == QUOTE:
                in_string = False
        elif c == QUOTE:
            in_string = True
        elif c in (OPEN_OBJECT, OPEN_ARRAY):
            depth += 1
        elif c in (CLOSE_OBJECT, CLOSE_ARRAY):
            if depth == 0:
                return at
            depth -= 1
        elif c == COMMA and depth == 0:
            return at
        at += 1
    return at


@allocation_free
def key_row(text: UInt8s, begin: Int, end: Int, section: Int, keys: Keys) -> Int:
    """Return the row in `keys` for the key text[begin:end] of `section`; -1 if it is not wanted.

    The text has at least 16 bytes from `begin` on.
    """
    length = end - begin
    if length > LONGEST_KEY:
        return np.int64(-1)
    first = word_at(text, begin) & FIRST_MASK[length]
    second = word_at(text, begin + 8) & SECOND_MASK[length]
    hashed = (first ^ second * np.uint64(3) ^ np.uint64(section)) * keys.factor[0]
    row = np.int64(keys.slot[np.int64(hashed >> np.uint64(64 - SLOT_BITS))])
    if row < 0 or keys.section[row] != section or keys.length[row] != length:
        return np.int64(-1)
    return row if keys.first[row] == first and keys.second[row] == second else np.int64(-1)


@allocation_free
def literal_end(text: UInt8s, at: Int) -> Int:
    """Return the position after true, false or null at `at`; -1 if none of them is there."""
    length = np.int64(5) if text[at] == SMALL_F else np.int64(4)
    if at + length > len(text):
        return np.int64(-1)
    hashed = np.int64(0)
    for i in range(length):
        hashed = hashed * 256 + np.int64(text[at + i])
    # "true", "false", "null" as numbers
    if hashed == 0x74727565 or hashed == 0x66616C7365 or hashed == 0x6E756C6C:
        return at + length
    return np.int64(-1)


@allocation_free
def json_number(text: UInt8s, at: Int) -> tuple[Int, np.uint64, Int, Int]:
    """Return the position after a number, the number, and two flags (1 or 0).

    The first flag says that the value is known, and the second that the number is whole.  The
    position is -1 if no number begins at `at`.  Only the values of whole numbers from 0 to 2^64 - 1
    are known.
    """
    is_negative = text[at] == MINUS
    at, value, known = whole_number(text, at + 1 if is_negative else at)
    known, whole = np.int64(0) if is_negative else known, np.int64(1)
    if at < 0:
        return at, value, known, whole
    if at < len(text) and text[at] == DOT:
        at, begin, known, whole = at + 1, at + 1, np.int64(0), np.int64(0)
        while at < len(text) and ZERO <= text[at] <= NINE:
            at += 1
        if at == begin:
            return np.int64(-1), value, known, whole
    if at < len(text) and (text[at] == SMALL_E or text[at] == BIG_E):
        at, known, whole = at + 1, np.int64(0), np.int64(0)
        if at < len(text) and (text[at] == PLUS or text[at] == MINUS):
            at += 1
        begin = at
        while at < len(text) and ZERO <= text[at] <= NINE:
            at += 1
        if at == begin:
            return np.int64(-1), value, known, whole
    return at, value, known, whole
