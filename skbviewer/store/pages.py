# SPDX-License-Identifier: MIT
"""Writes tables of numbers and their indexes as whole SQLite b-trees, past SQLite's row API.

SQLite makes the empty tables and indexes; the pages of rows are appended behind its own, the top of
each tree goes to the root page that SQLite gave it.  Nobody may have a transaction open meanwhile.
Several times as fast as the C API can be, which works row by row.  Format: fileformat2.html at
sqlite.org, 1.3 (header), 1.5 (b-tree pages).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from .blobs import Value, beginning, chain, leaf, local, overflowing
from .cells import (
    INDEX_INTERIOR,
    INDEX_LEAF,
    INTERIOR_HEADER,
    LEAF_HEADER,
    PAGE,
    TABLE_INTERIOR,
    TABLE_LEAF,
    Numbers,
    Pages,
    Values,
    cells,
    interior,
    layout,
    leaves,
    per_page,
    signed,
    varint,
    varints,
)

BLOCK = 1 << 14  # rows laid out at once: their pages stay in the processor's cache
ROWID_STEPS = tuple(1 << bits for bits in range(7, 57, 7))  # where a row id's varint grows
LOCK_PAGE = (1 << 30) // PAGE + 1  # SQLite locks bytes in it and keeps nothing there


class PageFile:
    """An SQLite file to which pages are appended; close() makes the header fit.

    Raises OSError when the disk is full.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR)
        self._pages = os.fstat(self._file).st_size // PAGE

    def following(self, count: int) -> Numbers:
        """The numbers that the next pages get."""
        first = self._pages + 1
        numbers = np.arange(first, first + count)
        numbers[self._before_lock(count) :] += 1
        return numbers

    def append(self, pages: Pages) -> Numbers:
        """Write pages; returns their numbers."""
        numbers, before = self.following(len(pages)), self._before_lock(len(pages))
        self._write(self._pages + 1, pages[:before])
        self._write(LOCK_PAGE + 1, pages[before:])
        self._pages = int(numbers[-1]) if len(pages) else self._pages
        return numbers

    def _before_lock(self, count: int) -> int:
        """How many of the next pages stand before the lock page, or all behind it."""
        first = self._pages + 1
        return max(min(LOCK_PAGE - first, count), 0) if first <= LOCK_PAGE else count

    def put(self, number: int, page: Pages) -> None:
        """Write one page in the place of another."""
        self._write(number, page)

    def close(self) -> None:
        """Tell the file's header of the new pages, so that open connections read anew."""
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
    """The rows of one table, appended in parts; finish() when all are there."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._count = 0
        self._leaves: list[Numbers] = []
        self._last: list[Numbers] = []  # row id of each leaf
        self._single: Pages | None = None  # the only leaf so far: it may become the root

    def add(self, file: PageFile, columns: list[Values]) -> None:
        """Append equally long columns (integers, float64), those of the table without `id`."""
        columns = [signed(values) for values in columns]
        for begin, end in _blocks(self._count, len(columns[0])):
            part = [values[begin:end] for values in columns]
            first = self._count + 1
            cell = layout(part, len(varint(first)))
            each = per_page(cell)
            pages = leaves(TABLE_LEAF, cells(cell, part, first), each)
            self._count += end - begin
            self._append(file, pages)
            ends = first - 1 + each * np.arange(1, len(pages) + 1)
            self._last.append(np.minimum(ends, self._count))

    def finish(self, file: PageFile) -> None:
        """Write the rest of the tree."""
        if self._single is not None:
            file.put(self._root, self._single)
        elif self._leaves:
            _grow(file, self._root, np.concatenate(self._leaves), np.concatenate(self._last))

    def _append(self, file: PageFile, pages: Pages) -> None:
        if not self._leaves and self._single is None and len(pages) == 1:
            self._single = pages
            return
        if self._single is not None:
            pages, self._single = np.concatenate([self._single, pages]), None
        self._leaves.append(file.append(pages))


class Records:
    """The rows of one table whose last column is a blob, one after the other; then finish()."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._count = 0
        self._cells: list[bytes] = []  # of the leaf that is not full yet
        self._room = PAGE - LEAF_HEADER
        self._leaves: list[Numbers] = []
        self._last: list[int] = []  # row id of each leaf

    def add(self, file: PageFile, row: Sequence[Value]) -> None:
        """Append a row: its columns without `id`."""
        *values, blob = row
        assert isinstance(blob, bytes)
        self._count += 1
        cell = self._cell(file, beginning(values, len(blob)), blob)
        if len(cell) + 2 > self._room:
            self._put(file, self._count - 1)
        self._cells.append(cell)
        self._room -= len(cell) + 2

    def finish(self, file: PageFile) -> None:
        """Write the rest of the tree."""
        if not self._leaves and self._cells:
            file.put(self._root, leaf(self._cells))
        elif self._cells:
            self._put(file, self._count)
            _grow(file, self._root, np.concatenate(self._leaves), np.array(self._last))

    def _put(self, file: PageFile, last: int) -> None:
        self._leaves.append(file.append(leaf(self._cells)))
        self._last.append(last)
        self._cells, self._room = [], PAGE - LEAF_HEADER

    def _cell(self, file: PageFile, begin: bytes, blob: bytes) -> bytes:
        size = len(begin) + len(blob)
        head, here = varint(size) + varint(self._count), local(size)
        if here == size:
            return b"".join([head, begin, blob])
        numbers = file.following(overflowing(size))
        assert here >= len(begin), "as long a text is not for this writer"
        file.append(chain(numbers, memoryview(blob)[here - len(begin) :]))
        return b"".join(
            [head, begin, blob[: here - len(begin)], int(numbers[0]).to_bytes(4, "big")]
        )


