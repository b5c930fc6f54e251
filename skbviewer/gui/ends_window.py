# SPDX-License-Identifier: MIT
"""Statistics > Conversations and Endpoints: one tab per kind, for all or for displayed packets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QTableView,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from skbviewer.records import Progress

from .contract import EndRows, Recording, RowIds
from .ends_model import CONVERSATION, ENDPOINT, Column, EndsModel, filter_of
from .host_names import HostNames
from .sort_header import SortHeader
from .tasks import Tasks
from .window_size import open_at

if TYPE_CHECKING:
    from .main_window import MainWindow

Ask = Callable[[RowIds | None, Progress], EndRows]  # rows by kind


class EndsWindow(QDialog):
    """`ask` counts the given packets.  `filter_asked`: a filter, and whether to apply it."""

    filter_asked = Signal(str, bool)

    def __init__(
        self,
        title: str,
        columns: tuple[Column, ...],
        ask: Ask,
        rows: RowIds | None,
        names: HostNames,
        first_ns: int,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._columns, self._ask_rows, self._rows = columns, ask, rows
        self._names, self._first_ns = names, first_ns
        self.tasks = Tasks(self)
        self.tabs = QTabWidget()
        self.note = QLabel("Counting …")
        self.limit = QCheckBox("&Limit to display filter")
        self.limit.setEnabled(rows is not None)
        self.limit.setChecked(rows is not None)
        self.resolve = QCheckBox("&Name resolution")
        self.resolve.setToolTip("Look up the names of the addresses")
        self.resolve.setChecked(names.on)
        self.copy = QPushButton("&Copy as CSV")
        self._build()
        self.limit.toggled.connect(lambda _: self._count())
        self.resolve.toggled.connect(names.switch)
        names.changed.connect(self._rename)
        self._count()

    def _build(self) -> None:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.copy.setAutoDefault(False)
        self.copy.clicked.connect(self._copy)
        buttons.addButton(self.copy, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.close)
        row = QHBoxLayout()
        row.addWidget(self.limit)
        row.addWidget(self.resolve)
        row.addStretch(1)
        row.addWidget(self.note)
        column = QVBoxLayout(self)
        column.addWidget(self.tabs, 1)
        column.addLayout(row)
        column.addWidget(buttons)
        open_at(self, 1260, 520)

    def _count(self) -> None:
        rows = self._rows if self.limit.isChecked() else None
        self.note.setText("Counting …")
        self.tasks.start("", lambda progress: self._ask_rows(rows, progress), self._show)

    def _show(self, found: EndRows) -> None:
        at = max(self.tabs.currentIndex(), 0)
        self.tabs.clear()
        for kind, rows in found.items():
            model = EndsModel(kind, self._columns, self._first_ns, self)
            model.show(rows)
            model.use_names(self._names.name)
            self.tabs.addTab(self._table(model), f"{kind} · {len(rows):,}")
        self.tabs.setCurrentIndex(at)
        self.note.setText("")

    def _table(self, model: EndsModel) -> QTableView:
        table = QTableView()
        table.setHorizontalHeader(SortHeader(table))
        table.setModel(model)
        table.setAccessibleName(f"{self.windowTitle()}, {model.kind}")
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setAlternatingRowColors(True)
        table.setSortingEnabled(True)
        table.sortByColumn(
            next(n for n, c in enumerate(model.columns) if c.field == "bytes"),
            Qt.SortOrder.DescendingOrder,
        )
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(QFontMetrics(table.font()).height() + 6)
        table.setWordWrap(False)
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        table.customContextMenuRequested.connect(lambda place: self._menu(table, model, place))
        table.doubleClicked.connect(lambda index: self._filter(model, index.row()))
        table.resizeColumnsToContents()
        return table

    def _filter(self, model: EndsModel, position: int) -> None:
        self.filter_asked.emit(filter_of(model.kind, model.row(position)), True)

    def menu(self, model: EndsModel, position: int) -> QMenu:
        """Return the context menu of a row."""
        text = filter_of(model.kind, model.row(position))
        menu = QMenu(self)
        for title, wanted, apply in (
            ("&Apply as Filter", text, True),
            ("&Prepare as Filter", text, False),
            ("Apply as Filter: &not this", f"!({text})", True),
        ):
            action = menu.addAction(title)
            action.triggered.connect(
                lambda _=False, t=wanted, on=apply: self.filter_asked.emit(t, on)
            )
        return menu

    def _menu(self, table: QTableView, model: EndsModel, place: QPoint) -> None:
        index = table.indexAt(place)
        if index.isValid():
            menu = self.menu(model, index.row())
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.exec(table.viewport().mapToGlobal(place))

    def _model(self) -> EndsModel | None:
        table = self.tabs.currentWidget()
        model = table.model() if isinstance(table, QTableView) else None
        return model if isinstance(model, EndsModel) else None

    def _copy(self) -> None:
        model = self._model()
        if model is not None:
            QGuiApplication.clipboard().setText(model.csv())

    def _rename(self) -> None:
        for n in range(self.tabs.count()):
            table = self.tabs.widget(n)
            model = table.model() if isinstance(table, QTableView) else None
            if isinstance(model, EndsModel):
                model.use_names(self._names.name)

    # Qt's own names

    def done(self, result: int) -> None:
        self.tasks.close()
        super().done(result)


def conversations(window: MainWindow) -> None:
    """Open Statistics > Conversations."""
    _open(window, "Conversations", CONVERSATION, lambda r: r.conversations)


def endpoints(window: MainWindow) -> None:
    """Open Statistics > Endpoints."""
    _open(window, "Endpoints", ENDPOINT, lambda r: r.endpoints)


def _open(
    window: MainWindow,
    title: str,
    columns: tuple[Column, ...],
    ask: Callable[[Recording], Ask],
) -> None:
    recording = window.recording
    if recording is None:
        return
    first = recording.packets(1, 1)
    dialog = EndsWindow(
        title,
        columns,
        ask(recording),
        window.selection.rows,
        window.names,
        (first[0].ts_ns if first else None) or 0,
        window,
    )
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.filter_asked.connect(window.use_filter)
    dialog.show()
