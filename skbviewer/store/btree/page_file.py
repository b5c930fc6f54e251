# SPDX-License-Identifier: MIT
"""Write tables of numbers and their indexes as whole SQLite b-trees, without SQLite's C API.

SQLite creates the tables and indexes, which are empty.  This module appends the pages of rows to
the file, and writes the top page of each tree to the root page that SQLite has allocated.  No
transaction may be open while pages are written.  Writing whole pages is several times as fast as
the C API, which works row by row.  Format: fileformat2.html at sqlite.org, 1.3 (header), 1.5
(b-tree pages).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from ...records.types import Int64s, UInt8s
from .blob_rows import Value, beginning, chain, leaf, local, overflowing
from .index_order import in_order
from .interior_pages import INDEX_INTERIOR, TABLE_INTERIOR, Pages, interior, varint, varints
from .leaf_page_loops import fill
from .leaf_pages import Sheet, sheet
from .row_cell_loops import EACH, INTERIOR_HEADER, LEAF_HEADER, PAGE, ROWID, SIZE, lay_out
from .row_cells import Layout, layout
from .typed_column_loops import Values
from .typed_columns import MEMORY, Sources, as_signed

TABLE_LEAF, INDEX_LEAF = 0x0D, 0x0A
BLOCK = 1 << 14  # rows that share one layout
ROWID_STEPS = tuple(1 << bits for bits in range(7, 57, 7))  # row ids whose varint is longer
PAGES_AT_ONCE = (
    64  # pages that are laid out and written together: they stay in the processor's cache
)
LOCK_PAGE = (1 << 30) // PAGE + 1  # SQLite locks bytes of this page and stores nothing in it


class PageFile:
    """An SQLite file to which pages are appended.

    close() writes the new size into the header of the file.

    Raises OSError if the disk is full.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR)
        self._pages = os.fstat(self._file).st_size // PAGE

    @cached_property
    def sheet(self) -> Sheet:
        """Return the memory in which pages are filled."""
        return sheet(PAGES_AT_ONCE)

    def following(self, count: int) -> Int64s:
        """Return the numbers that the next `count` appended pages will get."""
        first = self._pages + 1
        numbers = np.arange(first, first + count)
        if first <= LOCK_PAGE < first + count:
            numbers[LOCK_PAGE - first :] += 1
        return numbers

    def append(self, pages: Pages) -> Int64s:
        """Write pages at the end of the file; return their numbers."""
        first, count = self._pages + 1, len(pages)
        numbers = self.following(count)
        if first <= LOCK_PAGE < first + count:
            self._write(first, pages[: LOCK_PAGE - first])
            self._write(LOCK_PAGE + 1, pages[LOCK_PAGE - first :])
        else:
            self._write(first, pages)
        self._pages = int(numbers[-1]) if count else self._pages
        return numbers

    def put(self, number: int, page: Pages) -> None:
        """Overwrite the page with the number `number`."""
        self._write(number, page)

    def close(self) -> None:
        """Write the number of pages into the header, and mark the file as changed."""
        try:
            header = os.pread(self._file, 100, 0)
            change = struct.unpack_from(">I", header, 24)[0] + 1 & 0xFFFFFFFF
            os.pwrite(self._file, struct.pack(">II", change, self._pages), 24)
            os.pwrite(self._file, struct.pack(">I", change), 92)
        finally:
            os.close(self._file)

    def _write(self, number: int, pages: Pages) -> None:
        view, at = pages.reshape(-1).data, (number - 1) * PAGE
        while view:
            done = os.pwrite(self._file, view, at)
            view, at = view[done:], at + done


