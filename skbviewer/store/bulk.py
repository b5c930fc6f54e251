# SPDX-License-Identifier: MIT
"""Two ways to fill the bulk tables of a session being made: page by page, or row by row.

Rows is the reference and what is left where pages do not work: SQLite may have been built with
other settings than the page writer knows.  Both have one interface, and the files they make hold
the same rows.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import numpy as np
from sqlalchemy import Column, Connection, Float, Index, Integer, MetaData, Table
from sqlalchemy.exc import DBAPIError

from . import pages
from .cells import Values, signed
from .database import engine_for

NARROW = ("<i1", "<i2", "<i4")


class Bulk(Protocol):
    """Fills tables of one connection, which has no transaction open when a method returns."""

    def __init__(self, connection: Connection, file: Path) -> None: ...

    def add(self, table: Table, columns: dict[str, Values]) -> None:
        """Append equally long columns of numbers: those of the table without `id`."""

    def finish(self, indexes: tuple[Index, ...]) -> None:
        """Write what is left and make the indexes of the tables that were filled."""


class Rows:
    """Writes with sqlite3's executemany."""

    def __init__(self, connection: Connection, file: Path) -> None:
        self._connection = connection

    def add(self, table: Table, columns: dict[str, Values]) -> None:
        names = [c.name for c in table.columns if c.name != "id"]
        part = [signed(columns[name]).tolist() for name in names]
        listed, places = ", ".join(f'"{n}"' for n in names), ", ".join("?" * len(names))
        statement = f'INSERT INTO "{table.name}" ({listed}) VALUES ({places})'  # noqa: S608
        if rows := list(zip(*part, strict=True)):
            self._connection.exec_driver_sql(statement, rows)
        self._connection.commit()

    def finish(self, indexes: tuple[Index, ...]) -> None:
        for index in indexes:
            index.create(self._connection)
        self._connection.commit()


class Pages:
    """Writes with the page writer; the rows are to be seen when it is finished."""

    def __init__(self, connection: Connection, file: Path) -> None:
        self._connection = connection
        self._file = file
        self._trees: dict[str, pages.Rows] = {}
        self._keys: dict[str, dict[str, list[Values]]] = {}  # of indexes, by table and column

    def add(self, table: Table, columns: dict[str, Values]) -> None:
        if table.name not in self._trees:
            self._trees[table.name] = pages.Rows(self._root(table.name))
            keys = {c.name for index in table.indexes for c in index.columns}
            self._keys[table.name] = {name: [] for name in sorted(keys)}
        file = self._open()
        try:
            names = [c.name for c in table.columns if c.name != "id"]
            self._trees[table.name].add(file, [columns[name] for name in names])
        finally:
            file.close()
        for name, parts in self._keys[table.name].items():
            parts.append(_narrowed(columns[name]))

    def finish(self, indexes: tuple[Index, ...]) -> None:
        for index in indexes:
            index.create(self._connection)  # of no rows, where they are not to be seen yet
        roots = {index: self._root(str(index.name)) for index in indexes}
        file = self._open()
        try:
            for tree in self._trees.values():
                tree.finish(file)
            for index, root in roots.items():
                if parts := self._keys.get(index.table.name if index.table is not None else ""):
                    keys = [np.concatenate(parts[c.name]) for c in index.columns]
                    pages.write_index(file, root, keys)
        finally:
            file.close()

    def _root(self, name: str) -> int:
        wanted = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        return int(self._connection.exec_driver_sql(wanted, (name,)).scalar_one())

    def _open(self) -> pages.PageFile:
        self._connection.commit()
        return pages.PageFile(self._file)


def _narrowed(values: Values) -> Values:
    """A copy that takes little memory."""
    values = signed(values)
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    for dtype in NARROW:
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return values.astype(dtype)
    return values.astype(np.int64)


def fastest(folder: Path) -> type[Pages] | type[Rows]:
    """The writer to use: pages where a sample of them, written in `folder`, is a sound database."""
    return Pages if _pages_work(folder) else Rows


def _pages_work(folder: Path) -> bool:
    path = folder / f".pages.{os.getpid()}.tmp"
    table = Table("sample", MetaData(), Column("id", Integer, primary_key=True))
    table.append_column(Column("a", Integer, nullable=False))
    table.append_column(Column("b", Float, nullable=False))
    index = Index("sample_a", table.c.a)
    a = np.arange(1000) * -7919 % 1009
    try:
        path.touch(0o600)
        with engine_for(path, read_only=False).connect() as connection:
            table.create(connection)
            index.drop(connection)
            writer = Pages(connection, path)
            writer.add(table, {"a": a, "b": a / 2})
            writer.finish((index,))
            sound = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
            rows = connection.exec_driver_sql("SELECT id, a, b FROM sample ORDER BY a").all()
            expected = sorted(zip(range(1, 1001), a.tolist(), (a / 2).tolist(), strict=True))
            return sound == ["ok"] and sorted(map(tuple, rows)) == expected
    except (DBAPIError, sqlite3.Error, OSError):
        return False
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)
