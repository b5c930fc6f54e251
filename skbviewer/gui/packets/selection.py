# SPDX-License-Identifier: MIT
"""The open recording, the listed rows and the selected row.

Views follow the selection, never each other.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from skbviewer.records import PacketPath

from ..base.recording_interface import Recording, RowIds
from .packet_rows import ListRow

if TYPE_CHECKING:
    from skbviewer.session.kernel.executed_instructions import CountedSteps

NONE = (-1, -1)


class Selection(QObject):
    """The signals that all views follow, and the last value of each signal."""

    recording_changed = Signal(object)  # Recording or None; the selection is empty then
    rows_changed = Signal(object)  # RowIds of the list in its order; None: all packets by number
    visible_changed = Signal(object)  # RowIds of the rows on screen
    path_changed = Signal(object)  # PacketPath of the selected row, or None
    call_changed = Signal(int, int)  # leg, call of the path; (-1, -1): none
    range_changed = Signal(object)  # (begin_ns, end_ns) in session time, or None
    colours_changed = Signal(object, bool)  # QColor by layer name, dark
    inner_changed = Signal(bool)  # functions without an skb are shown, or left out
    notes_changed = Signal()  # notes or flags of the recording changed
    filter_asked = Signal(str, bool)  # put the text into the filter bar; True: apply it
    source_asked = Signal(str)  # show where a function is defined
    code_asked = Signal(str)  # show the machine code of a function
    row_asked = Signal(object)  # go to a row: n = packet n, -n = K<n>
    counts_changed = Signal(object)  # Path of a file with executed instructions, or None

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.recording: Recording | None = None
        self.row: ListRow | None = None
        self.path: PacketPath | None = None
        self.call = NONE
        self.rows: RowIds | None = None
        self.range: tuple[int, int] | None = None
        self.counts: Path | None = None
        self._steps: CountedSteps | None = None
        self.inner = True  # functions without an skb are shown

    def use(self, recording: Recording | None) -> None:
        """Use `recording` from now on, with nothing selected."""
        self.recording, self.rows, self.range = recording, None, None
        self.row = None  # of the recording before
        if recording is not None and not self.inner:
            recording.show_inner(False)
        self.use_counts(None)
        self.recording_changed.emit(recording)
        self.choose_range(None)
        self._set(None, None)

    def show_rows(self, rows: RowIds | None) -> None:
        """Store which rows the packet list shows, by their ids; None means all packets."""
        self.rows = rows
        self.rows_changed.emit(rows)

    def choose_row(self, row: ListRow) -> None:
        """Select the packet or skb lifetime of `row` and query its path."""
        if self.recording is None:
            return
        if row.packet is not None:
            self._set(row, self.recording.paths.path(packet=row.packet))
        else:
            self._set(row, self.recording.paths.path(series=row.series))

    def choose_nothing(self) -> None:
        """Deselect the row, the call and the range."""
        self._set(None, None)

    def choose_call(self, leg: int, call: int) -> None:
        """Select call `call` of leg `leg` in the path, both from 0; (-1, -1) selects no call."""
        if (leg, call) != self.call:
            self.call = (leg, call)
            self.call_changed.emit(leg, call)

    def use_counts(self, counts: Path | None) -> None:
        """Use the file `counts` with executed instructions for this recording; None: no file."""
        self.counts = counts
        self.use_steps(None)
        self.counts_changed.emit(counts)

    def use_steps(self, steps: CountedSteps | None) -> None:
        """Show in paths the executed instructions in `steps`; None removes them from the paths."""
        before, self._steps, call = self._steps, steps, self.call
        if self.row is not None and steps is not before:
            self.choose_row(self.row)
            self.choose_call(*call)

    def show_inner(self, shown: bool) -> None:
        """Show functions without an skb everywhere, or leave them out."""
        self.inner = shown
        if self.recording is None:
            return
        self.recording.show_inner(shown)
        if self.row is not None:
            self.choose_row(self.row)
        self.show_rows(self.rows)
        self.inner_changed.emit(shown)

    def choose_range(self, times: tuple[int, int] | None) -> None:
        """Select a range of session time (begin, end), in ns; None selects no range."""
        if times != self.range:
            self.range = times
            self.range_changed.emit(times)

    def _set(self, row: ListRow | None, path: PacketPath | None) -> None:
        if path is not None and self._steps is not None:
            from skbviewer.analysis.executed_instructions import with_steps

            path = with_steps(path, self._steps.of_log, self._steps.lines)
        self.row, self.path, self.call = row, path, NONE
        self.path_changed.emit(path)
