# SPDX-License-Identifier: MIT
"""The file with executed instructions that the user chose: read outside the window's thread."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from ..base.background_tasks import Tasks
from .selection import Selection

if TYPE_CHECKING:
    from skbviewer.session.kernel.executed_instructions import CountedSteps


class ExecutedSteps(QObject):
    """Reads the file of counts that `selection` names, and stores the result in `selection`."""

    read = Signal(str)  # one line for the user: of how many calls
    failed = Signal(str)  # one line for the user

    def __init__(self, selection: Selection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self.tasks = Tasks(self)
        self.tasks.failed.connect(self.failed)
        selection.counts_changed.connect(self._load)

    def _load(self, counts: Path | None) -> None:
        recording = self._selection.recording
        if counts is None or recording is None:
            self.tasks.cancel()
        else:
            self.tasks.start("", lambda _: recording.executed_steps(counts), self._use)

    def _use(self, steps: CountedSteps) -> None:
        self._selection.use_steps(steps)
        self.read.emit("; ".join(steps.notes))


def ask_counts(parent: QWidget, selection: Selection) -> None:
    """Ask for a file with counts of executed instructions, and use it for the open recording."""
    if selection.recording is None:
        return
    sources = selection.recording.sources()
    near = selection.counts or next((Path(one.path) for one in sources if one.kind.is_log), Path())
    name, _ = QFileDialog.getOpenFileName(
        parent, "Choose Executed Instructions", str(near.parent), "All files (*)"
    )
    if name:
        selection.use_counts(Path(name))
