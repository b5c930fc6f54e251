# SPDX-License-Identifier: MIT
"""Convert notes and flags between row numbers of a session and places that stay valid.

A stored place is the hash of a file, and the number of a packet or record in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..records import Annotation, SourceKind
from ..store import Database, annotation_anchors, queries
from ..store import annotation_tables as store
from ..store.query_rows import StoredNote, StoredSource

RowIds = npt.NDArray[np.int64]  # int64: n = packet n, -n = row K<n>


def notes(db: Database, kind: str | None) -> list[Annotation]:
    """Return the notes of this session, oldest first.

    `kind` is a kind of note; None selects all kinds.
    """
    files = _Files(db)
    found = (_resolved(db, files, row) for row in store.notes(db, kind))
    return [note for note in found if note is not None]


def store_note(db: Database, path: Path, note: Annotation) -> Annotation:
    """Store `note` in the session file `path`; return it with its id.

    If the id of `note` is not 0, `note` replaces the note with this id.  Raises KeyError if the
    target of the note does not exist, BadInput if the file cannot be written.
    """
    sha256, anchor, ordinal = _place(db, _Files(db), note)
    row = store.Note(note.kind, sha256, anchor, ordinal, note.begin_ns, note.end_ns, note.text)
    return note._replace(id=store.put_note(path, row, note.id))


def remove(path: Path, note: int) -> None:
    """Remove the note with the id `note` from the session file `path`.

    Raises BadInput if the file cannot be written.
    """
    store.remove(path, note)


def flags(db: Database, kind: str) -> RowIds:
    """Return the rows that have the flag `kind`, in ascending order."""
    files = _Files(db)
    found = [np.empty(0, np.int64)]
    for sha256, anchor, ordinals in store.flags(db, kind):
        for source in files.with_content(sha256, anchor):
            there = ordinals[ordinals < source.rows]
            packets = anchor == store.PACKET
            found.append(there + source.first if packets else _kernel_only_of(db, source.id, there))
    return rising(np.concatenate(found))


def set_flags(db: Database, path: Path, kind: str, rows: RowIds, on: bool) -> None:
    """Set or clear the flag `kind` on `rows`: n is packet n, -n is the kernel-only row K<n>.

    Raises BadInput if the session file `path` cannot be written.
    """
    files = _Files(db)
    packets = rising(rows[rows > 0])
    kernel_only = [-int(n) for n in rows[rows < 0]]
    records = np.array(
        annotation_anchors.records_of_kernel_only(db, kernel_only), np.int64
    ).reshape(-1, 2)
    for source in files.all(store.PACKET):
        low, high = np.searchsorted(packets, [source.first, source.first + source.rows])
        if low < high:
            where = (source.sha256, store.PACKET)
            store.set_flags(path, kind, where, packets[low:high] - source.first, on)
    for source in files.all(store.RECORD):
        ordinals = np.sort(records[records[:, 0] == source.id, 1])
        if len(ordinals):
            store.set_flags(path, kind, (source.sha256, store.RECORD), ordinals, on)


def rising(ids: RowIds) -> RowIds:
    """Return the ids in ascending order, each once.

    Ids that are in order already are not sorted again.
    """
    return ids if bool((np.diff(ids) > 0).all()) else np.unique(ids)


def _kernel_only_of(db: Database, source: int, ordinals: RowIds) -> RowIds:
    numbers = annotation_anchors.kernel_only_of_records(db, source, [int(n) for n in ordinals])
    return -np.array(numbers, np.int64)


class _Files:
    """Finds the sources of a session by their contents, or by packets or records in them."""

    def __init__(self, db: Database) -> None:
        self._rows: Sequence[StoredSource] = queries.sources(db)

    def all(self, anchor: str) -> list[StoredSource]:
        """Return the captures if `anchor` is PACKET, the KBLs if it is RECORD."""
        return [
            row for row in self._rows if SourceKind(row.kind).is_log == (anchor == store.RECORD)
        ]

    def with_content(self, sha256: str, anchor: str) -> list[StoredSource]:
        """Return the source with this content, as a list; [] if there is none.

        If a file was given twice, the list has its first source.
        """
        return [row for row in self.all(anchor) if row.sha256 == sha256][:1]

    def holding(self, packet: int) -> StoredSource:
        """Return the capture that holds a packet.  Raises KeyError for an unknown packet."""
        for row in self.all(store.PACKET):
            if row.first <= packet < row.first + row.rows:
                return row
        raise KeyError(f"no packet {packet}")

    def any(self, sha256: str) -> StoredSource | None:
        """Return the first source with this content, or None."""
        return next((row for row in self._rows if row.sha256 == sha256), None)

    def number(self, number: int) -> StoredSource:
        """Return the source with the id `number`."""
        for row in self._rows:
            if row.id == number:
                return row
        raise KeyError(f"no source {number}")


def _place(db: Database, files: _Files, note: Annotation) -> tuple[str, str, int]:
    if note.packet is not None:
        source = files.holding(note.packet)
        return source.sha256, store.PACKET, note.packet - source.first
    if note.series is not None or note.call is not None:
        if note.call is not None:
            number, ordinal = annotation_anchors.record_of_call(db, note.call)
        else:
            number, ordinal = annotation_anchors.record_of_series(db, note.series or 0)
        return files.number(number).sha256, store.RECORD, ordinal
    if note.source is not None:
        return files.number(note.source).sha256, store.TIME, -1
    return "", store.SESSION, -1


def _resolved(db: Database, files: _Files, row: StoredNote) -> Annotation | None:
    note = Annotation(row.kind, row.text, begin_ns=row.begin_ns, end_ns=row.end_ns, id=row.id)
    if row.anchor == store.SESSION:
        return note
    if row.anchor == store.TIME:
        source = files.any(row.source)
        return None if source is None else note._replace(source=source.id)
    for source in files.with_content(row.source, row.anchor):
        if row.ordinal >= source.rows:
            return None
        if row.anchor == store.PACKET:
            return note._replace(packet=row.ordinal + source.first)
        record = (source.id, row.ordinal)
        if row.kind == "call_note":
            call = annotation_anchors.call_of_record(db, record)
            return None if call is None else note._replace(call=call)
        return note._replace(series=annotation_anchors.series_of_record(db, record))
    return None
