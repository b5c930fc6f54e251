# SPDX-License-Identifier: MIT
"""Rows of numbers as cells of SQLite b-tree pages (https://sqlite.org/fileformat2.html, 1.6, 2.1).

In: numpy columns.  Out: pages full of cells of one size: a column takes as many bytes as its lowest
and highest value of the block need, so every row of the block has the same record header.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

PAGE = 4096
TABLE_LEAF, TABLE_INTERIOR, INDEX_LEAF, INDEX_INTERIOR = 0x0D, 0x05, 0x0A, 0x02
LEAF_HEADER, INTERIOR_HEADER = 8, 12
WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 6: 5, 8: 6}  # bytes of an integer: its serial type
REAL = 7  # serial type
SERIAL_0, SERIAL_1 = 8, 9  # all values are 0, all are 1: no bytes at all
STORED = {1: ">i1", 2: ">i2", 3: ">i4", 4: ">i4", 6: ">i8", 8: ">i8"}  # how a width is written

Values = npt.NDArray[np.generic]
Numbers = npt.NDArray[np.int64]  # of pages
Pages = npt.NDArray[np.uint8]  # (n, PAGE)


class Cell(NamedTuple):
    """Where things are in a cell: payload length, row id (tables only), record header, columns."""

    size: int
    lead: bytes
    rowid: int  # bytes
    header: bytes
    body: tuple[tuple[int, int, str], ...]  # (column, offset to write at, dtype), left to right


def varint(value: int) -> bytes:
    """SQLite's variable-length integer, for 0 <= value < 2**56."""
    groups = [value & 0x7F]
    while value := value >> 7:
        groups.append(value & 0x7F | 0x80)
    return bytes(reversed(groups))


def signed(values: Values) -> Values:
    """`values` as SQLite keeps them: unsigned 64 bits as signed ones, no booleans."""
    if values.dtype.kind == "b":
        return values.view(np.uint8)
    return values.view(np.int64) if values.dtype == np.uint64 else values


def layout(columns: list[Values], rowid: int | None) -> Cell:
    """The cell of a block of rows; `rowid` is the row id's length in a table, None in an index.

    A table's record begins with NULL in the place of `id`, which is the row id.
    """
    types = [] if rowid is None else [0]
    placed: list[tuple[int, int, str]] = []
    size = 0
    for number, values in enumerate(columns):
        serial, width, dtype = _serial(values)
        types.append(serial)
        if width:
            placed.append((number, size + width - np.dtype(dtype).itemsize, dtype))
            size += width
    header = bytes([len(types) + 1, *types])
    assert len(header) < 128, "as many columns need a longer header size"
    lead = varint(len(header) + size)
    begin = len(lead) + (rowid or 0) + len(header)
    body = tuple((number, begin + offset, dtype) for number, offset, dtype in placed)
    return Cell(begin + size, lead, rowid or 0, header, body)


def _serial(values: Values) -> tuple[int, int, str]:
    """Serial type, width in bytes and how to write a column."""
    if values.dtype.kind == "f":
        return REAL, 8, ">f8"
    low, high = bounds(values)
    if low == high and low in (0, 1):
        return (SERIAL_0, SERIAL_1)[low], 0, ""
    width = next(w for w in WIDTHS if -(1 << 8 * w - 1) <= low and high < 1 << 8 * w - 1)
    return WIDTHS[width], width, STORED[width]


def bounds(values: Values) -> tuple[int, int]:
    """The lowest and the highest of some integers, which may be one repeated (see broadcast_to)."""
    some = values[:1] if values.strides == (0,) else values
    return int(some.min()), int(some.max())


def per_page(cell: Cell) -> int:
    """How many cells a leaf page has room for."""
    return (PAGE - LEAF_HEADER) // (cell.size + 2)


def cells(cell: Cell, columns: list[Values], first: int = 0) -> npt.NDArray[np.uint8]:
    """(rows, size) of the rows of `columns`; row ids count from `first`."""
    rows = len(columns[0])
    made = np.empty((rows, cell.size), np.uint8)
    for number, offset, dtype in reversed(cell.body):  # what is too wide is covered by the next
        np.ndarray((rows,), dtype, made, offset, (cell.size,))[...] = columns[number]
    at = len(cell.lead) + cell.rowid
    made[:, at : at + len(cell.header)] = np.frombuffer(cell.header, np.uint8)
    made[:, : len(cell.lead)] = np.frombuffer(cell.lead, np.uint8)
    if cell.rowid:
        ids = np.arange(first, first + rows)
        for place in range(cell.rowid):
            more = cell.rowid - 1 - place
            made[:, len(cell.lead) + place] = ids >> 7 * more & 0x7F | (0x80 if more else 0)
    return made


def leaves(kind: int, made: npt.NDArray[np.uint8], each: int) -> Pages:
    """Leaf pages with `each` of the cells `made` a page, the last with what is left."""
    rows, size = made.shape
    whole = rows // each
    pages = np.zeros((-(-rows // each), PAGE), np.uint8)
    for begin, end, count in ((0, whole, each), (whole, len(pages), rows - whole * each)):
        if end > begin:
            start = PAGE - count * size
            some = pages[begin:end]
            _head(some, kind, count, start)
            pointers = (start + size * np.arange(count)).astype(">u2").view(np.uint8)
            some[:, LEAF_HEADER : LEAF_HEADER + 2 * count] = pointers
            mine = made[begin * each : begin * each + (end - begin) * count]
            some[:, start:] = mine.reshape(end - begin, count * size)
    return pages


def _head(pages: Pages, kind: int, count: int, start: int) -> None:
    """Write the b-tree page header of each page but an interior page's right child."""
    numbers = count.to_bytes(2, "big") + start.to_bytes(2, "big")
    pages[:, :LEAF_HEADER] = np.frombuffer(bytes([kind, 0, 0]) + numbers + b"\0", np.uint8)


def varints(values: npt.NDArray[np.int64]) -> list[npt.NDArray[np.uint8]]:
    """varint() of rising numbers: (n, bytes) for those of each length."""
    made = []
    steps = np.searchsorted(values, [1 << 7 * size for size in range(1, 9)])
    for size, (begin, end) in enumerate(pairwise([0, *steps.tolist()]), start=1):
        if end > begin:
            shifts = 7 * np.arange(size - 1, -1, -1)
            groups = (values[begin:end, None] >> shifts & 0x7F).astype(np.uint8)
            groups[:, :-1] |= 0x80
            made.append(groups)
    return made


def interior(kind: int, children: Numbers, cells: list[npt.NDArray[np.uint8]]) -> Pages:
    """One interior page; `cells` stand between the children, each without its child's number."""
    page = np.zeros((1, PAGE), np.uint8)
    numbers = children.astype(">u4").view(np.uint8).reshape(-1, 4)
    parts, sizes, count = [], [], 0
    for group in cells:
        here = numbers[count : count + len(group)]
        parts.append(np.concatenate([here, group], axis=1).reshape(-1))
        sizes.append(np.full(len(group), 4 + group.shape[1]))
        count += len(group)
    size = np.concatenate(sizes)
    start = PAGE - int(size.sum())
    _head(page, kind, count, start)
    page[0, 8:INTERIOR_HEADER] = numbers[-1]
    pointers = (start + np.cumsum(size) - size).astype(">u2").view(np.uint8)
    page[0, INTERIOR_HEADER : INTERIOR_HEADER + len(pointers)] = pointers
    page[0, start:] = np.concatenate(parts)
    return page
