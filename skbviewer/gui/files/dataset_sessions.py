# SPDX-License-Identifier: MIT
"""A dialog in which the user chooses the sessions of a dataset to open.  Input: their manifests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtCore import QModelIndex, QRegularExpression, QSortFilterProxyModel, Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from skbviewer.dataset.session_manifests import Manifest
from skbviewer.records import counted

from ..base.sort_header import SortHeader
from ..base.window_size import open_at

TITLES = ("Host", "Begin (UTC)", "End (UTC)", "Packets", "Calls", "Files")
HOST, BEGIN = 0, 1
ALL_HOSTS = "All hosts"
_SORT = Qt.ItemDataRole.UserRole
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def _model(sessions: Sequence[Manifest]) -> QStandardItemModel:
    model = QStandardItemModel(len(sessions), len(TITLES))
    model.setHorizontalHeaderLabels(list(TITLES))
    for row, each in enumerate(sessions):
        for column, (text, key) in enumerate(_cells(each)):
            item = QStandardItem(text)
            item.setData(key, _SORT)
            if isinstance(key, int) and column > BEGIN + 1:
                item.setTextAlignment(_RIGHT)
            model.setItem(row, column, item)
        model.item(row, len(TITLES) - 1).setToolTip("\n".join(o.path for o in each.originals))
    return model


def _cells(session: Manifest) -> list[tuple[str, str | int]]:
    """Return text and sort key of each column."""
    names = ", ".join(Path(each.path).name for each in session.originals)
    times = [(_utc(ns), ns) for ns in (session.begin_ns, session.end_ns)]
    numbers = [session.rows(table) for table in ("packets", "calls")]
    return [(session.host, session.host), *times, *((f"{n:,}", n) for n in numbers), (names, names)]


def _utc(ns: int) -> str:
    return datetime.fromtimestamp(ns // 10**9, UTC).strftime("%Y-%m-%d %H:%M:%S")


class DatasetSessions(QDialog):
    """A table with a row for each session.

    `chosen` returns the selected sessions, the earliest first.
    """

    def __init__(
        self, folder: Path, sessions: Sequence[Manifest], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"Open Dataset: {folder.name}")
        self._sessions = list(sessions)
        self._model = _model(self._sessions)
        self._shown = QSortFilterProxyModel(self)
        self._shown.setSourceModel(self._model)
        self._shown.setSortRole(_SORT)
        self._shown.setFilterKeyColumn(HOST)
        self.host, self.table, self.note = QComboBox(), QTableView(), QLabel()
        standard = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(standard.Open | standard.Cancel)
        self._build()
        self._link()
        self._say()

    @property
    def chosen(self) -> list[Manifest]:
        """Return the selected sessions, the earliest first."""
        rows = self.table.selectionModel().selectedRows()
        return [self._sessions[at] for at in sorted(self._shown.mapToSource(r).row() for r in rows)]

    def _build(self) -> None:
        self.host.addItem(ALL_HOSTS)
        self.host.addItems(sorted({each.host for each in self._sessions}))
        self.host.setAccessibleName("Host")
        self.table.setModel(self._shown)
        self.table.setHorizontalHeader(SortHeader(self.table))
        self.table.setSortingEnabled(True)
        self.table.sortByColumn(BEGIN, Qt.SortOrder.AscendingOrder)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.verticalHeader().hide()
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setAlternatingRowColors(True)
        self.table.setAccessibleName("Sessions")
        self.table.resizeColumnsToContents()
        top = QHBoxLayout()
        label = QLabel("&Host:")
        label.setBuddy(self.host)
        top.addWidget(label)
        top.addWidget(self.host)
        top.addStretch(1)
        bottom = QHBoxLayout()
        bottom.addWidget(self.note, 1)
        bottom.addWidget(self.buttons)
        column = QVBoxLayout(self)
        column.addLayout(top)
        column.addWidget(self.table, 1)
        column.addLayout(bottom)
        open_at(self, 960, 480)

    def _link(self) -> None:
        self.host.currentTextChanged.connect(self._show_host)
        self.table.selectionModel().selectionChanged.connect(self._say)
        self.table.doubleClicked.connect(self._open_row)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)

    def _show_host(self, host: str) -> None:
        self.table.clearSelection()
        if self.host.currentIndex() == 0:
            self._shown.setFilterFixedString("")
        else:
            self._shown.setFilterRegularExpression(
                QRegularExpression.anchoredPattern(QRegularExpression.escape(host))
            )
        self._say()

    def _open_row(self, _: QModelIndex) -> None:
        self.accept()

    def _say(self) -> None:
        chosen = self.chosen
        button = self.buttons.button(QDialogButtonBox.StandardButton.Open)
        assert isinstance(button, QPushButton)
        button.setEnabled(bool(chosen))
        if not self._sessions:
            self.note.setText("The dataset has no session.")
        elif not chosen:
            self.note.setText("Select the sessions to open together.")
        else:
            packets = sum(each.rows("packets") for each in chosen)
            hosts = {each.host for each in chosen}
            words = [counted(len(chosen), "session"), counted(len(hosts), "host")]
            count = f"{packets:,} {'packet' if packets == 1 else 'packets'}"  # as in the table
            self.note.setText(", ".join([*words, count]))
