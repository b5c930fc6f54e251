# SPDX-License-Identifier: MIT
"""Open session files, and distinguish damaged files from bugs of skbviewer."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, Engine, ExceptionContext, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from ..records import BadInput, OtherVersion
from . import schema
from .session_files import MMAP, SQLITE_HEAD, head, inputs_of

Database = Connection  # an open session file, which queries read
HEADER = 100  # bytes of SQLite's header (sqlite.org/fileformat2.html, 1.3)
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR)
READERS = 8  # connections that the pool keeps open


class _Closing(sqlite3.Connection):
    """A connection that is closed when its SQLAlchemy engine is no longer used.

    Python 3.13 warns about connections that are not closed.
    """

    def __del__(self) -> None:
        self.close()


def engine_for(path: Path) -> Engine:
    """Return an SQLAlchemy engine that reads the session file `path`.

    Two threads never share a connection.

    The engine keeps connections, with their prepared statements, for the next reader.  Every query
    raises BadInput if the file is damaged.
    """
    # Not mode=ro: while a note is being written, SQLite may mistake its journal for one to roll
    # back, and a connection that cannot write at all fails instead of looking again.
    uri = f"file:{quote(str(path.absolute()))}?mode=rw"

    def connect() -> sqlite3.Connection:  # SQLAlchemy's URLs would remove the quoting
        return sqlite3.connect(
            uri, uri=True, check_same_thread=False, cached_statements=256, factory=_Closing
        )

    pool = {"poolclass": QueuePool, "pool_size": READERS, "max_overflow": -1}
    engine = create_engine("sqlite://", creator=connect, **pool)

    @event.listens_for(engine, "connect")
    def configure(connection: object, _: object) -> None:
        execute = connection.execute  # type: ignore[attr-defined]  # sqlite3.Connection
        execute(f"PRAGMA mmap_size = {MMAP}")
        execute("PRAGMA query_only = ON")

    @event.listens_for(engine, "handle_error")
    def report(context: ExceptionContext) -> None:
        error = context.original_exception
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGED:
            raise BadInput(path, None, f"the session is damaged: {error}") from error

    return engine


def forget_pages(execute: Callable[[str], object]) -> None:
    """Unmap the pages of the file that were read; a later read maps them again.

    `execute` executes an SQL statement on a connection to the file.
    The kernel caches the pages as long as it has memory, but they no longer count as memory of the
    process.
    """
    for size in (0, MMAP):
        execute(f"PRAGMA mmap_size = {size}")


def open_session(path: Path) -> Engine:
    """Return an SQLAlchemy engine that reads the session at `path`.

    Each thread needs its own connection.

    Raises BadInput if the file does not exist or is not a session, and OtherVersion if another
    version wrote it.
    """
    if not head(path).startswith(SQLITE_HEAD):
        raise BadInput(path, 0, "not a session file (no SQLite database)")
    _take_back(path)
    _refuse_a_part(path)
    engine = engine_for(path)
    try:
        with engine.connect() as connection:
            application = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
            version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
            lacking = _lacking(connection)
    except DBAPIError as error:
        raise BadInput(path, None, f"not a readable session: {error.orig}") from error
    if application != schema.APPLICATION_ID:
        raise BadInput(path, 68, "an SQLite database, but not a session of skbviewer")
    if version != schema.SCHEMA_VERSION:
        whose = "an older" if version < schema.SCHEMA_VERSION else "a newer"
        formats = f"format {version}; this one uses {schema.SCHEMA_VERSION}"
        why = f"Saved by {whose} skbviewer ({formats})"
        raise OtherVersion(path, why, _paths(path))
    if lacking:
        why = f"Saved by another build of skbviewer: it has no {lacking}"
        raise OtherVersion(path, why, _paths(path))
    return engine


def _refuse_a_part(path: Path) -> None:
    """Raise BadInput if the file is shorter than its header says, as after a partial copy."""
    with path.open("rb") as file:
        header, size = file.read(HEADER), path.stat().st_size
    if len(header) < HEADER:
        raise BadInput(path, size, "the session file ends in the middle of its header")
    page, changes, pages = struct.unpack_from(">H6xII", header, 16)
    (counted,) = struct.unpack_from(">I", header, 92)  # `pages` is valid if this equals `changes`
    missing = pages * (1 << 16 if page == 1 else page) - size
    ours = header[68:72] == struct.pack(">I", schema.APPLICATION_ID)
    if ours and changes == counted and missing > 0:
        raise BadInput(path, size, f"the session is cut: {missing} bytes are missing")


def _lacking(connection: Connection) -> str:
    """Return the first table or column of the schema that the file does not have; "" if none."""
    there: dict[str, set[str]] = {}
    asked = "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c"
    for table, column in connection.exec_driver_sql(f"{asked} WHERE m.type = 'table'"):
        there.setdefault(table, set()).add(column)
    for table in schema.TABLES.values():
        if table.name in schema.OPTIONAL and table.name not in there:
            continue
        for column in ("id", *table.names):
            if column not in there.get(table.name, set()):
                return f"{table.name}.{column}"
    return ""


def _paths(path: Path) -> tuple[Path, ...]:
    return tuple(name for name, _ in inputs_of(path))


def _take_back(path: Path) -> None:
    """Roll back a change of the session that a crash interrupted.

    The rollback writes to the file, which a connection of a reader must not do.
    """
    if not path.with_name(f"{path.name}-journal").exists():
        return
    uri = f"file:{quote(str(path.absolute()))}?mode=rw"
    # If the rollback fails, the reader that opens the file next reports the error.
    with suppress(sqlite3.Error), closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
