# SPDX-License-Identifier: MIT
"""Two ways to fill the bulk tables of a new session: page by page, or row by row.

The class Rows is the reference for tests.  The class Rows is also used where SQLite was built with
settings that the page writer does not support.  The classes Pages and Rows have the same methods
and write the same rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Protocol

import numpy as np

from ..records import Progress, Silent
from .btree import page_file
from .btree.blob_rows import Value
from .btree.typed_column_loops import Values
from .btree.typed_columns import Sources, StagedColumns, as_signed
from .session_files import connect_new
from .table_declarations import BLOB, FLOAT, INTEGER, Column, Index, Table

INDEXING = "making indexes"
NARROW = ("<i1", "<i2", "<i4")
TOGETHER = 64  # parts of an index key, of up to 65,536 values, that are copied together


class Bulk(Protocol):
    """A writer of the bulk tables of one connection.

    The connection has no open transaction when a method returns.  `indexes` are the indexes of
    these tables; finish() makes them.
    """

    def __init__(
        self, connection: sqlite3.Connection, file: Path, indexes: tuple[Index, ...]
    ) -> None: ...

    def add(self, table: Table, columns: dict[str, Values]) -> StagedColumns | None:
        """Append rows, given as columns of equal length: all columns of the table except `id`.

        Returns the places and bounds of the columns if the writer has computed these.
        """

    def add_records(self, table: Table, rows: Iterable[Sequence[Value]]) -> None:
        """Append rows with values of all columns except `id`; the last column is a blob."""

    def finish(self, progress: Progress) -> None:
        """Write the remaining rows and make the indexes. Raises Cancelled."""


class Rows:
    """Writes the rows with sqlite3's executemany()."""

    def __init__(
        self, connection: sqlite3.Connection, file: Path, indexes: tuple[Index, ...]
    ) -> None:
        self._connection, self._indexes = connection, indexes

    def add(self, table: Table, columns: dict[str, Values]) -> StagedColumns | None:
        """Append columns of equal length; Bulk.add() describes them."""
        part = [as_signed(columns[name]).tolist() for name in table.names]
        if rows := list(zip(*part, strict=True)):
            self._connection.executemany(table.insertion(), rows)
        self._connection.commit()
        return None

    def add_records(self, table: Table, rows: Iterable[Sequence[Value]]) -> None:
        """Append rows with a blob; Bulk.add_records() describes them."""
        self._connection.executemany(table.insertion(), rows)
        self._connection.commit()

    def finish(self, progress: Progress) -> None:
        """Make the indexes. Raises Cancelled."""
        for done, index in enumerate(self._indexes):
            progress.report(INDEXING, done, len(self._indexes))
            self._connection.execute(index.creation())
        self._connection.commit()


class _Key:
    """One key column of an index, which arrives in parts."""

    def __init__(self) -> None:
        self._kept: list[Values] = []
        self._new: list[Values] = []

    def __bool__(self) -> bool:
        return bool(self._kept or self._new)

    def add(self, part: Values) -> None:
        """Append the values of `part`.

        Several small parts are copied into one, because only large arrays may be stored in files.
        """
        self._new.append(part)
        if len(self._new) == TOGETHER:
            self._kept.append(np.concatenate(self._new))
            self._new = []

    def whole(self) -> Values:
        """Return the values of all parts; at least one must have been added."""
        return np.concatenate([*self._kept, *self._new])


