# SPDX-License-Identifier: MIT
"""The view of one packet's function sequence."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSignalBlocker, QSize, Signal
from PySide6.QtGui import QColor, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from skbviewer.records import PacketPath

from .call_columns import CALL_COLUMNS, COMPENSATED, FUNCTION
from .call_model import CallModel

MOST = 0.5


class _AiryRows(QStyledItemDelegate):
    """Rows with a little more room than the text needs."""

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return super().sizeHint(option, index) + QSize(0, 4)


class CallTree(QTreeView):
    """Emits `call_chosen` with (leg, call) of the row the user went to; call -1 = a leg's row."""

    call_chosen = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("calls")
        self.setAccessibleName("Function sequence of the selected packet")
        self.calls = CallModel(self)
        self._needed = 0
        self.setModel(self.calls)
        self.setUniformRowHeights(True)
        self.setAlternatingRowColors(True)
        self.setAllColumnsShowFocus(True)
        self.setIndentation(11)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setItemDelegate(_AiryRows(self))
        self._lay_out()
        self.selectionModel().currentRowChanged.connect(self._tell)

    def show_path(self, path: PacketPath | None) -> None:
        self.calls.show(path)
        self.expandAll()
        for row, parent in self.calls.wide():
            self.setFirstColumnSpanned(row, parent, True)
        legs = path.legs if path else ()
        measured = any(call.comp_ns is not None for leg in legs for call in leg.calls)
        self.setColumnHidden(COMPENSATED, not measured)
        self._needed = 0 if path is None else self._width_needed(path)
        self._make_room()

    def show_call(self, leg: int, call: int) -> None:
        """Go to a call without telling anybody."""
        if self.calls.call_at(self.currentIndex()) == (leg, call):
            return  # it is there, or at something that happened in it
        index = self.calls.index_of(leg, call)
        with QSignalBlocker(self):
            self.setCurrentIndex(index)
        if index.isValid():
            self.scrollTo(index)

    def set_colours(self, colours: dict[str, QColor], dark: bool) -> None:
        self.calls.set_colours(colours, dark)

    def _tell(self, current: QModelIndex, _before: QModelIndex) -> None:
        self.call_chosen.emit(*self.calls.call_at(current))

    def _width_needed(self, path: PacketPath) -> int:
        """Pixels the function column takes to show every name whole."""
        metrics = QFontMetrics(self.font())
        widths = (
            (call.depth + 2) * self.indentation() + metrics.horizontalAdvance(call.function)
            for leg in path.legs
            for call in leg.calls
        )
        return max(widths, default=0) + 14

    def _make_room(self) -> None:
        """Widen the function column for names deep down, to MOST of the view; never narrow it."""
        width = min(self._needed, round(self.viewport().width() * MOST))
        if width > self.columnWidth(FUNCTION):
            self.setColumnWidth(FUNCTION, width)

    def _lay_out(self) -> None:
        metrics = QFontMetrics(self.font())
        header = self.header()
        header.setStretchLastSection(True)
        header.setFirstSectionMovable(False)
        for place, column in enumerate(CALL_COLUMNS):
            header.resizeSection(place, metrics.horizontalAdvance(column.sample) + 18)

    # Qt's own names

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()
