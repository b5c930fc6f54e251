# SPDX-License-Identifier: MIT
"""Run one SELECT of a user, which can only read the documented views, and change nothing.

The file is opened read-only, and query_authorizer.py lets the query read only the views.  Limits apply to
the number of rows, the size of values, memory, temporary files and time.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import NamedTuple
from urllib.parse import quote

from ...records import BadInput, Cancelled, counted
from ..session_files import MMAP
from .declared_views import VIEWS
from .query_authorizer import LONGEST, WIDE_IS_REFUSED, Gate

Cell = int | float | str | bytes | None
STEPS = 10_000  # of SQLite's virtual machine between two looks at the clock
PAUSE_S = 0.02  # between two looks at what was written
PAGE = os.sysconf("SC_PAGESIZE")
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: LONGEST,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 100,
    sqlite3.SQLITE_LIMIT_COLUMN: 400,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
# Possessive (*+): otherwise 40 comments before another word would be divided in 2^40 ways.
QUERY = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*+(?:select|with|values)\b", re.I | re.S)
BY_COMMON_NAMES = re.compile(r"\b(?:natural|using)\b", re.I)  # columns that SQLite does not name
ONLY = f"only SELECT over {', '.join(VIEWS)} is allowed"


class Bounds(NamedTuple):
    """The limits of a query: rows, seconds, and bytes: of all rows, in memory and on disk."""

    rows: int = 100_000
    seconds: float = 60.0
    size: int = 64 << 20  # bytes of the rows, about
    memory: int = 512 << 20  # bytes by which the process grows, without mapped files
    written: int = 4 << 30  # bytes of temporary files


class Answer(NamedTuple):
    """The result of a query; `cut` says why rows at its end are missing, or is ""."""

    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    cut: str = ""


def answer(file: Path, sql: str, bounds: Bounds, stop: Event) -> Answer:
    """Run one SELECT on the session `file`; another thread may set `stop` to end it.

    Raises BadInput with one line of text if the query is not allowed, is wrong, or exceeds its
    limits; raises Cancelled if it was stopped.  A function call in the query is not interrupted.
    """
    if not QUERY.match(sql):
        raise BadInput(file, None, f"query: {ONLY}")
    watch = _Watch(bounds, stop)
    try:
        with closing(_connection(file)) as db:
            db.set_progress_handler(watch.ends, STEPS)
            gate = Gate(db)
            gate.make_views()
            named = gate.named_columns(sql)
            if not BY_COMMON_NAMES.search(sql):
                gate.make_views(named)  # leaves out joins that the query does not need
            gate.close()
            return _rows(db.execute(sql), bounds)
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        raise watch.reason(file, error) from error


def _connection(file: Path) -> sqlite3.Connection:
    """Open the session for a query.

    SQLite's own limit for memory, PRAGMA hard_heap_limit, would apply to the whole process and
    could not be removed.  As each value is small, it is enough to check the memory of the process
    from time to time.
    """
    db = sqlite3.connect(f"file:{quote(str(file.absolute()))}?mode=ro", uri=True)
    db.execute(f"PRAGMA mmap_size = {MMAP}")
    for limit, value in LIMITS.items():
        db.setlimit(limit, value)
    return db


def _rows(cursor: sqlite3.Cursor, bounds: Bounds) -> Answer:
    columns = tuple(column[0] for column in cursor.description or ())
    rows: list[tuple[Cell, ...]] = []
    size = 0
    for row in cursor:
        if len(rows) == bounds.rows:
            return Answer(columns, rows, f"only the first {counted(bounds.rows, 'row')}")
        size += sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)
        if size > bounds.size:
            return Answer(columns, rows, f"only the first {bounds.size >> 20} MiB")
        rows.append(row)
    return Answer(columns, rows)


class _Watch:
    """Ends a query that takes too long, writes too much or is stopped."""

    def __init__(self, bounds: Bounds, stop: Event) -> None:
        self._bounds, self._stop = bounds, stop
        self._end = time.monotonic() + bounds.seconds
        self._next = 0.0
        self._before, self._size = _written(), _resident()
        self._why = ""

    def ends(self) -> int:
        """Return 0 to let the query go on, or another number to end it; SQLite calls this often."""
        now = time.monotonic()
        if now > self._end:
            self._why = f"the statement took more than {self._bounds.seconds:g} s"
        elif now > self._next:
            self._next = now + PAUSE_S
            if _written() - self._before > self._bounds.written:
                self._why = (
                    f"the statement needs more than {self._bounds.written >> 20} MiB of disk space"
                )
            if _resident() - self._size > self._bounds.memory:
                self._why = (
                    f"the statement needs more than {self._bounds.memory >> 20} MiB of memory"
                )
        return int(bool(self._why) or self._stop.is_set())

    def reason(self, file: Path, error: Exception) -> Exception:
        """Return the exception to raise for a query that ended with `error`."""
        code = getattr(error, "sqlite_errorcode", 0)
        why = self._why or (str(error).splitlines() or ["failed"])[0]
        if code == sqlite3.SQLITE_INTERRUPT and not self._why:
            return Cancelled()
        if "user-defined function" in why:
            why = WIDE_IS_REFUSED
        elif code == sqlite3.SQLITE_TOOBIG:
            why = f"a text or blob is larger than {LONGEST >> 10} KiB"
        elif code == sqlite3.SQLITE_AUTH:
            why = f"{why}; {ONLY}"
        return BadInput(file, None, f"query: {why}")


def _resident() -> int:
    """Return the memory of this process in bytes, without mapped files; 0 if it is unknown."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()
    except OSError:
        return 0
    return (int(pages[1]) - int(pages[2])) * PAGE


def _written() -> int:
    """Return how many bytes this thread has written; 0 if the kernel does not count them."""
    try:
        lines = Path("/proc/thread-self/io").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("wchar:")), 0)
