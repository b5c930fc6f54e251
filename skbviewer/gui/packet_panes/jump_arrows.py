# SPDX-License-Identifier: MIT
"""Paints the arrows of jumps beside the instructions of a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QSize
from PySide6.QtGui import QPainter, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

if TYPE_CHECKING:
    from skbviewer.analysis.disassembly.jump_arrow_layout import Arrow

STEP, MARGIN, HEAD = 8, 6, 4  # pixels


class JumpArrows(QStyledItemDelegate):
    """The delegate of the column of jumps; arrows of the current row are highlighted."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._of_row: dict[int, list[Arrow]] = {}
        self.lanes = 0
        self.current = -1

    def show(self, arrows: Sequence[Arrow]) -> None:
        """Paint `arrows` from now on."""
        self._of_row = {}
        for one in arrows:
            for row in range(min(one.begin, one.end), max(one.begin, one.end) + 1):
                self._of_row.setdefault(row, []).append(one)
        self.lanes = max((one.lane + 1 for one in arrows), default=0)

    def width(self) -> int:
        """Return the width of the column in pixels."""
        return 2 * MARGIN + STEP * (self.lanes + 1)

    # Qt's own names

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(self.width(), super().sizeHint(option, index).height())

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Paint the parts of all arrows that are in one row."""
        super().paint(painter, option, index)
        palette: QPalette = option.palette
        box, row = option.rect, index.row()
        middle, right = box.center().y() + 0.5, box.right() - MARGIN
        painter.save()
        for one in self._of_row.get(row, ()):
            lit = self.current in (one.begin, one.end)
            role = QPalette.ColorRole.Link if lit else QPalette.ColorRole.PlaceholderText
            painter.setPen(QPen(palette.color(role), 2 if lit else 1))
            painter.setBrush(palette.color(role))
            x = right - STEP * (one.lane + 1)
            ends = row in (one.begin, one.end)
            first = row == min(one.begin, one.end)
            top = middle if first else box.top()
            bottom = middle if row == max(one.begin, one.end) else box.bottom() + 1
            painter.drawLine(QPointF(x, top), QPointF(x, bottom))
            if ends:
                painter.drawLine(QPointF(x, middle), QPointF(right, middle))
            if row == one.end:
                head = [QPointF(right, middle)]
                head += [QPointF(right - HEAD, middle + side * HEAD) for side in (-1, 1)]
                painter.drawPolygon(QPolygonF(head))
        painter.restore()
