# SPDX-License-Identifier: MIT
"""The packet list's model: it counts all rows, but reads only rows that are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush, QColor, QIcon

from skbviewer.records.annotation import IGNORE, MARK, TIME_REF

from ..base import wording
from ..base.host_names import HostNames
from ..base.recording_interface import Recording, RowIds
from ..base.theme import DROP_COLOURS, VERDICT_COLOURS, RowColours, chip, themed
from .colour_rules import Rule, colours
from .packet_columns import COLUMNS, RIGHT, Column
from .packet_rows import ListRow, RowPages, list_row
from .row_flags import FlagSets
from .time_column import REFERENCE, Moment, Precision, References, TimeFormat, time_text

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_ROLE = Qt.ItemDataRole
MIDDLE = 128  # of a colour's lightness, from 0 to 255
# As in Wireshark: a marked row is black, an ignored one grey on the list's background.
MARKED = RowColours(QColor("#000000"), QColor("#ffffff"))
IGNORED = (
    RowColours(QColor("#ffffff"), QColor("#7f7f7f")),
    RowColours(QColor("#1b1e20"), QColor("#7f7f7f")),
)
NO_ROWS = np.empty(0, np.int64)


CELLS_KEPT = 2000  # rows


class Cell(NamedTuple):
    """The look of a cell; `background` and `foreground` are None for the palette's colours."""

    text: str
    background: QColor | None
    foreground: QColor | None
    icon: QIcon | None
    right: bool  # align the text right
    elide: Qt.TextElideMode  # where to cut a text that does not fit


class Noted(Protocol):
    """The notes and flags that the list shows."""

    flags: FlagSets

    def comment(self, row: ListRow) -> str:
        """Return the comment on a row; "" if there is none."""


class Unnoted:
    """A recording without notes and flags."""

    def __init__(self) -> None:
        self.flags = FlagSets()

    def comment(self, row: ListRow) -> str:
        """Return "", because no row has a comment."""
        return ""


