# SPDX-License-Identifier: MIT
"""File > Compare With: the open recording compared with another one, in tables."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QTableView,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from skbviewer.analysis.comparison import SECTIONS, Comparison
from skbviewer.export.atomic_write import write_text
from skbviewer.export.comparison_table import comparison_table
from skbviewer.export.comparison_text import by_weight, head_lines
from skbviewer.export.statistics_csv import write_table_csv
from skbviewer.records import BadInput, Progress

from ..base.background_tasks import Tasks
from ..base.empty_view_hint import EmptyText
from ..base.message_and_progress_bars import WorkBar
from ..base.sort_header import SortHeader
from ..base.window_size import open_at
from ..packets.selection import Selection
from .comparison_model import ComparisonModel

Ask = Callable[[str, Progress], Comparison]  # takes the display filter of both recordings
WORK_DELAY_MS = 300  # no progress is shown before
MOST_WIDE = 380  # pixels of a column
NOTHING = "Nothing to show"


class ComparisonWindow(QDialog):
    """The comparison of the recordings `names`.

    `ask` compares the packets of a display filter ("": all); `text` is the filter that is set in
    the main window. `filter_asked` carries a display filter, and whether to apply it.
    """

    filter_asked = Signal(str, bool)

    def __init__(
        self, names: tuple[str, str], ask: Ask, text: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"Compare {names[0]} with {names[1]}")
        self._names, self._ask_for, self._filter = names, ask, text
        self._found: Comparison | None = None
        self.tasks = Tasks(self)
        self.tabs, self.work_bar = QTabWidget(), WorkBar(delay_ms=WORK_DELAY_MS)
        self.head, self.note = QLabel(), QLabel()
        self.limit = QCheckBox("&Limit to display filter")
        self.limit.setEnabled(bool(text))
        self.limit.setToolTip(text or "No display filter is set")
        self.copy, self.save = QPushButton("&Copy as CSV"), QPushButton("&Save as CSV…")
        self._build()
        self._link()
        self._compare()

    def _build(self) -> None:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        for button in (self.copy, self.save):
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
            button.setEnabled(False)
        for each in buttons.buttons():
            if isinstance(each, QPushButton):
                each.setAutoDefault(False)  # Enter is for the table
        buttons.rejected.connect(self.close)
        for label in (self.head, self.note):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = QHBoxLayout()
        row.addWidget(self.limit)
        row.addWidget(self.note, 1)
        row.setSpacing(16)
        column = QVBoxLayout(self)
        column.addWidget(self.work_bar)
        column.addWidget(self.head)
        column.addWidget(self.tabs, 1)
        column.addLayout(row)
        column.addWidget(buttons)
        open_at(self, 1440, 720)

    def _link(self) -> None:
        self.tasks.started.connect(self.work_bar.begin)
        self.tasks.progress.connect(self.work_bar.show_progress)
        self.tasks.ended.connect(self.work_bar.end)
        self.tasks.failed.connect(self.note.setText)
        self.work_bar.cancelled.connect(self._cancel)
        self.limit.toggled.connect(lambda _: self._compare())
        self.copy.clicked.connect(self._copy)
        self.save.clicked.connect(self._ask_save)

    def _compare(self) -> None:
        text = self._filter if self.limit.isChecked() else ""
        self.note.setText("Comparing …")
        self.tasks.start("Comparing", lambda progress: self._ask_for(text, progress), self._show)

    def _cancel(self) -> None:
        self.tasks.cancel()
        self.note.setText("Cancelled.")

    def _show(self, found: Comparison) -> None:
        self._found = found
        at = max(self.tabs.currentIndex(), 0)
        while self.tabs.count():
            old = self.tabs.widget(0)
            self.tabs.removeTab(0)
            if old is not None:
                old.deleteLater()
        self.head.setText("\n".join(head_lines(found, self._names)))
        nothing = "Could not be judged" if found.unjudged else NOTHING
        self._add_tab("Changes", ComparisonModel(by_weight(found.changes), found.paths), nothing)
        for section in SECTIONS:
            rows = [row for row in found.rows if row.measure.section == section and row.has_data]
            self._add_tab(section.capitalize(), ComparisonModel(by_weight(rows), found.paths))
        self.tabs.setCurrentIndex(at)
        self.note.setText("Double-click a function to show its packets.")
        for button in (self.copy, self.save):
            button.setEnabled(True)
        view = self.tabs.currentWidget()
        if view is not None:
            view.setFocus()

    def _add_tab(self, title: str, model: ComparisonModel, nothing: str = NOTHING) -> None:
        """Add a table; if it has no rows, it shows the text `nothing`."""
        number = "?" if nothing != NOTHING else f"{model.rowCount():,}"
        self.tabs.addTab(self._table(title, model, nothing), f"{title} · {number}")

    def _table(self, title: str, model: ComparisonModel, nothing: str) -> QTableView:
        table = QTableView()
        model.setParent(table)
        table.setHorizontalHeader(SortHeader(table))
        table.setModel(model)
        table.setAccessibleName(title)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setAlternatingRowColors(True)
        table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
        table.setSortingEnabled(True)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(QFontMetrics(table.font()).height() + 6)
        table.setWordWrap(False)
        table.doubleClicked.connect(lambda index: self._use(model, index.row()))
        for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            shortcut = QShortcut(QKeySequence(key), table)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(lambda: self._use(model, table.currentIndex().row()))
        table.resizeColumnsToContents()
        for column in range(model.columnCount()):
            table.setColumnWidth(column, min(table.columnWidth(column) + 8, MOST_WIDE))
        EmptyText(table).show_text("" if model.rowCount() else nothing)
        return table

    def _use(self, model: ComparisonModel, position: int) -> None:
        text = model.filter(position) if 0 <= position < model.rowCount() else None
        if text is not None:
            self.filter_asked.emit(text, True)

    def model(self) -> ComparisonModel | None:
        """Return the model of the visible tab; None before it is computed."""
        view = self.tabs.currentWidget()
        found = view.model() if isinstance(view, QTableView) else None
        return found if isinstance(found, ComparisonModel) else None

    def csv(self) -> str:
        """Return the rows of the visible tab as CSV; "" before they are computed."""
        model = self.model()
        if model is None:
            return ""
        out = io.StringIO(newline="")
        write_table_csv(comparison_table(model.rows), out)
        return out.getvalue()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.csv().replace("\r\n", "\n"))

    def _ask_save(self) -> None:
        title = "Save Comparison as CSV"
        name, _ = QFileDialog.getSaveFileName(self, title, "comparison.csv", "*.csv")
        if not name:
            return
        try:
            write_text(Path(name), self.csv())
        except BadInput as error:
            self.note.setText(str(error))
        else:
            self.note.setText(f"Wrote {name}")

    # Qt's own names

    def done(self, result: int) -> None:
        """Stop the work in the background, and close."""
        self.tasks.close()
        super().done(result)


def ask_comparison(window: QWidget, selection: Selection, text: str, files: str) -> None:
    """Ask for the files of another recording, and compare it with the open recording.

    `text` is the applied display filter, `files` are the file patterns of the file dialog.
    """
    if selection.recording is None:
        return
    chosen, _ = QFileDialog.getOpenFileNames(window, "Compare With", "", files)
    if chosen:
        show_comparison(window, selection, text, [Path(name) for name in chosen])


def show_comparison(
    window: QWidget, selection: Selection, text: str, others: Sequence[Path]
) -> None:
    """Open a window that compares the open recording with the recording in the files `others`.

    `text` is the applied display filter.
    """
    recording = selection.recording
    if recording is None:
        return
    file = recording.file

    def work(limit: str, progress: Progress) -> Comparison:
        from skbviewer.session import Session, open_files
        from skbviewer.session.session_comparison import comparison_of

        mine = Session.open(file)  # of its own, so that the window's one may be closed meanwhile
        try:
            theirs = open_files(others, progress)
            try:
                return comparison_of(mine, theirs, (limit, limit), progress=progress)
            finally:
                theirs.close()
        finally:
            mine.close()

    mine = " + ".join(Path(name).name for name in recording.words())
    names = mine, " + ".join(path.name for path in others)
    dialog = ComparisonWindow(names, work, text, window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.filter_asked.connect(selection.filter_asked)
    dialog.show()
