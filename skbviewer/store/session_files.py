# SPDX-License-Identifier: MIT
"""Recognise session files, find their input files, and create sessions under temporary names."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from ..records import BadInput, SourceKind

SQLITE_HEAD = b"SQLite format 3\x00"
MMAP = 1 << 40  # more than SQLite allows, so it maps as much as it can and copies no pages
MADE_BY = re.compile(r"(\d+)\.tmp(-\w+)?")  # the end of names that temporary() makes


def connect_new(path: Path) -> sqlite3.Connection:
    """Return a connection to a new file without tables, which no other process uses."""
    uri = f"file:{quote(str(path.absolute()))}?mode=rw"
    connection = sqlite3.connect(uri, uri=True)
    connection.execute(f"PRAGMA mmap_size = {MMAP}")
    connection.execute("PRAGMA page_size = 4096")  # the page size of row_cells.py
    connection.execute("PRAGMA auto_vacuum = NONE")
    # Until the file is renamed, a crash loses only the temporary file.
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def temporary(out: Path) -> Path:
    """Return the temporary path at which this process writes a file, to rename it to `out` later.

    Removes temporary files for `out` that processes left behind when they were killed.
    """
    begin = f".{out.name}."
    with suppress(OSError):
        for path in out.parent.iterdir():
            made = path.name.startswith(begin) and MADE_BY.fullmatch(path.name[len(begin) :])
            if made and not _runs(int(made[1])):
                path.unlink(missing_ok=True)
    return out.with_name(f"{begin}{os.getpid()}.tmp")


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (PermissionError, OverflowError):
        return True
    except ProcessLookupError:
        return False
    return True


def is_session(path: Path) -> bool:
    """Return whether a file begins like an SQLite database; False if it cannot be read."""
    try:
        return head(path).startswith(SQLITE_HEAD)
    except BadInput:
        return False


def inputs_of(file: Path) -> list[tuple[Path, str]]:
    """Return path and SHA-256 of each input file of a session, whatever its version.

    The list is empty if the session does not name its input files.
    """
    uri = f"file:{quote(str(file.absolute()))}?mode=ro"
    with suppress(sqlite3.Error), closing(sqlite3.connect(uri, uri=True)) as connection:
        rows = connection.execute("SELECT path, sha256, kind FROM source ORDER BY id")
        # The packets of a log are a source of their own, but no file.
        own = {kind.value for kind in SourceKind if kind.is_of_log}
        return [(Path(path), hashed) for path, hashed, kind in rows if kind not in own]
    return []


def head(path: Path) -> bytes:
    """Return the first 16 bytes of a file.  Raises BadInput if the file cannot be read."""
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # reading a pipe may never end
            raise BadInput(path, None, "is not a regular file")
        with path.open("rb") as file:
            return file.read(16)
    except OSError as error:
        raise BadInput(path, None, f"cannot read: {error.strerror}") from error
