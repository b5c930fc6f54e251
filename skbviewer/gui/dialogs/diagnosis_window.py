# SPDX-License-Identifier: MIT
"""Analyze > Diagnose: why packets were slow or lost, and what could not be judged."""

from __future__ import annotations

from enum import Enum

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from skbviewer.analysis.diagnosis import Diagnosis, Evidence
from skbviewer.analysis.display_filter import lists_packets
from skbviewer.analysis.stats import Chosen
from skbviewer.export.diagnosis_text import lines, not_judged, quiet
from skbviewer.records import Progress

from ..base.background_tasks import Tasks
from ..base.message_and_progress_bars import WorkBar
from ..base.recording_interface import Recording
from ..base.shown_packets import NO_RANGE, View
from ..base.window_size import open_at
from ..packets.selection import Selection
from ..timeline.selection_links import choose_place, choose_row
from .finding_view import FindingView
from .time_in_kernel_bars import TimeBars

WORK_DELAY_MS = 300  # no progress is shown before


class Extent(Enum):
    """The packets that are diagnosed."""

    SELECTED = "Selected packet"
    DISPLAYED = "Displayed packets"
    VISIBLE = "Visible range of the timeline"
    EVERYTHING = "Everything"


class DiagnosisWindow(QDialog):
    """A window with the diagnosis of one packet, of the packets that `view` shows, or of all."""

    def __init__(self, selection: Selection, view: View, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Diagnosis")
        self._selection, self._view = selection, view
        self.made: Diagnosis | None = None
        self.tasks = Tasks(self)
        self.work_bar = WorkBar(delay_ms=WORK_DELAY_MS)
        self.extent, self.again = QComboBox(), QPushButton("&Diagnose")
        self.head, self.note, self.skipped = QLabel(), QLabel(), QPlainTextEdit()
        self.findings, self.bars = FindingView(), TimeBars()
        self.copy = QPushButton("&Copy as Text")
        self._build()
        self._link()
        self.extent.setCurrentText((Extent.DISPLAYED if view.filter() else Extent.EVERYTHING).value)
        self.diagnose()

    def _build(self) -> None:
        self.extent.addItems([one.value for one in Extent])
        self.extent.setAccessibleName("Packets to diagnose")
        self.again.setToolTip("Diagnose the packets that are now selected, displayed or visible")
        for label in (self.head, self.note):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = QHBoxLayout()
        row.addWidget(self.extent)
        row.addWidget(self.again)
        row.addWidget(self.head, 1)
        both = QSplitter()
        both.addWidget(self.findings)
        both.addWidget(self._beside())
        both.setChildrenCollapsible(False)
        both.setStretchFactor(0, 3)
        both.setStretchFactor(1, 2)
        column = QVBoxLayout(self)
        column.addLayout(row)
        column.addWidget(self.work_bar)
        column.addWidget(both, 1)
        column.addWidget(self.note)
        column.addWidget(self._buttons())
        open_at(self, 1440, 760)
        both.setSizes([self.width() * 3 // 5, self.width() * 2 // 5])

    def _beside(self) -> QWidget:
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, 0)
        self.skipped.setReadOnly(True)
        self.skipped.setTabChangesFocus(True)
        self.skipped.setAccessibleName("Rules without a finding")
        column.addWidget(self.bars, 3)
        column.addWidget(self.skipped, 2)
        return side

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.addButton(self.copy, QDialogButtonBox.ButtonRole.ActionRole)
        for each in (*buttons.buttons(), self.again):
            if isinstance(each, QPushButton):
                each.setAutoDefault(False)  # Enter is for the lists
        self.copy.setEnabled(False)
        buttons.rejected.connect(self.close)
        return buttons

    def _link(self) -> None:
        self.tasks.started.connect(self.work_bar.begin)
        self.tasks.progress.connect(self.work_bar.show_progress)
        self.tasks.ended.connect(self.work_bar.end)
        self.tasks.failed.connect(self.note.setText)
        self.work_bar.cancelled.connect(self._cancel)
        self.extent.activated.connect(lambda _: self.diagnose())
        self.again.clicked.connect(lambda: self.diagnose())
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text()))
        self.findings.evidence_chosen.connect(self._go_to)
        self.findings.filter_asked.connect(self._selection.filter_asked)
        self._selection.recording_changed.connect(self._leave)

    def diagnose(self) -> None:
        """Diagnose the packets that are now selected, displayed or visible, as the user chose."""
        recording, rows = self._selection.recording, self._selection.rows
        extent, row = list(Extent)[self.extent.currentIndex()], self._selection.row
        if recording is None:
            return
        if extent is Extent.SELECTED and row is None:
            self.note.setText("No packet is selected.")
            return
        times = self._view.visible_ns() if extent is Extent.VISIBLE else (None, None)
        if times is None:
            self.note.setText(NO_RANGE)
            return
        of = (
            extent.value if row is None or extent is not Extent.SELECTED else f"Packet {row.number}"
        )
        ids = np.array([row.id]) if row is not None and extent is Extent.SELECTED else None
        limit = rows if extent is Extent.DISPLAYED else None
        text = self._view.filter() if extent is Extent.DISPLAYED else ""
        if limit is not None and len(limit) and lists_packets(text):
            ids = np.sort(limit)

        def work(progress: Progress) -> Diagnosis:
            return recording.stats.diagnosis(Chosen(limit, *times), ids, progress)

        self.note.setText("Diagnosing …")
        self.tasks.start("Diagnosing", work, lambda made: self._show(made, of, text))

    def _cancel(self) -> None:
        self.tasks.cancel()
        self.note.setText("Cancelled.")

    def _show(self, made: Diagnosis, of: str, text: str) -> None:
        self.made = made
        number = made.time.packets
        packets = "1 packet" if number == 1 else f"{number:,} packets"
        limit = f" ({text})" if text else ""
        self.head.setText(f"{of}{limit}: {packets} with a known time in kernel")
        self.findings.show_findings(made.findings, "No findings.")
        self.bars.show_table(made.time)
        self.skipped.setPlainText("\n".join(self._judged(made)))
        self.note.setText("Click a fact to go to its packet.")
        self.copy.setEnabled(True)

    @staticmethod
    def _judged(made: Diagnosis) -> list[str]:
        said = [f"Judged, nothing found: {', '.join(quiet(made)) or 'none'}."]
        for one in not_judged(made):
            said += ["", f"Could not be judged: {one.rules}. {one.why}"]
        return said

    def text(self) -> str:
        """Return the diagnosis as `skbviewer diagnose` prints it; "" until it is ready."""
        return "" if self.made is None else "\n".join(lines(self.made)) + "\n"

    def _go_to(self, fact: Evidence) -> None:
        """Select the packet of a fact, and the call itself if the fact is a call."""
        recording, number = self._selection.recording, fact.id
        if recording is None or number is None:
            return
        self.note.clear()
        if fact.kind == "call":
            choose_place(self._selection, recording.paths.call_place(number))
            return
        row = self._row_of(recording, fact.kind, number)
        if row:
            choose_row(self._selection, row)
        else:
            self.note.setText(f"This {fact.kind} belongs to no listed packet.")

    @staticmethod
    def _row_of(recording: Recording, kind: str, number: int) -> int:
        """Return the row of the packet that a fact is about; 0 if there is none."""
        if kind == "leg":
            return recording.paths.row_of_leg(number)
        if kind == "event":
            return recording.paths.row_of_event(number)
        return number if kind == "packet" else 0

    def _leave(self, _: object) -> None:
        """Close, because the recording was closed or replaced.

        Qt disconnects methods, not lambdas.
        """
        self.close()

    # Qt's own names

    def done(self, result: int) -> None:
        """Stop the work in the background, and close."""
        self.tasks.close()
        super().done(result)


def show_diagnosis(window: QWidget, selection: Selection, view: View) -> DiagnosisWindow:
    """Open the window of the diagnosis; `view` says what the main window shows."""
    dialog = DiagnosisWindow(selection, view, window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    return dialog
