# SPDX-License-Identifier: MIT
"""Paints how often each instruction was executed: a bar behind the number."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPalette
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem

SHARE = Qt.ItemDataRole.UserRole  # the length of a bar: 1.0 is the whole cell, None is no bar
ALPHA = 90  # of a bar, so that the number on it is readable
MARGIN = 2  # pixels above and below a bar


class ExecutedBars(QStyledItemDelegate):
    """The delegate of the column of executions."""

    # Qt's own names

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Paint the row's background, the bar, and the number."""
        share = index.data(SHARE)
        if share:
            self._paint_background(painter, option, index)
            palette: QPalette = option.palette
            box: QRect = option.rect.adjusted(0, MARGIN, -MARGIN, -MARGIN)
            width = max(1, round(box.width() * share))
            colour = QColor(palette.color(QPalette.ColorRole.Highlight))
            if option.state & QStyle.StateFlag.State_Selected:
                colour = QColor(palette.color(QPalette.ColorRole.HighlightedText))
            colour.setAlpha(ALPHA)
            painter.fillRect(QRect(box.right() + 1 - width, box.top(), width, box.height()), colour)
            self._paint_number(painter, option, index)
        else:
            super().paint(painter, option, index)

    def _paint_background(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        shown, style = self._item(option, index)
        shown.text = ""
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, shown, painter, shown.widget)

    def _paint_number(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        shown, style = self._item(option, index)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        role = QPalette.ColorRole.HighlightedText if chosen else QPalette.ColorRole.Text
        painter.save()
        painter.setFont(shown.font)
        painter.setPen(shown.palette.color(role))
        margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin) + 1
        box = option.rect.adjusted(margin, 0, -margin, 0)
        painter.drawText(box, shown.displayAlignment, shown.text)
        painter.restore()

    def _item(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> tuple[QStyleOptionViewItem, QStyle]:
        """Return the options for drawing a cell, and the style that draws it."""
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        return shown, shown.widget.style() if shown.widget is not None else QApplication.style()
