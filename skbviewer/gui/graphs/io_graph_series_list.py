# SPDX-License-Identifier: MIT
"""The list of the series of an I/O graph; each has a display filter, a colour and a check mark."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QColorDialog,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ..base.graph_plot import SERIES_COLOURS
from ..filters.filter_edit import FilterEdit

ON, COLOUR, FILTER = range(3)
CHOSEN = Qt.ItemDataRole.UserRole  # a colour that the user chose
NUMBER = CHOSEN + 1  # of the colour in SERIES_COLOURS
ALL = "All packets"


class Series(NamedTuple):
    """One line of the list; `text` is its display filter, "" for all packets."""

    on: bool
    text: str
    colour: QColor


class _FilterCell(QStyledItemDelegate):
    """Edits a cell as a display filter."""

    def createEditor(
        self,
        parent: QWidget,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> QWidget:
        editor = FilterEdit(parent)
        editor.setFrame(False)
        editor.entered.connect(lambda: self.commitData.emit(editor))
        editor.entered.connect(lambda: self.closeEditor.emit(editor))
        return editor


class SeriesList(QWidget):
    """Shows and edits the series."""

    filters_changed = Signal()  # packets have to be counted again
    look_changed = Signal()  # colours, or which series are on

    def __init__(self) -> None:
        super().__init__()
        self.tree = QTreeWidget()
        self.add, self.remove = QPushButton("&Add Series"), QPushButton("&Remove")
        self._next = 0
        self._dark = False
        self._build()
        self.add.clicked.connect(lambda: self._add_and_edit())
        self.remove.clicked.connect(lambda: self._remove())
        self.tree.itemChanged.connect(self._changed)
        self.tree.itemDoubleClicked.connect(self._ask_colour)

    def _build(self) -> None:
        self.tree.setAccessibleName("Series of the graph")
        self.tree.setHeaderLabels(("On", "Color", "Display filter"))
        self.tree.setRootIsDecorated(False)
        self.tree.setItemDelegateForColumn(FILTER, _FilterCell(self.tree))
        self.tree.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
        )
        header = self.tree.header()
        for column in (ON, COLOUR):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        self.add.setToolTip("Add packets that match another display filter")
        buttons = QVBoxLayout()
        for button in (self.add, self.remove):
            button.setAutoDefault(False)
            buttons.addWidget(button)
        buttons.addStretch(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.tree, 1)
        row.addLayout(buttons)
        self.setFixedHeight(6 * self.fontMetrics().height() + 40)

    def add_series(self, text: str) -> QTreeWidgetItem:
        """Add a series with the display filter `text`, turn it on, and return its row."""
        self.tree.blockSignals(True)
        item = QTreeWidgetItem(self.tree, ["", "", text or ALL])
        item.setFlags(
            Qt.ItemFlag.ItemIsEnabled
            | Qt.ItemFlag.ItemIsSelectable
            | Qt.ItemFlag.ItemIsUserCheckable
            | Qt.ItemFlag.ItemIsEditable
        )
        item.setCheckState(ON, Qt.CheckState.Checked)
        item.setToolTip(COLOUR, "Double-click to choose another color")
        item.setToolTip(FILTER, "Double-click to edit the filter")
        item.setData(COLOUR, NUMBER, self._next % len(SERIES_COLOURS))
        self._next += 1
        self.tree.blockSignals(False)
        self.recolour(self._dark)
        return item

    def series(self) -> list[Series]:
        """Return all series, in the order of the list."""
        return [
            Series(
                item.checkState(ON) is Qt.CheckState.Checked,
                "" if item.text(FILTER) == ALL else item.text(FILTER).strip(),
                self._colour(item),
            )
            for item in self._items()
        ]

    def complain(self, at: int, why: str) -> None:
        """Show the reason `why` the filter of series `at` cannot be used; "" means that it can."""
        self.tree.blockSignals(True)
        item = self.tree.topLevelItem(at)
        if item is not None:
            item.setToolTip(FILTER, why or "Double-click to edit the filter")
            item.setIcon(FILTER, _warning(self.tree) if why else QIcon())
        self.tree.blockSignals(False)

    def recolour(self, dark: bool) -> None:
        """Show the colours of the dark theme if `dark`, or else those of the light theme."""
        self._dark = dark
        self.tree.blockSignals(True)
        for item in self._items():
            pixmap = QPixmap(24, 12)
            pixmap.fill(self._colour(item))
            item.setIcon(COLOUR, QIcon(pixmap))
        self.tree.blockSignals(False)

    def _items(self) -> list[QTreeWidgetItem]:
        found = [self.tree.topLevelItem(at) for at in range(self.tree.topLevelItemCount())]
        return [item for item in found if item is not None]

    def _colour(self, item: QTreeWidgetItem) -> QColor:
        chosen = item.data(COLOUR, CHOSEN)
        pair = SERIES_COLOURS[item.data(COLOUR, NUMBER)]
        return QColor(chosen) if chosen else QColor(pair[self._dark])

    def _add_and_edit(self) -> None:
        item = self.add_series("")
        self.tree.setCurrentItem(item)
        self.tree.editItem(item, FILTER)

    def _remove(self) -> None:
        item = self.tree.currentItem()
        at = -1 if item is None else self.tree.indexOfTopLevelItem(item)
        if at >= 0 and self.tree.topLevelItemCount() > 1:
            self.tree.takeTopLevelItem(at)
            self.filters_changed.emit()

    def _changed(self, item: QTreeWidgetItem, column: int) -> None:
        if column == FILTER and not item.text(FILTER).strip():
            self.tree.blockSignals(True)
            item.setText(FILTER, ALL)
            self.tree.blockSignals(False)
        (self.filters_changed if column == FILTER else self.look_changed).emit()

    def _ask_colour(self, item: QTreeWidgetItem, column: int) -> None:
        if column != COLOUR:
            return
        found = QColorDialog.getColor(self._colour(item), self, "Color of the series")
        if found.isValid():
            item.setData(COLOUR, CHOSEN, found.name())
            self.recolour(self._dark)


def _warning(widget: QWidget) -> QIcon:
    return widget.style().standardIcon(widget.style().StandardPixmap.SP_MessageBoxWarning)
