# SPDX-License-Identifier: MIT
"""The rows of a comparison for a view: titles, texts, sorting, the display filter of a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont

from skbviewer.analysis.comparison import Difference, PathClass
from skbviewer.analysis.comparison.estimates import FUNCTIONS, SHARE
from skbviewer.analysis.stats.statistic_types import quote_text
from skbviewer.export.comparison_text import per, percent, title_of, value_text

from ..base.table_sorting import move_indexes, sorted_positions
from ..packets.packet_columns import LEFT, RIGHT

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_ROLE = Qt.ItemDataRole


class _Column(NamedTuple):
    """A column: its title, tooltip, text, and the value by which it is sorted (None: unknown)."""

    title: str
    tip: str
    text: Callable[[Difference], str]
    value: Callable[[Difference], Any]
    left: bool = False


def _value(row: Difference, value: float | None) -> str:
    text = "" if value is None else value_text(row, value).replace(" us", " µs")
    return f"{text} *" if text and row.lossy else text


def _change(row: Difference) -> str:
    if row.only_in:
        return f"only in {row.only_in}"
    return "" if row.change is None else f"{percent(row.change)} %"


def _interval(row: Difference) -> str:
    if row.low is None or row.high is None:
        return ""
    return f"{percent(row.low)} to {percent(row.high)}"


def _measure(row: Difference) -> str:
    between = " " if row.measure.unit == SHARE else ", "
    return f"{row.measure.name}{between}{per(row)}"


def _note(row: Difference) -> str:
    return "changed" if row.changed else row.why


def _columns(paths: Mapping[str, PathClass]) -> tuple[_Column, ...]:
    def title(row: Difference) -> str:
        return title_of(row, paths)

    lost = "* = lost records may have changed this value"
    return (
        _Column("Name", "What is compared", title, title, True),
        _Column("Measure", "The measured quantity", _measure,
                lambda r: r.measure.name, True),
        _Column("A", f"Value of the open recording; {lost}", lambda r: _value(r, r.a),
                lambda r: r.a),
        _Column("B", f"Value of the other recording; {lost}", lambda r: _value(r, r.b),
                lambda r: r.b),
        _Column("Change", "B compared with A", _change, lambda r: r.change),
        _Column("95 % interval", "The true change lies in this range, in percent, with a "
            "confidence of 95 %", _interval,
                lambda r: r.low),
        _Column("Result", "Whether the number changed, or why this cannot be "
            "judged", _note, _note, True),
        _Column("Data in A", "Number of calls, or of passes through a network stack, that were "
            "counted", lambda r: f"{r.number_a:,}",
                lambda r: r.number_a),
        _Column("Data in B", "Number of calls, or of passes through a network stack, that were "
            "counted", lambda r: f"{r.number_b:,}",
                lambda r: r.number_b),
    )  # fmt: skip


class ComparisonModel(QAbstractTableModel):
    """The rows of a comparison that one tab shows; changes are bold."""

    def __init__(
        self,
        rows: Sequence[Difference],
        paths: Mapping[str, PathClass],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.rows = list(rows)
        self._columns = _columns(paths)

    def filter(self, position: int) -> str | None:
        """Return the display filter for the packets of row `position`; None if there is none."""
        row = self.rows[position]
        is_function = row.measure.section == FUNCTIONS
        return f"kbl.func == {quote_text(row.name)}" if is_function else None

    # Qt's own names

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort the rows by the values of a column.  Unknown values come last."""
        if not 0 <= column < len(self._columns):
            return
        values = [self._columns[column].value(row) for row in self.rows]
        self.layoutAboutToBeChanged.emit()
        order_of_rows = sorted_positions(values, order is Qt.SortOrder.DescendingOrder)
        self.rows = [self.rows[position] for position in order_of_rows]
        move_indexes(self, order_of_rows)
        self.layoutChanged.emit()

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._columns)

    def data(self, index: Index, role: int = _ROLE.DisplayRole) -> Any:
        """Return a cell's text, alignment, font or tooltip for Qt."""
        if not index.isValid():
            return None
        row, column = self.rows[index.row()], self._columns[index.column()]
        if role == _ROLE.DisplayRole:
            return column.text(row)
        if role == _ROLE.TextAlignmentRole:
            return LEFT if column.left else RIGHT
        if role == _ROLE.FontRole and row.changed:
            font = QFont()
            font.setBold(True)
            return font
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = _ROLE.DisplayRole
    ) -> Any:
        """Return a column's title, alignment or tooltip for Qt."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        column = self._columns[section]
        if role == _ROLE.TextAlignmentRole:
            return LEFT if column.left else RIGHT
        if role == _ROLE.ToolTipRole:
            return column.tip
        return column.title if role == _ROLE.DisplayRole else None
