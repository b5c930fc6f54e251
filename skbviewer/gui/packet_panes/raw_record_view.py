# SPDX-License-Identifier: MIT
"""The pane of raw records: the records of the selected call, as they are in the .kbl file."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from skbviewer.records import Progress
from skbviewer.session.kernel.raw_call_records import RawCall

from ..base.background_tasks import Tasks
from ..packets.selection import NONE, Selection
from .call_tree import NO_CALLS
from .tree_and_bytes import TreeAndBytes

NO_CALL = "Select a call in the kernel path or the timeline to see its raw records."
PAUSE_MS = 150  # calls that the user only passes are not looked up


class RawView(TreeAndBytes):
    """The pane follows `selection` while it is visible.  The file is searched in the background."""

    def __init__(self, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self._tasks = Tasks(self)
        self._tasks.failed.connect(lambda line: self.show_nodes((), b"", line))
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._look)
        self.tree.setAccessibleName("Fields of the raw records")
        self.bytes.setAccessibleName("Bytes of the raw records")
        selection.call_changed.connect(lambda _leg, _call: self._pause.start())
        selection.path_changed.connect(lambda _: self._pause.start())
        self.show_nodes((), b"", NO_CALL)

    def close_tasks(self) -> None:
        """Stop searching, and wait until the thread has ended."""
        self._pause.stop()
        self._tasks.close()

    def _look(self) -> None:
        recording, path = self._selection.recording, self._selection.path
        leg, call = self._selection.call
        if not self.isVisible():
            return
        if recording is None or path is None or (leg, call) == NONE or call < 0:
            self._tasks.cancel()
            self.show_nodes((), b"", NO_CALL if path is None or path.legs else NO_CALLS)
            return
        packet = None if path.packet is None else path.packet.number
        series = path.legs[leg].series

        def work(progress: Progress) -> RawCall:
            return recording.paths.raw(packet, series, leg, call, progress)

        self._tasks.start("", work, self._show)

    def _show(self, found: RawCall) -> None:
        self.show_nodes(found.nodes, found.data, NO_CALL)
        self.tree.expandAll()

    # Qt's own names

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._pause.start()
