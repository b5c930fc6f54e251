# SPDX-License-Identifier: MIT
"""The only tables that change after a session was made: notes and flags.

They name what they belong to by the input file's SHA-256 and a place in it, never by row ids, so
that they hold when the session is made anew.  Writing goes through a short connection of its own
while views read; a reader in its way is waited for.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, create_engine, insert, select
from sqlalchemy.pool import StaticPool

from ..records import BadInput
from .schema import annotation, flag, source

FLAGS_PER_ROW = 1 << 16
PACKET, RECORD, TIME, SESSION = "packet", "record", "time", "session"  # anchors
PATIENCE_S = 10.0
BY_TIME = 3  # the last version of sessions whose records were counted in order of time
Ordinals = npt.NDArray[np.int64]


class Note(NamedTuple):
    """A row of `annotation` without its id; ordinal counts from 0 in the file, -1 = none."""

    kind: str
    source: str  # SHA-256 of the input file, "" = the session as a whole
    anchor: str
    ordinal: int
    begin_ns: int | None
    end_ns: int | None
    text: str


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that may change the session at `path`; commits at the end.

    Raises BadInput where the file cannot be written.
    """
    uri = f"file:{quote(str(path.absolute()))}?mode=rw"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=PATIENCE_S)) as connection, connection:
            yield connection
    except sqlite3.Error as error:
        raise BadInput(path, None, f"cannot keep the change: {error}") from error


def notes(db: Connection, kind: str | None) -> Sequence[Any]:
    """Rows of `annotation`, in the order they were made."""
    wanted = select(annotation).order_by(annotation.c.id)
    return db.execute(wanted if kind is None else wanted.where(annotation.c.kind == kind)).all()


def put(path: Path, note: Note, note_id: int = 0) -> int:
    """Store a note, in place of the one with `note_id` unless that is 0; returns its id."""
    with writing(path) as db:
        made = db.execute(
            "INSERT OR REPLACE INTO annotation"
            " (id, kind, source, anchor, ordinal, begin_ns, end_ns, text)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (note_id or None, *note),
        )
        return note_id or int(made.lastrowid or 0)


def remove(path: Path, note_id: int) -> None:
    with writing(path) as db:
        db.execute("DELETE FROM annotation WHERE id = ?", (note_id,))


def flags(db: Connection, kind: str) -> list[tuple[str, str, Ordinals]]:
    """(SHA-256, anchor, ordinals in rising order) of what carries the flag `kind`."""
    wanted = select(flag).where(flag.c.kind == kind).order_by(flag.c.first)
    return [
        (row.source, row.anchor, np.flatnonzero(_unpacked(row.bits)) + row.first)
        for row in db.execute(wanted)
    ]


def set_flags(path: Path, kind: str, where: tuple[str, str], ordinals: Ordinals, on: bool) -> None:
    """Set or clear a flag at `ordinals` (rising) of `where`: (SHA-256, anchor)."""
    parts = ordinals // FLAGS_PER_ROW
    with writing(path) as db:
        for mine in np.split(ordinals, np.flatnonzero(np.diff(parts)) + 1):
            first = int(mine[0]) // FLAGS_PER_ROW * FLAGS_PER_ROW if len(mine) else 0
            key = (kind, *where, first)
            found = db.execute(
                "SELECT bits FROM flag WHERE kind = ? AND source = ? AND anchor = ? AND first = ?",
                key,
            ).fetchone()
            bits = _unpacked(found[0] if found else None)
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


def _unpacked(bits: bytes | None) -> npt.NDArray[np.uint8]:
    if bits is None:
        return np.zeros(FLAGS_PER_ROW, np.uint8)
    return np.unpackbits(np.frombuffer(bits, np.uint8))


def take_over(db: Connection, old: Path) -> None:
    """Copy the notes and flags of the session file `old`, if it has any, into the one being made.

    A file that was read anew under its old path and has not become smaller keeps its annotations:
    it has grown.  Rows that are there already are not doubled.
    """
    try:
        uri = f"file:{quote(str(old.absolute()))}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as before:
            kept = before.execute(
                "SELECT kind, source, anchor, ordinal, begin_ns, end_ns, text FROM annotation"
                " ORDER BY id"
            ).fetchall()
            bits = before.execute("SELECT kind, source, anchor, first, bits FROM flag").fetchall()
            kept, bits = _by_ordinal(before, kept, bits)
            was = before.execute("SELECT path, sha256, size FROM source").fetchall()
    except sqlite3.Error:
        return  # no such file, or of a version without annotations
    grown = _grown(db, was)
    there = {tuple(row)[1:] for row in notes(db, None)}
    for kind, sha256, *rest in kept:
        row = (kind, grown.get(sha256, sha256), *rest)
        if row not in there:
            names = [c.name for c in annotation.columns if c.name != "id"]
            db.execute(insert(annotation).values(dict(zip(names, row, strict=True))))
    for kind, sha256, anchor, first, packed in bits:
        _merge(db, (kind, grown.get(sha256, sha256), anchor, first), packed)


def _by_ordinal(before: sqlite3.Connection, notes: list[Any], bits: list[Any]) -> Any:
    """The same rows with records by ordinal: up to version 3 they were counted by time."""
    if before.execute("PRAGMA user_version").fetchone()[0] > BY_TIME:
        return notes, bits
    first = dict(before.execute("SELECT sha256, first FROM source"))

    def ordinal(sha256: str, number: int) -> int:
        asked = "SELECT ordinal FROM record WHERE id = ?"
        found = before.execute(asked, (first.get(sha256, 0) + number,)).fetchone()
        return int(found[0]) if found else number

    notes = [
        (kind, sha256, anchor, ordinal(sha256, number) if anchor == RECORD else number, *rest)
        for kind, sha256, anchor, number, *rest in notes
    ]
    made = [row for row in bits if row[2] != RECORD]
    for kind, sha256, anchor, begin, packed in bits:
        for number in np.flatnonzero(_unpacked(packed)).tolist() if anchor == RECORD else ():
            place = ordinal(sha256, begin + number)
            one = np.zeros(FLAGS_PER_ROW, np.uint8)
            one[place % FLAGS_PER_ROW] = 1
            at = place // FLAGS_PER_ROW * FLAGS_PER_ROW
            made.append((kind, sha256, anchor, at, np.packbits(one).tobytes()))
    return notes, made


def merge(path: Path, old: Path) -> None:
    """As take_over, into the session file `path` that is there already.

    Raises BadInput where it cannot be written.
    """
    if path.absolute() == old.absolute():
        return
    with writing(path) as connection:
        engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
        with engine.begin() as db:
            take_over(db, old)


def _merge(db: Connection, key: tuple[str, str, str, int], packed: bytes) -> None:
    names = ("kind", "source", "anchor", "first")
    same = [flag.c[name] == value for name, value in zip(names, key, strict=True)]
    found = db.execute(select(flag.c.bits).where(*same)).scalar()
    both = _unpacked(packed) | _unpacked(found)
    db.execute(flag.delete().where(*same))
    values = dict(zip(names, key, strict=True))
    db.execute(insert(flag).values(**values, bits=np.packbits(both).tobytes()))


def _grown(db: Connection, was: Sequence[tuple[str, str, int]]) -> dict[str, str]:
    """New SHA-256 by old one, of files that stand where they stood and did not shrink."""
    now = {row.path: row for row in db.execute(select(source))}
    return {
        sha256: now[path].sha256
        for path, sha256, size in was
        if path in now and now[path].size >= size
    }
