# SPDX-License-Identifier: MIT
"""Paint lanes of boxes into a Frame, in the same way for the window, PNG and SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontInfo, QFontMetricsF, QPainter, QPalette, QPen

from skbviewer.analysis.timeline.lanes import WIRE_LAYER, Lane, Timeline
from skbviewer.analysis.timeline.pixel_bins import DROP, LAYER, OPEN
from skbviewer.analysis.timeline.session_overview import Gap

from ..base.rectangle_drawing import Rects, draw_rects
from ..base.theme import DROP_COLOURS, UNKNOWN_LAYER, WIRE_COLOURS, is_dark, text_on, themed
from .pixel_frame import Frame, Places

TITLE_OVER = 4  # pixels by which a title may be higher than its lane
LEAST_TEXT_PX = 8
TEXT_FROM_PX = 11  # lower rows have no texts
LABEL_FROM_PX = 40  # narrower boxes have no label
TEXT_PART = 0.68  # of a row's height
GAP_PX = 1.0
FAR_PX = 4.0  # boxes are clipped this far outside the frame: Qt drops huge ones
MERGED_PART = 0.62  # share of the layer's colour in a bin of several calls
RUN_GAP_PX = 1.5  # bins closer than this share one text with their number
_ALIGN_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


class Look(NamedTuple):
    """Colours by layer name, and the palette."""

    colours: Mapping[str, QColor]
    palette: QPalette

    @property
    def dark(self) -> bool:
        """Return whether the palette is dark."""
        return is_dark(self.palette)

    def layer(self, name: str) -> QColor:
        """Return the colour of the layer `name`."""
        if name == WIRE_LAYER:
            return themed(WIRE_COLOURS, self.dark)
        return self.colours.get(name, QColor(UNKNOWN_LAYER))

    def merged(self, name: str) -> QColor:
        """Return the colour of a box that stands for several calls of a layer."""
        return _blend(self.layer(name), self.palette.color(QPalette.ColorRole.Base), MERGED_PART)

    def role(self, role: QPalette.ColorRole) -> QColor:
        """Return the palette's colour of a role."""
        return self.palette.color(role)


def _blend(colour: QColor, background: QColor, part: float) -> QColor:
    pairs = (
        (colour.red(), background.red()),
        (colour.green(), background.green()),
        (colour.blue(), background.blue()),
    )
    return QColor(*(round(part * one + (1 - part) * other) for one, other in pairs))


def rects_of(bins: npt.NDArray[np.void], places: Places, frame: Frame) -> Rects:
    """Return the rectangles of boxes, clipped near the frame: float64 of shape (n, 4).

    The columns are x, y, width and height in pixels.
    """
    rects = np.empty((len(bins), 4))
    low = np.maximum(frame.x(bins["begin"].astype(np.float64)), -FAR_PX)
    high = np.minimum(frame.x(bins["end"].astype(np.float64)) - GAP_PX / 2, frame.width + FAR_PX)
    rects[:, 0], rects[:, 2] = low, np.maximum(high - low, 1.0)
    rects[:, 1] = frame.y(places.row_y[bins["row"]]) + GAP_PX / 2
    rects[:, 3] = max(frame.row_px - GAP_PX, 2.0)
    return rects


def paint_ground(
    painter: QPainter, timeline: Timeline, places: Places, frame: Frame, look: Look
) -> None:
    """Paint the background of the lanes; every other lane has another colour."""
    colour = look.role(QPalette.ColorRole.AlternateBase)
    for lane, y in list(zip(timeline.lanes, places.lane_y.tolist(), strict=True))[::2]:
        box = QRectF(0, frame.y(y - 0.25), frame.width, (lane.rows + 0.5) * frame.row_px)
        if box.bottom() > 0 and box.top() < frame.height:
            painter.fillRect(box, colour)


