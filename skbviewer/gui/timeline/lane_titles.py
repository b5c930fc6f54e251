# SPDX-License-Identifier: MIT
"""The column left of the lanes, with their titles."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from .lane_items import LanesItem
from .lane_painter import paint_titles

WIDTH_PX = (200, 250)


def width_in(pixels: int) -> int:
    """Return the width of the column of lane titles, if the view is `pixels` wide."""
    return min(WIDTH_PX[1], max(round(pixels * 0.13), min(WIDTH_PX[0], round(pixels * 0.28))))


class Gutter(QWidget):
    """The titles of `lanes`.  `top` is where the lanes begin, in pixels."""

    def __init__(self, lanes: LanesItem, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self._lanes = lanes
        self.top = 0.0
        self.base = ""  # the origin of the tick labels

    def show_base(self, text: str, top: float) -> None:
        """Show the time from which the tick labels count.

        `top` is the y in pixels at which the lanes begin.
        """
        if (text, top) != (self.base, self.top):
            self.base, self.top = text, top
        self.update()

    # Qt's own names

    def sizeHint(self) -> QSize:
        return QSize(WIDTH_PX[0], 100)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self.palette().color(QPalette.ColorRole.Base))
        painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
        head = self.rect().adjusted(6, 0, -4, 0)
        head.setHeight(round(self.top))
        painter.drawText(
            head, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignRight, self.base
        )
        timeline = self._lanes.timeline
        if timeline is None:
            return
        painter.translate(0, self.top)
        painter.setClipRect(0, 0, self.width(), self.height())
        frame = self._lanes.frame
        paint_titles(painter, timeline, self._lanes.places, frame, self._lanes.look, self.width())

    def event(self, event: QEvent) -> bool:
        """Show the full title of the lane at the pointer as a tooltip."""
        if isinstance(event, QHelpEvent) and self._lanes.timeline is not None:
            row = self._lanes.places.row_at(self._lanes.frame.row(event.pos().y() - self.top))
            text = "" if row is None else self._lanes.timeline.lane_of(row).title
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)
