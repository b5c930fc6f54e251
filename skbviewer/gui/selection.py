# SPDX-License-Identifier: MIT
"""What is selected: one packet's path, and in it one call.  All views follow this, none another."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from skbviewer.records import PacketPath

from .contract import Recording
from .packet_rows import ListRow

NONE = (-1, -1)


class Selection(QObject):
    """`path_changed`: a PacketPath or None.  `call_changed`: leg, call (-1, -1 = none)."""

    path_changed = Signal(object)
    call_changed = Signal(int, int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._recording: Recording | None = None
        self.row: ListRow | None = None
        self.path: PacketPath | None = None
        self.call = NONE

    def use(self, recording: Recording | None) -> None:
        """From now on ask `recording`; nothing is selected."""
        self._recording = recording
        self._set(None, None)

    def choose_row(self, row: ListRow) -> None:
        """Select the packet (or packet life) of `row` and ask for its path."""
        if self._recording is None:
            return
        if row.packet is not None:
            self._set(row, self._recording.path(packet=row.packet))
        else:
            self._set(row, self._recording.path(series=row.series))

    def choose_call(self, leg: int, call: int) -> None:
        """Select one call of the path; (-1, -1) selects none."""
        if (leg, call) != self.call:
            self.call = (leg, call)
            self.call_changed.emit(leg, call)

    def _set(self, row: ListRow | None, path: PacketPath | None) -> None:
        self.row, self.path, self.call = row, path, NONE
        self.path_changed.emit(path)
