# SPDX-License-Identifier: MIT
"""Which rows the packet list shows: filter, order, kernel-only and ignored rows."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal

from skbviewer.analysis.filter import FilterError, parse
from skbviewer.records import Progress
from skbviewer.records.annotations import IGNORE

from .contract import Recording, RowIds
from .notes import Notes
from .tasks import Tasks

Order = tuple[str, bool]  # Column.order, descending


class Listing(QObject):
    """Asks the recording anew when one of its settings changes; the last answer counts."""

    shown = Signal(object)  # RowIds, None: all packets by number
    failed = Signal(str)
    refused = Signal(object)  # FilterError that was found while the filter ran
    fell_back = Signal(str, str)  # why a filter could not run, and which one is in force still
    changed = Signal()  # a setting is another one

    def __init__(self, notes: Notes, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.tasks = Tasks(self)
        self.tasks.failed.connect(self._fail)
        self._notes = notes
        self._recording: Recording | None = None
        self.filter = ""
        self._in_force = ""  # the filter of the rows that are shown
        self.order: Order | None = None
        self.kernel_only = False
        self.all_lives = False  # also those without a network identity
        self.ignored_hidden = False
        self.rows: RowIds | None = None

    def use(self, recording: Recording | None) -> None:
        """From now on list `recording`, at first all of it."""
        self.tasks.cancel()
        self._recording = recording
        self.filter, self.order, self.rows = "", None, None
        self._in_force = ""
        self.kernel_only = recording is not None and recording.packet_count() == 0
        self.all_lives = self.ignored_hidden = False
        self.changed.emit()

    def count(self) -> int:
        """How many rows are shown."""
        if self.rows is not None:
            return len(self.rows)
        return 0 if self._recording is None else self._recording.packet_count()

    def why_empty(self) -> str:
        """What to tell where no row is shown; "" where some is."""
        if self.count():
            return ""
        if self.ignored_hidden and self._all_ignored():
            return "Every packet is ignored and hidden. View > Hide Ignored shows them again."
        if self.filter and self.ignored_hidden:
            return "No packets match the display filter, except ignored ones that are hidden."
        if self.filter:
            return "No packets match the display filter. Clear it to show all."
        return "No packets."

    def _all_ignored(self) -> bool:
        packets = 0 if self._recording is None else self._recording.packet_count()
        return len(self._notes.flags.all(IGNORE)) >= packets + self.lives() > 0

    def set_filter(self, text: str) -> None:
        """Show only what passes a display filter; "" shows all.  A wrong one changes nothing."""
        try:
            parse(text)
        except FilterError as error:
            self.failed.emit(f"Display filter: {error}")
            return
        self.filter = text.strip()
        self.refresh()

    def set_order(self, order: Order | None) -> None:
        """Sort by a column; None = by number."""
        if order != self.order:
            self.order = order
            self.refresh()

    def show_kernel_only(self, shown: bool) -> None:
        """List packet lives that met no wire packet, or not."""
        self.kernel_only = shown
        self.refresh()

    def show_all_lives(self, shown: bool) -> None:
        """List also packet lives without a network identity, or not."""
        self.all_lives = shown
        self.kernel_only = self.kernel_only or shown
        self.refresh()

    def lives(self) -> int:
        """How many rows K<n> there are to list; 0 where they are not shown."""
        if self._recording is None or not self.kernel_only:
            return 0
        every = self._recording.all_kernel_only_count
        return every() if self.all_lives else self._recording.kernel_only_count()

    def holds_life(self, number: int) -> bool:
        """Whether K<number> is listed, but for the filter."""
        every = self.all_lives or self._recording is None
        known = 0 if self._recording is None else self._recording.kernel_only_count()
        return self.kernel_only and (every or number <= known)

    def hide_ignored(self, hidden: bool) -> None:
        self.ignored_hidden = hidden
        self.refresh()

    def refresh(self) -> None:
        """Ask for the rows."""
        self.changed.emit()
        recording = self._recording
        if recording is None:
            return
        hidden = self._notes.flags.all(IGNORE) if self.ignored_hidden else None
        text, order, lives = self.filter, self.order, self.kernel_only
        every = self.all_lives
        if not text and order is None and not lives and (hidden is None or not len(hidden)):
            self.tasks.cancel()
            self._show(None)
            return

        def ask(progress: Progress) -> Any:
            try:
                return recording.listed(text, order, lives, hidden, progress, every)
            except FilterError as error:  # what only the values tell
                return error

        self.tasks.start("Filtering" if text else "Sorting", ask, self._show)

    def _fail(self, line: str) -> None:
        """The rows stay; so does their filter."""
        if self.filter == self._in_force:
            self.failed.emit(line)
        self._fall_back(line)

    def _fall_back(self, why: str) -> None:
        if self.filter != self._in_force:
            self.filter = self._in_force
            self.fell_back.emit(why, self._in_force)
            self.changed.emit()

    def _show(self, rows: RowIds | FilterError | None) -> None:
        if isinstance(rows, FilterError):
            self._fall_back(rows.message)
            self.refused.emit(rows)
            return
        self.rows, self._in_force = rows, self.filter
        self.shown.emit(rows)
