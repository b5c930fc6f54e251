# SPDX-License-Identifier: MIT
"""The mouse in a graph: dragging marks a range, the wheel zooms, a click chooses."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QGraphicsRectItem, QGraphicsSceneWheelEvent

ZOOM_STEP = 0.8
SHADE = 60  # of 255


class BrushBox(pg.ViewBox):  # type: ignore[misc]  # pyqtgraph has no types
    """Dragging with the left button marks a range of x or, if `both` is set, a rectangle.

    Dragging with Shift or with another button pans along x.  The wheel zooms x at the pointer, and
    a double click shows everything.
    """

    brushed = Signal(object)  # QRectF in the units of the axes, when the button is released
    clicked = Signal(float, float)
    fit_asked = Signal()

    def __init__(self, both: bool = False) -> None:
        super().__init__(enableMenu=False)
        self.setMouseEnabled(x=True, y=False)
        self.setDefaultPadding(0)
        self._both = both
        self._mark = QGraphicsRectItem()
        self._mark.setZValue(100)
        self._mark.hide()
        self.addItem(self._mark, ignoreBounds=True)
        self._marked: tuple[float, float] | None = None
        self.sigYRangeChanged.connect(lambda *_: self._stretch())

    def colour(self, colour: QColor) -> None:
        """Set the colour of the marked range."""
        pen = pg.mkPen(colour)
        self._mark.setPen(pen)
        shade = QColor(colour)
        shade.setAlpha(SHADE)
        self._mark.setBrush(shade)

    def unmark(self) -> None:
        """Hide the marked range."""
        self._marked = None
        self._mark.hide()

    def mark(self, area: QRectF) -> None:
        """Show `area` (in the graph's coordinates) as the marked range."""
        self._marked = (area.left(), area.right())
        self._mark.setRect(area)
        self._mark.show()
        self._stretch()

    def _stretch(self) -> None:
        """Extend a marked range of x over the whole height of the graph."""
        if self._marked is not None and not self._both:
            (low, high), (left, right) = self.viewRange()[1], self._marked
            self._mark.setRect(QRectF(left, low, right - left, high - low))

    # Qt's and pyqtgraph's own names

    def wheelEvent(self, event: QGraphicsSceneWheelEvent, axis: int | None = None) -> None:
        factor = ZOOM_STEP ** (event.delta() / 120)
        around = self.mapSceneToView(event.scenePos()).x()
        low, high = self.viewRange()[0]
        left, right = around - (around - low) * factor, around + (high - around) * factor
        self.setXRange(left, right, padding=0)
        event.accept()

    def mouseClickEvent(self, event: Any) -> None:
        event.accept()
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if event.double():
            self.fit_asked.emit()
        else:
            place = self.mapSceneToView(event.scenePos())
            self.clicked.emit(place.x(), place.y())

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        event.accept()
        begin = self.mapSceneToView(event.buttonDownScenePos(event.button()))
        now = self.mapSceneToView(event.scenePos())
        shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if event.button() != Qt.MouseButton.LeftButton or shift:
            moved = now.x() - self.mapSceneToView(event.lastScenePos()).x()
            low, high = self.viewRange()[0]
            self.setXRange(low - moved, high - moved, padding=0)
            return
        area = QRectF(begin, now).normalized()
        self.mark(area)
        if event.isFinish():
            self.brushed.emit(area)
