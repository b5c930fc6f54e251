# SPDX-License-Identifier: MIT
"""Whole session files copied, also while they are read; where their inputs are."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from ..records import BadInput, Progress
from .annotations import writing
from .files import temporary

PAGES_AT_ONCE = 4096


def copy_session(file: Path, out: Path, progress: Progress) -> None:
    """Copy with SQLite's backup, so that a change made meanwhile is whole or not in it.

    Raises BadInput naming `out` and Cancelled; then nothing is left of the copy.
    """
    made = temporary(out)

    def report(_status: int, left: int, total: int) -> None:
        progress.report(f"Saving {out.name}", total - left, total)

    try:
        uri = f"file:{quote(str(file.absolute()))}?mode=ro"
        made.unlink(missing_ok=True)
        with (
            closing(sqlite3.connect(uri, uri=True)) as whole,
            closing(sqlite3.connect(made)) as copy,
        ):
            whole.backup(copy, pages=PAGES_AT_ONCE, progress=report)
        os.replace(made, out)
    except (OSError, sqlite3.Error) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise BadInput(out, None, f"cannot write the session: {why}") from error
    finally:
        for name in (made, made.with_name(made.name + "-journal")):
            with suppress(OSError):
                name.unlink(missing_ok=True)


def set_path(file: Path, source: int, path: Path) -> None:
    """An input file is at `path` now.  Raises BadInput if the session cannot be written."""
    with writing(file) as db:
        db.execute("UPDATE source SET path = ? WHERE id = ?", (str(path), source))
