# SPDX-License-Identifier: MIT
"""The table of a disassembled function: one row per instruction."""

from __future__ import annotations

from enum import IntEnum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush, QFont, QFontDatabase

from skbviewer.analysis.words.disassembly_text import (
    instruction_text,
    linked_text,
    mark_text,
    short_text,
)

from ..base.theme import DROP_COLOURS, themed
from .execution_count_bars import SHARE

if TYPE_CHECKING:
    from skbviewer.analysis.disassembly import Disassembly, Instruction

_ROLE = Qt.ItemDataRole


class CodeColumn(IntEnum):
    """The columns from left to right."""

    JUMPS = 0
    EXECUTED = 1
    OFFSET = 2
    INSTRUCTION = 3
    MARKS = 4
    SOURCE = 5
    BYTES = 6


TITLES = ("Jumps", "Executed", "Offset", "Instruction", "In This Recording", "Source", "Bytes")
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class CodeModel(QAbstractTableModel):
    """Shows a Disassembly, or nothing."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[Instruction, ...] = ()
        self._most = 0  # executions of one instruction
        self.dark = False

    def show(self, shown: Disassembly | None, dark: bool) -> None:
        """Show the machine code of a function; None empties the table."""
        self.beginResetModel()
        self._rows = shown.instructions if shown is not None else ()
        self._most = max((one.executed or 0 for one in self._rows), default=0)
        self.dark = dark
        self.endResetModel()

    def instruction(self, row: int) -> Instruction:
        """Return the instruction of a row."""
        return self._rows[row]

    def row_of(self, address: int) -> int:
        """Return the row of the instruction at `address`; -1 if there is none."""
        return next((row for row, one in enumerate(self._rows) if one.address == address), -1)

    def marked_rows(self) -> list[int]:
        """Return the rows of instructions at which packets were dropped or calls were recorded."""
        return [row for row, one in enumerate(self._rows) if one.drops or one.calls]

    def _share(self, one: Instruction) -> float | None:
        """Return how often an instruction was executed, relative to the one executed most often."""
        return one.executed / self._most if one.executed else None

    def _text(self, one: Instruction, column: int) -> str:
        if column == CodeColumn.EXECUTED:
            return "" if one.executed is None else f"{one.executed:,}"
        if column == CodeColumn.OFFSET:
            return f"+{one.offset:#x}"
        if column == CodeColumn.INSTRUCTION:
            return short_text(one)
        if column == CodeColumn.MARKS:
            return mark_text(one)
        if column == CodeColumn.SOURCE and one.source is not None:
            return f"{PurePath(one.source.file).name}:{one.source.line}"
        if column == CodeColumn.BYTES:
            linked = linked_text(one)
            return f"{one.data.hex(' ')} ({linked})" if linked else one.data.hex(" ")
        return ""

    def _tip(self, one: Instruction, column: int) -> str:
        if column == CodeColumn.SOURCE and one.source is not None:
            return f"{one.source.file}:{one.source.line}"
        if column == CodeColumn.INSTRUCTION and one.target is not None:
            return instruction_text(one)
        return mark_text(one).replace(", ", "\n") if column == CodeColumn.MARKS else ""

    # Qt's own names

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return len(TITLES)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        """Return a column's title for Qt."""
        if role == _ROLE.TextAlignmentRole and section == CodeColumn.EXECUTED:
            return RIGHT
        if role == _ROLE.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return TITLES[section]
        return None

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = 0) -> Any:
        """Return a cell's text, font, colour or tooltip for Qt."""
        one, column = self._rows[index.row()], index.column()
        if role == _ROLE.DisplayRole:
            return self._text(one, column)
        if role == _ROLE.ToolTipRole:
            return self._tip(one, column) or None
        if column == CodeColumn.EXECUTED and role in (SHARE, _ROLE.TextAlignmentRole):
            return self._share(one) if role == SHARE else RIGHT
        if role == _ROLE.FontRole and column not in (CodeColumn.MARKS, CodeColumn.SOURCE):
            return QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        if role == _ROLE.FontRole and column == CodeColumn.MARKS:
            font = QFont()
            font.setBold(True)
            return font
        if role == _ROLE.ForegroundRole and one.drops and column != CodeColumn.JUMPS:
            return QBrush(themed(DROP_COLOURS, self.dark))
        return None
