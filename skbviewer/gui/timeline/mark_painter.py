# SPDX-License-Identifier: MIT
"""Paint markers, the selected range and notes above the lanes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPalette, QPen, QRegion

from skbviewer.records import NotePlace

from ..base import wording
from ..base.theme import themed
from .lane_painter import Look, band
from .markers_and_range import MARKERS, TimeState, stack_levels
from .path_painter import above_all
from .pixel_frame import Frame

MARKER_COLOURS = {"A": ("#006400", "#5fd35f"), "B": ("#008b8b", "#3fd9d9")}  # KernelShark's
NOTE_COLOURS = ("#fff3b0", "#5c5220")
TAG_PX = 18
NOTE_WIDTH_PX = 180
NOTE_LEVELS = 3
_ELIDE = Qt.TextElideMode.ElideRight


class NoteTag(NamedTuple):
    """The box of a note's text."""

    place: NotePlace
    box: QRectF


def paint_marks(
    painter: QPainter,
    state: TimeState,
    origin_ns: int,
    frame: Frame,
    look: Look,
    top: float = 0.0,
    spared: Sequence[QRectF] = (),
) -> None:
    """Paint the markers, the selected range and the notes.

    `origin_ns` is the session time at x = 0 of the frame.  The letters of markers are `top` pixels
    below the upper end.  Notes and their lines do not cover the boxes `spared`.
    """
    if state.range is not None:
        _paint_range(painter, state.range, origin_ns, frame, look)
    tags = note_tags(painter, state, origin_ns, frame, spared)
    for tag in tags:
        _paint_guides(painter, tag, origin_ns, frame, look, spared)
    for tag in tags:
        _paint_note(painter, tag, look)
    for letter in MARKERS:
        at = state.marker(letter)
        if at is not None:
            _paint_marker(painter, letter, at - origin_ns, frame, look, top)
    _paint_difference(painter, state, origin_ns, frame, look, top)


def _paint_range(
    painter: QPainter, times: tuple[int, int], origin_ns: int, frame: Frame, look: Look
) -> None:
    area = band(times, origin_ns, frame)
    if area is None:
        return
    colour = QColor(look.role(QPalette.ColorRole.Highlight))
    painter.setPen(QPen(colour, 1))
    painter.drawLine(area.topLeft(), area.bottomLeft())
    painter.drawLine(area.topRight(), area.bottomRight())
    colour.setAlpha(56)
    painter.fillRect(area, colour)
    text = wording.duration(times[1] - times[0])
    _tag(painter, text, area.center().x(), frame.height / 2, look, None, frame)


def _paint_marker(
    painter: QPainter, letter: str, at: int, frame: Frame, look: Look, top: float
) -> None:
    x = frame.x(float(at))
    if not -1 <= x <= frame.width + 1:
        return
    colour = themed(MARKER_COLOURS[letter], look.dark)
    painter.setPen(QPen(colour, 1.5))
    painter.drawLine(QPointF(x, 0), QPointF(x, frame.height))
    box = QRectF(x, top, TAG_PX - 4, TAG_PX - 2)
    if box.right() > frame.width:
        box.moveRight(x)
    painter.fillRect(box, colour)
    painter.setPen(look.role(QPalette.ColorRole.Base))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, letter)


def _paint_difference(
    painter: QPainter, state: TimeState, origin_ns: int, frame: Frame, look: Look, top: float
) -> None:
    if state.a is None or state.b is None or state.difference is None:
        return
    low, high = sorted(frame.x(float(at - origin_ns)) for at in (state.a, state.b))
    if high < 0 or low > frame.width:
        return
    low, high = max(low, 0.0), min(high, frame.width)
    y = top + TAG_PX + 8.0
    painter.setPen(QPen(look.role(QPalette.ColorRole.Text), 1))
    painter.drawLine(QPointF(low, y), QPointF(high, y))
    text = f"B − A = {wording.difference(state.difference)}"
    _tag(painter, text, (low + high) / 2, y, look, None, frame)


def _tag(
    painter: QPainter,
    text: str,
    x: float,
    y: float,
    look: Look,
    colour: QColor | None,
    frame: Frame,
) -> None:
    """Paint text on its own background around (x, y), inside the frame."""
    width = QFontMetricsF(painter.font()).horizontalAdvance(text) + 10
    left = min(max(x - width / 2, 2.0), max(frame.width - width - 2, 2.0))
    box = QRectF(left, y - TAG_PX / 2, width, TAG_PX)
    painter.fillRect(box, look.role(QPalette.ColorRole.Base))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(colour or look.role(QPalette.ColorRole.Text))
    painter.drawRect(box)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def note_tags(
    painter: QPainter,
    state: TimeState,
    origin_ns: int,
    frame: Frame,
    spared: Sequence[QRectF] = (),
) -> list[NoteTag]:
    """Return the visible notes with the rectangles in which they are painted.

    The notes are stacked upwards from the lower end, and do not cover the boxes `spared`.
    """
    metrics = QFontMetricsF(painter.font())
    seen = []
    for place in state.notes:
        x = frame.x(float(place.begin_ns - origin_ns))
        end = frame.x(float(place.end_ns - origin_ns))
        if end >= 0 and x <= frame.width:
            width = min(metrics.horizontalAdvance(place.note.text) + 12, NOTE_WIDTH_PX)
            left = min(max(x, 0.0), max(frame.width - width, 0.0))
            seen.append((left, width, place))
    seen.sort(key=lambda one: one[0])
    levels = stack_levels([(left, left + width) for left, width, _ in seen], NOTE_LEVELS)
    tags: list[NoteTag] = []
    for (left, width, place), level in zip(seen, levels, strict=True):
        box = QRectF(left, frame.height - (level + 1) * (TAG_PX + 2) - 2, width, TAG_PX)
        free = above_all(box, [*spared, *(tag.box for tag in tags)]) if spared else box
        tags.append(NoteTag(place, free if free.top() >= 0 else box))
    return tags


def _paint_guides(
    painter: QPainter,
    tag: NoteTag,
    origin_ns: int,
    frame: Frame,
    look: Look,
    spared: Sequence[QRectF],
) -> None:
    """Paint dotted lines up from a note; they pass behind the boxes `spared`."""
    painter.save()
    whole = QRegion(0, 0, math.ceil(frame.width), math.ceil(frame.height))
    for box in spared:
        whole -= QRegion(box.toAlignedRect())
    painter.setClipRegion(whole, Qt.ClipOperation.IntersectClip)
    painter.setPen(QPen(look.role(QPalette.ColorRole.Text), 1, Qt.PenStyle.DotLine))
    for at in {tag.place.begin_ns, tag.place.end_ns}:
        x = frame.x(float(at - origin_ns))
        if 0 <= x <= frame.width:
            painter.drawLine(QPointF(x, 0), QPointF(x, tag.box.top()))
    painter.restore()


def _paint_note(painter: QPainter, tag: NoteTag, look: Look) -> None:
    background = themed(NOTE_COLOURS, look.dark)
    edge = look.role(QPalette.ColorRole.Text)
    painter.fillRect(tag.box, background)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(edge, 1))
    painter.drawRect(tag.box)
    text = QFontMetricsF(painter.font()).elidedText(
        tag.place.note.text, _ELIDE, tag.box.width() - 8
    )
    painter.drawText(tag.box, Qt.AlignmentFlag.AlignCenter, text)
