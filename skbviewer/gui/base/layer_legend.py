# SPDX-License-Identifier: MIT
"""The legend: a colour chip and a name for each layer in the picture, and a hint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from .theme import UNKNOWN_LAYER

_CHIP = 10
_SPACE = 14
_MIDDLE = Qt.AlignmentFlag.AlignVCenter


def paint_legend(
    painter: QPainter,
    area: QRectF,
    entries: Sequence[tuple[str, QColor | QBrush]],
    palette: QPalette,
) -> float:
    """Paint a colour chip and a name for each entry, until there is no more space; then paint "…".

    `entries` are (name, colour).  Returns the x in pixels at which the painted legend ends.
    """
    x, middle = area.left() + 8.0, area.center().y()
    metrics = painter.fontMetrics()
    for at, (name, colour) in enumerate(entries):
        width = metrics.horizontalAdvance(name)
        more = 0 if at == len(entries) - 1 else 16
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        if x + _CHIP + 5 + width + more > area.right():
            painter.drawText(QRectF(x, area.top(), 20, area.height()), _MIDDLE, "…")
            return area.right()
        box = QRectF(x + _CHIP + 5, area.top(), width + 2, area.height())
        painter.drawText(box, _MIDDLE, name)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRoundedRect(QRectF(x, middle - _CHIP / 2, _CHIP, _CHIP), 2, 2)
        x += _CHIP + 5 + width + _SPACE
    return x


class Legend(QWidget):
    """The layers, on two lines if one line is too short, and a hint at the right.

    The text of show_text() (the markers' difference, running work) is always shown.  The hint is
    shown only if the layers leave enough space.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: list[tuple[str, QColor]] = []
        self.hint = ""
        self.message = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_layers(self, shown: Iterable[str], colours: dict[str, QColor]) -> None:
        """Show a colour chip for each layer in `shown`, in the order of `colours`."""
        names = sorted(shown, key=[*colours, *shown].index)
        self._entries = [(name, colours.get(name, QColor(UNKNOWN_LAYER))) for name in names]
        self.setToolTip("Layers: " + ", ".join(names) if names else "")
        self._make_room()

    def show_text(self, text: str) -> None:
        """Show `text` at the right end instead of the hint; "" shows the hint again."""
        self.message = text
        self._make_room()

    def _width(self, entries: Sequence[tuple[str, QColor]]) -> int:
        advance = self.fontMetrics().horizontalAdvance
        return 8 + sum(_CHIP + 5 + advance(name) + _SPACE for name, _ in entries)

    def _room(self) -> int:
        """Return the width that is left for the layers."""
        taken = self.fontMetrics().horizontalAdvance(self.message) + 20 if self.message else 0
        return self.width() - taken

    def _lines(self) -> list[list[tuple[str, QColor]]]:
        """Return the layers on one line or two."""
        first: list[tuple[str, QColor]] = []
        rest = list(self._entries)
        while rest and self._width([*first, rest[0]]) - _SPACE <= self._room():
            first.append(rest.pop(0))
        return [first, rest] if first and rest else [self._entries]

    def _make_room(self) -> None:
        self.setFixedHeight(self._line_height() * len(self._lines()) + 4)
        self.update()

    def _line_height(self) -> int:
        return self.fontMetrics().height() + 4

    def _paint_right(self, painter: QPainter, left: float) -> None:
        """Paint the text of show_text() or, if it is "", the hint if there is enough space."""
        text, role = self.message, QPalette.ColorRole.WindowText
        if not text:
            text, role = self.hint, QPalette.ColorRole.PlaceholderText
            if left + painter.fontMetrics().horizontalAdvance(text) + 12 >= self.width():
                return
        painter.setPen(self.palette().color(role))
        box = QRectF(0, 0, self.width() - 8, self.height())
        text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(box.width()))
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, text)

    # Qt's own names

    def sizeHint(self) -> QSize:
        return QSize(200, self.fontMetrics().height() + 8)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._make_room()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        height, lines = self._line_height(), self._lines()
        top = (self.height() - height * len(lines)) / 2
        left = 0.0
        for at, line in enumerate(lines):
            area = QRectF(0, top + at * height, self._room(), height)
            left = max(left, paint_legend(painter, area, line, self.palette()))
        self._paint_right(painter, left)
        painter.end()
