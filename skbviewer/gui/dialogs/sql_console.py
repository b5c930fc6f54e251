# SPDX-License-Identifier: MIT
"""Tools > SQL Console: one SELECT over the documented tables of the open recording."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QFontMetrics, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QTableView,
    QTabWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from skbviewer.analysis.diagnosis import packets_filter
from skbviewer.export.query_text import COPIES
from skbviewer.records.table_columns import TableMeaning

from ..base.empty_view_hint import EmptyText
from ..base.window_size import open_at
from ..packets.selection import Selection
from ..timeline.selection_links import choose_row
from . import query_history
from .query_chart import QueryChart
from .query_process import QueryProcess, Result
from .query_result import QueryModel
from .query_timeline_lane import QueryLane

FIRST = """SELECT function, count(*) AS calls, sum(self_ns) AS self_ns
FROM calls
GROUP BY function ORDER BY 3 DESC LIMIT 20"""
SHOWN = 90  # characters of a query in the menu of the history
MOST_WIDE = 420  # pixels of a column


class SqlConsole(QDialog):
    """Queries of the session `file`, whose documented tables are `tables`."""

    def __init__(
        self,
        file: Path,
        tables: Sequence[TableMeaning],
        selection: Selection,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("SQL Console")
        self._file, self._selection = file, selection
        self.model: QueryModel | None = None
        self._drawn: set[QWidget] = set()  # pictures of the present result
        self.process = QueryProcess(self)
        self.editor, self.tables, self.table = QPlainTextEdit(), QTreeWidget(), QTableView()
        self.chart, self.lane, self.views = QueryChart(), QueryLane(), QTabWidget()
        self.empty, self.note = EmptyText(self.table), QLabel()
        self.run_button, self.cancel = QPushButton("&Run"), QPushButton("C&ancel")
        self.history, self.copy = QPushButton("&History"), QPushButton("&Copy as")
        self.apply = QPushButton("Apply as &Filter")
        self._build()
        self._list(tables)
        self._link()
        self.editor.setPlainText(next(iter(query_history.queries()), FIRST))
        self.editor.setFocus()
        self.process.prepare(file)
        self._show_state()

    @property
    def busy(self) -> bool:
        """Return whether a query is running."""
        return self.process.busy

    def _build(self) -> None:
        self.editor.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.editor.setAccessibleName("SQL")
        self.editor.setPlaceholderText("SELECT … FROM …")
        self.editor.setTabChangesFocus(True)
        self.tables.setHeaderHidden(True)
        self.tables.setAccessibleName("Tables and columns")
        self.tables.setToolTip("Double-click a name to insert it")
        self.table.setAccessibleName("Result")
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setAlternatingRowColors(True)
        self.table.setWordWrap(False)
        height = QFontMetrics(self.table.font()).height() + 6
        self.table.verticalHeader().setDefaultSectionSize(height)
        self.note.setWordWrap(True)
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.run_button.setToolTip("Run the query (Ctrl+Return)")
        self.apply.setToolTip("Filter the packet list by the packets in column packet")
        row = QHBoxLayout()
        for button in (self.run_button, self.cancel, self.history):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.note, 1)
        top = QWidget()
        column = QVBoxLayout(top)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.editor, 1)
        column.addLayout(row)
        self._place(top)

    def _place(self, top: QWidget) -> None:
        right = QSplitter(Qt.Orientation.Vertical)
        right.addWidget(top)
        for view, title in ((self.table, "&Table"), (self.chart, "C&hart"), (self.lane, "&Lane")):
            self.views.addTab(view, title)
        right.addWidget(self.views)
        both = QSplitter()
        both.addWidget(self.tables)
        both.addWidget(right)
        for splitter in (right, both):
            splitter.setChildrenCollapsible(False)
            splitter.setStretchFactor(1, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        for button in (self.copy, self.apply):
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.close)
        own = (self.run_button, self.cancel, self.history, *buttons.buttons())
        for each in own:
            if isinstance(each, QPushButton):
                each.setAutoDefault(False)  # Enter is for the editor and the table
        layout = QVBoxLayout(self)
        layout.addWidget(both, 1)
        layout.addWidget(buttons)
        open_at(self, 1240, 720)
        both.setSizes([240, self.width() - 240])
        right.setSizes([200, self.height() - 200])

    def _list(self, tables: Sequence[TableMeaning]) -> None:
        for each in tables:
            parent = QTreeWidgetItem(self.tables, [each.name])
            parent.setToolTip(0, each.meaning)
            for column in each.columns:
                item = QTreeWidgetItem(parent, [column.name])
                unit = f", {column.unit}" if column.unit else ""
                item.setToolTip(0, f"{column.meaning} ({column.type}{unit})")

    def _link(self) -> None:
        self.run_button.clicked.connect(lambda: self.run())
        for key in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(key), self).activated.connect(self.run)
        self.cancel.clicked.connect(self._cancel)
        self.process.done.connect(self._show)
        self.process.failed.connect(self._refuse)
        self.process.ended.connect(self._show_state)
        self.tables.itemDoubleClicked.connect(lambda item, _: self._insert(item))
        self.tables.setExpandsOnDoubleClick(False)
        self.table.activated.connect(lambda index: self._go_to(index.row()))
        self.table.doubleClicked.connect(lambda index: self._go_to(index.row()))
        for picture in (self.chart, self.lane):
            picture.row_chosen.connect(self._choose)
        self.views.currentChanged.connect(lambda _: self._draw())
        self.apply.clicked.connect(self._filter)
        history, copies = QMenu(self), QMenu(self)
        history.aboutToShow.connect(lambda: self._fill_history(history))
        self.history.setMenu(history)
        for name in COPIES:
            copies.addAction(name).triggered.connect(lambda _=False, n=name: self._copy(n))
        self.copy.setMenu(copies)
        self._selection.recording_changed.connect(self._leave)

    def run(self) -> None:
        """Run the query that is in the editor; a query that still runs is ended first."""
        sql = self.editor.toPlainText().strip()
        if not sql:
            return
        query_history.add_query(sql)
        self.process.run(self._file, sql)
        self.note.setText("Running …")
        self._show_state()

    def _cancel(self) -> None:
        self.process.cancel(self._file)
        self.note.setText("Cancelled.")

    def _show_state(self) -> None:
        self.cancel.setEnabled(self.busy)
        self.copy.setEnabled(self.model is not None)
        self.apply.setEnabled(self.model is not None and bool(self.model.packets))

    def _refuse(self, line: str) -> None:
        self.note.setText(f"{line[:1].upper()}{line[1:]}")

    def _show(self, result: Result) -> None:
        self.model = QueryModel(result)
        self.table.setModel(self.model)
        self.table.resizeColumnsToContents()
        for at in range(len(result.columns)):
            self.table.setColumnWidth(at, min(self.table.columnWidth(at) + 8, MOST_WIDE))
        self._drawn.clear()
        self._draw()
        self.empty.show_text("" if result.rows else "The query found no rows.")
        number = len(result.rows)
        rows = "1 row" if number == 1 else f"{number:,} rows"
        said = [f"{rows} in {result.seconds:.1f} s", *result.warnings]
        if self.model.packets:
            said.append("Double-click a row to go to its packet")
        self.note.setText(". ".join(said) + ".")
        self._show_state()

    def _draw(self) -> None:
        """Draw the visible picture; a hidden picture is drawn when it becomes visible."""
        view = self.views.currentWidget()
        if self.model is not None and view not in self._drawn:
            self._drawn.add(view)
            if isinstance(view, QueryChart | QueryLane):
                view.show_result(self.model.result)

    def _choose(self, position: int) -> None:
        """Select a row that was clicked in a picture, and go to its packet."""
        self.table.selectRow(position)
        self._go_to(position)

    def _insert(self, item: QTreeWidgetItem) -> None:
        self.editor.insertPlainText(item.text(0))
        self.editor.setFocus()

    def _fill_history(self, menu: QMenu) -> None:
        menu.clear()
        for sql in query_history.queries():
            text = " ".join(sql.split())
            shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
            action = menu.addAction(shown.replace("&", "&&"))
            action.triggered.connect(lambda _=False, sql=sql: self.editor.setPlainText(sql))
        if menu.isEmpty():
            menu.addAction("No query yet").setEnabled(False)

    def _go_to(self, position: int) -> None:
        number = None if self.model is None else self.model.packet(position)
        if number is not None:
            choose_row(self._selection, number)

    def _filter(self) -> None:
        if self.model is not None:
            text = packets_filter(np.unique(np.array(self.model.packets, np.int64)))
            if text is not None:
                self._selection.filter_asked.emit(text, True)

    def text(self, form: str) -> str:
        """Return the result as text; "" before there is a result.  `form` is one of COPIES."""
        if self.model is None:
            return ""
        return COPIES[form](self.model.result.columns, self.model.result.rows)

    def _copy(self, form: str) -> None:
        QGuiApplication.clipboard().setText(self.text(form))

    def _leave(self, _: object) -> None:
        """Close, because the recording was closed or replaced.

        Qt disconnects methods, not lambdas.
        """
        self.close()

    # Qt's own names

    def done(self, result: int) -> None:
        """End the running query, and close the window."""
        self.process.close()
        super().done(result)


def show_sql_console(window: QWidget, selection: Selection) -> None:
    """Open the SQL console for the open recording."""
    recording = selection.recording
    if recording is None:
        return
    dialog = SqlConsole(recording.file, recording.tables.described(), selection, window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
