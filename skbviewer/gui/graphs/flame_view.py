# SPDX-License-Identifier: MIT
"""Paints the boxes of a flame graph: outermost functions at the top, a click zooms to a box."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
)
from PySide6.QtWidgets import QWidget

from skbviewer.analysis.graphs.flame_boxes import FlameBoxes

from ..base.theme import UNKNOWN_LAYER, text_on

LEAST_PX = 0.5  # narrower boxes are not painted
TEXT_PX = 40  # narrower boxes have no text
PAD = 4
FADED = 70  # of 255: boxes that do not match, ancestors of the box zoomed to


class FlameView(QWidget):
    """Shows `boxes`.

    `zoomed` is the box that is as wide as the view; -1 if all boxes are shown.
    """

    hovered = Signal(int)  # box; -1 = none
    zoom_changed = Signal()
    menu_asked = Signal(int, object)  # box, global position

    def __init__(self) -> None:
        super().__init__()
        self.boxes: FlameBoxes | None = None
        self.colours: dict[str, QColor] = {}
        self.zoomed = -1
        self.wanted = ""  # part of names to highlight
        self._at = -1
        self.setMouseTracking(True)
        self.setAccessibleName("Flame graph")

    @property
    def row_px(self) -> int:
        """Return the height of a row of boxes in pixels."""
        return self.fontMetrics().height() + 5

    def show_boxes(self, boxes: FlameBoxes) -> None:
        """Show other boxes, without zoom."""
        self.boxes, self.zoomed, self._at = boxes, -1, -1
        self.setMinimumHeight(boxes.levels * self.row_px + 2)
        self.updateGeometry()
        self.update()
        self.zoom_changed.emit()

    def zoom_to(self, box: int) -> None:
        """Zoom until `box` is as wide as the view; -1 shows all boxes."""
        self.zoomed = box
        self.update()
        self.zoom_changed.emit()

    def highlight(self, text: str) -> None:
        """Highlight the functions whose names contain `text`."""
        self.wanted = text
        self.update()

    def box_at(self, place: QPointF) -> int:
        """Return the number of the box at a position of the widget; -1 if there is none."""
        if self.boxes is None or not self.width():
            return -1
        begin, span = self._shown(self.boxes)
        weight = begin + place.x() / self.width() * span
        return self.boxes.box_at(int(place.y() // self.row_px), weight)

    def area_of(self, box: int) -> QRectF:
        """Return the rectangle of the widget in which a box is painted."""
        assert self.boxes is not None
        begin, span = self._shown(self.boxes)
        left = (float(self.boxes.begin[box]) - begin) / span * self.width()
        width = float(self.boxes.total[box]) / span * self.width()
        right = min(left + width, float(self.width()))
        left = max(left, 0.0)
        top = int(self.boxes.depth[box]) * self.row_px
        return QRectF(left, top, right - left, self.row_px - 1)

    def _shown(self, boxes: FlameBoxes) -> tuple[float, float]:
        """Return left edge and width of the visible part, in the unit of the boxes' widths."""
        if self.zoomed < 0:
            return 0.0, float(max(boxes.whole, 1))
        return float(boxes.begin[self.zoomed]), float(boxes.total[self.zoomed])

    def _paint(self, painter: QPainter, boxes: FlameBoxes) -> None:
        begin, span = self._shown(boxes)
        low, high = boxes.begin, boxes.begin + boxes.total
        wide = boxes.total * (self.width() / span) >= LEAST_PX
        seen = np.flatnonzero(wide & (high > begin) & (low < begin + span))
        depth = -1 if self.zoomed < 0 else int(boxes.depth[self.zoomed])
        for box in seen.tolist():
            self._paint_box(painter, boxes, box, above=int(boxes.depth[box]) < depth)

    def _paint_box(self, painter: QPainter, boxes: FlameBoxes, box: int, above: bool) -> None:
        at, area = int(boxes.function[box]), self.area_of(box)
        name = boxes.names[at]
        colour = QColor(self.colours.get(boxes.layers[at], QColor(UNKNOWN_LAYER)))
        faded = above or (bool(self.wanted) and self.wanted not in name)
        if faded:
            colour = _mixed(colour, self.palette().color(QPalette.ColorRole.Base), FADED / 255)
        if area.width() > 2:
            area.setWidth(area.width() - 1)
        painter.fillRect(area, colour)
        if area.width() < TEXT_PX:
            return
        room = area.adjusted(PAD, 0, -PAD, 0)
        text = self.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, int(room.width()))
        painter.setPen(text_on(colour))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)
        if box == self._at:
            painter.setPen(self.palette().color(QPalette.ColorRole.Text))
            painter.drawRect(area.adjusted(0, 0, -1, -1))

    def _hover(self, box: int) -> None:
        if box != self._at:
            self._at = box
            self.update()
            self.hovered.emit(box)

    # Qt's own names

    def sizeHint(self) -> QSize:
        return QSize(800, self.minimumHeight())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self.palette().color(QPalette.ColorRole.Base))
        if self.boxes is not None:
            self._paint(painter, self.boxes)
        painter.end()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.box_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(-1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        box = self.box_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and box >= 0:
            self.zoom_to(box)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        box = self.box_at(QPointF(event.pos()))
        if box >= 0:
            self.menu_asked.emit(box, event.globalPos())


def _mixed(colour: QColor, other: QColor, part: float) -> QColor:
    """Return a mixture of two colours, with the fraction `part` of the first."""
    red, green, blue = (
        round(a * part + b * (1 - part))
        for a, b in (
            (colour.red(), other.red()),
            (colour.green(), other.green()),
            (colour.blue(), other.blue()),
        )
    )
    return QColor(red, green, blue)
