# SPDX-License-Identifier: MIT
"""Run SQL over a dataset in a thread of its own, so that the caller can cancel it.

The rows of the result, the memory and the time are limited.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from threading import Event, Thread
from typing import Any

import duckdb

from ..records import BadInput, Progress, counted
from ..session.query_thread import Answer, Bounds, Cell
from .duckdb_connection import MEMORY, connection

LOOK_S = 0.05
ROWS = 1000  # fetched at a time
BOUNDS = Bounds(seconds=600.0)
ALL_MEMORY = 3 << 30  # bytes; DuckDB reserves about twice of what it uses
ONLY = "only one SELECT is allowed"


def query(folder: Path, sql: str, bounds: Bounds, progress: Progress) -> Answer:
    """Run one SELECT of a user over the views of a dataset.

    Raises BadInput with one line if the SELECT is not allowed, is wrong or exceeds a limit, and
    Cancelled.
    """
    with connection(folder) as db:
        try:
            statements = db.extract_statements(sql)
        except duckdb.Error as error:
            raise BadInput(folder, None, f"query: {_line(error)}") from error
        if [each.type for each in statements] != [duckdb.StatementType.SELECT]:
            raise BadInput(folder, None, f"query: {ONLY}")
        return run(db, folder, sql, bounds, progress)


def run(
    db: duckdb.DuckDBPyConnection,
    folder: Path,
    sql: str,
    bounds: Bounds,
    progress: Progress,
) -> Answer:
    """Run a statement in a thread, and wait until the thread ends.

    Raises BadInput and Cancelled.
    """
    made: list[Answer | Exception] = []
    done = Event()

    def work() -> None:
        try:
            made.append(_answer(db.execute(sql), bounds))
        except Exception as error:  # noqa: BLE001  # raised again by the caller's thread
            made.append(error)
        finally:
            done.set()

    end = time.monotonic() + bounds.seconds
    thread = Thread(target=work)
    with _memory():
        thread.start()
        late = _waited(db, done, end, progress)
        thread.join()
    (result,) = made
    if isinstance(result, Exception):
        raise _reason(folder, result, bounds, late) from result
    return result


def _waited(db: duckdb.DuckDBPyConnection, done: Event, end: float, progress: Progress) -> bool:
    """Wait for `done`, which the thread that uses `db` sets; return whether the time limit passed.

    After Ctrl-C in Thread.join(), Python 3.11 takes a running thread for one that has ended
    (bpo-45274). A threading.Event therefore signals to the caller that the thread has ended.
    """
    late = False
    try:
        while not done.wait(LOOK_S) and not late:
            progress.report("running the query", 0, 0)
            late = time.monotonic() > end
    finally:
        while not done.is_set():  # a query that has not begun yet is not interrupted
            db.interrupt()
            done.wait(LOOK_S)
    return late


@contextmanager
def _memory() -> Iterator[None]:
    """Limit this process's memory: DuckDB does not count the texts that repeat() makes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    now = next(int(line.split()[1]) << 10 for line in status.splitlines() if "VmData" in line)
    most = now + ALL_MEMORY
    resource.setrlimit(resource.RLIMIT_DATA, (most if soft < 0 else min(soft, most), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _reason(folder: Path, error: Exception, bounds: Bounds, late: bool) -> Exception:
    if late:
        return BadInput(folder, None, f"query: the statement took more than {bounds.seconds:g} s")
    if isinstance(error, duckdb.OutOfMemoryException | MemoryError):
        return BadInput(folder, None, f"query: the statement needs more than {MEMORY} of memory")
    if isinstance(error, duckdb.Error):
        return BadInput(folder, None, f"query: {_line(error)}")
    return error


def _line(error: Exception) -> str:
    return (str(error).splitlines() or ["failed"])[0]


def _answer(db: duckdb.DuckDBPyConnection, bounds: Bounds) -> Answer:
    columns = tuple(column[0] for column in db.description or ())
    rows: list[tuple[Cell, ...]] = []
    size = 0
    while some := db.fetchmany(ROWS):
        for row in some:
            if len(rows) == bounds.rows:
                return Answer(columns, rows, f"only the first {counted(bounds.rows, 'row')}")
            cells = tuple(map(_cell, row))
            size += sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in cells)
            if size > bounds.size:
                return Answer(columns, rows, f"only the first {bounds.size >> 20} MiB")
            rows.append(cells)
    return Answer(columns, rows)


def _cell(value: Any) -> Cell:
    """Return numbers, texts and bytes unchanged, but dates, lists and other values as texts."""
    if value is None or isinstance(value, int | float | str | bytes):
        return value
    if isinstance(value, Decimal):  # DuckDB's type of 1.5, a float in SQLite
        return float(value) if value.as_tuple().exponent else int(value)
    return str(value)