class Rows:
    """The rows of one table, appended in parts.  Call finish() after the last part."""

    def __init__(self, root: int, columns: int) -> None:
        self._root, self._layout = root, layout(columns)
        self._count = 0
        self._leaves: list[Int64s] = []
        self._last: list[Int64s] = []  # last row id of each leaf
        self._single: Pages | None = None  # the only leaf so far, which may become the root

    def add(self, file: PageFile, columns: Sources) -> Int64s:
        """Append rows, given as all columns of the table except `id`; at least one row.

        Returns an array (columns, 2) with the lowest and the highest value of each column.
        """
        made, before, found = self._layout, self._count, []
        for begin, end in _blocks(before, columns.count):
            rowid = len(varint(before + begin + 1))
            lay_out(MEMORY, columns.places, begin, end - begin, rowid, *made)
            found.append(made.bounds.copy())
            each = int(made.shape[EACH])
            for pages in _leaves(
                file.sheet, columns, made, range(begin, end, each), each, before + 1
            ):
                self._append(file, pages)
            ends = before + np.arange(begin + each, end + each, each)
            self._last.append(np.minimum(ends, before + end))
        self._count += columns.count
        if len(found) == 1:
            return found[0]
        together = np.stack(found)
        return np.stack([together[..., 0].min(axis=0), together[..., 1].max(axis=0)], axis=1)

    def finish(self, file: PageFile) -> None:
        """Write the remaining pages of the tree."""
        if self._single is not None:
            file.put(self._root, self._single)
        elif self._leaves:
            _grow(file, self._root, np.concatenate(self._leaves), np.concatenate(self._last))

    def _append(self, file: PageFile, pages: Pages) -> None:
        if not self._leaves and self._single is None and len(pages) == 1:
            self._single = pages.copy()
            return
        if self._single is not None:
            pages, self._single = np.concatenate([self._single, pages]), None
        self._leaves.append(file.append(pages))


