# SPDX-License-Identifier: MIT
"""Lay out the cells of a block of rows: loops of row_cells.py."""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, compiled
from ...records.types import Int64s, UInt8s
from .typed_column_loops import KIND, REAL, bounds

PAGE = 4096
LEAF_HEADER, INTERIOR_HEADER = 8, 12
SERIAL_0, SERIAL_1, SERIAL_REAL = 8, 9, 7
# Fields of `shape`: bytes of a cell, bytes of its lead (the record's length), bytes of the row id
# (0 in an index), cells of a leaf page, number of columns that differ within the block.
SIZE, LEAD, ROWID, EACH, VARYING, SHAPE = 0, 1, 2, 3, 4, 5
COLUMN, OFFSET, WIDTH = 0, 1, 2  # fields of a column that varies
# Added to a WIDTH of 3 or 6: the value is written 4 or 8 bytes wide, and the bytes to its left that
# this overwrites are written later.
OVER = 16


@compiled
def lay_out(
    memory: UInt8s,
    places: Int64s,
    begin: Int,
    count: Int,
    rowid: Int,
    shape: Int64s,
    body: Int64s,
    cell: UInt8s,
    limits: Int64s,
) -> None:
    """Fill the parts of a Layout (`shape` to `limits`) for `count` rows from row `begin` on.

    Sources explains `memory` and `places`.  Row ids take `rowid` bytes; 0 means that the cells are
    cells of an index.  In a table, a record begins with NULL instead of `id`, because SQLite takes
    `id` from the row id.  `limits` gets the bounds of the columns.
    """
    for column in range(len(places)):
        low, high = bounds(memory, places, column, begin, count)
        limits[column, 0], limits[column, 1] = low, high
    header = len(places) + 1 + (rowid > 0)
    size = np.int64(0)
    for column in range(len(places)):
        size += _serial(places[column, KIND] == REAL, limits[column])[1]
    lead = 1 if header + size < 128 else 2
    if lead == 2:
        cell[0] = header + size >> 7 | 0x80
    cell[lead - 1] = header + size & 0x7F
    cell[lead : lead + rowid] = 0
    at, offset = lead + rowid, lead + rowid + header
    cell[at] = header
    if rowid:
        at += 1
        cell[at] = 0
    varying, left = 0, np.int64(0)
    for column in range(len(places)):
        low = limits[column, 0]
        serial, width = _serial(places[column, KIND] == REAL, limits[column])
        at += 1
        cell[at] = serial
        same = low == limits[column, 1]
        for byte in range(width):
            cell[offset + byte] = low >> 8 * (width - 1 - byte) & 0xFF
        if not same:
            row = body[varying]
            row[COLUMN], row[OFFSET], row[WIDTH] = column, offset, width
            if (width == 3 and left >= 1) or (width == 6 and left >= 2):
                row[WIDTH] += OVER
            varying += 1
        if width:
            left = np.int64(0 if same else width)
        offset += width
    shape[SIZE], shape[LEAD], shape[ROWID], shape[VARYING] = offset, lead, rowid, varying
    shape[EACH] = (PAGE - LEAF_HEADER) // (offset + 2)


@compiled
def _serial(real: bool, low_high: Int64s) -> tuple[int, int]:
    """Return the serial type and the width in bytes of a column with these bounds."""
    low, high = low_high[0], low_high[1]
    if real:
        return SERIAL_REAL, 8
    if low == high and (low == 0 or low == 1):
        return SERIAL_0 + low, 0
    most = max(high, ~low)  # ~low has as many bits as a negative low
    if most < 1 << 7:
        return 1, 1
    if most < 1 << 15:
        return 2, 2
    if most < 1 << 23:
        return 3, 3
    if most < 1 << 31:
        return 4, 4
    if most < 1 << 47:
        return 5, 6
    return 6, 8
