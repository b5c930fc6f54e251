# SPDX-License-Identifier: MIT
"""The rows of a query for a view."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from ..packets.packet_columns import LEFT, RIGHT
from .query_process import Result

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_ROLE = Qt.ItemDataRole
PACKET = "packet"  # the column that makes rows lead to packets


class QueryModel(QAbstractTableModel):
    """The rows of `result`.  Missing values are shown as empty cells.

    `packets` has the packet numbers in the column PACKET, if the result has this column.
    """

    def __init__(self, result: Result) -> None:
        super().__init__()
        self.result = result
        self._packet = result.columns.index(PACKET) if PACKET in result.columns else -1
        found = map(self.packet, range(len(result.rows)))
        self.packets = [number for number in found if number is not None]

    def packet(self, position: int) -> int | None:
        """Return the packet's number in the row at `position`; None if the row names no packet."""
        value = self.result.rows[position][self._packet] if self._packet >= 0 else None
        return value if isinstance(value, int) and value > 0 else None

    # Qt's own names

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.result.rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.result.columns)

    def data(self, index: Index, role: int = _ROLE.DisplayRole) -> Any:
        """Return a cell's text or alignment for Qt."""
        if not index.isValid():
            return None
        value = self.result.rows[index.row()][index.column()]
        if role == _ROLE.DisplayRole:
            return "" if value is None else str(value)
        if role == _ROLE.TextAlignmentRole:
            return LEFT if isinstance(value, str) else RIGHT
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = _ROLE.DisplayRole
    ) -> Any:
        """Return a column's name, or a row's number from 1, for Qt."""
        if role != _ROLE.DisplayRole:
            return None
        if orientation is Qt.Orientation.Vertical:
            return str(section + 1)
        return self.result.columns[section]
