# SPDX-License-Identifier: MIT
"""Write rows into the bytes of leaf pages: loops of leaf_pages.py."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records.compiled import Int, compiled
from ...records.types import Int64s, UInt8s
from .row_cell_loops import (
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
)
from .typed_column_loops import I8, KIND, PLACE, REAL, stage

GROUP = 8  # pages whose cells are made together: they stay in the processor's first cache
ROOM = 2 * GROUP * PAGE  # for their cells; an index needs one more cell for each page
STAGED = GROUP * PAGE // 5  # rows of GROUP pages at most: no cell is shorter than 5 bytes


@compiled
def fill(
    memory: UInt8s,
    places: Int64s,
    shape: Int64s,
    body: Int64s,
    cell: UInt8s,
    kind: Int,
    begin: Int,
    pages: Int,
    count: Int,
    step: Int,
    first: Int,
    u1: UInt8s,
    u2: npt.NDArray[np.uint16],
    u4: npt.NDArray[np.uint32],
    u8: npt.NDArray[np.uint64],
) -> None:
    """Fill `pages` leaf pages with `count` rows each; `kind` is the first byte of a page.

    The first page begins with row `begin` of the columns, whose row id is `first`; each further
    page begins `step` rows later.  Sources explains `memory` and `places`; `shape`, `body` and
    `cell` are fields of a Layout that lay_out() has filled; `u1` to `u8` are fields of a Sheet.
    """
    size, scratch = shape[SIZE], np.int64(len(u1) - ROOM)
    values, longs = np.empty(STAGED, np.int64), memory.view(np.int64)
    _begin(kind, count, size, u1)
    most, done = ((min(GROUP, pages) - 1) * step + count) * size, size
    _copy_bytes(cell, np.int64(0), size, u1, scratch)
    while done < most:  # doubles each time
        _copy_bytes(u1, scratch, min(done, most - done), u1, scratch + done)
        done += min(done, most - done)
    for group in range(0, pages, GROUP):
        some = min(GROUP, pages - group)
        row, rows = begin + group * step, some * step - step + count
        if shape[ROWID]:
            _count_up(shape, first + group * step, rows, scratch, u1, u8)
        for number in range(shape[VARYING] - 1, -1, -1):
            column = body[number, COLUMN]
            here = places[column, PLACE] + row
            at, width = scratch + body[number, OFFSET], body[number, WIDTH]
            if places[column, KIND] == I8 or places[column, KIND] == REAL:
                _put(longs, here, rows, width, at, size, u1, u2, u4, u8)
            else:
                stage(memory, places, column, row, rows, values)
                _put(values, np.int64(0), rows, width, at, size, u1, u2, u4, u8)
        for page in range(group, group + some):
            start, cells = PAGE - count * size, scratch + (page - group) * step * size
            if page:
                _copy_bytes(u1, np.int64(0), start, u1, page * PAGE)
            _copy_bytes(u1, cells, PAGE - start, u1, page * PAGE + start)


@compiled
def _begin(kind: Int, count: Int, size: Int, page: UInt8s) -> None:
    """Write the part of a page before its first cell: header, pointers, zeros."""
    start = PAGE - count * size
    for byte in range(start):
        page[byte] = 0
    page[0] = kind
    page[3], page[4] = count >> 8, count & 0xFF
    page[5], page[6] = start >> 8, start & 0xFF
    for number in range(count):
        at, pointer = start + number * size, LEAF_HEADER + 2 * number
        page[pointer], page[pointer + 1] = at >> 8, at & 0xFF


@compiled
def _copy_bytes(source: UInt8s, begin: Int, count: Int, out: UInt8s, at: Int) -> None:
    from_, to = np.uint64(begin), np.uint64(at)
    for byte in range(np.uint64(count)):
        out[to + byte] = source[from_ + byte]


@compiled
def _count_up(
    shape: Int64s,
    first: Int,
    rows: Int,
    at: Int,
    u1: UInt8s,
    u8: npt.NDArray[np.uint64],
) -> None:
    """Write row ids, which begin with `first`, into the cells that begin at byte `at`."""
    size, lead, rowid = shape[SIZE], shape[LEAD], shape[ROWID]
    if size < 8 or lead + rowid > 8 or rowid > 6:
        for number in range(rows):
            for byte in range(rowid):
                group = first + number >> 7 * (rowid - 1 - byte) & 0x7F
                u1[at + number * size + lead + byte] = group | (byte < rowid - 1) << 7
        return
    up, down, apart = np.uint64(8 * lead), np.uint64(64 - 8 * rowid), np.uint64(size)
    beside, begin = u8[at] & ~(~np.uint64(0) >> down << up), np.uint64(at)
    for number in range(np.uint64(rows)):
        id_, spread = np.uint64(first) + number, np.uint64(0x808080808000)
        for group in range(np.uint64(6)):
            ones = np.uint64(0x7F) << np.uint64(7) * group
            spread |= (id_ & ones) << group
        u8[begin + number * apart] = beside | byte_swapped(spread) >> down << up


@compiled
def _put(
    values: Int64s,
    row: Int,
    rows: Int,
    width: Int,
    begin: Int,
    size: Int,
    u1: UInt8s,
    u2: npt.NDArray[np.uint16],
    u4: npt.NDArray[np.uint32],
    u8: npt.NDArray[np.uint64],
) -> None:
    """Write the `values` of a column into cells that begin `size` bytes apart.

    The first value goes to byte `begin`.

    All indices are unsigned, because numba would check a signed index for negative values each
    time.
    """
    at, source, apart = np.uint64(begin), np.uint64(row), np.uint64(size)
    if width == 1:
        for i in range(np.uint64(rows)):
            u1[at + i * apart] = values[source + i] & 0xFF
    elif width == 2:
        for i in range(np.uint64(rows)):
            value = byte_swapped(np.uint64(values[source + i]))
            u2[at + i * apart] = value >> np.uint64(48)
    elif width == 4 or width == 3 + OVER:
        at -= np.uint64(width & 1)
        for i in range(np.uint64(rows)):
            value = byte_swapped(np.uint64(values[source + i]))
            u4[at + i * apart] = value >> np.uint64(32)
    elif width == 8 or width == 6 + OVER:
        at -= np.uint64(8 - (width & 15))
        for i in range(np.uint64(rows)):
            u8[at + i * apart] = byte_swapped(np.uint64(values[source + i]))
    elif width == 3:
        for i in range(np.uint64(rows)):
            value = byte_swapped(np.uint64(values[source + i]))
            u1[at + i * apart] = value >> np.uint64(40) & np.uint64(0xFF)
            u2[at + i * apart + np.uint64(1)] = value >> np.uint64(48)
    else:
        for i in range(np.uint64(rows)):
            value = byte_swapped(np.uint64(values[source + i])) >> np.uint64(16)
            u4[at + i * apart] = value & np.uint64(0xFFFFFFFF)
            u2[at + i * apart + np.uint64(4)] = value >> np.uint64(32)


@compiled
def byte_swapped(value: Int) -> Int:
    """Return an unsigned 64-bit number with its bytes reversed, by one machine instruction."""
    value = (value & np.uint64(0x00FF00FF00FF00FF)) << np.uint64(8) | (
        value >> np.uint64(8) & np.uint64(0x00FF00FF00FF00FF)
    )
    value = (value & np.uint64(0x0000FFFF0000FFFF)) << np.uint64(16) | (
        value >> np.uint64(16) & np.uint64(0x0000FFFF0000FFFF)
    )
    return value << np.uint64(32) | value >> np.uint64(32)
