# SPDX-License-Identifier: MIT
"""Paint the rows of the packet list.

Qt's own painting asks the model for seven roles of each cell and lays out each text again.  In
Python, this painting takes most of the time between two frames.  This module paints one row at a
time and keeps laid-out texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QIcon, QPainter, QPalette, QPixmap, QStaticText
from PySide6.QtWidgets import QWidget

from .packet_model import Cell

MARGIN = 3
ICON = 16
TEXTS_KEPT = 20_000
_RIGHT = Qt.AlignmentFlag.AlignRight


class Place(NamedTuple):
    """A column on screen, in pixels of the viewport."""

    column: int
    left: int
    width: int


class RowPainter:
    """Paints for one widget.  Call use_looks() when the widget's font or palette changes."""

    def __init__(self, widget: QWidget) -> None:
        self._widget = widget
        self._texts: dict[tuple[str, int, Qt.TextElideMode], tuple[str | QStaticText, int]] = {}
        self._pixmaps: dict[int, QPixmap] = {}
        self.use_looks()

    def use_looks(self) -> None:
        """Use the font and palette that the widget has now."""
        self._font = self._widget.font()
        self._metrics = QFontMetrics(self._font)
        self._ascent = self._metrics.ascent()
        self._texts.clear()
        self._pixmaps.clear()
        palette, role, group = self._widget.palette(), QPalette.ColorRole, QPalette.ColorGroup
        self._text = palette.color(role.Text)
        self._chosen = palette.color(group.Active, role.Highlight)
        self._chosen_dim = palette.color(group.Inactive, role.Highlight)
        self._chosen_text = palette.color(role.HighlightedText)

    def paint(
        self,
        painter: QPainter,
        row: QRect,
        places: Sequence[Place],
        cells: Sequence[Cell],
        chosen: bool,
        active: bool,
    ) -> None:
        """Paint the cells of a row into the rectangle `row`.

        `places` are the columns on screen.  `chosen` says whether the row is selected, `active`
        whether the window is active.
        """
        background = cells[0].background
        if chosen:
            painter.fillRect(row, self._chosen if active else self._chosen_dim)
        elif background is not None:
            painter.fillRect(row, background)
        top, height = row.top(), row.height()
        text_top, pen = top + (height - self._metrics.height()) // 2, None
        ascent = self._ascent
        for column, left, width in places:
            cell = cells[column]
            foreground = self._chosen_text if chosen else cell.foreground or self._text
            if foreground is not pen:
                painter.setPen(foreground)
                pen = foreground
            left, width = left + MARGIN, width - 2 * MARGIN
            if cell.icon is not None:
                painter.drawPixmap(left, top + (height - ICON) // 2, self._pixmap(cell.icon))
                left, width = left + ICON + MARGIN, width - ICON - MARGIN
            if cell.text:
                text, wide = self._laid_out(cell.text, width, cell.elide)
                if cell.right:
                    left += width - wide
                if isinstance(text, str):
                    painter.drawText(left, text_top + ascent, text)
                else:
                    painter.drawStaticText(left, text_top, text)

    def _laid_out(
        self, text: str, width: int, elide: Qt.TextElideMode
    ) -> tuple[str | QStaticText, int]:
        """Return a text cut to `width`, and its width in pixels.

        From the second call with the same text on, the result is a QStaticText.  Laying out a text
        takes longer than painting it once, so it pays only if the text is painted again.
        """
        found = self._texts.get((text, width, elide))
        if found is None:
            if len(self._texts) > TEXTS_KEPT:
                self._texts.clear()
            short, wide = text, self._metrics.horizontalAdvance(text)
            if wide > width:
                short = self._metrics.elidedText(text, elide, max(width, 0))
                wide = self._metrics.horizontalAdvance(short)
            found = self._texts[text, width, elide] = short, wide
        elif isinstance(found[0], str):
            static = QStaticText(found[0])
            static.setTextFormat(Qt.TextFormat.PlainText)
            static.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
            found = self._texts[text, width, elide] = static, found[1]
        return found

    def _pixmap(self, icon: QIcon) -> QPixmap:
        key = icon.cacheKey()
        if key not in self._pixmaps:
            ratio = self._widget.devicePixelRatioF()
            self._pixmaps[key] = icon.pixmap(QSize(ICON, ICON), ratio)
        return self._pixmaps[key]
