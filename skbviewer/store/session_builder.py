# SPDX-License-Identifier: MIT
"""Write a new session file.

Input: numpy tables.  Output: an SQLite file, which gets its final name when it is complete.  Bulk
tables are written from numpy columns, without rows in between (see bulk_load.py).
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

from ..records import BadInput, Progress, Silent
from . import schema
from .annotation_migration import take_over
from .bulk_load import Bulk, fastest
from .column_chunks import Chunk, Packer
from .new_rows import BulkRows, NewRows
from .session_files import connect_new, temporary
from .table_declarations import Table

BATCH = 1 << 16  # rows between two reports of progress
PLURALS = {"match": "matches", "series": "series"}
FULL = (errno.ENOSPC, errno.EDQUOT)

Values = dict[str, npt.NDArray[np.generic]]
Derived = Mapping[str, Mapping[str, npt.NDArray[np.generic]]]  # columns by table


class Builder:
    """Writes a session file.  Use it as a context manager and call finish() at the end.

    If the context ends without finish(), all files of the builder are removed.  Raises BadInput
    with the file's name if the disk is full or the folder cannot be written.
    """

    def __init__(
        self,
        out: Path,
        progress: Progress | None = None,
        keep: Sequence[Path] = (),
        bulk: type[Bulk] | None = None,
    ) -> None:
        self.out = out
        self.temporary = temporary(out)
        self.progress: Progress = progress or Silent()
        self._keep = (*keep, out)  # sessions whose annotations are copied
        self._connection: sqlite3.Connection | None = None
        self._bulk_type = bulk
        self._bulk: Bulk | None = None
        self._bulk_tables: set[str] = set()
        self._rows: dict[str, int] = {}
        self._packers = {name: Packer(name, columns) for name, columns in schema.CHUNKED.items()}

    def __enter__(self) -> Builder:
        try:
            self.out.parent.mkdir(parents=True, exist_ok=True)
            self.temporary.unlink(missing_ok=True)
            os.close(os.open(self.temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            self._connection = connect_new(self.temporary)
            self._connection.execute("BEGIN")
            for table in schema.TABLES.values():
                self._connection.execute(table.creation())
            from .views import view_sql  # only whoever makes a session needs the declarations

            for view in view_sql.statements():
                self._connection.execute(view)
            self._connection.commit()
            writer = self._bulk_type or fastest(self._beside("pages"))
            self._bulk = writer(self._connection, self.temporary, schema.INDEXES)
        except (OSError, sqlite3.Error) as error:
            self._remove()
            raise self._bad(error) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._remove()
        if isinstance(error, sqlite3.Error) or (isinstance(error, OSError) and error.errno in FULL):
            raise self._bad(error) from error

    def count(self, table: Table) -> int:
        """Return the number of rows that `table` has so far; the next row's id is one more."""
        return self._rows.get(table.name, 0)

    def add_array(self, table: Table, columns: Values) -> None:
        """Append rows, given as columns of equal length: all columns of `table` except `id`.

        Unsigned 64-bit numbers are stored as signed ones with the same bits.  Do not fill one table
        by both this method and add_rows().
        """
        total = len(next(iter(columns.values())))
        self.add_parts(table, total, lambda rows: {n: c[rows] for n, c in columns.items()})

    def add_parts(self, table: Table, total: int, make: Callable[[slice], Values]) -> None:
        """Append `total` rows like add_array(), but some rows at a time.

        `make(slice)` returns the columns for a slice of rows; rows count from 0.
        """
        assert self._bulk is not None, "a Builder can only be used inside its with statement"
        self._bulk_tables.add(table.name)
        for begin in range(0, total, BATCH):
            end = min(begin + BATCH, total)
            part = make(slice(begin, end))
            staged = self._bulk.add(table, part)
            if table.name in self._packers:
                self._add_chunks(self._packers[table.name].add(part, staged))
            self._rows[table.name] = self.count(table) + end - begin
            self.progress.report(f"storing {PLURALS.get(table.name, table.name + 's')}", end, total)

    def add(self, *rows: NewRows) -> None:
        """Append rows to their tables, one table after the other."""
        for each in rows:
            if isinstance(each, BulkRows):
                self.add_parts(*each)
            else:
                self.add_rows(*each)

    def add_rows(self, table: Table, rows: Iterable[Sequence[object]]) -> None:
        """Append rows to a table that is no bulk table; values are in the order of its columns."""
        assert table.name not in self._bulk_tables
        self._insert(table, [tuple(row) for row in rows])

    def finish(
        self,
        derive: Callable[[Path], Derived] | None = None,
        results: Callable[[Path], Iterable[tuple[str, str, bytes]]] | None = None,
    ) -> None:
        """Make the indexes, write everything to disk, and rename the file to its final name.

        When the file is already a session, both functions are called with its path: `derive`
        returns columns of schema.DERIVED, and `results` rows of table `result`, which are then
        stored.
        """
        connection = self._open()
        assert self._bulk is not None
        for packer in self._packers.values():
            self._add_chunks(packer.finish())
        self._bulk.finish(self.progress)
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION}")
        connection.commit()
        for table, columns in (derive(self.temporary) if derive else {}).items():
            self._add_derived(table, columns)
        connection.commit()
        # Large rows are written at once, for which no reader may have the file open.
        self.add_rows(schema.result, list(results(self.temporary)) if results else [])
        for old in self._keep:  # last, because users may still add notes to them until now
            take_over(connection, old)
        connection.commit()
        self._close()
        os.replace(self.temporary, self.out)

    def _add_derived(self, table: str, columns: Mapping[str, npt.NDArray[np.generic]]) -> None:
        packer = Packer(table, tuple(columns))
        for chunks in (packer.add(dict(columns)), packer.finish()):
            self._open().executemany(schema.chunk.insertion(), chunks)

    def _add_chunks(self, chunks: Iterable[Chunk]) -> None:
        """Add the chunks one by one, because a list of all chunks would be a copy of the column."""
        assert self._bulk is not None
        self._bulk.add_records(schema.chunk, chunks)

    def _insert(self, table: Table, rows: list[tuple[object, ...]]) -> None:
        if not rows:
            return
        self._open().executemany(table.insertion(), rows)
        self._rows[table.name] = self.count(table) + len(rows)

    def _open(self) -> sqlite3.Connection:
        assert self._connection is not None, "a Builder can only be used inside its with statement"
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _remove(self) -> None:
        self._close()
        for name in (self.temporary, self._beside("journal")):
            with suppress(OSError):  # report the error that led here, not this one
                name.unlink(missing_ok=True)

    def _beside(self, what: str) -> Path:
        return self.temporary.with_name(f"{self.temporary.name}-{what}")

    def _bad(self, error: OSError | sqlite3.Error) -> BadInput:
        if isinstance(error, OSError):
            why = "the disk is full" if error.errno in FULL else error.strerror
            return BadInput(self.out, None, f"cannot write the session: {why}")
        full = isinstance(error, sqlite3.OperationalError) and "full" in str(error)
        why = "the disk is full" if full else str(error)
        return BadInput(self.out, None, f"cannot write the session: {why}")
