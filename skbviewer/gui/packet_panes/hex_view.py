# SPDX-License-Identifier: MIT
"""Bytes as offset, hexadecimal and text, 16 per line.  Only visible lines are painted."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontDatabase,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget

LINE = 16
HEX_AT, TEXT_AT = 6, 6 + LINE * 3 + 2  # columns, in characters
WIDTH = TEXT_AT + LINE + 1
MARGIN = 6


class HexView(QAbstractScrollArea):
    """Shows bytes; a range of them can be highlighted.  `byte_chosen` is the byte clicked."""

    byte_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._data = b""
        self._lit = range(0)
        self._empty = ""
        self.follow_text_size()
        self.setAccessibleName("Packet bytes")
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)

    def follow_text_size(self) -> None:
        """Use the fixed-width font in the size of the application's text."""
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        size = QApplication.font().pointSizeF()
        if size > 0:
            font.setPointSizeF(size)
        if font != self.font():
            self.setFont(font)
            self._fit()

    @property
    def lit(self) -> range:
        """Return the offsets of the highlighted bytes."""
        return self._lit

    def show_bytes(self, data: bytes, empty: str = "") -> None:
        """Show `data`; if it is empty, show the text `empty`."""
        self._data, self._lit, self._empty = data, range(0), empty
        self.setAccessibleDescription(f"{len(data)} bytes" if data else empty)
        self._fit()
        self.verticalScrollBar().setValue(0)
        self.viewport().update()

    def light(self, offset: int, length: int) -> None:
        """Highlight `length` bytes from `offset` on, and scroll to the first of them."""
        self._lit = range(offset, min(offset + length, len(self._data)))
        line, bar = offset // LINE, self.verticalScrollBar()
        if self._lit and not bar.value() <= line < bar.value() + bar.pageStep():
            bar.setValue(line)
        self.viewport().update()

    def byte_at(self, place: QPoint) -> int:
        """Return the offset of the byte at a point of the viewport; -1 if there is none.

        The point may be in the hexadecimal part or in the text.
        """
        cell, height = self._cell()
        column = (place.x() - MARGIN) // cell + self.horizontalScrollBar().value()
        line = place.y() // height + self.verticalScrollBar().value()
        if HEX_AT <= column < HEX_AT + LINE * 3 + 1:
            at = min((column - HEX_AT - (column >= HEX_AT + LINE * 3 // 2)) // 3, LINE - 1)
        elif TEXT_AT <= column < TEXT_AT + LINE:
            at = column - TEXT_AT
        else:
            return -1
        found = line * LINE + at
        return found if 0 <= found < len(self._data) else -1

    def dump(self) -> str:
        """Return all bytes as text, in the form in which they are shown."""
        lines = range(0, len(self._data), LINE)
        return "\n".join(f"{at:04x}  {self._hex(at):<49} {self._text(at)}" for at in lines)

    def _cell(self) -> tuple[int, int]:
        metrics = self.fontMetrics()
        return max(metrics.horizontalAdvance("0"), 1), max(metrics.lineSpacing(), 1)

    def _hex(self, at: int) -> str:
        words = [f"{byte:02x}" for byte in self._data[at : at + LINE]]
        return f"{' '.join(words[: LINE // 2])}  {' '.join(words[LINE // 2 :])}".rstrip()

    def _text(self, at: int) -> str:
        return "".join(chr(b) if 32 <= b < 127 else "·" for b in self._data[at : at + LINE])

    def _fit(self) -> None:
        cell, height = self._cell()
        shown = max(self.viewport().height() // height, 1)
        lines = -(-len(self._data) // LINE)
        self.verticalScrollBar().setRange(0, max(lines - shown, 0))
        self.verticalScrollBar().setPageStep(shown)
        across = max((self.viewport().width() - MARGIN) // cell, 1)
        self.horizontalScrollBar().setRange(0, max(WIDTH - across, 0))
        self.horizontalScrollBar().setPageStep(across)

    def _paint_line(self, painter: QPainter, at: int, top: int) -> None:
        cell, height = self._cell()
        left = MARGIN - self.horizontalScrollBar().value() * cell
        palette = self.palette()
        for byte in range(max(at, self._lit.start), min(at + LINE, self._lit.stop)):
            for column, wide in self._columns(byte - at):
                painter.fillRect(
                    QRect(left + column * cell, top, wide * cell, height),
                    palette.color(QPalette.ColorRole.Highlight),
                )
        base = top + self.fontMetrics().ascent()
        painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
        painter.drawText(left, base, f"{at:04x}")
        for byte in range(at, min(at + LINE, len(self._data))):
            role = QPalette.ColorRole.HighlightedText if byte in self._lit else None
            painter.setPen(palette.color(role or QPalette.ColorRole.Text))
            value = self._data[byte]
            texts = (f"{value:02x}", chr(value) if 32 <= value < 127 else "·")
            for (column, _), text in zip(self._columns(byte - at), texts, strict=True):
                painter.drawText(left + column * cell, base, text)

    def _columns(self, place: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return (column, width) of byte number `place` of a line: in hexadecimal, and as text."""
        return (HEX_AT + place * 3 + (place >= LINE // 2), 2), (TEXT_AT + place, 1)

    # Qt's own names

    def sizeHint(self) -> QSize:
        cell, height = self._cell()
        return QSize(WIDTH * cell + 2 * MARGIN, 8 * height)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setFont(self.font())
        if not self._data:
            painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.setFont(QGuiApplication.font())
            painter.drawText(self.viewport().rect().adjusted(12, 12, -12, -12), flags, self._empty)
            return
        _, height = self._cell()
        first = self.verticalScrollBar().value()
        for row in range(self.viewport().height() // height + 1):
            at = (first + row) * LINE
            if at < len(self._data):
                self._paint_line(painter, at, row * height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            found = self.byte_at(event.position().toPoint())
            if found >= 0:
                self.byte_chosen.emit(found)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.dump())
        else:
            super().keyPressEvent(event)
