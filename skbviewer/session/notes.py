# SPDX-License-Identifier: MIT
"""The notes and flags of an open session.

Only notes and flags can change in an open session.
"""

from __future__ import annotations

from ..records import Annotation
from . import annotation_places as places
from .annotation_places import RowIds
from .open_session_file import OpenedFile


class Notes:
    """The notes about packets, lifetimes, calls and times, and the flags of rows."""

    def __init__(self, opened: OpenedFile) -> None:
        self._opened = opened

    def all(self, kind: str | None = None) -> list[Annotation]:
        """Return the notes of one kind, or all notes."""
        with self._opened.database() as db:
            return places.notes(db, kind)

    def keep(self, note: Annotation) -> Annotation:
        """Store `note`, and return it with its id.

        If the id of `note` is not 0, `note` replaces the note with this id.  Raises KeyError if the
        note is about something that does not exist, BadInput if the file cannot be written.
        """
        with self._opened.database() as db:
            return places.store_note(db, self._opened.path, note)

    def remove(self, note: int) -> None:
        """Remove the note with the id `note`.  Raises BadInput if the file cannot be written."""
        places.remove(self._opened.path, note)

    def flags(self, kind: str) -> RowIds:
        """Return the rows that have the flag "mark", "ignore" or "time_ref": n, or -n for K<n>."""
        with self._opened.database() as db:
            return places.flags(db, kind)

    def set_flags(self, kind: str, rows: RowIds, on: bool = True) -> None:
        """Set or clear the flag `kind` on `rows`.

        Raises BadInput if the file cannot be written.
        """
        with self._opened.database() as db:
            places.set_flags(db, self._opened.path, kind, rows, on)
