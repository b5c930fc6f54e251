# SPDX-License-Identifier: MIT
"""The annotated picture of one packet: what it was, where its time went, what it was made from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import QByteArray, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QImageWriter, QPainter, QPalette

from skbviewer import __version__
from skbviewer.analysis.timeline_shown import rows_text
from skbviewer.records import BadInput, PacketPath

from . import wording
from .contract import Recording
from .fonts import export_font
from .packet_rows import ListRow, list_row
from .picture_files import ensure_application
from .render_table import paint_table, table_height
from .status import clock_texts
from .summary import headline, totals
from .theme import VERDICT_COLOURS, chosen, dark_palette, layer_colours, light_palette
from .timeline_view import TimelineView

DPI = 96
MARGIN = 24
_TIMELINE_ROW = 20


def render_png(
    session: Recording,
    out: Path,
    number: int,
    size: tuple[int, int] = (1600, 900),
    dpi: int = DPI,
    theme: str = "light",
) -> None:
    """Paint row `number` (-n is K<n>) to `out`, `size` pixels wide and at least as high.

    Needs no display.  KeyError: there is no such row.  BadInput: `out` cannot be written.
    """
    if not (
        1 <= number <= session.packet_count() or 1 <= -number <= session.all_kernel_only_count()
    ):
        raise KeyError(f"no packet {rows_text([number])}")
    (row,) = session.rows(np.array([number]))
    render_row(session, list_row(row), out, size, dpi, theme)


def render_row(
    session: Recording,
    row: ListRow,
    out: Path,
    size: tuple[int, int] = (1600, 900),
    dpi: int = DPI,
    theme: str = "light",
) -> None:
    """As render_png, for a row of the packet list: also a packet life that met no wire packet."""
    ensure_application()
    path = session.path(packet=row.packet, series=row.series)
    palette = dark_palette() if theme == "dark" else light_palette()
    image = _Picture(session, row, path, palette, theme == "dark").image(QSize(*size))
    image.setDotsPerMeterX(round(dpi / 0.0254))
    image.setDotsPerMeterY(round(dpi / 0.0254))
    image.setText("Title", f"{headline(row)} {row.info}")
    image.setText("Software", f"skbviewer {__version__}")
    image.setText("Source", "; ".join(_source_lines(session)))
    writer = QImageWriter(str(out), QByteArray(b"png"))
    if not writer.write(image):
        raise BadInput(out, None, f"cannot write: {writer.errorString()}")


def _source_lines(session: Recording) -> list[str]:
    return [f"{Path(each.path).name}  SHA-256 {each.sha256}" for each in session.sources()]


class _Picture:
    def __init__(
        self, session: Recording, row: ListRow, path: PacketPath, palette: QPalette, dark: bool
    ) -> None:
        self._row, self._path, self._palette, self._dark = row, path, palette, dark
        self._colours = layer_colours(session.layers(), dark)
        self._footer = [*_source_lines(session), *clock_texts(session)]
        self._font = export_font(14)

    def image(self, size: QSize) -> QImage:
        """As wide as `size`; higher where the table of functions needs it."""
        line = QFontMetricsF(self._font).height() + 4
        head, foot = 4.6 * line, (len(self._footer) + 1) * line
        timeline = self._timeline(size.width() - 2 * MARGIN)
        table = table_height(self._path)
        needed = round(2 * MARGIN + head + timeline.height() + 16 + table + 16 + foot)
        image = QImage(size.width(), max(size.height(), needed), QImage.Format.Format_RGB32)
        image.fill(self._palette.color(QPalette.ColorRole.Base))
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._font)
        self._paint_head(painter, line, size.width())
        y = MARGIN + head
        timeline.render(painter, QPoint(MARGIN, round(y)))
        y += timeline.height() + 16
        area = QRectF(MARGIN, y, size.width() - 2 * MARGIN, table)
        paint_table(painter, area, self._path, self._colours, self._palette, self._font)
        self._paint_foot(painter, line, image.height() - MARGIN - foot + line)
        painter.end()
        return image

    def _timeline(self, width: int) -> TimelineView:
        view = TimelineView()
        view.setPalette(self._palette)
        view.set_colours(self._colours)
        view.show_path(self._path)
        rows = view.item.layout.rows
        view.resize(width, round(rows * _TIMELINE_ROW) + 70)
        view.ensurePolished()
        view.grab()  # lays out and paints once, so that sizes are settled
        view.fit()
        return view

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
            (f"{verdict}: {row.reason}", 14, False, chosen(colours, self._dark)),
            (totals(self._path), 14, True, text),
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
