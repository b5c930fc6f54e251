# SPDX-License-Identifier: MIT
"""Notes and flags: the only tables that change after a session was made.

A note or flag names its place by the SHA-256 of an input file and a position in that file.  A note
contains no row id, so it stays valid when the session is made again.  Each change uses its own
short connection while views read, and waits for readers that hold a lock.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, select

from ..records import BadInput
from .annotation_migration import FLAGS_PER_ROW, take_over, unpack_flags
from .annotation_migration import RECORD as RECORD
from .query_rows import StoredNote
from .sqlalchemy_tables import annotation, flag

PACKET, TIME, SESSION = "packet", "time", "session"  # anchors; RECORD is the fourth
PATIENCE_S = 10.0
Ordinals = npt.NDArray[np.int64]


class Note(NamedTuple):
    """A row of `annotation` without its id.

    `ordinal` counts from 0 in the file; -1 means that the note has none.
    """

    kind: str
    source: str  # SHA-256 of the input file, "" = the whole session
    anchor: str
    ordinal: int
    begin_ns: int | None
    end_ns: int | None
    text: str


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection that may change the session at `path`; commit at the end.

    Raises BadInput if the file cannot be written.
    """
    uri = f"file:{quote(str(path.absolute()))}?mode=rw"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=PATIENCE_S)) as connection, connection:
            yield connection
    except sqlite3.Error as error:
        raise BadInput(path, None, f"cannot save the change: {error}") from error


def notes(db: Connection, kind: str | None) -> list[StoredNote]:
    """Return the rows of `annotation` of one kind, oldest first; None selects all kinds."""
    wanted = select(annotation).order_by(annotation.c.id)
    rows = db.execute(wanted if kind is None else wanted.where(annotation.c.kind == kind))
    return list(map(StoredNote._make, rows))


def put_note(path: Path, note: Note, note_id: int = 0) -> int:
    """Store `note` and return its id.

    If `note_id` is not 0, `note` replaces the note with this id.
    """
    with writing(path) as db:
        made = db.execute(
            "INSERT OR REPLACE INTO annotation"
            " (id, kind, source, anchor, ordinal, begin_ns, end_ns, text)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (note_id or None, *note),
        )
        return note_id or int(made.lastrowid or 0)


def remove(path: Path, note_id: int) -> None:
    """Remove the note with this id. Raises BadInput if the file cannot be written."""
    with writing(path) as db:
        db.execute("DELETE FROM annotation WHERE id = ?", (note_id,))


def flags(db: Connection, kind: str) -> list[tuple[str, str, Ordinals]]:
    """Return (SHA-256, anchor, rising ordinals) of all places that have the flag `kind`."""
    wanted = select(flag).where(flag.c.kind == kind).order_by(flag.c.first)
    return [
        (row.source, row.anchor, np.flatnonzero(unpack_flags(row.bits)) + row.first)
        for row in db.execute(wanted)
    ]


def set_flags(path: Path, kind: str, where: tuple[str, str], ordinals: Ordinals, on: bool) -> None:
    """Set or clear the flag `kind` at `ordinals` (sorted) in `where`: (SHA-256, anchor).

    Raises BadInput if the session file `path` cannot be written.
    """
    parts = ordinals // FLAGS_PER_ROW
    with writing(path) as db:
        for mine in np.split(ordinals, np.flatnonzero(np.diff(parts)) + 1):
            first = int(mine[0]) // FLAGS_PER_ROW * FLAGS_PER_ROW if len(mine) else 0
            key = (kind, *where, first)
            found = db.execute(
                "SELECT bits FROM flag WHERE kind = ? AND source = ? AND anchor = ? AND first = ?",
                key,
            ).fetchone()
            bits = unpack_flags(found[0] if found else None)
            bits[mine - first] = on
            _put_flags(db, key, bits)


def _put_flags(
    db: sqlite3.Connection, key: tuple[str, str, str, int], bits: npt.NDArray[np.uint8]
) -> None:
    db.execute(
        "DELETE FROM flag WHERE kind = ? AND source = ? AND anchor = ? AND first = ?",
        key,
    )
    if bits.any():
        db.execute(
            "INSERT INTO flag (kind, source, anchor, first, bits) VALUES (?, ?, ?, ?, ?)",
            (*key, np.packbits(bits).tobytes()),
        )


def merge(path: Path, old: Path) -> None:
    """Copy the annotations of the session `old` into the existing session at `path`.

    take_over() says which annotations are copied.  Raises BadInput if `path` cannot be written.
    """
    if path.absolute() == old.absolute():
        return
    with writing(path) as db:
        take_over(db, old)