def _grow(file: PageFile, root: int, children: Numbers, keys: Numbers) -> None:
    """Write what stands above the leaves `children`, whose last row ids are `keys`."""
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
    """The index of the columns `keys` over all rows of a table (row ids count from 1)."""
    if not len(keys[0]):
        return
    columns = _sorted([signed(values) for values in keys])
    cell = layout(columns, None)
    each = per_page(cell)
    total = len(columns[0])
    if total <= each:
        file.put(root, leaves(INDEX_LEAF, cells(cell, columns), each))
        return
    while total % (each + 1) == 0:  # nothing would be left for the last leaf
        each -= 1
    parts: list[Numbers] = []
    step = (BLOCK // each + 1) * (each + 1)
    for begin in range(0, total, step):
        part = [values[begin : begin + step] for values in columns]
        stays = np.arange(len(part[0])) % (each + 1) != each
        made = cells(cell, [values[stays] for values in part])
        parts.append(file.append(leaves(INDEX_LEAF, made, each)))
    # Cells that stand only in the tree above the leaves.
    lifted = cells(cell, [values[each :: each + 1] for values in columns])
    children = np.concatenate(parts)
    most = (PAGE - INTERIOR_HEADER) // (2 + 4 + cell.size) + 1
    while True:
        above: list[Numbers] = []
        higher: list[Pages] = []
        for begin, end in _shares(len(children), most):
            page = interior(INDEX_INTERIOR, children[begin:end], [lifted[begin : end - 1]])
            if end - begin == len(children):
                file.put(root, page)
                return
            above.append(file.append(page))
            higher.append(lifted[end - 1 : end])
        children, lifted = np.concatenate(above), np.concatenate(higher)


def _sorted(keys: list[Values]) -> list[Values]:
    """The key columns in the order of the index, and the row ids."""
    count = len(keys[0])
    rows = np.arange(1, count + 1)
    if len(keys) > 1:
        order = np.lexsort(keys[::-1])
        return [*(key[order] for key in keys), rows[order]]
    key = keys[0]
    if bool(np.greater_equal(key[1:], key[:-1]).all()):
        return [key, rows]
    low, high, bits = int(key.min()), int(key.max()), count.bit_length()
    if (high - low).bit_length() + bits > 63:
        order = np.argsort(key, kind="stable")
        return [key[order], rows[order]]
    both = key.astype(np.int64) - low  # one number of both sorts several times as fast
    both <<= bits
    both |= rows
    both.sort(kind="stable")  # merges runs, of which tables have many
    return [(both >> bits) + low, both & (1 << bits) - 1]


def _blocks(before: int, count: int) -> Iterator[tuple[int, int]]:
    """Cut `count` rows behind `before` others into blocks of one row id length."""
    begin = 0
    while begin < count:
        first = before + begin + 1
        step = next(step for step in ROWID_STEPS if step > first)
        end = min(begin + BLOCK, count, step - 1 - before)
        yield begin, end
        begin = end


def _shares(count: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut `count` children into pages of at most `most`, all about equally full."""
    pages = -(-count // most)
    for page in range(pages):
        yield count * page // pages, count * (page + 1) // pages
