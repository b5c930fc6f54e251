# SPDX-License-Identifier: MIT
"""Session files as files: which are some, and the one connection that makes a new one."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

from ..records import BadInput

SQLITE_HEAD = b"SQLite format 3\x00"
MMAP = 1 << 40  # as much as SQLite allows: reading copies no pages


def connect_new(path: Path) -> sqlite3.Connection:
    """A connection to a file without tables yet, which nobody else knows."""
    uri = f"file:{quote(str(path.absolute()))}?mode=rw"
    connection = sqlite3.connect(uri, uri=True)
    connection.execute(f"PRAGMA mmap_size = {MMAP}")
    connection.execute("PRAGMA page_size = 4096")  # what cells.py lays out
    connection.execute("PRAGMA auto_vacuum = NONE")
    # The file is temporary until it is renamed: a crash loses only that.
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def is_session(path: Path) -> bool:
    """Whether the file looks like an SQLite database; False if it cannot be read."""
    try:
        return head(path).startswith(SQLITE_HEAD)
    except BadInput:
        return False


def head(path: Path) -> bytes:
    """The file's first bytes.  Raises BadInput if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(16)
    except OSError as error:
        raise BadInput(path, None, f"cannot read: {error.strerror}") from error
