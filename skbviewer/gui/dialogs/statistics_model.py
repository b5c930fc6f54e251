# SPDX-License-Identifier: MIT
"""A table of statistics for a view: titles, texts, sorting, the display filter of a row."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from skbviewer.analysis.stats import STATISTICS, Table
from skbviewer.analysis.stats.column_meanings import meaning
from skbviewer.analysis.stats.expert_table import SEVERITY
from skbviewer.analysis.stats.rows_from_columns import ColumnRows, values_of

from ..base import wording
from ..base.table_sorting import move_indexes, natural_key, sorted_positions
from ..packets.packet_columns import LEFT, RIGHT

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_ROLE = Qt.ItemDataRole
Names = Callable[[str], str]  # returns the name of an address
ADDRESSES = ("address", "address_a", "address_b")
# Numbers that name something: they are not grouped by thousands.
NAMING = ("port", "port_a", "port_b", "source", "kbl", "host", "interface")
MIXED = ("packet", "name")  # numbers and texts in one column
SENTENCES = "text"  # key of a column of findings


def title_of(statistic: str, key: str) -> str:
    """Return the title of the column `key` of a statistic: "Self (µs)" for "self_ns"."""
    titles = STATISTICS[statistic].titles
    if key in titles:
        return titles[key]
    word = "count" if key == "number" else key.removesuffix("_ns")
    unit = " (µs)" if key.endswith("_ns") else ""
    percentile = re.fullmatch(r"p\d+", word) is not None
    words = word.replace("_", " ")
    return (words if percentile else words[0].upper() + words[1:]) + unit


def _sort_key(key: str, value: Any) -> Any:
    """Return the sort key of a value in a column; None for an unknown value."""
    if key == "severity":
        return SEVERITY.index(value) if value in SEVERITY else len(SEVERITY)
    return natural_key(value) if key in MIXED or isinstance(value, str) else value


class StatisticModel(QAbstractTableModel):
    """The rows of a table of `statistic`, or of one of its tabs (`tab`).

    The Begin column is relative to `first_ns`.  Columns without a known value are left out.
    """

    def __init__(
        self,
        statistic: str,
        table: Table,
        tab: str = "",
        first_ns: int = 0,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.statistic, self.tab = statistic, tab
        self._first_ns = first_ns
        self._names: Names = lambda address: address
        self._keys = table.keys
        rows = ColumnRows.of(table.rows, len(table.keys))
        self._rows = rows.taken(rows.with_text(0, tab)) if tab else rows
        self.columns = [
            at
            for at in range(1 if tab else 0, len(table.keys))
            if not self._rows or self._rows.has_values(at)
        ]

    def key(self, column: int) -> str:
        """Return the name of a column in `skbviewer stats --csv`, such as "self_ns"."""
        return self._keys[self.columns[column]]

    def shown(self) -> Table:
        """Return the table with its rows as they are sorted now, and with all columns."""
        return Table(self._keys, self._rows)

    def filter(self, position: int) -> str | None:
        """Return the display filter for the packets of row `position`; None if there is none."""
        filter_of = STATISTICS[self.statistic].filter
        row = dict(zip(self._keys, self._rows[position], strict=True))
        return None if filter_of is None else filter_of(row)

    def use_names(self, names: Names) -> None:
        """Show host names instead of addresses; `names` returns the name of an address."""
        self._names = names
        if self._rows:
            last = self.index(len(self._rows) - 1, len(self.columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def text(self, position: int, column: int) -> str:
        """Return the text of a cell; `position` is the row's place in the present order."""
        key, value = self.key(column), self._rows.value(position, self.columns[column])
        if value is None:
            return ""
        if key in ADDRESSES:
            return self._names(value)
        if key in STATISTICS[self.statistic].seconds:
            return wording.seconds(value - (self._first_ns if key == "begin_ns" else 0))
        if key.endswith("_ns"):
            return wording.microseconds(value)
        return str(value) if key in NAMING else _text(value)

    def has_sentences(self, column: int) -> bool:
        """Return whether the cells of a column are sentences, which need much width."""
        return self.key(column) == SENTENCES

    # Qt's own names

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort the rows by the values of a column.  Unknown values come last."""
        if not 0 <= column < len(self.columns):
            return
        at, key = self.columns[column], self.key(column)
        values = [_sort_key(key, value) for value in values_of(self._rows.columns[at])]
        self.layoutAboutToBeChanged.emit()
        order_of_rows = sorted_positions(values, order is Qt.SortOrder.DescendingOrder)
        self._rows = self._rows.taken(np.array(order_of_rows, np.int64))
        move_indexes(self, order_of_rows)
        self.layoutChanged.emit()

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def _alignment(self, column: int) -> Any:
        at = self.columns[column]
        first = self._rows.value(0, at) if self._rows else None
        return LEFT if isinstance(first, str) else RIGHT

    def data(self, index: Index, role: int = _ROLE.DisplayRole) -> Any:
        """Return a cell's text, alignment or tooltip for Qt."""
        if not index.isValid():
            return None
        if role == _ROLE.DisplayRole:
            return self.text(index.row(), index.column())
        if role == _ROLE.ToolTipRole and self.has_sentences(index.column()):
            return f"<qt>{escape(self.text(index.row(), index.column()))}</qt>"  # wraps lines
        return self._alignment(index.column()) if role == _ROLE.TextAlignmentRole else None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = _ROLE.DisplayRole
    ) -> Any:
        """Return a column's title, alignment or tooltip for Qt."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        if role == _ROLE.TextAlignmentRole:
            return self._alignment(section)
        if role == _ROLE.ToolTipRole:
            text = meaning(self.statistic, self.key(section))
            return text[:1].upper() + text[1:]
        return title_of(self.statistic, self.key(section)) if role == _ROLE.DisplayRole else None


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.3f}"
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
