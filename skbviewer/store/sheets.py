# SPDX-License-Identifier: MIT
"""Leaf pages of SQLite's b-trees in memory, filled with rows of numbers (see cells.py).

What is the same in all cells is laid out once, for a page; of that page copies are made, and the
values of the other columns are put into them, one column after the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..records.compiled import Int, compiled
from .cells import (
    COLUMN,
    LEAD,
    LEAF_HEADER,
    OFFSET,
    OVER,
    PAGE,
    ROWID,
    SIZE,
    VARYING,
    WIDTH,
    Layout,
)
from .sources import I8, KIND, PLACE, REAL, Bytes, Numbers, Windows, stage

WORDS = PAGE // 8
GROUP = 4  # pages filled together: they stay in the processor's first cache
STAGED = GROUP * PAGE // 5  # rows of as many pages: no cell takes less


class Sheet(NamedTuple):
    """Some pages in memory, as bytes and as numbers at any byte."""

    u1: Bytes
    u2: npt.NDArray[np.uint16]
    u4: npt.NDArray[np.uint32]
    u8: npt.NDArray[np.uint64]
    words: npt.NDArray[np.uint64]  # of 8 bytes, one after the other


def sheet(pages: int) -> Sheet:
    """Memory for as many pages."""
    raw = np.empty(pages * PAGE, np.uint8)
    u2, u4, u8 = (np.ndarray((raw.size - n + 1,), f"u{n}", raw, 0, (1,)) for n in (2, 4, 8))
    return Sheet(raw, u2, u4, u8, raw.view(np.uint64))


@compiled
def fill(
    windows: Windows,
    places: Numbers,
    made: Layout,
    kind: Int,
    begin: Int,
    pages: Int,
    count: Int,
    step: Int,
    first: Int,
    out: Sheet,
) -> None:
    """Fill as many leaf pages of this kind with `count` rows each, `step` rows from page to page.

    The first is row `begin` of the block, and `first` its row id.
    """
    size, rowid = made.shape[SIZE], made.shape[ROWID]
    start = PAGE - count * size
    _print(made.cell, size, kind, count, out)
    staged = np.empty(STAGED, np.int64)
    for group in range(0, pages, GROUP):
        some = min(GROUP, pages - group)
        row, rows = begin + group * step, some * step - step + count
        if group:
            _repeat(out.words, group, some)
        if rowid:
            _count_up(made, first + group * step, group * PAGE + start, some, count, step, out)
        for number in range(made.shape[VARYING] - 1, -1, -1):
            place = places[made.body[number, COLUMN]]
            at, width = group * PAGE + start + made.body[number, OFFSET], made.body[number, WIDTH]
            if place[KIND] == I8 or place[KIND] == REAL:
                from_ = place[PLACE] + row
                _put(windows.i8, from_, out, at, size, width, some, count, step)
            else:
                stage(windows, place, row, rows, staged)
                _put(staged, np.int64(0), out, at, size, width, some, count, step)


@compiled
def _print(cell: Bytes, size: Int, kind: Int, count: Int, out: Sheet) -> None:
    """The first pages, with what `count` cells have in common."""
    start = PAGE - count * size
    bytes_ = out.u1
    for word in range(WORDS):
        out.words[word] = 0
    bytes_[0] = kind
    bytes_[3], bytes_[4] = count >> 8, count & 0xFF
    bytes_[5], bytes_[6] = start >> 8, start & 0xFF
    for number in range(np.uint64(count)):
        at, pointer = np.uint64(start) + number * np.uint64(size), np.uint64(2) * number
        bytes_[pointer + np.uint64(LEAF_HEADER)] = at >> np.uint64(8)
        bytes_[pointer + np.uint64(LEAF_HEADER + 1)] = at & np.uint64(0xFF)
        for byte in range(np.uint64(size)):
            bytes_[at + byte] = cell[byte]
    _repeat(out.words, np.int64(0), GROUP)


@compiled
def _repeat(words: npt.NDArray[np.uint64], page: Int, pages: Int) -> None:
    """Copies of the first page, in the place of some pages."""
    for _ in range(pages):
        at = np.uint64(page * WORDS)
        for word in range(np.uint64(WORDS)):
            words[at + word] = words[word]
        page += 1


@compiled
def _count_up(
    made: Layout, first: Int, at: Int, pages: Int, count: Int, step: Int, out: Sheet
) -> None:
    """The row ids of `count` cells from byte `at` on, `first` and more, and in the next pages."""
    size, lead, rowid = made.shape[SIZE], made.shape[LEAD], made.shape[ROWID]
    if size < 8 or lead + rowid > 8 or rowid > 6:
        for page in range(pages):
            for number in range(count):
                place = at + page * PAGE + number * size + lead
                for byte in range(rowid):
                    group = first + page * step + number >> 7 * (rowid - 1 - byte) & 0x7F
                    out.u1[place + byte] = group | (byte < rowid - 1) << 7
        return
    longs, up, down = out.u8, np.uint64(8 * lead), np.uint64(64 - 8 * rowid)
    beside = longs[at] & ~(~np.uint64(0) >> down << up)
    for page in range(np.uint64(pages)):
        id_ = np.uint64(first) + page * np.uint64(step)
        begin = np.uint64(at) + page * np.uint64(PAGE)
        for number in range(np.uint64(count)):
            spread = np.uint64(0x808080808000)
            for group in range(np.uint64(6)):
                ones = np.uint64(0x7F) << np.uint64(7) * group
                spread |= (id_ + number & ones) << group
            longs[begin + number * np.uint64(size)] = beside | swapped(spread) >> down << up


@compiled
def _put(
    window: Numbers,
    row: Int,
    out: Sheet,
    begin: Int,
    size: Int,
    width: Int,
    pages: Int,
    count: Int,
    step: Int,
) -> None:
    """The values of `count` rows of a column from byte `begin` on, `size` bytes from one to the
    next, and in the next pages those of rows that are `step` further.

    Unsigned throughout, for what may be negative is looked at in each turn.
    """
    bytes_, shorts, words, longs = out.u1, out.u2, out.u4, out.u8
    apart = np.uint64(size)
    for page in range(np.uint64(pages)):
        at = np.uint64(begin) + page * np.uint64(PAGE)
        source = np.uint64(row) + page * np.uint64(step)
        if width == 1:
            for i in range(np.uint64(count)):
                bytes_[at + i * apart] = window[source + i] & 0xFF
        elif width == 2:
            for i in range(np.uint64(count)):
                value = swapped(np.uint64(window[source + i]))
                shorts[at + i * apart] = value >> np.uint64(48)
        elif width == 4 or width == 3 + OVER:
            at -= np.uint64(width & 1)
            for i in range(np.uint64(count)):
                value = swapped(np.uint64(window[source + i]))
                words[at + i * apart] = value >> np.uint64(32)
        elif width == 8 or width == 6 + OVER:
            at -= np.uint64(8 - (width & 15))
            for i in range(np.uint64(count)):
                longs[at + i * apart] = swapped(np.uint64(window[source + i]))
        elif width == 3:
            for i in range(np.uint64(count)):
                value = swapped(np.uint64(window[source + i]))
                bytes_[at + i * apart] = value >> np.uint64(40) & np.uint64(0xFF)
                shorts[at + i * apart + np.uint64(1)] = value >> np.uint64(48)
        else:
            for i in range(np.uint64(count)):
                value = swapped(np.uint64(window[source + i])) >> np.uint64(16)
                words[at + i * apart] = value & np.uint64(0xFFFFFFFF)
                shorts[at + i * apart + np.uint64(4)] = value >> np.uint64(32)


@compiled
def swapped(value: Int) -> Int:
    """The bytes of an unsigned 64-bit number the other way round: one instruction."""
    value = (value & np.uint64(0x00FF00FF00FF00FF)) << np.uint64(8) | (
        value >> np.uint64(8) & np.uint64(0x00FF00FF00FF00FF)
    )
    value = (value & np.uint64(0x0000FFFF0000FFFF)) << np.uint64(16) | (
        value >> np.uint64(16) & np.uint64(0x0000FFFF0000FFFF)
    )
    return value << np.uint64(32) | value >> np.uint64(32)
