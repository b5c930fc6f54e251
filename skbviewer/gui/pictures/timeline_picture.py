# SPDX-License-Identifier: MIT
"""The timeline as a picture for print: title, lanes, markers, notes, legend, sources, command."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPalette, QPen

from skbviewer import __version__
from skbviewer.analysis.timeline.lanes import PACKET_KINDS, WIRE_LAYER, Timeline
from skbviewer.analysis.timeline.pixel_bins import LAYER
from skbviewer.analysis.timeline.session_overview import Overview
from skbviewer.analysis.timeline.shown_part import Shown, command_of, seconds_text
from skbviewer.export import write_timeline_csv

from ..base import wording
from ..base.layer_legend import paint_legend
from ..base.recording import Recording
from ..base.status_text import clock_texts
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
from ..timeline.mark_painter import difference_text, paint_marks
from ..timeline.markers_and_range import LANE_TITLES, TimeState
from ..timeline.overview_strip import paint_overview
from ..timeline.pixel_frame import Frame, places_of
from ..timeline.wait_painter import paint_wait_names, paint_waits, wait_brush
from .line_wrapping import wrapped
from .picture_axis import HEIGHT as AXIS
from .picture_axis import paint_axis
from .picture_files import ensure_application, layout_size, write_png, write_svg
from .picture_font import export_font

MARGIN = 20
GUTTER = 200
LINE = 18
STRIP = 36
ROW_PX = (3.0, 20.0)
TEXT_PX = 12
FOOT_PX = 10


def write_timeline(recording: Recording, shown: Shown, out: Path, form: str) -> None:
    """Write `out` as "png", "svg" or (the boxes drawn) "csv".  Needs no display.

    Raises BadInput if it cannot be written.
    """
    ensure_application()
    picture = TimelinePicture(recording, shown, form)
    if form == "csv":
        write_timeline_csv(picture.timeline, picture.bins(), picture.lines(), out)
        return
    background = picture.look.role(QPalette.ColorRole.Base)
    if form == "svg":
        write_svg(out, shown.size, shown.dpi, background, picture.title, picture.paint)
    else:
        write_png(out, shown.size, shown.dpi, background, picture.texts(), picture.paint)


class TimelinePicture:
    """The picture that write_timeline() paints.  Its data are read when it is made."""

    def __init__(self, recording: Recording, shown: Shown, form: str) -> None:
        palette = dark_palette() if shown.dark else light_palette()
        self.look = Look(layer_colours(recording.layers(), shown.dark), palette)
        self.overview: Overview = recording.timeline.overview()
        self.timeline: Timeline = recording.timeline.lanes(shown.lanes, shown.ids)
        self._shown = shown
        self._size = layout_size(shown.size, shown.dpi)
        self.range = shown.range or _all(self.timeline)
        self._t0 = 0 if self.timeline.is_relative else self.overview.t0_ns
        notes = tuple(
            place for place in recording.timeline.note_places() if self._is_seen(place[1:])
        )
        self._state = TimeState(shown.a, shown.b, notes=notes)
        self._command = command_of(shown, recording.words(), form, self._t0)
        self._sources = [f"{Path(s.path).name}  SHA-256 {s.sha256}" for s in recording.sources()]
        self._clocks = clock_texts(recording)
        self.title = shown.title or self._own_title()

    def _own_title(self) -> str:
        if self._shown.lanes in PACKET_KINDS and len(self.timeline.lanes) == 1:
            return f"Packet {self.timeline.lanes[0].title}"
        title = LANE_TITLES[self._shown.lanes]
        return title if self.timeline.is_relative else f"{title} over time"

    def _is_seen(self, times: tuple[int, int]) -> bool:
        return times[1] >= self.range[0] and times[0] <= self.range[1]

    def texts(self) -> dict[str, str]:
        """Return the metadata of the file."""
        texts = {"Title": self.title, "Source": "; ".join(self._sources), "Command": self._command}
        return texts | ({"Filter": self._shown.filter} if self._shown.filter else {})

    def subtitle(self) -> list[str]:
        """Return the lines below the title: time range, filter, marker difference."""
        t0, (begin, end) = self._t0, self.range
        wall = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(t0 // 10**9))
        span = f"{seconds_text(begin - t0)} s to {seconds_text(end - t0)} s"
        since = "each packet's first entry" if not t0 else f"{wall}.{t0 % 10**9:09d} UTC"
        lines = [f"{span} ({wording.duration(end - begin)}) after {since}"]
        if self._shown.filter:
            lines.append(f"Filter: {self._shown.filter}")
        if self._state.difference is not None:
            lines.append(f"B − A = {difference_text(self._state.difference)}")
        return lines

    def footer(self) -> list[str]:
        """Return the notes, the sources, and the command that makes the picture."""
        t0 = self._t0
        notes = [
            f"Note at {seconds_text(place.begin_ns - t0)} s: {' '.join(place.note.text.split())}"
            for place in self._state.notes
        ]
        hidden = self._lanes_below()
        if hidden:
            notes.append(f"The last {hidden} lanes are not shown: the picture is too low")
        return [*notes, *self._sources, *self._clocks, self._made()]

    def _made(self) -> str:
        return f"Made with skbviewer {__version__}:  {self._command}"

    def _foot_lines(self) -> list[str]:
        """Return the footer, wrapped to lines."""
        metrics = QFontMetricsF(export_font(FOOT_PX))
        width = self._size.width() - 2 * MARGIN
        return [line for text in self.footer() for line in wrapped(text, metrics, width)]

    def _lanes_below(self) -> int:
        """Return how many lanes begin below the end of the picture."""
        where = places_of(self.timeline)
        foot = len(self._sources) + len(self._clocks) + len(self._state.notes) + 3
        room = self._size.height() - self._head() - self._foot(foot)
        return int((where.lane_y * ROW_PX[0] > max(room, 40)).sum())

    def _head(self) -> float:
        return MARGIN + 26 + LINE * len(self.subtitle()) + 6 + STRIP + 8 + AXIS

    @staticmethod
    def _foot(lines: int) -> float:
        """Return the height of legend and footer."""
        return MARGIN + (LINE - 3) * lines + 12 + LINE

    def lines(self) -> list[str]:
        """Return all texts of the picture, for its table."""
        return [self.title, *self.subtitle(), *self.footer()]

    def frame(self) -> tuple[Frame, QPointF]:
        """Return the frame of the lanes and the position of its corner in the picture."""
        head = self._head()
        foot = self._foot(len(self._foot_lines()))
        width = max(self._size.width() - 2 * MARGIN - GUTTER, 50)
        height = max(self._size.height() - head - foot, 40)
        total = places_of(self.timeline).total + 0.5
        row_px = min(max(height / max(total, 1), ROW_PX[0]), ROW_PX[1])
        begin, end = (at - self.timeline.t0_ns for at in self.range)
        frame = Frame(float(begin), float(end), -0.25, row_px, float(width), float(height))
        return frame, QPointF(MARGIN + GUTTER, head)

    def bins(self) -> npt.NDArray[np.void]:
        """Return the bins that are drawn; the CSV table holds the same."""
        frame, _ = self.frame()
        rows = places_of(self.timeline).rows_between(frame.top, frame.row(frame.height))
        begin, end = (at - self.timeline.t0_ns for at in self.range)
        return self.timeline.bins(begin, max(end, begin + 1), round(frame.width), rows)

    def paint(self, painter: QPainter) -> None:
        """Paint everything from (0, 0)."""
        y = self._paint_head(painter)
        area = QRectF(MARGIN, y, self._size.width() - 2 * MARGIN, STRIP)
        self._paint_strip(painter, area)
        frame, corner = self.frame()
        painter.setFont(export_font(TEXT_PX))
        paint_axis(painter, frame, corner, self.look.palette, (GUTTER, self._size.width()))
        self._paint_lanes(painter, frame, corner)
        self._paint_foot(painter, corner.y() + frame.height + 10)

    def _text(self, painter: QPainter, y: float, text: str, role: QPalette.ColorRole) -> None:
        width = self._size.width() - 2 * MARGIN
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
        paint_marks(painter, self._state, self.timeline.t0_ns, frame, self.look)
        painter.restore()

    def _paint_foot(self, painter: QPainter, y: float) -> None:
        area = QRectF(MARGIN - 8, y, self._size.width() - 2 * MARGIN, LINE)
        painter.setFont(export_font(TEXT_PX))
        paint_legend(painter, area, self.legend(), self.look.palette)
        y += LINE + 4
        painter.setFont(export_font(FOOT_PX))
        for line in self._foot_lines():
            self._text(painter, y, line, QPalette.ColorRole.PlaceholderText)
            y += LINE - 3

    def legend(self) -> list[tuple[str, QColor | QBrush]]:
        """Return the layers that are drawn, and the hatching of waits."""
        used = {self.timeline.layers[n] for n in np.unique(self.bins()["look"] & LAYER)}
        used |= {WIRE_LAYER} if self.timeline.wires else set()
        names: Sequence[str] = [*self.look.colours, WIRE_LAYER]
        waits = [("waiting", wait_brush(self.look))] if self.timeline.waits else []
        return [*((name, self.look.layer(name)) for name in names if name in used), *waits]


def _all(timeline: Timeline) -> tuple[int, int]:
    """Return the whole range; for packets, from their first to their last call or wire time."""
    t0 = timeline.t0_ns
    if timeline.kind != "packet" or not (len(timeline.boxes.begin) or timeline.wires):
        return t0, t0 + timeline.span_ns
    ends = [wire.at for wire in timeline.wires]
    if len(timeline.boxes.begin):
        ends += [int(timeline.boxes.begin.min()), int(timeline.boxes.end.max())]
    pad = (max(ends) - min(ends)) // 50 + 10
    return t0 + min(ends) - pad, t0 + max(ends) + pad
