# SPDX-License-Identifier: MIT
"""The time axis of exported pictures: ticks above the lanes."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPalette

from ..timeline.pixel_frame import Frame
from ..timeline.time_axis import TICK_PX, base_of, base_text, round_step, tick_text
from .timeline_layout import AXIS


def paint_axis(
    painter: QPainter,
    frame: Frame,
    corner: QPointF,
    palette: QPalette,
    room: tuple[float, float],
) -> None:
    """Paint the time axis above the lanes; `corner` is the upper left corner of the lanes.

    `room` is (width of the gutter beside the lanes, right end of the picture), in pixels. The
    gutter has the time to which the labels of the ticks are relative.
    """
    gutter, right = room
    base = base_of(frame.begin, frame.end - frame.begin)
    painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
    box = QRectF(corner.x() - gutter, corner.y() - AXIS, max(gutter - 8, 0), AXIS - 4)
    painter.drawText(box, Qt.AlignmentFlag.AlignRight, base_text(base))
    step = round_step(TICK_PX / frame.per_ns)
    for at in range(math.ceil(frame.begin / step) * step, int(frame.end) + 1, step):
        x = corner.x() + frame.x(float(at))
        painter.drawLine(QPointF(x, corner.y() - 5), QPointF(x, corner.y()))
        text = tick_text(at - base, step, frame.end - frame.begin)
        place = QRectF(x - TICK_PX / 2, corner.y() - AXIS, TICK_PX, AXIS - 6)
        if place.right() <= right:
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)