def band(times: tuple[int, int], origin_ns: int, frame: Frame) -> QRectF | None:
    """Return the part of the frame between two times; None if this part is not visible."""
    low, high = (frame.x(float(at - origin_ns)) for at in times)
    if high < 0 or low > frame.width:
        return None
    low, high = max(low, -FAR_PX), min(high, frame.width + FAR_PX)
    return QRectF(low, 0, max(high - low, 1.0), frame.height)


def paint_span(
    painter: QPainter, times: tuple[int, int], origin_ns: int, frame: Frame, look: Look
) -> None:
    """Paint the time range of the selected packet as a light background.

    The background is not painted if the range fills the whole view.
    """
    area = band(times, origin_ns, frame)
    if area is not None and area.width() < 0.98 * frame.width:
        colour = QColor(look.role(QPalette.ColorRole.Highlight))
        colour.setAlpha(44)
        painter.fillRect(area, colour)


def is_hatched(gap: Gap, lane: Lane, timeline: Timeline) -> bool:
    """Return whether a lane shows a gap.

    Only lanes of calls show gaps.  If a lane stands for a CPU, it shows only the gaps of this CPU.
    """
    mine = timeline.kind != "cpu" or (lane.key, lane.source) == (gap.cpu, gap.source)
    return mine and lane.what == "calls"


def paint_gaps(
    painter: QPainter,
    gaps: Sequence[Gap],
    timeline: Timeline,
    places: Places,
    frame: Frame,
    look: Look,
) -> None:
    """Hatch the times of lost records in the lanes that show them."""
    if timeline.is_relative:
        return
    colour = look.role(QPalette.ColorRole.PlaceholderText)
    brush = QBrush(colour, Qt.BrushStyle.BDiagPattern)
    for gap in gaps:
        low, high = max(frame.x(float(gap.begin)), -FAR_PX), frame.x(float(gap.end))
        width = max(min(high, frame.width + FAR_PX) - low, 2.0)
        if high < 0 or low > frame.width:
            continue
        for number, lane in enumerate(timeline.lanes):
            if is_hatched(gap, lane, timeline):
                top = frame.y(float(places.lane_y[number]))
                painter.fillRect(QRectF(low, top, width, lane.rows * frame.row_px), brush)


def paint_bins(
    painter: QPainter,
    bins: npt.NDArray[np.void],
    timeline: Timeline,
    places: Places,
    frame: Frame,
    look: Look,
) -> None:
    """Paint the boxes, their labels if these fit, and the number of calls in merged boxes."""
    rects = rects_of(bins, places, frame)
    merged = bins["count"] > 1
    layers = bins["look"] & LAYER
    painter.setPen(Qt.PenStyle.NoPen)
    for layer in np.unique(layers).tolist():
        name = timeline.layers[layer]
        for is_merged, colour in ((False, look.layer(name)), (True, look.merged(name))):
            painter.setBrush(colour)
            draw_rects(painter, rects[(layers == layer) & (merged == is_merged)])
    _paint_flags(painter, bins, rects, look)
    if frame.row_px >= TEXT_FROM_PX:
        _paint_labels(painter, bins, rects, timeline, look)
        _paint_counts(painter, bins, rects, look)


def _paint_flags(painter: QPainter, bins: npt.NDArray[np.void], rects: Rects, look: Look) -> None:
    """Hatch calls whose exit was not recorded, and underline drops in red."""
    painter.setPen(Qt.PenStyle.NoPen)
    for at in np.flatnonzero((bins["look"] & OPEN) != 0):
        painter.fillRect(
            QRectF(*rects[at]), QBrush(QColor(255, 255, 255, 150), Qt.BrushStyle.Dense5Pattern)
        )
    dropped = rects[(bins["look"] & DROP) != 0]
    thick = np.minimum(dropped[:, 3], 3.0)
    dropped[:, 1] += dropped[:, 3] - thick
    dropped[:, 2], dropped[:, 3] = np.maximum(dropped[:, 2], 3.0), thick
    painter.setBrush(themed(DROP_COLOURS, look.dark))
    draw_rects(painter, dropped)