class Records:
    """The rows of a table whose last column is a blob, appended one by one.

    Call finish() after the last row.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._count = 0
        self._cells: list[bytes] = []  # of the leaf that is not full yet
        self._room = PAGE - LEAF_HEADER
        self._leaves: list[Int64s] = []
        self._last: list[int] = []  # last row id of each leaf

    def add(self, file: PageFile, row: Sequence[Value]) -> None:
        """Append one row, with values of all columns except `id`."""
        *values, blob = row
        assert isinstance(blob, bytes | memoryview)
        self._count += 1
        cell = self._cell(file, beginning(values, len(blob)), blob)
        if len(cell) + 2 > self._room:
            self._put(file, self._count - 1)
        self._cells.append(cell)
        self._room -= len(cell) + 2

    def finish(self, file: PageFile) -> None:
        """Write the remaining pages of the tree."""
        if not self._leaves and self._cells:
            file.put(self._root, leaf(self._cells))
        elif self._cells:
            self._put(file, self._count)
            _grow(file, self._root, np.concatenate(self._leaves), np.array(self._last))

    def _put(self, file: PageFile, last: int) -> None:
        self._leaves.append(file.append(leaf(self._cells)))
        self._last.append(last)
        self._cells, self._room = [], PAGE - LEAF_HEADER

    def _cell(self, file: PageFile, begin: bytes, blob: bytes | memoryview) -> bytes:
        size = len(begin) + len(blob)
        head, here = varint(size) + varint(self._count), local(size)
        if here == size:
            return b"".join([head, begin, blob])
        numbers = file.following(overflowing(size))
        assert here >= len(begin), "a text is longer than this writer can write"
        file.append(chain(numbers, memoryview(blob)[here - len(begin) :]))
        return b"".join(
            [head, begin, blob[: here - len(begin)], int(numbers[0]).to_bytes(4, "big")]
        )


def _leaves(
    out: Sheet, columns: Sources, made: Layout, rows: range, each: int, first: int = 0
) -> Iterator[Pages]:
    """Yield leaf pages with the `rows` of the columns, `each` rows per page.

    The pages are in `out`, and the next pages overwrite them.  The step of the range `rows` is the
    number of rows from one page to the next.  `first` is the row id of row 0 of the columns.
    """
    kind = TABLE_LEAF if made.shape[ROWID] else INDEX_LEAF
    fixed = (MEMORY, columns.places, made.shape, made.body, made.cell, kind)
    whole, rest = divmod(rows.stop - rows.start, rows.step)
    for done in range(0, whole, PAGES_AT_ONCE):
        pages, begin = min(PAGES_AT_ONCE, whole - done), rows.start + done * rows.step
        fill(*fixed, begin, pages, each, rows.step, first + begin, *out)
        yield out.u1[: pages * PAGE].reshape(pages, PAGE)
    if rest:
        begin = rows.stop - rest
        fill(*fixed, begin, 1, rest, rest, first + begin, *out)
        yield out.u1[:PAGE].reshape(1, PAGE)


def _grow(file: PageFile, root: int, children: Int64s, keys: Int64s) -> None:
    """Write the tree above the leaves `children`; `keys` are the last row ids of these leaves."""
    most = (PAGE - INTERIOR_HEADER) // (2 + 4 + len(varint(int(keys[-1])))) + 1
    while True:
        above = []
        ends = []
        for begin, end in _shares(len(children), most):
            between = varints(keys[begin : end - 1])
            page = interior(TABLE_INTERIOR, children[begin:end], between)
            if end - begin == len(children):
                file.put(root, page)
                return
            above.append(file.append(page))
            ends.append(keys[end - 1 : end])
        children, keys = np.concatenate(above), np.concatenate(ends)


def write_index(file: PageFile, root: int, keys: list[Values]) -> None:
    """Write an index of the columns `keys` over all rows of a table; its root is page `root`.

    Row ids count from 1.
    """
    total = len(keys[0])
    if not total:
        return
    columns = in_order([as_signed(values) for values in keys])
    sources, made = Sources(columns), layout(len(columns))
    lay_out(MEMORY, sources.places, 0, total, 0, *made)
    each = int(made.shape[EACH])
    if total <= each:
        file.put(root, next(_leaves(file.sheet, sources, made, range(0, total, total), total)))
        return
    while total % (each + 1) == 0:  # otherwise the last leaf would be empty
        each -= 1
    rows = range(0, total, each + 1)
    children = np.concatenate(
        [file.append(p) for p in _leaves(file.sheet, sources, made, rows, each)]
    )
    # In an index, a cell between two leaves is stored only in the tree above them.
    lifted = _cells(file.sheet, [values[each :: each + 1] for values in columns], made)
    most = (PAGE - INTERIOR_HEADER) // (2 + 4 + lifted.shape[1]) + 1
    while True:
        above: list[Int64s] = []
        higher: list[Pages] = []
        for begin, end in _shares(len(children), most):
            page = interior(INDEX_INTERIOR, children[begin:end], [lifted[begin : end - 1]])
            if end - begin == len(children):
                file.put(root, page)
                return
            above.append(file.append(page))
            higher.append(lifted[end - 1 : end])
        children, lifted = np.concatenate(above), np.concatenate(higher)


def _cells(out: Sheet, columns: list[Values], made: Layout) -> UInt8s:
    """Return the cells of an index as an array (rows, bytes)."""
    size, each, left = int(made.shape[SIZE]), int(made.shape[EACH]), len(columns[0])
    found = []
    for pages in _leaves(out, Sources(columns), made, range(0, left, each), each):
        count = min(each, left)
        found.append(pages[:, PAGE - count * size :].copy().reshape(-1, size))
        left -= count * len(pages)
    return np.concatenate(found)


def _blocks(before: int, count: int) -> Iterator[tuple[int, int]]:
    """Divide `count` rows, after `before` others, into blocks with row ids of one varint length.

    Yields the begin and the end of each block.
    """
    begin = 0
    while begin < count:
        first = before + begin + 1
        step = next(step for step in ROWID_STEPS if step > first)
        end = min(begin + BLOCK, count, step - 1 - before)
        yield begin, end
        begin = end


def _shares(count: int, most: int) -> Iterator[tuple[int, int]]:
    """Divide `count` children into about equally full pages of at most `most` children."""
    pages = -(-count // most)
    for page in range(pages):
        yield count * page // pages, count * (page + 1) // pages
