# SPDX-License-Identifier: MIT
"""Paint the waits of packets in their lanes: hatching below the boxes, and the reason."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QFontMetricsF, QPainter, QPalette

from skbviewer.analysis.timeline.lanes import Timeline

from ..base.rectangle_drawing import Rects
from ..base.theme import WAIT_COLOURS, themed
from .lane_painter import FAR_PX, TEXT_FROM_PX, Look, lane_area, rects_of
from .pixel_frame import Frame, Places

MARGIN = 8


def wait_brush(look: Look) -> QBrush:
    """Return the hatching of waits."""
    return QBrush(themed(WAIT_COLOURS, look.dark), Qt.BrushStyle.BDiagPattern)


def paint_waits(
    painter: QPainter, timeline: Timeline, places: Places, frame: Frame, look: Look
) -> None:
    """Hatch the times in which packets waited; call this before painting the boxes."""
    brush = wait_brush(look)
    for _, area in _waits(timeline, places, frame):
        painter.fillRect(area, brush)


def paint_wait_names(
    painter: QPainter,
    bins: npt.NDArray[np.void],
    timeline: Timeline,
    places: Places,
    frame: Frame,
    look: Look,
) -> None:
    """Write the reason of each wait at the lower end of its lane, if it fits and covers no box."""
    if frame.row_px < TEXT_FROM_PX or not timeline.waits:
        return
    metrics, rects = QFontMetricsF(painter.font()), rects_of(bins, places, frame)
    painter.setPen(themed(WAIT_COLOURS, look.dark))
    for what, area in _waits(timeline, places, frame):
        width, height = metrics.horizontalAdvance(what) + MARGIN, metrics.height()
        left, right = max(area.left(), 0.0), min(area.right(), float(frame.width))
        plate = QRectF((left + right - width) / 2, area.bottom() - height - 1, width, height)
        if width <= right - left and area.contains(plate) and not _is_on_a_box(plate, rects):
            painter.fillRect(plate, look.role(QPalette.ColorRole.Base))
            painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, what)


def _waits(timeline: Timeline, places: Places, frame: Frame) -> list[tuple[str, QRectF]]:
    """Return reason and area of each visible wait."""
    found = []
    for wait in timeline.waits:
        low = max(frame.x(float(wait.begin)), -FAR_PX)
        high = min(frame.x(float(wait.end)), frame.width + FAR_PX)
        if high - low >= 1:
            area = QRectF(low, *lane_area(timeline, places, frame, wait.lane, high - low))
            found.append((wait.what, area))
    return found


def _is_on_a_box(plate: QRectF, rects: Rects) -> bool:
    across = (rects[:, 0] < plate.right()) & (rects[:, 0] + rects[:, 2] > plate.left())
    down = (rects[:, 1] < plate.bottom() - 1) & (rects[:, 1] + rects[:, 3] > plate.top() + 1)
    return bool((across & down).any())
