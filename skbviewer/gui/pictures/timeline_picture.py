# SPDX-License-Identifier: MIT
"""The timeline as a picture for print: title, lanes, markers, notes, legend, sources, command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPalette, QPen

from skbviewer.analysis.timeline.lanes import WIRE_LAYER
from skbviewer.analysis.timeline.pixel_bins import LAYER
from skbviewer.analysis.timeline.shown_timeline_part import Shown

from ..base.layer_legend import paint_legend
from ..base.recording_interface import Recording
from ..base.theme import dark_palette, layer_colours, light_palette
from ..timeline.lane_painter import (
    Look,
    paint_bins,
    paint_gaps,
    paint_ground,
    paint_titles,
    paint_wire_bands,
    paint_wires,
    row_font,
)
from ..timeline.mark_painter import paint_marks
from ..timeline.overview_strip import paint_overview
from ..timeline.pixel_frame import Frame, places_of
from ..timeline.wait_painter import paint_wait_names, paint_waits, wait_brush
from .picture_axis import paint_axis
from .picture_files import ensure_application, write_png, write_svg
from .picture_font import export_font
from .timeline_layout import FOOT_PX, GUTTER, LINE, MARGIN, STRIP, TimelineLayout

TEXT_PX = 12


def write_timeline(recording: Recording, shown: Shown, out: Path, form: str) -> None:
    """Write a picture of the timeline to `out`, as "png" or "svg".  Needs no display.

    `shown` is the part of the timeline to draw.  Raises BadInput if `out` cannot be written.
    """
    ensure_application()
    picture = TimelinePicture(recording, shown, form)
    background = picture.look.role(QPalette.ColorRole.Base)
    if form == "svg":
        write_svg(out, shown.size, shown.dpi, background, picture.title, picture.paint)
    else:
        write_png(out, shown.size, shown.dpi, background, picture.texts(), picture.paint)


class TimelinePicture(TimelineLayout):
    """The picture that write_timeline() paints."""

    def __init__(self, recording: Recording, shown: Shown, form: str) -> None:
        super().__init__(recording, shown, form)
        palette = dark_palette() if shown.dark else light_palette()
        self.look = Look(layer_colours(recording.layers(), shown.dark), palette)

    def paint(self, painter: QPainter) -> None:
        """Paint the whole picture; its upper left corner is at (0, 0)."""
        y = self._paint_head(painter)
        area = QRectF(MARGIN, y, self.width - 2 * MARGIN, STRIP)
        self._paint_strip(painter, area)
        frame, corner = self.frame(), QPointF(MARGIN + GUTTER, self.top)
        painter.setFont(export_font(TEXT_PX))
        paint_axis(painter, frame, corner, self.look.palette, (GUTTER, self.width))
        self._paint_lanes(painter, frame, corner)
        self._paint_foot(painter, corner.y() + frame.height + 10)

    def _text(self, painter: QPainter, y: float, text: str, role: QPalette.ColorRole) -> None:
        width = self.width - 2 * MARGIN
        short = QFontMetricsF(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, width)
        painter.setPen(self.look.role(role))
        box = QRectF(MARGIN, y, width, LINE)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, short)

    def _paint_head(self, painter: QPainter) -> float:
        painter.setFont(export_font(17, bold=True))
        self._text(painter, MARGIN, self.title, QPalette.ColorRole.Text)
        painter.setFont(export_font(TEXT_PX))
        y = MARGIN + 26.0
        for line in self.subtitle():
            self._text(painter, y, line, QPalette.ColorRole.Text)
            y += LINE
        return y + 6

    def _paint_strip(self, painter: QPainter, area: QRectF) -> None:
        paint_overview(painter, area, self.overview, self.look.palette)
        if self.timeline.is_relative:
            return
        per_ns = area.width() / self.overview.span_ns
        low, high = (area.left() + (at - self.overview.t0_ns) * per_ns for at in self.range)
        low, high = max(low, area.left()), min(max(high, low + 2), area.right())
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.look.role(QPalette.ColorRole.Highlight), 2))
        painter.drawRect(QRectF(low, area.top(), high - low, area.height()))

    def _paint_lanes(self, painter: QPainter, frame: Frame, corner: QPointF) -> None:
        where = places_of(self.timeline)
        bins = self.bins()
        painter.save()
        painter.translate(corner.x() - GUTTER, corner.y())
        painter.setClipRect(QRectF(0, 0, GUTTER, frame.height))
        paint_titles(painter, self.timeline, where, frame, self.look, GUTTER)
        painter.setClipping(False)
        painter.translate(GUTTER, 0)
        painter.setClipRect(QRectF(0, 0, frame.width, frame.height))
        painter.setFont(row_font(export_font(TEXT_PX), frame.row_px))
        paint_ground(painter, self.timeline, where, frame, self.look)
        paint_gaps(painter, self.overview.gaps, self.timeline, where, frame, self.look)
        paint_wire_bands(painter, self.timeline, where, frame, self.look)
        paint_waits(painter, self.timeline, where, frame, self.look)
        paint_bins(painter, bins, self.timeline, where, frame, self.look)
        paint_wait_names(painter, bins, self.timeline, where, frame, self.look)
        paint_wires(painter, bins, self.timeline, where, frame, self.look)
        painter.setFont(export_font(TEXT_PX))
        paint_marks(painter, self.state, self.timeline.t0_ns, frame, self.look)
        painter.restore()

    def _paint_foot(self, painter: QPainter, y: float) -> None:
        area = QRectF(MARGIN - 8, y, self.width - 2 * MARGIN, LINE)
        painter.setFont(export_font(TEXT_PX))
        paint_legend(painter, area, self.legend(), self.look.palette)
        y += LINE + 4
        painter.setFont(export_font(FOOT_PX))
        for line in self.foot_lines():
            self._text(painter, y, line, QPalette.ColorRole.PlaceholderText)
            y += LINE - 3

    def legend(self) -> list[tuple[str, QColor | QBrush]]:
        """Return the entries of the legend: the drawn layers, and the hatching of waits."""
        used = {self.timeline.layers[n] for n in np.unique(self.bins()["look"] & LAYER)}
        used |= {WIRE_LAYER} if self.timeline.wires else set()
        names: Sequence[str] = [*self.look.colours, WIRE_LAYER]
        waits = [("waiting", wait_brush(self.look))] if self.timeline.waits else []
        return [*((name, self.look.layer(name)) for name in names if name in used), *waits]
