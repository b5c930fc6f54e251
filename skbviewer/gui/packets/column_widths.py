# SPDX-License-Identifier: MIT
"""Widths of the packet list's columns: chosen by the user, or fitted to their contents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtGui import QFont, QFontMetrics, QFontMetricsF
from PySide6.QtWidgets import QTableView

from ..base.sort_header import ARROW
from .packet_columns import Column
from .packet_list_header import PacketHeader
from .packet_model import PacketModel
from .time_column import sample

INFO_LETTERS = 20  # minimum width of Info; the list scrolls sideways if there is less room
MARGINS = 12
SCROLL_BAR = 20
ADDRESSES = ("source", "destination")
KERNELS = ("drop", "process")  # empty without a KBL; Info gets their room then
SELDOM = ("drop", "match")  # rarely as wide as they could be; Info gets the rest
ROWS_FITTED = 256  # rows that are read to fit the columns of a new recording
MOST_PART = 6  # a fitted column takes at most 1 / MOST_PART of the window's width
INFO_PART = 3  # others shrink if Info has less than this part of the width


class ColumnWidths:
    """Widths in pixels of one table's columns.  Info takes the remaining width."""

    def __init__(self, table: QTableView, header: PacketHeader, packets: PacketModel) -> None:
        self._table, self._header, self._packets = table, header, packets
        self._own: dict[str, int] = {}  # by key: widths that the user did not choose
        self._letter = _letter(table.font())

    def chosen(self, at: int) -> int:
        """Return the width in pixels that the user gave to the visible column `at`; 0 if none."""
        column, width = self._packets.columns[at], self._header.sectionSize(at)
        return 0 if column.key == "info" or self._is_own(at) else width

    def set(self, at: int, width: int) -> None:
        """Set the width of column `at`; 0 means the default until the user chooses a width."""
        column = self._packets.columns[at]
        if width:
            self._own.pop(column.key, None)
        else:
            self._own[column.key] = width = self._usual(column)
        self._header.resizeSection(at, width)

    def fit(self) -> None:
        """Fit columns to the listed rows, except columns whose width the user chose."""
        packets = self._packets
        keys = {at: packets.columns[at].key for at in self._header.shown_columns()}
        own = [at for at in keys if keys[at] != "info" and self._is_own(at)]
        for at in own:
            self.set(at, 0)
        for wanted in (("process",), ADDRESSES):  # these share the remaining width
            for at in own:
                if keys[at] in wanted:
                    self._fit_to_rows(at, self._most(keys[at]))
        if self._left() < self._table.window().width() // INFO_PART:
            self._tighten(own)
        self.fill()

    def _most(self, key: str) -> int:
        """Return the maximum width of a column that is fitted to the rows."""
        most = self._table.window().width() // MOST_PART
        return min(most, self._room() // 2) if key in ADDRESSES else most

    def _tighten(self, columns: Sequence[int]) -> None:
        """Narrow `columns` to the texts of the listed rows, so that Info gets more width."""
        for at in columns:
            column, width = self._packets.columns[at], self._header.sectionSize(at)
            self._have(at, min(self._usual(column, tight=True), width))

    def _have(self, at: int, width: int) -> None:
        self._own[self._packets.columns[at].key] = width
        self._header.resizeSection(at, width)

    def widen(self) -> None:
        """Widen columns for rows that are newly listed or sorted; no column becomes narrower."""
        packets, header = self._packets, self._header
        for at in self._header.shown_columns():
            column, sorts = packets.columns[at], at == header.sortIndicatorSection()
            if self._is_own(at) and (column.key in SELDOM or sorts):
                self._have(at, max(self._usual(column, tight=not sorts), header.sectionSize(at)))
        self.fill()

    def see(self, first: int, last: int) -> None:
        """Widen columns for the rows on screen, from `first` to `last`.

        In a long list, fit() does not measure all rows.
        """
        packets, header = self._packets, self._header
        for at in self._header.shown_columns():
            column = packets.columns[at]
            if column.key in SELDOM and self._is_own(at):
                texts = {packets.text(row, at) for row in range(first, last + 1)}
                self._have(at, max(self._wide(column, texts), header.sectionSize(at)))
        self.fill()

    def _fit_to_rows(self, at: int, most: int) -> None:
        packets, metrics = self._packets, QFontMetrics(self._table.font())
        column = packets.columns[at]
        rows = range(min(ROWS_FITTED, packets.rowCount()))
        texts = {packets.text(row, at) for row in rows}
        wide = max(map(metrics.horizontalAdvance, texts), default=0) + MARGINS
        self._have(at, max(self._usual(column), min(wide, most)))

    def _room(self) -> int:
        """Return the width that the address columns can take without squeezing Info."""
        return self._left(*ADDRESSES) - self._least_info()

    def _least_info(self) -> int:
        return round(INFO_LETTERS * self._letter)

    def _left(self, *keys: str) -> int:
        """Return the width that is left in the window after all columns except Info and `keys`."""
        columns = self._packets.columns
        others = [
            self._header.sectionSize(at)
            for at in self._header.shown_columns()
            if columns[at].key not in (*keys, "info")
        ]
        return self._table.window().width() - sum(others) - SCROLL_BAR

    def fit_time(self) -> None:
        """Fit the Time column after its format changed."""
        at = self._packets.column_of("time")
        if at >= 0 and not self._header.isSectionHidden(at):
            self.set(at, 0)
            self.fill()

    def scale(self) -> None:
        """Scale the widths of the columns after the text size has changed."""
        before, now = self._letter, _letter(self._table.font())
        self._letter = now
        for at in self._header.shown_columns():
            if self._packets.columns[at].key != "info":
                self.set(at, round(self.chosen(at) * now / before))
        self.fit()

    def fill(self) -> None:
        """Give the column Info the width that the other columns leave."""
        table, header = self._table, self._header
        info = self._packets.column_of("info")
        if info < 0 or header.isSectionHidden(info):
            return
        others = header.length() - header.sectionSize(info)
        header.resizeSection(info, max(table.viewport().width() - others, self._least_info()))

    def _is_own(self, at: int) -> bool:
        key = self._packets.columns[at].key
        return self._own.get(key) == self._header.sectionSize(at)

    def _usual(self, column: Column, tight: bool = False) -> int:
        """Return the default width; if `tight`, the width of title and rows without sort arrow."""
        packets, texts = self._packets, [column.sample]
        if column.key == "time":
            texts = [sample(packets.time_format, packets.precision)]
        if tight or column.key in SELDOM:
            texts = self._listed(column) or texts
        if column.key == "number":
            texts = [*texts, *packets.longest_numbers()]
        if column.key in KERNELS and not packets.has_kernel:
            texts = []
        title = QFontMetrics(self._table.font()).horizontalAdvance(column.title)
        least = title + MARGINS + (0 if tight else ARROW)
        return self._least_info() if column.key == "info" else max(least, self._wide(column, texts))

    def _wide(self, column: Column, texts: Iterable[str]) -> int:
        """Return the width that `texts` need in a column."""
        metrics = QFontMetrics(self._table.font())
        room = metrics.height() + 6 if column.key == "match" else 0  # for the chip
        return max(map(metrics.horizontalAdvance, texts), default=0) + room + MARGINS

    def _listed(self, column: Column) -> list[str]:
        """Return the texts of a column; [] if rows that have not been read may have wider texts."""
        packets = self._packets
        if packets.rowCount() > ROWS_FITTED and column.key not in SELDOM:
            return []
        at, rows = packets.columns.index(column), range(min(ROWS_FITTED, packets.rowCount()))
        return list({packets.text(row, at) for row in rows})


def _letter(font: QFont) -> float:
    """Return the average width of a letter in pixels."""
    return QFontMetricsF(font).averageCharWidth()
