# SPDX-License-Identifier: MIT
"""Rows that end in a blob, as cells of SQLite's b-tree pages and their overflow pages.

The part of a row that does not fit into a cell goes into a chain of overflow pages
(https://sqlite.org/fileformat2.html, 1.6).  The pages of one blob are consecutive, so that one
write stores them all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...records.types import Int64s
from .interior_pages import Pages, varint
from .row_cell_loops import LEAF_HEADER, PAGE

MOST_LOCAL = PAGE - 35  # bytes of the longest record that is stored whole in its cell
LEAST_LOCAL = (PAGE - 12) * 32 // 255 - 23
CHAINED = PAGE - 4  # bytes of a record in an overflow page, after the number of the next page
TABLE_LEAF = 0x0D
# Serial type and width of an integer, by the bytes that its bits below the sign fill, less one.
INTEGERS = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (5, 6), (6, 8), (6, 8))
NULL, TEXT, BLOB = 0, 13, 12  # serial types; those of TEXT and BLOB are for length 0

Value = int | str | bytes | memoryview


def beginning(values: Sequence[Value], blob: int) -> bytes:
    """Return the bytes of a record before its blob: the record's header, and `values`.

    The record consists of NULL in place of the row id, then `values`, then a blob of `blob` bytes.
    """
    types: list[bytes] = [varint(NULL)]
    body: list[bytes | memoryview] = []
    for value in values:
        serial, stored = _stored(value)
        types.append(varint(serial))
        body.append(stored)
    types.append(varint(BLOB + 2 * blob))
    size = sum(map(len, types)) + 1
    assert size < 128, "a row has more columns than this writer can write"
    return b"".join([varint(size), *types, *body])


def _stored(value: Value) -> tuple[int, bytes | memoryview]:
    """Return the serial type and bytes of a value."""
    if isinstance(value, str):
        text = value.encode()
        return TEXT + 2 * len(text), text
    if isinstance(value, bytes | memoryview):
        return BLOB + 2 * len(value), value
    serial, width = INTEGERS[max(value, ~value).bit_length() >> 3]
    return serial, value.to_bytes(width, "big", signed=True)


def local(size: int) -> int:
    """Return how many bytes of a record of `size` bytes are stored in its cell."""
    if size <= MOST_LOCAL:
        return size
    rest = LEAST_LOCAL + (size - LEAST_LOCAL) % CHAINED
    return rest if rest <= MOST_LOCAL else LEAST_LOCAL


def overflowing(size: int) -> int:
    """Return how many overflow pages a record of `size` bytes needs."""
    return -(-(size - local(size)) // CHAINED)


def chain(numbers: Int64s, data: memoryview) -> Pages:
    """Return the overflow pages that hold `data`, as an array (n, PAGE).

    `numbers` are the page numbers that these pages get in the file; each page names the next one.
    """
    pages = np.empty((len(numbers), PAGE), np.uint8)
    pages[:-1, :4] = numbers[1:].astype(">u4").view(np.uint8).reshape(-1, 4)
    pages[-1, :4] = 0
    whole = len(data) // CHAINED
    raw = np.frombuffer(data, np.uint8)
    pages[:whole, 4:] = raw[: whole * CHAINED].reshape(whole, CHAINED)
    rest = len(data) - whole * CHAINED
    if rest:
        pages[-1, 4 : 4 + rest] = raw[whole * CHAINED :]
        pages[-1, 4 + rest :] = 0
    return pages


def leaf(cells: Sequence[bytes]) -> Pages:
    """Return a table leaf page with these cells, as an array (1, PAGE)."""
    body = b"".join(reversed(cells))
    ends = PAGE - np.cumsum([len(cell) for cell in cells])
    start = PAGE - len(body)
    head = bytes([TABLE_LEAF, 0, 0]) + len(cells).to_bytes(2, "big") + start.to_bytes(2, "big")
    pointers = ends.astype(">u2").tobytes()
    middle = bytes(start - LEAF_HEADER - len(pointers))
    page = b"".join([head, b"\0", pointers, middle, body])
    return np.frombuffer(page, np.uint8).reshape(1, PAGE)
