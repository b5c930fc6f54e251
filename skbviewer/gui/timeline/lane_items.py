# SPDX-License-Identifier: MIT
"""The items of the timeline that paint in pixels of a Frame: lanes, and markers and notes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPalette, QPen, QTransform
from PySide6.QtWidgets import QGraphicsObject, QStyleOptionGraphicsItem, QWidget

from skbviewer.analysis.timeline.lanes import Timeline
from skbviewer.analysis.timeline.session_overview import Gap

from .lane_painter import (
    Look,
    is_hatched,
    paint_bins,
    paint_gaps,
    paint_ground,
    paint_span,
    paint_wire_bands,
    paint_wires,
    rects_of,
    row_font,
)
from .mark_painter import NoteTag, note_tags, paint_marks
from .markers_and_range import TimeState
from .pixel_frame import Frame, Places, places, places_of
from .wait_painter import paint_wait_names, paint_waits

IDLE_MS = 200  # after the last paint


class FramedItem(QGraphicsObject):
    """Item coordinates: x in ns, y in rows.  Paints in pixels of the visible part."""

    def __init__(self) -> None:
        super().__init__()
        self._view = QRectF()
        self.look = Look({}, QPalette())
        self.frame = Frame(0, 1, 0, 1, 1, 1)

    def set_view(self, view: QRectF, size: QSizeF) -> None:
        """Set the visible part: `view` in item coordinates, `size` in pixels."""
        self.prepareGeometryChange()
        self._view = view
        row_px = size.height() / max(view.height(), 1e-9)
        self.frame = Frame(
            view.left(), view.right(), view.top(), row_px, size.width(), size.height()
        )
        self.update()

    def set_look(self, look: Look) -> None:
        """Set the colours with which the item is painted."""
        self.look = look
        self.update()

    def paint_frame(self, painter: QPainter, frame: Frame) -> None:
        """Paint the part that `frame` shows, in pixels of this frame."""
        raise NotImplementedError

    # Qt's own names

    def boundingRect(self) -> QRectF:
        return self._view

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
    ) -> None:
        """Paint the visible part when Qt asks for it; see paint_frame()."""
        corner = painter.transform().map(self._view.topLeft())
        painter.save()
        painter.setTransform(QTransform.fromTranslate(corner.x(), corner.y()))
        painter.setClipRect(QRectF(0, 0, self.frame.width, self.frame.height))
        self.paint_frame(painter, self.frame)
        painter.restore()


class LanesItem(FramedItem):
    """The boxes of a Timeline."""

    def __init__(self) -> None:
        super().__init__()
        self.timeline: Timeline | None = None
        self.places: Places = places([])
        self.gaps: Sequence[Gap] = ()
        self.selected: int | None = None  # 0-based row of table call
        self.bins: npt.NDArray[np.void] | None = None  # of the last paint
        self.span: tuple[int, int] | None = None  # of the selected packet, session time
        self._of: tuple[object, ...] = ()
        self._idle = QTimer(self)
        self._idle.setSingleShot(True)
        self._idle.setInterval(IDLE_MS)
        self._idle.timeout.connect(self._forget)

    def draw(self, timeline: Timeline | None) -> None:
        """Draw the boxes of `timeline` from now on; None draws nothing."""
        self.timeline = timeline
        self.places = places_of(timeline)
        self._of = ()
        self.update()

    def set_gaps(self, gaps: Sequence[Gap]) -> None:
        """Set the times in which records were lost."""
        self.gaps = gaps
        self.update()

    def select(self, call: int | None) -> None:
        """Highlight the box of a call; None highlights none."""
        self.selected = call
        self.update()

    def bins_of(self, frame: Frame) -> npt.NDArray[np.void]:
        """Return the boxes to draw in `frame`; they are computed again when the frame changes."""
        assert self.timeline is not None
        rows = self.places.rows_between(frame.top, frame.row(frame.height))
        window = (math.floor(frame.begin), math.ceil(frame.end), round(frame.width))
        if self._of != (*window, rows) or self.bins is None:
            self.bins = self.timeline.bins(*window, rows)
            self._idle.start()
            self._of = (*window, rows)
        return self.bins

    def _forget(self) -> None:
        """Let the kernel free memory of boxes that were read from files.

        A wide view reads nearly all boxes.
        """
        if self.timeline is not None:
            self.timeline.scratch.forget()

    def bin_at(self, x: float, y: float) -> np.void | None:
        """Return the box that is painted at pixel (x, y) of the frame, or the box next to it."""
        if self.timeline is None or self.bins is None:
            return None
        row = self.places.row_at(self.frame.row(y))
        mine = self.bins[self.bins["row"] == row] if row is not None else self.bins[:0]
        rects = rects_of(mine, self.places, self.frame)
        away = np.maximum(rects[:, 0] - x, x - rects[:, 0] - rects[:, 2])
        near = np.flatnonzero(away <= 2)
        return mine[near[np.argmin(away[near])]] if len(near) else None

    def gap_at(self, x: float, y: float) -> Gap | None:
        """Return the gap whose hatching covers pixel (x, y) of the frame; None if there is none."""
        row = self.places.row_at(self.frame.row(y))
        if self.timeline is None or self.timeline.is_relative or row is None:
            return None
        lane = self.timeline.lane_of(row)
        return next(
            (
                gap
                for gap in self.gaps
                if is_hatched(gap, lane, self.timeline)
                and self.frame.x(gap.begin) - 2 <= x <= self.frame.x(gap.end) + 2
            ),
            None,
        )

    def edges_near(self, y: float) -> npt.NDArray[np.float64]:
        """Return the times (ns) at which boxes in the row at y begin or end.

        If the row has no boxes, the times of all boxes are returned.
        """
        if self.bins is None:
            return np.zeros(0)
        row = self.places.row_at(self.frame.row(y))
        mine = self.bins[self.bins["row"] == row] if row is not None else self.bins[:0]
        chosen = mine if len(mine) else self.bins
        return np.concatenate([chosen["begin"], chosen["end"]]).astype(np.float64)

    def paint_frame(self, painter: QPainter, frame: Frame) -> None:
        """Paint lanes, boxes, waits, gaps and wire times."""
        if self.timeline is None:
            return
        bins = self.bins_of(frame)
        painter.setFont(row_font(painter.font(), frame.row_px))
        paint_ground(painter, self.timeline, self.places, frame, self.look)
        if self.span is not None:
            paint_span(painter, self.span, self.timeline.t0_ns, frame, self.look)
        paint_gaps(painter, self.gaps, self.timeline, self.places, frame, self.look)
        paint_wire_bands(painter, self.timeline, self.places, frame, self.look)
        paint_waits(painter, self.timeline, self.places, frame, self.look)
        paint_bins(painter, bins, self.timeline, self.places, frame, self.look)
        paint_wait_names(painter, bins, self.timeline, self.places, frame, self.look)
        paint_wires(painter, bins, self.timeline, self.places, frame, self.look)
        self._paint_selected(painter, bins, frame)

    def _paint_selected(self, painter: QPainter, bins: npt.NDArray[np.void], frame: Frame) -> None:
        if self.selected is None or self.timeline is None:
            return
        others = [
            row
            for lane in self.timeline.lanes
            if lane.what != "calls"
            for row in range(lane.first, lane.first + lane.rows)
        ]
        hit = (bins["item"] == self.selected) & (bins["count"] == 1)
        hit &= ~np.isin(bins["row"], others)
        for rect in rects_of(bins[hit], self.places, frame):
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for role, width in ((QPalette.ColorRole.Base, 4), (QPalette.ColorRole.Text, 2)):
                painter.setPen(QPen(QColor(self.look.role(role)), width))
                painter.drawRect(QRectF(*rect))


class MarksItem(FramedItem):
    """The markers, the selected range and the notes, which are painted above all lanes."""

    def __init__(self, state: TimeState) -> None:
        super().__init__()
        self.state = state
        self.origin_ns = 0  # session time at x = 0
        self.top_rows = 0.0  # height of a title at the top, which markers' letters must not cover
        self.message = ""  # shown if nothing is drawn
        self.tags: list[NoteTag] = []
        self.spared: Callable[[], list[QRectF]] = list  # texts that notes must not cover
        self.setZValue(10)

    def boxes(self, painter: QPainter) -> list[QRectF]:
        """Return the rectangles of the notes, in pixels of the frame."""
        return [tag.box for tag in self._note_tags(painter, self.frame)]

    def _note_tags(self, painter: QPainter, frame: Frame) -> list[NoteTag]:
        return note_tags(painter, self.state, self.origin_ns, frame, self.spared())

    def note_at(self, place: QPointF) -> NoteTag | None:
        """Return the note that is painted at a pixel of the frame; None if there is none."""
        return next((tag for tag in reversed(self.tags) if tag.box.contains(place)), None)

    def paint_frame(self, painter: QPainter, frame: Frame) -> None:
        """Paint markers, range and notes."""
        if self.message:
            painter.setPen(self.look.role(QPalette.ColorRole.PlaceholderText))
            area = QRectF(0, 0, frame.width, frame.height).adjusted(12, 12, -12, -12)
            painter.drawText(
                area, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.message
            )
        self.tags = self._note_tags(painter, frame)
        top = self.top_rows * frame.row_px
        paint_marks(painter, self.state, self.origin_ns, frame, self.look, top, self.spared())
