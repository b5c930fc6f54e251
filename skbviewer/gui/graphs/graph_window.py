# SPDX-License-Identifier: MIT
"""The common base of graph windows: choosing packets, counting them, filters by range."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from skbviewer.analysis.stats import Chosen
from skbviewer.records import Progress, counted

from ..base.background_tasks import Tasks
from ..base.message_and_progress_bars import PALETTE_CHANGES, WorkBar
from ..base.recording_interface import Recording, RowIds
from ..base.shown_packets import NO_RANGE, View
from ..base.window_size import open_at
from ..filters.time_range_filter import RangeFilter
from ..packets.selection import Selection

WORK_DELAY_MS = 300  # no progress is shown before
SIZE = (1200, 720)


class Extent(Enum):
    """The packets that a graph shows; each value is the word that the window shows."""

    DISPLAYED = "Displayed packets"
    VISIBLE = "Visible range of the timeline"
    EVERYTHING = "Everything"


class GraphWindow(QDialog):
    """The base of windows with one graph; a subclass counts the packets and draws the graph.

    The graph shows the packets that were in `extent` when the graph counted them.  A filter that
    the graph makes is combined with the filter that was applied before.
    """

    title = ""
    captured_only = False  # whether the graph leaves out rows K<n>, which no capture has

    def __init__(self, selection: Selection, view: View, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.title)
        self.selection, self.view = selection, view
        self.tasks = Tasks(self)
        self.work_bar = WorkBar(delay_ms=WORK_DELAY_MS)
        self.extent, self.again = QComboBox(), QPushButton("Coun&t Again")
        self.clear = QPushButton("C&lear Range")
        self.limit, self.note = QLabel(), QLabel()
        self.top, self.middle = QHBoxLayout(), QVBoxLayout()
        self.range_filter = RangeFilter(
            view.filter, lambda text: selection.filter_asked.emit(text, True)
        )
        self._build_frame()
        self._link_frame()

    def _build_frame(self) -> None:
        self.extent.addItems([one.value for one in Extent])
        self.extent.setCurrentIndex(0 if self.view.filter() else 2)
        self.extent.setAccessibleName("Packets of the graph")
        self.extent.setToolTip("Packets that are counted")
        self.again.setToolTip("Count the packets that are now displayed or visible")
        self.clear.setToolTip("Remove the range from the display filter")
        self.clear.setEnabled(False)
        for label in (self.limit, self.note):
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setWordWrap(True)
        self.top.addWidget(self.extent)
        self.top.addWidget(self.again)
        self.top.addWidget(self.limit, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.addButton(self.clear, QDialogButtonBox.ButtonRole.ActionRole)
        for each in (*buttons.buttons(), self.again):
            if isinstance(each, QPushButton):
                each.setAutoDefault(False)
        buttons.rejected.connect(self.close)
        bottom = QHBoxLayout()
        bottom.addWidget(self.note, 1)
        bottom.addWidget(buttons)
        column = QVBoxLayout(self)
        column.addLayout(self.top)
        column.addWidget(self.work_bar)
        column.addLayout(self.middle, 1)
        column.addLayout(bottom)
        open_at(self, *SIZE)

    def _link_frame(self) -> None:
        self.tasks.started.connect(self.work_bar.begin)
        self.tasks.progress.connect(self.work_bar.show_progress)
        self.tasks.ended.connect(self.work_bar.end)
        self.tasks.failed.connect(self.note.setText)
        self.work_bar.cancelled.connect(self._cancel)
        self.extent.activated.connect(lambda _: self.count())
        self.again.clicked.connect(lambda: self.count())
        self.clear.clicked.connect(lambda: self.use_range(None))
        self.selection.recording_changed.connect(self._leave)
        self.selection.inner_changed.connect(self._count_again)

    # for subclasses

    def work(self, recording: Recording, chosen: Chosen) -> Callable[[Progress], Any]:
        """Return the function that counts the chosen packets; it runs in another thread.

        The function may return a message for the user instead of a result.
        """
        raise NotImplementedError

    def show_made(self, made: Any) -> None:
        """Draw `made`, the result of the function that work() returned.

        This method is not called if the function of work() returned a message.
        """
        raise NotImplementedError

    def erase(self) -> None:
        """Remove everything from the graph, because there is nothing to draw."""
        raise NotImplementedError

    def recolour(self) -> None:
        """Draw again with the colours of the present theme."""
        raise NotImplementedError

    # shared

    def count(self) -> None:
        """Count the packets that the extent contains now, and draw them."""
        recording, chosen = self.selection.recording, self._chosen()
        if recording is None or chosen is None:
            return
        self.note.setText("Counting …")
        self.tasks.start("Counting", self.work(recording, chosen), self._show)

    def _chosen(self) -> Chosen | None:
        extent, rows = list(Extent)[self.extent.currentIndex()], self.selection.rows
        self.limit.clear()
        if extent is Extent.DISPLAYED:
            texts = [self.view.filter()] if self.view.filter() else []
            if self.captured_only and (left_out := _kernel_only(rows)):
                number = counted(left_out, "row")
                texts.append(f"Not counted, because no capture has them: {number} K<n>")
            self.limit.setText(" · ".join(texts))
            return Chosen(rows)
        if extent is Extent.EVERYTHING:
            return Chosen()
        times = self.view.visible_ns()
        if times is None:
            self.note.setText(NO_RANGE)
            return None
        return Chosen(None, *times)

    def _show(self, made: Any) -> None:
        if isinstance(made, str):
            self.erase()
            self.note.setText(made)
        else:
            self.show_made(made)

    def _cancel(self) -> None:
        self.tasks.cancel()
        self.note.setText("Cancelled.")

    def use_range(self, times: tuple[int, int] | None, more: str = "") -> None:
        """Filter the packet list by a range of time, by the display filter `more`, or by both.

        `times` is (begin, end) in session time, ns; the end is excluded.  Without `times` and
        `more`, the earlier range is removed.
        """
        last = None if times is None else (times[0], max(times[1] - 1, times[0]))
        self.range_filter.select(self.selection.recording, last, more)
        self.clear.setEnabled(times is not None or bool(more))

    def _count_again(self, _: bool) -> None:
        self.count()

    def _leave(self, _: object) -> None:
        """Close, because the recording was closed or replaced.

        Qt disconnects methods, not lambdas.
        """
        self.close()

    # Qt's own names

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in PALETTE_CHANGES:
            self.recolour()

    def done(self, result: int) -> None:
        """Stop the work in the background, and close the window."""
        self.tasks.close()
        super().done(result)


def _kernel_only(rows: RowIds | None) -> int:
    """Return the number of rows K<n> among the listed rows."""
    return 0 if rows is None else int((rows < 0).sum())
