# SPDX-License-Identifier: MIT
"""The picture's table of times per function, in BLOCKS columns side by side."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPalette

from skbviewer.records import Behind, Leg, PacketPath, PathCall

from ..base import wording
from ..base.theme import UNKNOWN_LAYER

BLOCKS = 2
GAP = 32
_FONT_PX = 12
_LINE = 17
# where each text begins, or ends if right-aligned, as parts of a block's width
_LAYER, _ENTRY, _DURATION, _SELF = 0.48, 0.70, 0.86, 1.0


class Line(NamedTuple):
    """A call of a leg; `call` is None for the heading of the leg."""

    leg: Leg
    call: PathCall | None
    behind: Behind | None


def _lines(path: PacketPath) -> list[Line]:
    delays = [(leg, path.behind(leg)) for leg in path.legs]
    return [Line(leg, call, behind) for leg, behind in delays for call in (None, *leg.calls)]


def _blocks(path: PacketPath) -> list[list[Line]]:
    """Return the lines as columns; no column ends with the heading of a leg."""
    lines = _lines(path)
    split = -(-len(lines) // BLOCKS)
    if lines and lines[split - 1].call is None:
        split -= 1
    return [lines[:split], lines[split:]]


def table_height(path: PacketPath) -> int:
    """Return the height in pixels of the table that paint_table() paints for `path`."""
    return (max(map(len, _blocks(path))) + 1) * _LINE if path.legs else 0


def paint_table(
    painter: QPainter,
    area: QRectF,
    path: PacketPath,
    colours: dict[str, QColor],
    palette: QPalette,
    base: QFont,
) -> None:
    """Paint a table with one line for each call of `path` into `area`.

    Times are in µs; entries are relative to the start of the leg.
    """
    if not path.legs:
        return
    font = QFont(base)
    font.setPixelSize(_FONT_PX)
    width = (area.width() - (BLOCKS - 1) * GAP) / BLOCKS
    for number, lines in enumerate(_blocks(path)):
        box = QRectF(area.left() + number * (width + GAP), area.top(), width, _LINE)
        painter.setFont(font)
        painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
        _texts(painter, box, ("Function", "Layer", "Entry µs", "Duration µs", "Self µs"), 0)
        for line in lines:
            box.translate(0, _LINE)
            _paint_line(painter, box, line, colours, palette)


def _paint_line(
    painter: QPainter, box: QRectF, line: Line, colours: dict[str, QColor], palette: QPalette
) -> None:
    font = painter.font()
    font.setBold(line.call is None)
    painter.setFont(font)
    painter.setPen(palette.color(QPalette.ColorRole.Text))
    call = line.call
    if call is None:
        painter.fillRect(box, palette.color(QPalette.ColorRole.AlternateBase))
        title = QFontMetricsF(font).elidedText(
            wording.leg_title(line.leg, line.behind), Qt.TextElideMode.ElideRight, box.width()
        )
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, title)
        return
    chip = QRectF(box.left() + _LAYER * box.width() - 14, box.center().y() - 4, 9, 9)
    painter.fillRect(chip, colours.get(call.layer, QColor(UNKNOWN_LAYER)))
    times = (
        wording.microseconds(call.entry_ns - line.leg.begin_ns),
        wording.microseconds(call.dur_ns) or "no exit",
        wording.microseconds(call.self_ns),
    )
    _texts(painter, box, (call.titled, call.layer, *times), 10 * call.depth)


def _texts(
    painter: QPainter, box: QRectF, words: tuple[str, str, str, str, str], indent: float
) -> None:
    metrics = QFontMetricsF(painter.font())
    room = _LAYER * box.width() - 20 - indent
    name = metrics.elidedText(words[0], Qt.TextElideMode.ElideRight, room)
    middle = Qt.AlignmentFlag.AlignVCenter
    painter.drawText(box.adjusted(indent, 0, 0, 0), middle, name)
    painter.drawText(box.adjusted(_LAYER * box.width(), 0, 0, 0), middle, words[1])
    for end, text in zip((_ENTRY, _DURATION, _SELF), words[2:], strict=True):
        side = middle | Qt.AlignmentFlag.AlignRight
        painter.drawText(QRectF(box.left(), box.top(), end * box.width(), box.height()), side, text)
