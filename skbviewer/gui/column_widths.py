# SPDX-License-Identifier: MIT
"""How wide the packet list's columns are: as the user made them, else by what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QFont, QFontMetrics, QFontMetricsF

from .packet_columns import Column
from .packet_times import sample
from .sort_header import ARROW

if TYPE_CHECKING:
    from .packet_table import PacketTable

MIN_INFO = 140
MARGINS = 12
SCROLL_BAR = 20
ADDRESSES = ("source", "destination")
KERNELS = ("drop", "process")  # empty without a KBL: then Info has their room
SELDOM = ("drop", "match")  # seldom as wide as they may be: Info has the rest
ROWS_FITTED = 200
MOST_PART = 6  # of the window's width is what a fitted column takes at most


class ColumnWidths:
    """Widths in pixels of the columns of one table; Info takes what the others leave."""

    def __init__(self, table: PacketTable) -> None:
        self._table = table
        self._own: dict[str, int] = {}  # by key: those that nobody chose
        self._letter = _letter(table.font())

    def chosen(self, at: int) -> int:
        """What the user made a shown column; 0 if nothing."""
        column, width = self._table.packets.columns[at], self._table.header.sectionSize(at)
        return 0 if column.key == "info" or self._is_own(at) else width

    def set(self, at: int, width: int) -> None:
        """Make a column `width` wide; 0: as wide as is usual, until the user chooses."""
        column = self._table.packets.columns[at]
        if width:
            self._own.pop(column.key, None)
        else:
            self._own[column.key] = width = self._usual(column)
        self._table.header.resizeSection(at, width)

    def fit(self) -> None:
        """Make columns whose width nobody chose wide enough for what is listed now."""
        packets = self._table.packets
        own = [at for at in self._table.shown_columns() if self._is_own(at)]
        keys = {at: packets.columns[at].key for at in own}
        for at in own:
            if keys[at] in ("number", *KERNELS, *SELDOM):
                self.set(at, 0)
        for wanted in (("process",), ADDRESSES):  # which have what is left
            most = self._table.window().width() // MOST_PART
            if wanted is ADDRESSES:
                most = min(most, self._room() // 2)
            for at in own:
                if keys[at] in wanted:
                    self._fit_to_rows(at, most)
        self.fill()

    def widen(self) -> None:
        """Other rows are listed: make room for what was not among those before."""
        packets, header = self._table.packets, self._table.header
        for at in self._table.shown_columns():
            column, width = packets.columns[at], header.sectionSize(at)
            if column.key in SELDOM and self._is_own(at) and self._usual(column) > width:
                self.set(at, 0)
        self.fill()

    def _fit_to_rows(self, at: int, most: int) -> None:
        table, metrics = self._table, QFontMetrics(self._table.font())
        column = table.packets.columns[at]
        rows = range(min(ROWS_FITTED, table.packets.rowCount()))
        texts = {table.packets.text(row, at) for row in rows}
        wide = max(map(metrics.horizontalAdvance, texts), default=0) + MARGINS
        self._own[column.key] = max(self._usual(column), min(wide, most))
        table.header.resizeSection(at, self._own[column.key])

    def _room(self) -> int:
        """What addresses may take before Info has too little."""
        keys = [column.key for column in self._table.packets.columns]
        others = [
            self._table.header.sectionSize(at)
            for at in self._table.shown_columns()
            if keys[at] not in (*ADDRESSES, "info")
        ]
        return self._table.window().width() - sum(others) - MIN_INFO - SCROLL_BAR

    def fit_time(self) -> None:
        """The times have another form."""
        at = self._table.packets.column_of("time")
        if at >= 0 and not self._table.header.isSectionHidden(at):
            self.set(at, 0)
            self.fill()

    def scale(self) -> None:
        """After the text changed its size: columns as wide for it as they were."""
        before, now = self._letter, _letter(self._table.font())
        self._letter = now
        for at in self._table.shown_columns():
            if self._table.packets.columns[at].key != "info":
                self.set(at, round(self.chosen(at) * now / before))
        self.fit()

    def fill(self) -> None:
        """Give Info the width that the others leave."""
        table, header = self._table, self._table.header
        info = table.packets.column_of("info")
        if info < 0 or header.isSectionHidden(info):
            return
        others = header.length() - header.sectionSize(info)
        header.resizeSection(info, max(table.viewport().width() - others, MIN_INFO))

    def _is_own(self, at: int) -> bool:
        key = self._table.packets.columns[at].key
        return self._own.get(key) == self._table.header.sectionSize(at)

    def _usual(self, column: Column) -> int:
        metrics = QFontMetrics(self._table.font())
        text = column.sample
        if column.key == "time":
            text = sample(self._table.packets.time_format, self._table.packets.precision)
        if column.key == "number":
            text = max(text, *self._table.packets.longest_numbers(), key=len)
        texts = self._listed(column) if column.key in SELDOM else None
        if column.key in KERNELS and not self._table.packets.has_kernel:
            texts = [column.title]
        title = metrics.horizontalAdvance(column.title) + ARROW
        wide = max(title, *map(metrics.horizontalAdvance, texts or [text]))
        room = metrics.height() + 6 if column.key == "match" else 0  # its chip
        return MIN_INFO if column.key == "info" else wide + room + MARGINS

    def _listed(self, column: Column) -> list[str] | None:
        """What a column shows, if there are so few rows that all can be asked; else None."""
        packets = self._table.packets
        if packets.rowCount() > ROWS_FITTED:
            return None
        at = packets.columns.index(column)
        return [column.title, *{packets.text(row, at) for row in range(packets.rowCount())}]


def _letter(font: QFont) -> float:
    """How wide a letter is, about."""
    return QFontMetricsF(font).averageCharWidth()
