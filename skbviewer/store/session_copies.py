# SPDX-License-Identifier: MIT
"""Copy whole session files, even while they are read, and change the paths of their input files."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from ..records import BadInput, Progress, SourceKind
from .annotation_tables import writing
from .session_files import temporary

PAGES_AT_ONCE = 4096


def copy_session(file: Path, out: Path, progress: Progress) -> None:
    """Copy the session `file` to `out` by SQLite's backup function.

    If the session is changed during the copy, the copy contains the change completely or not at
    all.  Raises BadInput if `out` cannot be written; raises Cancelled.  In case of an error or a
    cancellation, the incomplete copy is removed.
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
    """Set the path of the input file with id `source` in the session `file`.

    A log and the packets in it are two sources with one path, so the path of both is set.  Raises
    BadInput if the session cannot be written.
    """
    with writing(file) as db:
        db.execute("UPDATE source SET path = ? WHERE id = ?", (str(path), source))
        db.execute(
            "UPDATE source SET path = ? WHERE sha256 = (SELECT sha256 FROM source WHERE id = ?)"
            " AND ? IN (kind, (SELECT kind FROM source WHERE id = ?))",
            (str(path), source, SourceKind.RETIS_PACKETS.value, source),
        )