class Pages:
    """Writes the rows with the page writer.  SQLite can see the rows after finish()."""

    def __init__(
        self, connection: sqlite3.Connection, file: Path, indexes: tuple[Index, ...]
    ) -> None:
        self._connection, self._indexes = connection, indexes
        self._file = file
        self._trees: dict[str, page_file.Rows] = {}
        self._records: dict[str, page_file.Records] = {}
        self._numbers: dict[str, dict[str, int]] = {}  # column numbers by table and column
        self._keys: dict[str, dict[str, _Key]] = {}  # index keys by table and column

    def add(self, table: Table, columns: dict[str, Values]) -> StagedColumns | None:
        """Append columns of equal length; Bulk.add() describes them."""
        if table.name not in self._trees:
            self._trees[table.name] = page_file.Rows(self._root(table.name), len(table.names))
            mine = (index.columns for index in self._indexes if index.table.name == table.name)
            self._keys[table.name] = {name: _Key() for keys in mine for name in keys}
            self._numbers[table.name] = {name: at for at, name in enumerate(table.names)}
        sources = Sources([columns[name] for name in table.names])
        if not sources.count:
            return None
        file = self._open()
        try:
            bounds = self._trees[table.name].add(file, sources)
        finally:
            file.close()
        staged = StagedColumns(sources, self._numbers[table.name], bounds)
        for name, parts in self._keys[table.name].items():
            parts.add(_narrowed(columns[name], *bounds[staged.number[name]].tolist()))
        return staged

    def add_records(self, table: Table, rows: Iterable[Sequence[Value]]) -> None:
        """Append rows with a blob; Bulk.add_records() describes them."""
        if table.name not in self._records:
            self._records[table.name] = page_file.Records(self._root(table.name))
        file = self._open()
        try:
            for row in rows:
                self._records[table.name].add(file, row)
        finally:
            file.close()

    def finish(self, progress: Progress) -> None:
        """Write the remaining pages and make the indexes. Raises Cancelled."""
        for index in self._indexes:
            self._connection.execute(index.creation())  # empty: SQLite does not see the rows yet
        roots = {index: self._root(index.name) for index in self._indexes}
        file = self._open()
        try:
            for tree in self._trees.values():
                tree.finish(file)
            for records in self._records.values():
                records.finish(file)
            for done, (index, root) in enumerate(roots.items()):
                progress.report(INDEXING, done, len(roots))
                parts = self._keys.get(index.table.name, {})
                if keys := [parts[name] for name in index.columns if parts.get(name)]:
                    page_file.write_index(file, root, [key.whole() for key in keys])
        finally:
            file.close()

    def _root(self, name: str) -> int:
        wanted = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        return int(self._connection.execute(wanted, (name,)).fetchone()[0])

    def _open(self) -> page_file.PageFile:
        self._connection.commit()
        return page_file.PageFile(self._file)


def _narrowed(values: Values, low: int, high: int) -> Values:
    """Return a copy of `values` in the narrowest type for numbers from `low` to `high`."""
    for dtype in NARROW:
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return as_signed(values).astype(dtype)
    return as_signed(values).astype(np.int64)


def fastest(path: Path) -> type[Pages] | type[Rows]:
    """Return Pages if SQLite accepts a sample that it writes to `path`, or else Rows."""
    return Pages if _pages_work(path) else Rows


def _pages_work(path: Path) -> bool:
    table = Table("sample", (Column("a", INTEGER), Column("b", FLOAT)))
    blobs = Table("sample_blob", (Column("n", INTEGER), Column("data", BLOB)))
    written = [(n, bytes([n & 0xFF]) * n) for n in (0, 1, 4055, 9000)]
    a = np.arange(1000) * -7919 % 1009
    try:
        path.touch(0o600)
        with closing(connect_new(path)) as connection:
            connection.execute(table.creation())
            connection.execute(blobs.creation())
            writer = Pages(connection, path, (Index("sample_a", table, ("a",)),))
            writer.add(table, {"a": a, "b": a / 2})
            writer.add_records(blobs, written)
            writer.finish(Silent())
            sound = connection.execute("PRAGMA integrity_check").fetchall()
            rows = connection.execute("SELECT id, a, b FROM sample ORDER BY a").fetchall()
            expected = sorted(zip(range(1, 1001), a.tolist(), (a / 2).tolist(), strict=True))
            again = connection.execute("SELECT n, data FROM sample_blob ORDER BY id").fetchall()
            return sound == [("ok",)] and sorted(rows) == expected and again == written
    except (sqlite3.Error, OSError):
        return False
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)
