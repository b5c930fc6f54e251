# SPDX-License-Identifier: MIT
"""The picture of one packet: its headers, its path through the kernel, its input files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPalette

from skbviewer import __version__
from skbviewer.analysis.timeline.shown_timeline_part import DPI, rows_text
from skbviewer.records import PacketPath

from ..base import wording
from ..base.recording_interface import Recording
from ..base.status_text import clock_texts
from ..base.theme import VERDICT_COLOURS, dark_palette, layer_colours, light_palette, themed
from ..packets.packet_rows import ListRow, list_row
from ..packets.selected_packet_summary import headline, totals
from .function_times_table import paint_table, table_height
from .path_picture import PathPicture
from .picture_files import ensure_application, layout_size, write_png
from .picture_font import export_font

MARGIN = 24
SPACE = 16


def render_png(
    session: Recording,
    out: Path,
    number: int,
    size: tuple[int, int] = (1600, 900),
    dpi: int = DPI,
    theme: str = "light",
) -> None:
    """Paint row `number` (n: packet n, -n: K<n>) to the file `out`.

    `size` is (width, least height) in pixels.

    All lengths are scaled by `dpi` / DPI.  Needs no display.  Raises KeyError if there is no such
    row, BadInput if `out` cannot be written.
    """
    if not (
        1 <= number <= session.packets.count()
        or 1 <= -number <= session.packets.all_kernel_only_count()
    ):
        raise KeyError(f"no packet {rows_text([number])}")
    (row,) = session.packets.rows(np.array([number]))
    render_row(session, list_row(row), out, size, dpi, theme)


def render_row(
    session: Recording,
    row: ListRow,
    out: Path,
    size: tuple[int, int] = (1600, 900),
    dpi: int = DPI,
    theme: str = "light",
) -> None:
    """Paint a row of the packet list, which may be kernel-only, to the file `out`.

    The other arguments are those of render_png().
    """
    ensure_application()
    path = session.paths.path(packet=row.packet, series=row.series)
    palette = dark_palette() if theme == "dark" else light_palette()
    width = layout_size(size, dpi).width()
    picture = _Picture(session, row, path, palette, theme == "dark", width)
    height = max(size[1], math.ceil(picture.needed * dpi / DPI))
    texts = {"Title": f"{headline(row)} {row.info}", "Source": "; ".join(_source_lines(session))}
    background = palette.color(QPalette.ColorRole.Base)
    whole = (size[0], height)
    lowest = height * DPI / dpi
    write_png(out, whole, dpi, background, texts, lambda painter: picture.paint(painter, lowest))


def _source_lines(session: Recording) -> list[str]:
    return [f"{Path(each.path).name}  SHA-256 {each.sha256}" for each in session.sources()]


class _Picture:
    """Lengths are in units of a pixel at the resolution DPI.  `needed` is the minimum height."""

    def __init__(
        self,
        session: Recording,
        row: ListRow,
        path: PacketPath,
        palette: QPalette,
        dark: bool,
        width: int,
    ) -> None:
        self._row, self._path, self._palette, self._dark = row, path, palette, dark
        self._colours = layer_colours(session.layers(), dark)
        self._footer = [*_source_lines(session), *clock_texts(session)]
        self._font, self._width = export_font(14), width
        self._lanes = PathPicture(path, self._colours, palette)
        self._line = QFontMetricsF(self._font).height() + 4
        self._table = table_height(path)
        self._head, self._foot = 4.6 * self._line, (len(self._footer) + 1) * self._line
        parts = (self._head, self._lanes.height, SPACE, self._table, SPACE, self._foot)
        self.needed = 2 * MARGIN + sum(parts)

    def paint(self, painter: QPainter, height: float) -> None:
        """Paint the whole picture from (0, 0); the input files are named at the lower end."""
        painter.setFont(self._font)
        self._paint_head(painter, self._line, self._width)
        area = QRectF(MARGIN, MARGIN + self._head, self._width - 2 * MARGIN, self._lanes.height)
        self._lanes.paint(painter, area)
        area = QRectF(area.left(), area.bottom() + SPACE, area.width(), self._table)
        paint_table(painter, area, self._path, self._colours, self._palette, self._font)
        self._paint_foot(painter, self._line, height - MARGIN - self._foot + self._line)

    def _paint_head(self, painter: QPainter, line: float, width: int) -> None:
        row = self._row
        verdict = wording.VERDICT.get(row.verdict, row.verdict)
        colours = VERDICT_COLOURS.get(row.verdict, ("#555555", "#bbbbbb"))
        text = self._palette.color(QPalette.ColorRole.Text)
        path = self._path
        legs = " · ".join(wording.leg_title(leg, path.behind(leg)) for leg in path.legs)
        y = MARGIN + line
        for words, size, bold, colour in (
            (f"{headline(row)}  {row.info}", 20, True, text),
            (f"{verdict}: {row.reason}", 14, False, themed(colours, self._dark)),
            (totals(self._path, self._row), 14, True, text),
            (legs, 14, False, text),
        ):
            _write(
                painter, self._font, words, (MARGIN, y, width - 2 * MARGIN), (size, bold), colour
            )
            y += line

    def _paint_foot(self, painter: QPainter, line: float, y: float) -> None:
        dim = self._palette.color(QPalette.ColorRole.PlaceholderText)
        for words in (*self._footer, f"Made with skbviewer {__version__}"):
            _write(painter, self._font, words, (MARGIN, y, 10_000), (12, False), dim)
            y += line


def _write(
    painter: QPainter,
    base: QFont,
    words: str,
    place: tuple[float, float, float],
    look: tuple[int, bool],
    colour: QColor,
) -> None:
    font = QFont(base)
    font.setPixelSize(look[0])
    font.setBold(look[1])
    painter.setFont(font)
    painter.setPen(colour)
    short = QFontMetricsF(font).elidedText(words, Qt.TextElideMode.ElideRight, place[2])
    painter.drawText(round(place[0]), round(place[1]), short)
