# SPDX-License-Identifier: MIT
"""The packet list's model: every row counts at once, only rows that are looked at are asked for."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush

from . import wording
from .contract import Recording
from .packet_columns import COLUMNS, MATCH, TIME, TimeFormat, time_text
from .packet_rows import ListRow, RowPages
from .theme import VERDICT_COLOURS, chip, chosen, row_colours

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_ROLE = Qt.ItemDataRole


class PacketModel(QAbstractTableModel):
    """Shows one recording, or nothing."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pages: RowPages | None = None
        self._first_ns = (0, 0)  # of the packets, of the kernel-only rows
        self.time_format = TimeFormat.FIRST
        self._dark = False

    def show(self, recording: Recording | None, kernel_only: bool) -> None:
        """Show `recording`; with `kernel_only` also the packet lives that met no wire packet."""
        self.beginResetModel()
        self._pages = None if recording is None else RowPages(recording, kernel_only)
        self._first_ns = (self._ts_of(0), self._ts_of(self._pages.packets if self._pages else 0))
        self.endResetModel()

    def row(self, position: int) -> ListRow | None:
        """The row at `position` from 0, None outside."""
        if self._pages is None or not 0 <= position < self._pages.count:
            return None
        return self._pages[position]

    def position_of(self, packet: int) -> int | None:
        """Where packet number `packet` stands."""
        known = self._pages is not None and 1 <= packet <= self._pages.packets
        return packet - 1 if known else None

    @property
    def packets(self) -> int:
        return 0 if self._pages is None else self._pages.packets

    def set_time_format(self, form: TimeFormat) -> None:
        self.time_format = form
        self._repaint([_ROLE.DisplayRole])

    def set_dark(self, dark: bool) -> None:
        self._dark = dark
        self._repaint([_ROLE.BackgroundRole, _ROLE.ForegroundRole])

    def _repaint(self, roles: list[Qt.ItemDataRole]) -> None:
        if self.rowCount():
            last = self.index(self.rowCount() - 1, len(COLUMNS) - 1)
            self.dataChanged.emit(self.index(0, 0), last, [int(role) for role in roles])

    def _ts_of(self, position: int) -> int:
        row = self.row(position)
        return 0 if row is None else row.ts_ns

    def _display(self, row: ListRow, column: int) -> str:
        if column == TIME:
            return time_text(row, self.time_format, self._first_ns[row.packet is None])
        return COLUMNS[column].value(row)

    def _tip(self, row: ListRow, column: int) -> str | None:
        if column == MATCH:
            return f"{wording.VERDICT.get(row.verdict, row.verdict)}: {row.reason}"
        return row.info if column == MATCH - 3 else None

    def _brush(self, row: ListRow, role: int) -> QBrush | None:
        colours = row_colours(row.protocol, row.info, self._dark)
        if colours is None:
            return None
        return QBrush(colours.background if role == _ROLE.BackgroundRole else colours.text)

    # Qt's own names

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() or self._pages is None else self._pages.count

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: Index, role: int = _ROLE.DisplayRole) -> Any:
        if role == _ROLE.TextAlignmentRole:
            return COLUMNS[index.column()].align if index.isValid() else None
        if role not in _ANSWERED or not index.isValid():
            return None
        row = self.row(index.row())
        if row is None:
            return None
        if role == _ROLE.DisplayRole:
            return self._display(row, index.column())
        if role == _ROLE.ToolTipRole:
            return self._tip(row, index.column())
        if role == _ROLE.DecorationRole:
            if index.column() != MATCH or row.verdict not in VERDICT_COLOURS:
                return None
            return chip(chosen(VERDICT_COLOURS[row.verdict], self._dark))
        return self._brush(row, role)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = _ROLE.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(COLUMNS):
            return None
        if role == _ROLE.TextAlignmentRole:
            return COLUMNS[section].align
        return COLUMNS[section].title if role == _ROLE.DisplayRole else None


_ANSWERED = (
    _ROLE.DisplayRole,
    _ROLE.ToolTipRole,
    _ROLE.DecorationRole,
    _ROLE.BackgroundRole,
    _ROLE.ForegroundRole,
)
