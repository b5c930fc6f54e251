# SPDX-License-Identifier: MIT
"""A table with bars for the parts of the time in kernel, and for those of median packets."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPalette
from PySide6.QtWidgets import (
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
)

from skbviewer.analysis.stats.time_in_kernel_table import TimeTable
from skbviewer.export.diagnosis_text import part_name

from ..base import wording
from ..base.theme import VERDICT_COLOURS, WIRE_COLOURS, is_dark, themed

TITLES = ("Part", "Share", "Time (µs)", "Median (µs)")
TIPS = (
    "Part of the packets' time in kernel",
    "Bar: share of the time in kernel. Line: share of this part in the time in kernel of the "
    "median packets",
    "Total of the chosen packets",
    "What the total would be if each packet spent as much time here as the median packet of its "
    "path",
)
BAR = 1
LEAST_WIDE = 60  # pixels of a column
LENGTHS = Qt.ItemDataRole.UserRole
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class _Bar(QStyledItemDelegate):
    """Paints a share as a bar, and the median as a line across it."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        super().paint(painter, option, index)  # the background
        length, median = index.data(LENGTHS)
        dark = is_dark(option.palette)
        place: QRect = option.rect.adjusted(4, 3, -6, -3)
        bar = QRect(place)
        bar.setWidth(max(round(place.width() * length), 1))
        painter.fillRect(bar, themed(VERDICT_COLOURS["kernel-only"], dark))
        if median is not None:
            at = place.left() + round((place.width() - 2) * median)
            line = QRect(at, place.top() - 2, 2, place.height() + 4)
            painter.fillRect(line, self._line(option, dark))

    @staticmethod
    def _line(option: QStyleOptionViewItem, dark: bool) -> QColor:
        selected = option.state & QStyle.StateFlag.State_Selected
        if selected:
            palette: QPalette = option.palette
            return palette.color(QPalette.ColorRole.HighlightedText)
        return themed(WIRE_COLOURS, dark)


class TimeBars(QTreeWidget):
    """The parts of the time in kernel, longest first."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Parts of the packets' time in kernel")
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setAlternatingRowColors(True)
        self.setHeaderLabels(TITLES)
        for at, tip in enumerate(TIPS):
            self.headerItem().setToolTip(at, tip)
            if at > BAR:
                self.headerItem().setTextAlignment(at, RIGHT)
        self._bar = _Bar(self)
        self.setItemDelegateForColumn(BAR, self._bar)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(BAR, QHeaderView.ResizeMode.Stretch)
        self.header().setMinimumSectionSize(LEAST_WIDE)

    def show_table(self, table: TimeTable) -> None:
        """Show `table`; the longest bar fills its column, and the others have the same scale."""
        self.clear()
        longest = max((max(row.total_ns, row.median_ns or 0) for row in table.rows), default=1)
        for row in table.rows:
            usual = "" if row.median_ns is None else wording.microseconds(row.median_ns)
            texts = [part_name(row), "", wording.microseconds(row.total_ns), usual]
            item = QTreeWidgetItem(self, texts)
            item.setToolTip(0, f"{texts[0]}: {row.share:.2f} % of the time in kernel")
            item.setToolTip(BAR, f"{row.share:.2f} %")
            median = None if row.median_ns is None else row.median_ns / max(longest, 1)
            item.setData(BAR, LENGTHS, (row.total_ns / max(longest, 1), median))
            item.setSizeHint(BAR, QSize(0, self.fontMetrics().height() + 4))
            for at in (2, 3):
                item.setTextAlignment(at, RIGHT)
        for column in (0, 2, 3):
            self.resizeColumnToContents(column)
