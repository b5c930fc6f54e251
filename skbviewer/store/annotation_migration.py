# SPDX-License-Identifier: MIT
"""Copy notes and flags from an older session into a new session of the same files."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from .schema import annotation, flag

FLAGS_PER_ROW = 1 << 16
RECORD = "record"  # anchor
BY_TIME = 3  # last session version in which records were counted in order of time


def unpack_flags(bits: bytes | None) -> npt.NDArray[np.uint8]:
    """Return FLAGS_PER_ROW flags, one byte each (0 or 1), from packed `bits`; all 0 for None."""
    if bits is None:
        return np.zeros(FLAGS_PER_ROW, np.uint8)
    return np.unpackbits(np.frombuffer(bits, np.uint8))


def take_over(db: sqlite3.Connection, old: Path) -> None:
    """Copy the notes and flags of the session file `old`, if it has any, into the new session.

    If an input file has changed, but has the same path and is not smaller than before, it is
    assumed to have grown, and its annotations are copied.  Notes and flags that the new session has
    already are not duplicated.
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
        return  # the file does not exist, or its version has no annotations
    grown = _grown(db, was)
    there = {tuple(row)[1:] for row in db.execute("SELECT * FROM annotation")}
    for kind, sha256, *rest in kept:
        row = (kind, grown.get(sha256, sha256), *rest)
        if row not in there:
            db.execute(annotation.insertion(), row)
    for kind, sha256, anchor, first, packed in bits:
        _merge(db, (kind, grown.get(sha256, sha256), anchor, first), packed)


def _by_ordinal(before: sqlite3.Connection, notes: list[Any], bits: list[Any]) -> Any:
    """Return rows with ordinals of records; sessions up to version 3 had positions by time."""
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
        for number in np.flatnonzero(unpack_flags(packed)).tolist() if anchor == RECORD else ():
            place = ordinal(sha256, begin + number)
            one = np.zeros(FLAGS_PER_ROW, np.uint8)
            one[place % FLAGS_PER_ROW] = 1
            at = place // FLAGS_PER_ROW * FLAGS_PER_ROW
            made.append((kind, sha256, anchor, at, np.packbits(one).tobytes()))
    return notes, made


def _merge(db: sqlite3.Connection, key: tuple[str, str, str, int], packed: bytes) -> None:
    own = "FROM flag WHERE kind = ? AND source = ? AND anchor = ? AND first = ?"
    found = db.execute(f"SELECT bits {own}", key).fetchone()
    both = unpack_flags(packed) | unpack_flags(found[0] if found else None)
    db.execute(f"DELETE {own}", key)
    db.execute(flag.insertion(), (*key, np.packbits(both).tobytes()))


def _grown(db: sqlite3.Connection, was: Sequence[tuple[str, str, int]]) -> dict[str, str]:
    """Map old to new SHA-256 for files that have the same path and are not smaller than before."""
    asked = db.execute("SELECT path, sha256, size FROM source")
    now = {path: (sha256, size) for path, sha256, size in asked}
    return {
        sha256: now[path][0] for path, sha256, size in was if path in now and now[path][1] >= size
    }
