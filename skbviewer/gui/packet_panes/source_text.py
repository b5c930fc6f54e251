# SPDX-License-Identifier: MIT
"""Source text with line numbers, and the lines of one function highlighted."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontDatabase,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

ABOVE = 3  # lines shown above the function
LIGHT = 0.18  # opacity of the highlight


class _Numbers(QWidget):
    """The strip of line numbers, painted by its SourceText."""

    def __init__(self, text: SourceText) -> None:
        super().__init__(text)
        self._text = text

    def sizeHint(self) -> QSize:
        return QSize(self._text.number_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._text.paint_numbers(event)


class SourceText(QPlainTextEdit):
    """Read-only text.  Ctrl+C copies the selection without line numbers."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabStopDistance(8 * self.fontMetrics().horizontalAdvance(" "))  # as in the kernel
        self.setAccessibleName("Kernel source")
        self._numbers = _Numbers(self)
        self.blockCountChanged.connect(self._make_room)
        self.updateRequest.connect(self._scrolled)
        self._make_room()

    def show_lines(self, text: str, first: int, last: int) -> None:
        """Show `text`, highlight the lines `first` to `last` (from 1), and scroll to them."""
        if text != self.toPlainText():
            self.setPlainText(text)
        background = QColor(self.palette().color(QPalette.ColorRole.Highlight))
        background.setAlphaF(LIGHT)
        lit = []
        for number in range(first, last + 1):
            block = self.document().findBlockByNumber(number - 1)
            if block.isValid():
                part = QTextEdit.ExtraSelection()
                form = QTextCharFormat()
                form.setBackground(background)
                form.setProperty(QTextFormat.Property.FullWidthSelection, True)
                part.format = form
                part.cursor = QTextCursor(block)
                lit.append(part)
        self.setExtraSelections(lit)
        self.setTextCursor(QTextCursor(self.document().findBlockByNumber(first - 1)))
        self.verticalScrollBar().setValue(max(first - 1 - ABOVE, 0))

    def number_width(self) -> int:
        """Return the width of the line numbers in pixels."""
        digits = max(len(str(self.blockCount())), 4)
        return 12 + self.fontMetrics().horizontalAdvance("9") * digits

    def paint_numbers(self, event: QPaintEvent) -> None:
        """Paint the visible line numbers."""
        painter = QPainter(self._numbers)
        palette = self.palette()
        painter.fillRect(event.rect(), palette.color(QPalette.ColorRole.Window))
        painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
        painter.setFont(self.font())
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        width, height = self.number_width() - 6, self.fontMetrics().height()
        while block.isValid() and top <= event.rect().bottom():
            number = str(block.blockNumber() + 1)
            place = QRect(0, round(top), width, height)
            painter.drawText(place, Qt.AlignmentFlag.AlignRight, number)
            top += self.blockBoundingRect(block).height()
            block = block.next()

    def _make_room(self, _: int = 0) -> None:
        self.setViewportMargins(self.number_width(), 0, 0, 0)

    def _scrolled(self, rect: QRect, dy: int) -> None:
        if dy:
            self._numbers.scroll(0, dy)
        else:
            self._numbers.update(0, rect.y(), self._numbers.width(), rect.height())

    # Qt's own names

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        inside = self.contentsRect()
        self._numbers.setGeometry(inside.left(), inside.top(), self.number_width(), inside.height())