class PacketModel(QAbstractTableModel):
    """Shows rows of one recording, or nothing."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns: tuple[Column, ...] = COLUMNS
        self.notes: Noted = Unnoted()
        self.time_format = TimeFormat.FIRST
        self.precision = Precision.NANOSECONDS
        self.pages: RowPages | None = None
        self.has_kernel = True  # a KBL is open, or no recording
        self._first_ns = 0
        self._references = References()
        self._dark = False
        self._cells: dict[int, list[Cell]] = {}
        self._rules: tuple[Rule, ...] = ()
        self._texts: tuple[str, ...] = ()
        self.names: HostNames | None = None  # names of addresses

    def show(self, recording: Recording | None, ids: RowIds | None = None) -> None:
        """Show the rows `ids` of `recording`, in this order; None means all packets by number."""
        self.beginResetModel()
        self._cells.clear()
        self.pages = None if recording is None else RowPages(recording, ids)
        self._first_ns = 0 if recording is None else _first_time(recording)
        sources = () if recording is None else recording.sources()
        self.has_kernel = recording is None or any(source.kind.is_log for source in sources)
        self.endResetModel()

    def shows(self, recording: Recording | None) -> bool:
        """Return whether the rows that are shown belong to `recording`."""
        return recording is (None if self.pages is None else self.pages.recording)

    def row(self, position: int) -> ListRow | None:
        """Return the row at `position` (from 0), None if there is none."""
        if self.pages is None or not 0 <= position < self.pages.count:
            return None
        return self.pages[position]

    def ids(self, first: int, count: int) -> RowIds:
        """Return the ids of `count` listed rows, from position `first` on."""
        return NO_ROWS if self.pages is None else self.pages.ids(first, count)

    def position_of(self, row_id: int) -> int | None:
        """Return the position of the row with the id `row_id`; None if it is not listed."""
        return None if self.pages is None else self.pages.position_of(row_id)

    def nearest(self, row_id: int) -> int | None:
        """Return the position of the listed row whose number is nearest to that of `row_id`."""
        return None if self.pages is None else self.pages.nearest(row_id)

    @property
    def packets(self) -> int:
        """Return the number of packets in the recording, listed or not."""
        return 0 if self.pages is None else self.pages.packets

    def longest_numbers(self) -> tuple[str, str]:
        """Return the numbers of the last packet and of the last row K<n>, such as ("12", "K3").

        These numbers are the longest texts in their column.
        """
        if self.pages is None:
            return "", ""
        return str(self.packets), f"K{self.pages.recording.packets.all_kernel_only_count()}"

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Show these columns, from left to right, instead of the present ones."""
        self.beginResetModel()
        self._cells.clear()
        self.columns = tuple(columns)
        self.endResetModel()

    def column_of(self, key: str) -> int:
        """Return the index of the column with this `key`; -1 if the column is not shown."""
        keys = [column.key for column in self.columns]
        return keys.index(key) if key in keys else -1

    def set_time_format(self, form: TimeFormat) -> None:
        """Set the format of the Time column."""
        self.time_format = form
        self.repaint()

    def set_precision(self, precision: Precision) -> None:
        """Set the number of digits in the Time column."""
        self.precision = precision
        self.repaint()

    def set_references(self, numbers: RowIds, times: list[int]) -> None:
        """Set the time references.

        `numbers` are packet numbers in ascending order, `times` the times of these packets (ns).
        """
        self._references.set(numbers, times)
        self.repaint()

    def set_rules(self, rules: Sequence[Rule]) -> None:
        """Colour rows by these rules from now on; rules that are turned off are ignored."""
        self._rules = tuple(rule for rule in rules if rule.on)
        self._texts = tuple(rule.text for rule in self._rules)
        self.repaint()

    def set_dark(self, dark: bool) -> None:
        """Use the colours for a dark window if `dark`, or else those for a light window."""
        self._dark = dark
        self.repaint()

    def read_again(self) -> None:
        """Read the rows again, because the recording now knows more about them."""
        if self.pages is not None:
            self.pages.read_again()
        self.repaint()

    def repaint(self) -> None:
        """Discard the cached cells, and paint all rows again."""
        self._cells.clear()
        if self.rowCount():
            last = self.index(self.rowCount() - 1, len(self.columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def loaded(self, position: int) -> bool:
        """Return whether the row at `position` can be shown without a query.

        Returns True if there is no such row.
        """
        inside = self.pages is not None and 0 <= position < self.pages.count
        return not inside or (self.pages is not None and self.pages.loaded(position))

    def cells(self, position: int) -> list[Cell]:
        """Return the cells of the row at `position`, by column; [] if there is no such row."""
        cells = self._cells.get(position)
        if cells is None:
            row = self.row(position)
            if row is None:
                return []
            if len(self._cells) > CELLS_KEPT:
                self._cells.clear()
            painted = self._colours(row, position)
            cells = [self._cell(row, position, at, painted) for at in range(len(self.columns))]
            self._cells[position] = cells
        return cells

    def _cell(self, row: ListRow, position: int, at: int, painted: RowColours | None) -> Cell:
        column = self.columns[at]
        background, foreground = (
            (None, None) if painted is None else (painted.background, painted.text)
        )
        if column.key == "drop" and row.lost and painted not in (MARKED, *IGNORED):
            # A colouring rule's background may be dark in the light theme, such as that of ICMP.
            is_dark = self._dark if background is None else background.lightness() < MIDDLE
            foreground = themed(DROP_COLOURS, is_dark)
        icon = self._decoration(row, column.key)
        text = self._text(row, position, at)
        # Names are cut at their end, addresses as the column says.
        elide = column.elide if ":" in text else Qt.TextElideMode.ElideRight
        return Cell(text, background, foreground, icon, column.align == RIGHT, elide)

    def text(self, position: int, column: int) -> str:
        """Return the text of a cell; `position` counts the listed rows from 0."""
        row = self.row(position)
        return "" if row is None else self._text(row, position, column)

    def _text(self, row: ListRow, position: int, column: int) -> str:
        shown = self.columns[column]
        if shown.key == "time":
            return self._time(row, position)
        if shown.value is None:
            return "" if self.pages is None else self.pages.field(position, shown.order)
        text = shown.value(row)
        if self.names is not None and shown.key in ("source", "destination"):
            return self.names.name(text)
        return text

    def _time(self, row: ListRow, position: int) -> str:
        if self.notes.flags.has(TIME_REF, row.id):
            return REFERENCE
        first, before, shown = self._first_ns, None, None
        if row.packet is not None:
            first = self._references.first_ns(row.packet, first)
        if self.time_format is TimeFormat.PREVIOUS and self.pages is not None:
            before = self.pages.captured_before(position)
        elif self.time_format is TimeFormat.PREVIOUS_SHOWN:
            above = self.row(position - 1)
            shown = None if above is None else above.ts_ns
        return time_text(Moment(row.ts_ns, first, before, shown), self.time_format, self.precision)

    def _tip(self, row: ListRow, key: str) -> str | None:
        comment = self.notes.comment(row)
        if key == "match":
            return f"{wording.VERDICT.get(row.verdict, row.verdict)}: {row.reason}"
        if key == "drop" and row.drop:
            return wording.drop(row.drop, row.drop_place, row.lost)
        texts = {"info": row.info, "source": row.source, "destination": row.destination}
        return "\n".join(part for part in (texts.get(key, ""), comment) if part) or None

    def _colours(self, row: ListRow, position: int) -> RowColours | None:
        if self.notes.flags.has(IGNORE, row.id):
            return IGNORED[self._dark]
        if self.notes.flags.has(MARK, row.id):
            return MARKED
        found = -1 if self.pages is None else self.pages.fit(position, self._texts)
        return None if found < 0 else colours(self._rules[found], self._dark)

    def _decoration(self, row: ListRow, key: str) -> QIcon | None:
        if key == "match" and row.verdict in VERDICT_COLOURS:
            return chip(themed(VERDICT_COLOURS[row.verdict], self._dark))
        if key == "number" and self.notes.comment(row):
            return chip(QColor("#2ca02c"))
        return None

    # Qt's own names

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() or self.pages is None else self.pages.count

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = _ROLE.DisplayRole) -> Any:
        """Return a cell's text or tooltip for Qt."""
        if role == _ROLE.TextAlignmentRole:
            return self.columns[index.column()].align if index.isValid() else None
        if role not in _ANSWERED or not index.isValid():
            return None
        cells, row = self.cells(index.row()), self.row(index.row())
        if not cells or row is None:
            return None
        cell = cells[index.column()]
        if role == _ROLE.ToolTipRole:
            return self._tip(row, self.columns[index.column()].key)
        if role == _ROLE.DisplayRole:
            return cell.text
        if role == _ROLE.DecorationRole:
            return cell.icon
        colour = cell.background if role == _ROLE.BackgroundRole else cell.foreground
        return None if colour is None else QBrush(colour)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = _ROLE.DisplayRole
    ) -> Any:
        """Return a column's title, alignment or tooltip for Qt."""
        inside = orientation is Qt.Orientation.Horizontal and 0 <= section < len(self.columns)
        if not inside:
            return None
        if role == _ROLE.TextAlignmentRole:
            return self.columns[section].align
        if role == _ROLE.ToolTipRole:
            return self.columns[section].tip
        return self.columns[section].title if role == _ROLE.DisplayRole else None


def _first_time(recording: Recording) -> int:
    """Return the time of packet 1 or, without packets, the start of K1, in ns; 0 if unknown."""
    first = 1 if recording.packets.count() else -1
    if first < 0 and not recording.packets.kernel_only_count():
        return 0
    return list_row(recording.packets.rows(np.array([first]))[0]).ts_ns or 0


_ANSWERED = (
    _ROLE.DisplayRole,
    _ROLE.ToolTipRole,
    _ROLE.DecorationRole,
    _ROLE.BackgroundRole,
    _ROLE.ForegroundRole,
)
