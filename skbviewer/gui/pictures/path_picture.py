# SPDX-License-Identifier: MIT
"""One packet's path in an exported picture: legend, time axis, one bar per call.  No widgets."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPalette, QTransform

from skbviewer.records import PacketPath

from ..base.layer_legend import paint_legend
from ..base.theme import UNKNOWN_LAYER
from ..timeline.path_layout import lay_out
from ..timeline.path_painter import TimelineItem
from ..timeline.pixel_frame import Frame
from .picture_axis import paint_axis
from .picture_font import export_font
from .timeline_layout import AXIS

ROW = 20
LEGEND = 22
TEXT_PX = 12
PAD = 0.02  # margin at both ends, as a part of the path's time


class PathPicture:
    """The picture of one packet's path.  `height` is 0 if no calls were recorded."""

    def __init__(self, path: PacketPath, colours: dict[str, QColor], palette: QPalette) -> None:
        self._colours, self._palette = colours, palette
        self._item = TimelineItem()
        self._item.draw(lay_out(path))
        self._item.set_colours(colours, palette)
        layout = self._item.layout
        self.height = LEGEND + AXIS + (layout.rows + 0.5) * ROW if layout.labels else 0.0

    def paint(self, painter: QPainter, area: QRectF) -> None:
        """Paint the whole path into `area`."""
        if not self.height:
            return
        painter.save()
        painter.setFont(export_font(TEXT_PX))
        legend = QRectF(area.left() - 8, area.top(), area.width(), LEGEND)
        paint_legend(painter, legend, self._legend(), self._palette)
        layout, corner = self._item.layout, QPointF(area.left(), area.top() + LEGEND + AXIS)
        span = max(layout.end - layout.begin, 1.0)
        begin, end = layout.begin - PAD * span, layout.end + PAD * span
        rows = layout.rows + 0.5
        frame = Frame(begin, end, 0, ROW, area.width(), rows * ROW)
        paint_axis(painter, frame, corner, self._palette, (0, area.right()))
        painter.setClipRect(QRectF(corner.x(), corner.y(), frame.width, frame.height))
        painter.translate(corner.x() - begin * frame.per_ns, corner.y())
        self._item.set_view(QRectF(begin, 0, end - begin, rows))
        self._item.paint_scaled(painter, QTransform.fromScale(frame.per_ns, ROW))
        painter.restore()

    def _legend(self) -> list[tuple[str, QColor]]:
        names = sorted(
            self._item.layout.layers, key=[*self._colours, *self._item.layout.layers].index
        )
        return [(name, self._colours.get(name, QColor(UNKNOWN_LAYER))) for name in names]
