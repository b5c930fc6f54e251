# SPDX-License-Identifier: MIT
"""The legend of layers: a colour chip and a name each, only those the picture shows; a hint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from .theme import UNKNOWN_LAYER

_CHIP = 10
_SPACE = 14
_MIDDLE = Qt.AlignmentFlag.AlignVCenter


def paint_legend(
    painter: QPainter, area: QRectF, entries: Sequence[tuple[str, QColor]], palette: QPalette
) -> float:
    """A chip and a name each, as far as there is room, then "…"; returns where they end."""
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
    """One line of layers."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: list[tuple[str, QColor]] = []
        self.hint = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_layers(self, shown: Iterable[str], colours: dict[str, QColor]) -> None:
        """Chips for the layers in `shown`, in the order of `colours`."""
        names = sorted(shown, key=[*colours, *shown].index)
        self._entries = [(name, colours.get(name, QColor(UNKNOWN_LAYER))) for name in names]
        self.setToolTip("Layers: " + ", ".join(names) if names else "")
        self.updateGeometry()
        self.update()

    def set_hint(self, text: str) -> None:
        """Tell `text` at the right end."""
        self.hint = text
        self.update()

    def _paint_hint(self, painter: QPainter, left: float) -> None:
        """The hint at the right end, if there is room for it."""
        width = painter.fontMetrics().horizontalAdvance(self.hint)
        if left + width + 12 < self.width():
            painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
            box = QRectF(left, 0, self.width() - left - 8, self.height())
            painter.drawText(
                box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self.hint
            )

    # Qt's own names

    def sizeHint(self) -> QSize:
        return QSize(200, self.fontMetrics().height() + 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left = paint_legend(painter, QRectF(self.rect()), self._entries, self.palette())
        self._paint_hint(painter, left)
        painter.end()
