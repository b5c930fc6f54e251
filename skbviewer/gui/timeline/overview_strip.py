# SPDX-License-Identifier: MIT
"""The strip above the timeline: the whole recording, with the part shown below marked."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from skbviewer.analysis.timeline.session_overview import Overview

from ..base.rectangle_drawing import draw_rects
from ..base.theme import DROP_COLOURS, WIRE_COLOURS, is_dark, themed
from .time_axis import ZOOM_STEP

HEIGHT_PX = 44
DROP_PX = 5
GRIP_PX = 5
LEAST_PX = 6  # minimum width of the window, so that it can be seen and dragged


def paint_overview(painter: QPainter, area: QRectF, overview: Overview, palette: QPalette) -> None:
    """Paint calls as grey columns, packets as a line of points, gaps and drops.

    The heights of calls and packets are logarithmic.
    """
    dark = is_dark(palette)
    painter.fillRect(area, palette.color(QPalette.ColorRole.Base))
    painter.setPen(Qt.PenStyle.NoPen)
    room = area.adjusted(0, 2, 0, -DROP_PX - 1)
    for counts, colour, thick in (
        (overview.calls, palette.color(QPalette.ColorRole.PlaceholderText), 0.0),
        (overview.packets, themed(WIRE_COLOURS, dark), 2.0),
    ):
        painter.setBrush(colour)
        draw_rects(painter, _columns(counts, room, thick))
    hatch = QBrush(palette.color(QPalette.ColorRole.Text), Qt.BrushStyle.BDiagPattern)
    for gap in overview.gaps:
        low, high = (area.left() + t / overview.span_ns * area.width() for t in gap[:2])
        painter.fillRect(QRectF(low, area.top(), max(high - low, 2.0), area.height()), hatch)
    painter.setBrush(themed(DROP_COLOURS, dark))
    pixels = np.unique((overview.drops * (area.width() / overview.span_ns)).astype(np.int64))
    marks = np.empty((len(pixels), 4))
    marks[:, 0], marks[:, 1] = area.left() + pixels - 1, area.bottom() - DROP_PX
    marks[:, 2], marks[:, 3] = 2, DROP_PX
    draw_rects(painter, marks)


def _columns(
    counts: np.ndarray[tuple[int], np.dtype[np.int64]], room: QRectF, thick: float
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return rectangles (float64 of shape (n, 4)): for each pixel, the maximum of its counts.

    If `thick` is not 0, only the uppermost `thick` pixels of each column are returned.
    """
    width = max(int(room.width()), 1)
    at = np.flatnonzero(counts)
    tall = np.zeros(width)
    np.maximum.at(tall, at * width // len(counts), np.log1p(counts[at]))
    seen = np.flatnonzero(tall)
    height = np.maximum(tall[seen] / max(float(tall.max()), 1e-9) * room.height(), 1.0)
    rects = np.empty((len(seen), 4))
    rects[:, 0], rects[:, 1], rects[:, 2] = room.left() + seen, room.bottom() - height, 1.0
    rects[:, 3] = np.minimum(thick, height) if thick else height
    return rects


class OverviewStrip(QWidget):
    """Emits `window_asked` with (begin, end) in session time when the window is dragged."""

    window_asked = Signal(object, object)  # ns may exceed a C int

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Overview of the whole recording")
        self.setToolTip(
            "The whole recording: calls are grey, captured packets pink, drops red (at the "
            "bottom), lost records "
            "hatched.\nDrag the frame or its edges to move or resize it; click "
            "elsewhere to move it there."
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.overview: Overview | None = None
        self.message = ""
        self.window_ns: tuple[int, int] | None = None
        self._grip: tuple[str, float] | None = None

    def show_overview(self, overview: Overview | None, message: str = "") -> None:
        """Show `overview`; if it is None, show the text `message`."""
        self.overview, self.message = overview, message
        self.update()

    def show_window(self, times: tuple[int, int] | None) -> None:
        """Mark the range that the timeline shows (session time, ns); None marks nothing."""
        self.window_ns = times
        self.update()

    def box(self) -> QRectF:
        """Return the rectangle that marks the shown range; it is at least LEAST_PX wide."""
        if self.overview is None or self.window_ns is None:
            return QRectF()
        low, high = (self._x(t) for t in self.window_ns)
        if high - low < LEAST_PX:
            low = (low + high - LEAST_PX) / 2
            high = low + LEAST_PX
        return QRectF(low, 0, high - low, self.height() - 1)

    def _x(self, ns: int) -> float:
        assert self.overview is not None
        return (ns - self.overview.t0_ns) / self.overview.span_ns * self.width()

    def _ns(self, pixels: float) -> int:
        assert self.overview is not None
        return round(pixels / max(self.width(), 1) * self.overview.span_ns)

    def _grip_at(self, x: float) -> str:
        """Return where x is: "left" or "right" (an edge of the shown range), "inside" it, or ""."""
        box = self.box()
        if box.width() > 3 * GRIP_PX:
            for edge, at in (("left", box.left()), ("right", box.right())):
                if abs(x - at) <= GRIP_PX:
                    return edge
        return "inside" if box.left() - 1 <= x <= box.right() + 1 else ""

    # Qt's own names

    def sizeHint(self) -> QSize:
        return QSize(200, HEIGHT_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        palette = self.palette()
        if self.overview is None:
            painter.fillRect(self.rect(), palette.color(QPalette.ColorRole.Base))
            painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.message)
            return
        paint_overview(painter, QRectF(self.rect()), self.overview, palette)
        self._paint_window(painter)

    def _paint_window(self, painter: QPainter) -> None:
        box = self.box()
        if box.isNull():
            return
        shade = QColor(self.palette().color(QPalette.ColorRole.Window))
        shade.setAlpha(150)
        painter.fillRect(QRectF(0, 0, max(box.left(), 0), self.height()), shade)
        right = min(box.right(), self.width())
        painter.fillRect(QRectF(right, 0, self.width() - right, self.height()), shade)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), 2))
        painter.drawRect(box.adjusted(1, 1, -1, -1))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.overview is None or self.window_ns is None:
            return
        x = event.position().x()
        grip = self._grip_at(x)
        if not grip:
            begin, end = self.window_ns
            middle = self.overview.t0_ns + self._ns(x)
            self._ask(middle - (end - begin) // 2, middle + (end - begin) // 2)
            grip = "inside"
        self._grip = (grip, x)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        if self._grip is None or self.window_ns is None or self.overview is None:
            edge = self.overview is not None and self._grip_at(x) in ("left", "right")
            self.setCursor(Qt.CursorShape.SizeHorCursor if edge else Qt.CursorShape.ArrowCursor)
            return
        grip, last = self._grip
        begin, end = self.window_ns
        moved = self._ns(x - last)
        self._grip = (grip, x)
        self._ask(begin + (moved if grip != "right" else 0), end + (moved if grip != "left" else 0))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._grip = None

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.window_ns is None or self.overview is None:
            return
        factor = ZOOM_STEP ** (event.angleDelta().y() / 120)
        begin, end = self.window_ns
        middle = (begin + end) // 2
        half = round((end - begin) * factor / 2)
        self._ask(middle - half, middle + half)
        event.accept()

    def _ask(self, begin: int, end: int) -> None:
        if end > begin:
            self.window_asked.emit(begin, end)