def _paint_labels(
    painter: QPainter,
    bins: npt.NDArray[np.void],
    rects: Rects,
    timeline: Timeline,
    look: Look,
) -> None:
    metrics = QFontMetricsF(painter.font())
    fits = (bins["count"] == 1) & (rects[:, 2] > LABEL_FROM_PX) & (bins["name"] > 0)
    for at in np.flatnonzero(fits):
        inner = QRectF(*rects[at]).adjusted(4, 0, -3, 0)
        inner.setLeft(max(inner.left(), 4.0))  # also if the box begins further left
        background = look.layer(timeline.layers[bins["look"][at] & LAYER])
        painter.setPen(text_on(background))
        name = timeline.names[bins["name"][at]]
        short = metrics.elidedText(name, Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(inner, _ALIGN_LEFT, short)


def runs_of(bins: npt.NDArray[np.void], rects: Rects, label_from_px: int) -> list[tuple[int, int]]:
    """Return (first, last) of each run of adjacent boxes in a row that has merged boxes.

    A single box that is wider than `label_from_px` pixels ends a run.
    """
    if not len(bins):
        return []
    right = rects[:, 0] + rects[:, 2]
    single_wide = (bins["count"] == 1) & (rects[:, 2] > label_from_px)
    apart = (np.diff(bins["row"]) != 0) | (rects[1:, 0] - right[:-1] > RUN_GAP_PX)
    apart |= single_wide[1:] | single_wide[:-1]
    starts = np.r_[0, np.flatnonzero(apart) + 1]
    stops = np.r_[starts[1:], len(bins)]
    merged = np.add.reduceat(bins["count"] > 1, starts) > 0
    pairs = zip(starts[merged].tolist(), (stops[merged] - 1).tolist(), strict=True)
    return [(first, last) for first, last in pairs]


def _paint_counts(painter: QPainter, bins: npt.NDArray[np.void], rects: Rects, look: Look) -> None:
    metrics = QFontMetricsF(painter.font())
    background = look.role(QPalette.ColorRole.Base)
    for first, last in runs_of(bins, rects, LABEL_FROM_PX):
        left, right = max(rects[first, 0], 0.0), rects[last, 0] + rects[last, 2]
        text = f"×{int(bins['count'][first : last + 1].sum()):,}"
        width = metrics.horizontalAdvance(text) + 8
        if width > right - left or right - left < LABEL_FROM_PX:
            continue
        plate = QRectF((left + right - width) / 2, rects[first, 1] + 1, width, rects[first, 3] - 2)
        painter.fillRect(plate, background)
        painter.setPen(look.role(QPalette.ColorRole.Text))
        painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, text)


def paint_wire_bands(
    painter: QPainter, timeline: Timeline, places: Places, frame: Frame, look: Look
) -> None:
    """Paint the possible error of the packets' wire times, below the boxes."""
    colour = themed(WIRE_COLOURS, look.dark)
    colour.setAlpha(44)
    for wire in timeline.wires:
        half = max(wire.error_ns, 0) * frame.per_ns  # -1: unknown
        x = frame.x(float(wire.at))
        low, high = max(x - half, -FAR_PX), min(x + half, frame.width + FAR_PX)
        if low < high:
            painter.fillRect(
                QRectF(low, *lane_area(timeline, places, frame, wire.lane, high - low)), colour
            )


def lane_area(
    timeline: Timeline, places: Places, frame: Frame, lane: int, width: float
) -> tuple[float, float, float]:
    """Return (top, width, height) of a lane in pixels: what a QRectF needs after its left edge."""
    top = frame.y(float(places.lane_y[lane]))
    return top, width, timeline.lanes[lane].rows * frame.row_px


