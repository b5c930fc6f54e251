# SPDX-License-Identifier: MIT
"""What is open, shown and selected.  All views follow this, none another."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from skbviewer.records import PacketPath

from .contract import Recording, RowIds
from .packet_rows import ListRow

NONE = (-1, -1)


class Selection(QObject):
    """The signals every view may follow, and what they last told."""

    recording_changed = Signal(object)  # Recording or None; nothing is selected any more
    rows_changed = Signal(object)  # RowIds in the list, in its order; None: all packets by number
    visible_changed = Signal(object)  # RowIds of the rows of the list that are on the screen
    path_changed = Signal(object)  # PacketPath of the selected row, or None
    call_changed = Signal(int, int)  # leg, call of the path; (-1, -1): none
    range_changed = Signal(object)  # (begin_ns, end_ns) in session time, or None
    colours_changed = Signal(object, bool)  # QColor by layer name, dark
    notes_changed = Signal()  # notes or flags of the recording are other ones now
    filter_asked = Signal(str, bool)  # put the text into the filter bar; True: apply it
    source_asked = Signal(str)  # show where a function is defined
    row_asked = Signal(object)  # go to a row: n = packet n, -n = K<n>

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.recording: Recording | None = None
        self.row: ListRow | None = None
        self.path: PacketPath | None = None
        self.call = NONE
        self.rows: RowIds | None = None
        self.range: tuple[int, int] | None = None

    def use(self, recording: Recording | None) -> None:
        """From now on ask `recording`; nothing is selected."""
        self.recording, self.rows, self.range = recording, None, None
        self.recording_changed.emit(recording)
        self.choose_range(None)
        self._set(None, None)

    def show_rows(self, rows: RowIds | None) -> None:
        """These rows are listed now."""
        self.rows = rows
        self.rows_changed.emit(rows)

    def choose_row(self, row: ListRow) -> None:
        """Select the packet (or packet life) of `row` and ask for its path."""
        if self.recording is None:
            return
        if row.packet is not None:
            self._set(row, self.recording.path(packet=row.packet))
        else:
            self._set(row, self.recording.path(series=row.series))

    def choose_nothing(self) -> None:
        self._set(None, None)

    def choose_call(self, leg: int, call: int) -> None:
        """Select one call of the path; (-1, -1) selects none."""
        if (leg, call) != self.call:
            self.call = (leg, call)
            self.call_changed.emit(leg, call)

    def choose_range(self, times: tuple[int, int] | None) -> None:
        """Select a range of session time, ns; None selects none."""
        if times != self.range:
            self.range = times
            self.range_changed.emit(times)

    def _set(self, row: ListRow | None, path: PacketPath | None) -> None:
        self.row, self.path, self.call = row, path, NONE
        self.path_changed.emit(path)
