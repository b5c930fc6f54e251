# SPDX-License-Identifier: MIT
"""The timeline of an open session."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from ...analysis.timeline.lanes import Timeline
from ...analysis.timeline.session_overview import Overview
from ...records import Annotation, NotePlace, Progress
from .. import exported_rows
from ..notes import Notes
from ..open_session_file import OpenedFile
from ..packets.packet_list import PacketList
from . import timeline_lanes_and_overview as answers


class SessionTimeline:
    """Lanes, notes and ranges of an open session, by session time."""

    def __init__(self, opened: OpenedFile, packets: PacketList, notes: Notes) -> None:
        self._opened, self._packets, self._notes = opened, packets, notes
        self._overview: Overview | None = None
        self._lock = threading.Lock()

    def overview(self, progress: Progress | None = None) -> Overview:
        """Return the overview of the session: density, gaps and drops.

        The first call may take seconds.
        """
        opened = self._opened
        with opened.database() as db, self._lock:
            if self._overview is None:
                clock = opened.timebase()
                self._overview = answers.overview_of(db, opened.columns, clock, progress)
            return self._overview

    def lanes(
        self, kind: str, ids: Sequence[int] = (), progress: Progress | None = None
    ) -> Timeline:
        """Return lanes with all calls, grouped by `kind`, or a lane for each row in `ids`.

        `kind` is "cpu", "layer" or "process"; with `ids`, it is "packet" or "aligned".  Raises
        Cancelled.
        """
        whole, clock = self.overview(progress), self._opened.timebase()
        given = (self._opened, self._packets, clock, kind, ids, whole, progress)
        with self._opened.database() as db:
            return answers.timeline_of(db, *given)

    def note_places(self) -> list[NotePlace]:
        """Return the notes that refer to a time, with their session times."""
        with self._opened.database() as db:
            return answers.places_of(db, self._opened.timebase(), self._notes.all())

    def range_note(self, text: str, times: tuple[int, int]) -> Annotation:
        """Return a note about a range of session time.  Notes.keep() stores it."""
        return answers.range_note(self._opened.timebase(), self._opened.sources(), text, times)

    def range_filter(self, times: tuple[int, int]) -> str:
        """Return a display filter for packets that were captured in a range of session time."""
        return exported_rows.range_filter(self._opened.timebase(), self._opened.sources(), times)
