# SPDX-License-Identifier: MIT
"""The rows that the packet list shows: filter, order, kernel-only and ignored rows."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from skbviewer.analysis.display_filter import FilterError, parse
from skbviewer.records import Progress
from skbviewer.records.annotation import IGNORE

from ..base.background_tasks import Tasks
from ..base.recording_interface import Recording, RowIds
from .row_marks_and_comments import Notes

Order = tuple[str, bool]  # Column.order, descending


class RowQuery(QObject):
    """Queries the recording when a setting changes.  Only the latest query's result is used."""

    shown = Signal(object)  # RowIds; None: all packets by number
    failed = Signal(str)
    refused = Signal(object)  # FilterError found while the filter ran
    fell_back = Signal(str, str)  # why a filter could not run, and the filter still applied
    changed = Signal()  # a setting changed

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
        self.all_lives = False  # include those without a network identity
        self.ignored_hidden = False
        self.rows: RowIds | None = None

    def use(self, recording: Recording | None) -> None:
        """Show the rows of `recording` from now on, without a filter."""
        self.tasks.cancel()
        self._recording = recording
        self.filter, self.order, self.rows = "", None, None
        self._in_force = ""
        self.kernel_only = recording is not None and recording.packets.count() == 0
        self.all_lives = self.ignored_hidden = False
        self.changed.emit()

    def count(self) -> int:
        """Return the number of rows that are shown."""
        if self.rows is not None:
            return len(self.rows)
        return 0 if self._recording is None else self._recording.packets.count()

    def why_empty(self) -> str:
        """Return why no row is shown, as text for the user; "" if there are rows."""
        if self.count():
            return ""
        if self.ignored_hidden and self._all_ignored():
            return (
                "All packets are ignored and hidden. Use View > Hide Ignored Packets to show the "
                "ignored packets."
            )
        if self.filter and self.ignored_hidden:
            return "The display filter matches only ignored packets, and these are hidden."
        if self.filter:
            return "No packets match the display filter. Clear it to show all."
        return "No packets."

    def _all_ignored(self) -> bool:
        packets = 0 if self._recording is None else self._recording.packets.count()
        return len(self._notes.flags.all(IGNORE)) >= packets + self.kernel_only_count() > 0

    def set_filter(self, text: str) -> None:
        """Show only rows that match the display filter `text`; "" shows all rows.

        An invalid filter changes nothing.
        """
        try:
            parse(text)
        except FilterError as error:
            self.failed.emit(f"Display filter: {error}")
            return
        self.filter = text.strip()
        self.refresh()

    def set_order(self, order: Order | None) -> None:
        """Sort by the column and direction in `order`; None sorts by number."""
        if order != self.order:
            self.order = order
            self.refresh()

    def show_kernel_only(self, shown: bool) -> None:
        """Show or hide skb lifetimes that match no captured packet."""
        self.kernel_only = shown
        self.refresh()

    def show_all_lives(self, shown: bool) -> None:
        """Show or hide skb lifetimes without a known IP or ARP header."""
        self.all_lives = shown
        self.kernel_only = self.kernel_only or shown
        self.refresh()

    def kernel_only_count(self) -> int:
        """Return the number of rows K<n> that can be listed; 0 if they are hidden."""
        if self._recording is None or not self.kernel_only:
            return 0
        every = self._recording.packets.all_kernel_only_count
        return every() if self.all_lives else self._recording.packets.kernel_only_count()

    def lists_kernel_only(self, number: int) -> bool:
        """Return whether the list contains row K<number> while no filter is set."""
        every = self.all_lives or self._recording is None
        known = 0 if self._recording is None else self._recording.packets.kernel_only_count()
        return self.kernel_only and (every or number <= known)

    def hide_ignored(self, hidden: bool) -> None:
        """Hide or show ignored rows."""
        self.ignored_hidden = hidden
        self.refresh()

    def refresh(self) -> None:
        """Query the listed rows again with the present settings."""
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

        def ask(progress: Progress) -> RowIds | FilterError | None:
            try:
                return recording.packets.listed(text, order, lives, hidden, progress, every)
            except FilterError as error:  # an error that depends on values
                return error

        self.tasks.start("Filtering" if text else "Sorting", ask, self._show)

    def _fail(self, line: str) -> None:
        """Store the queried rows and the filter that they match."""
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