def paint_wires(
    painter: QPainter,
    bins: npt.NDArray[np.void],
    timeline: Timeline,
    places: Places,
    frame: Frame,
    look: Look,
) -> None:
    """Paint the wire times in lanes of packets, and the visible error bars in lanes of the wire."""
    colour = themed(WIRE_COLOURS, look.dark)
    painter.setPen(QPen(colour, 1.5, Qt.PenStyle.DashLine))
    for wire in timeline.wires:
        x = frame.x(float(wire.at))
        if 0 <= x <= frame.width:
            top, _, height = lane_area(timeline, places, frame, wire.lane, 0)
            painter.drawLine(QPointF(x, top - 2), QPointF(x, top + height + 2))
    painter.setPen(QPen(colour, 1.5))
    for lane in timeline.lanes:
        half = lane.error_ns * frame.per_ns
        if lane.what == "wire" and half >= 1:
            y = frame.y(float(places.row_y[lane.first]) + 0.5)
            alone = bins[(bins["row"] == lane.first) & (bins["count"] == 1)]
            for x in frame.x(alone["begin"].astype(np.float64)).tolist():
                _paint_error(
                    painter, (max(x - half, -FAR_PX), min(x + half, frame.width + FAR_PX)), y
                )


def _paint_error(painter: QPainter, ends: tuple[float, float], y: float) -> None:
    painter.drawLine(QPointF(ends[0], y), QPointF(ends[1], y))
    for end in ends:
        painter.drawLine(QPointF(end, y - 3), QPointF(end, y + 3))


def paint_titles(
    painter: QPainter,
    timeline: Timeline,
    places: Places,
    frame: Frame,
    look: Look,
    width: float,
) -> None:
    """Paint the lanes' titles into a column `width` pixels wide, which begins at x = 0."""
    usual = painter.font()
    whole = QFontMetricsF(usual).height()
    tops = [frame.y(y) for y in places.lane_y.tolist()]
    heights = [lane.rows * frame.row_px for lane in timeline.lanes]
    lines = title_lines(tops, heights, max(whole, frame.row_px))
    painter.setPen(look.role(QPalette.ColorRole.Text))
    for lane, top, height, (y, line) in zip(timeline.lanes, tops, heights, lines, strict=True):
        if top + height < 0 or top > frame.height:
            continue
        painter.setFont(_lower(usual, line / whole, LEAST_TEXT_PX))
        metrics = QFontMetricsF(painter.font())
        box = QRectF(6, y, width - 10, line)
        short = metrics.elidedText(lane.title, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, _ALIGN_LEFT, short)
    painter.setFont(usual)


def title_lines(
    tops: Sequence[float], heights: Sequence[float], wanted: float
) -> list[tuple[float, float]]:
    """Return (top, height) of each lane's title, in pixels.

    A title is `wanted` pixels high if there is enough space, and stays in view as long as its lane
    is in view. If a lane is less high than its title, the title extends into the next lane,
    provided that two titles fit there.
    """
    found, free = [], -math.inf
    for at, (top, height) in enumerate(zip(tops, heights, strict=True)):
        bottom = top + height
        if height + TITLE_OVER >= wanted:
            line = wanted
            y = min(max(top, 0.0), bottom - min(line, height))
        else:
            below = heights[at + 1] - wanted if at + 1 < len(heights) else 0.0
            line = min(wanted, height + TITLE_OVER + max(below, 0.0))
            y = top
        found.append((max(y, free), line))
        free = found[-1][0] + line if line > height + TITLE_OVER else -math.inf
    return found


def _lower(font: QFont, part: float, least_px: int) -> QFont:
    """Return `font`, made smaller if only `part` of its height is free."""
    if part >= 1 or font.pixelSize() <= 0:
        return font
    made = QFont(font)
    made.setPixelSize(max(least_px, int(font.pixelSize() * part)))
    return made


def row_font(font: QFont, row_px: float) -> QFont:
    """Return `font` in a size that fits rows of `row_px` pixels."""
    made = QFont(font)
    fits = min(QFontInfo(font).pixelSize(), round(row_px * TEXT_PART))
    made.setPixelSize(max(LEAST_TEXT_PX, fits))
    return made
