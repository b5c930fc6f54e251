# SPDX-License-Identifier: MIT
"""Dialogs of the filter bar: the list of all fields, and the editor of a button."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from skbviewer.analysis.fields.all_fields import FIELDS

from ..base.window_size import open_at
from .filter_edit import FilterEdit
from .saved_filters import Saved

HEADS = ("Field", "Type", "Meaning")
OPERATORS = (
    "== != > < >= <= contains matches in {80, 443, 1000..2000} · and or xor not ( ) · "
    "[0:2] slices, & bits, len() lower() upper() · call( ): all conditions apply to one call"
)


class FieldList(QDialog):
    """A list of all fields with their meanings; the signal `chosen` carries the name of a field."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Display Filter Expression")
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search names and meanings")
        self.search.setAccessibleName("Search the fields")
        self.search.setClearButtonEnabled(True)
        self._shown = QSortFilterProxyModel(self)
        self._shown.setSourceModel(_model(self))
        self._shown.setFilterKeyColumn(-1)
        self._shown.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.table = _table(self._shown)
        operators = QLabel(OPERATORS)
        operators.setWordWrap(True)
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        column = QVBoxLayout(self)
        for widget in (self.search, self.table, operators, buttons):
            column.addWidget(widget)
        self.search.textChanged.connect(self._find)
        self.table.doubleClicked.connect(self.accept)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        open_at(self, 760, 520)
        self._find("")

    def _find(self, text: str) -> None:
        self._shown.setFilterFixedString(text)
        self.table.setCurrentIndex(self._shown.index(0, 0))

    def accept(self) -> None:
        """Emit the chosen field, and close."""
        index: QModelIndex = self.table.currentIndex()
        if index.isValid():
            self.chosen.emit(str(index.siblingAtColumn(0).data()))
        super().accept()


def _model(parent: QWidget) -> QStandardItemModel:
    model = QStandardItemModel(0, len(HEADS), parent)
    model.setHorizontalHeaderLabels(list(HEADS))
    for field in FIELDS.values():
        items = [QStandardItem(w) for w in (field.name, field.kind.value, field.description)]
        for item in items:
            item.setEditable(False)
        model.appendRow(items)
    return model


def _table(model: QSortFilterProxyModel) -> QTableView:
    table = QTableView()
    table.setModel(model)
    table.setAccessibleName("Fields")
    table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
    table.setShowGrid(False)
    table.setTabKeyNavigation(False)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(22)
    table.setColumnWidth(0, 240)
    table.setColumnWidth(1, 150)
    table.horizontalHeader().setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
    return table


class ButtonDialog(QDialog):
    """Asks for the label and the filter of a button; `kept` is what the user entered."""

    kept = Signal(object)

    def __init__(self, saved: Saved, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Display Filter Button")
        self.label = QLineEdit(saved.label)
        self.label.setAccessibleName("Label of the button")
        self.filter = FilterEdit()
        self.filter.setText(saved.text)
        self.filter.setAccessibleName("Filter of the button")
        self.filter.setMinimumWidth(360)
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel
        )
        form = QFormLayout(self)
        form.addRow("&Label:", self.label)
        form.addRow("&Filter:", self.filter)
        form.addRow(self.buttons)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.label.textChanged.connect(self._enable)
        self.filter.checked.connect(self._enable)
        self.filter.entered.connect(self.accept)
        self._enable()

    def _complete(self) -> bool:
        text = self.filter.text().strip()
        return bool(self.label.text().strip() and text) and self.filter.error is None

    def _enable(self) -> None:
        save = self.buttons.button(QDialogButtonBox.StandardButton.Save)
        save.setEnabled(self._complete())

    def accept(self) -> None:
        """Store label and filter in `kept`, and close; an invalid filter keeps the dialog open."""
        if self._complete():
            self.kept.emit(Saved(self.label.text().strip(), self.filter.text().strip()))
            super().accept()
