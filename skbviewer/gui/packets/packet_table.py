# SPDX-License-Identifier: MIT
"""The packet list: a table that reports the current row and the rows on screen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QRect,
    QSignalBlocker,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from ..base.empty_view_hint import EmptyText
from ..base.recording_interface import Recording, RowIds
from ..base.theme import is_dark
from . import column_state
from .column_state import ColumnState
from .column_widths import ColumnWidths
from .packet_columns import field_column
from .packet_list_header import PacketHeader
from .packet_model import PacketModel
from .packet_rows import ListRow
from .row_painter import Place, RowPainter
from .time_column import Precision, TimeFormat

_CHOOSE = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
VISIBLE_DELAY_MS = 40
AHEAD_DELAY_MS = 30  # a click right after scrolling is handled first


class PacketTable(QTableView):
    """Emits `row_chosen` with the ListRow that the user selected by mouse or keys."""

    row_chosen = Signal(object)
    visible_changed = Signal(object)  # RowIds of the rows on screen
    order_asked = Signal(object)  # (Column.order, descending), or None: by number
    columns_changed = Signal()
    typed = Signal(str)  # a letter, the first of a display filter

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("packets")
        self.setAccessibleName("Packet list")
        self.packets = PacketModel(self)
        self.packets.set_dark(is_dark(self.palette()))
        self.header = PacketHeader(self)
        self.setHorizontalHeader(self.header)
        self.header.setSortIndicatorShown(True)  # setHorizontalHeader() hid it
        self.widths = ColumnWidths(self, self.header, self.packets)
        self.setModel(self.packets)
        self.painter = RowPainter(self)
        mode = QAbstractItemView.SelectionMode.ExtendedSelection
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(mode)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._order: tuple[str, bool] | None = None  # (Column.order, descending)
        self._reported: RowIds = np.empty(0, np.int64)
        self._visible_timer = QTimer(self, interval=VISIBLE_DELAY_MS, singleShot=True)
        self._visible_timer.timeout.connect(self._report_visible)
        self._scrolled = False
        self._load_timer = QTimer(self, interval=0, singleShot=True)
        self._load_timer.timeout.connect(self._load)
        self._ahead_timer = QTimer(self, interval=AHEAD_DELAY_MS, singleShot=True)
        self._ahead_timer.timeout.connect(self._load_ahead)
        self.empty = EmptyText(self)
        self._set_row_height()
        self.restore_columns(column_state.DEFAULT)
        self._link()

    def _link(self) -> None:
        self.selectionModel().currentRowChanged.connect(self._report)
        self.verticalScrollBar().valueChanged.connect(self._scroll)
        self.packets.modelReset.connect(self._visible_timer.start)
        self.header.sortIndicatorChanged.connect(self._ask_order)
        self.header.sectionResized.connect(lambda *_: self.columns_changed.emit())
        self.header.sectionMoved.connect(lambda *_: self.columns_changed.emit())
        self.header.add_asked.connect(self.add_field)
        self.header.remove_asked.connect(self.remove_column)
        self.header.title_asked.connect(self._rename)
        self.header.fit_asked.connect(self.fit_column)
        self.header.reset_asked.connect(lambda: self.restore_columns(column_state.DEFAULT))

    # rows

    def show_rows(self, recording: Recording | None, ids: RowIds | None = None) -> None:
        """Show the rows `ids` of `recording`, and keep the current row.

        Without `ids`, all packets are shown; without a recording, the table is empty. If the
        current row is not listed any more, the row with the nearest number becomes current; if
        there is none, the first row becomes current.
        """
        before, other = self.current_row(), not self.packets.shows(recording)
        self.packets.show(recording, ids)
        if other:
            self.widths.fit()
        else:
            self.widths.widen()
        at = None if before is None else self.packets.nearest(before.id)
        self.go_to_row(at or 0)

    def go_to_row(self, position: int) -> None:
        """Go to the row at `position`, or to the nearest row that exists."""
        position = max(0, min(position, self.packets.rowCount() - 1))
        if self.packets.row(position) is not None:
            index = self.packets.index(position, max(self.currentIndex().column(), 0))
            # not setCurrentIndex(), which would keep the selection if Ctrl is held
            self.selectionModel().setCurrentIndex(index, _CHOOSE)
            self.scrollTo(index)

    def go_to_last(self) -> None:
        """Make the last row current."""
        self.go_to_row(self.packets.rowCount() - 1)

    def step(self, rows: int) -> None:
        """Go down by `rows` rows; up if it is negative."""
        self.go_to_row(self.currentIndex().row() + rows)

    def go_to_id(self, row_id: int) -> bool:
        """Go to the row with this id, or to the nearest row; return whether the row is listed."""
        exact = self.packets.position_of(row_id)
        position = self.packets.nearest(row_id) if exact is None else exact
        if position is not None:
            self.go_to_row(position)
        return exact is not None

    def current_row(self) -> ListRow | None:
        """Return the current row; None if there is none."""
        return self.packets.row(self.currentIndex().row())

    def chosen_positions(self) -> list[range]:
        """Return the positions of the selected rows as ranges, from top to bottom."""
        found = self.selectionModel().selection()
        parts = [found.at(n) for n in range(found.count())]
        ranges = [range(part.top(), part.bottom() + 1) for part in parts]
        return sorted(ranges, key=lambda part: part.start)

    def chosen_ids(self) -> RowIds:
        """Return the ids of the selected rows, from top to bottom."""
        parts = [self.packets.ids(part.start, len(part)) for part in self.chosen_positions()]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def _report(self, current: QModelIndex, _before: QModelIndex) -> None:
        row = self.packets.row(current.row())
        if row is not None:
            self.row_chosen.emit(row)

    def _scroll(self) -> None:
        self._scrolled = True
        self._visible_timer.start()

    def _screen(self) -> tuple[int, int]:
        """Return the first and last row on screen; (0, -1) if there is none."""
        first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        if first < 0:
            return 0, -1
        return first, self.packets.rowCount() - 1 if last < 0 else last

    def _load(self) -> None:
        """Read the rows that were skipped while scrolling, and repaint."""
        self._scrolled = False
        self.viewport().update()

    def _load_ahead(self) -> None:
        """Read the pages that Page Up and Page Down will show."""
        first, last = self._screen()
        for position in (2 * last - first, 2 * first - last):
            self.packets.row(max(0, min(position, self.packets.rowCount() - 1)))

    def _report_visible(self) -> None:
        first, last = self._screen()
        ids = self.packets.ids(first, last - first + 1)
        if not np.array_equal(ids, self._reported):
            self._reported = ids
            self.widths.see(first, last)
            self.visible_changed.emit(ids)

    # columns

    def columns_state(self) -> list[ColumnState]:
        """Return order and widths of the columns, for the settings."""
        header, found = self.header, []
        for visual in range(header.count()):
            at = header.logicalIndex(visual)
            column, hidden = self.packets.columns[at], header.isSectionHidden(at)
            width = 0 if hidden else self.widths.chosen(at)
            found.append(ColumnState(column.key, column.title, width, hidden))
        return found

    def restore_columns(self, states: Sequence[ColumnState]) -> None:
        """Show the columns that columns_state() returned."""
        current, header = self.currentIndex().row(), self.header
        pairs = [(state, state.column()) for state in states]
        known = [(state, column) for state, column in pairs if column is not None]
        self.packets.set_columns([column for _, column in known])
        for at in range(header.count()):
            header.moveSection(header.visualIndex(at), at)
        for at, (state, _) in enumerate(known):
            header.setSectionHidden(at, state.hidden)
            if not state.hidden:
                self.widths.set(at, state.width)
        self.widths.fit()
        self.show_order(self._order)
        self.columns_changed.emit()
        self.go_to_row(current)

    def add_field(self, name: str) -> bool:
        """Show the field `name` as a column before Info; return False if there is no such field."""
        column = field_column(name.strip())
        if column is None:
            return False
        states = [state for state in self.columns_state() if state.key != column.key]
        at = next((n for n, state in enumerate(states) if state.key == "info"), len(states))
        states.insert(at, ColumnState(column.key, column.title))
        self.restore_columns(states)
        return True

    def remove_column(self, section: int) -> None:
        """Remove the column of a field, or hide a built-in column, which can be shown again."""
        key = self.packets.columns[section].key
        if not key.startswith("field:"):
            self.header.setSectionHidden(section, True)
            self.columns_changed.emit()
        else:
            self.restore_columns([s for s in self.columns_state() if s.key != key])

    def fit_column(self, section: int) -> None:
        """Fit a column to its texts on screen; a `section` of -1 means all columns."""
        for at in range(self.header.count()) if section < 0 else (section,):
            if self.packets.columns[at].key != "info":
                self.resizeColumnToContents(at)
        self.widths.fill()

    def set_time_format(self, form: TimeFormat) -> None:
        """Set the format of the Time column."""
        self.packets.set_time_format(form)
        self.widths.fit_time()

    def set_precision(self, precision: Precision) -> None:
        """Set the number of digits in the Time column."""
        self.packets.set_precision(precision)
        self.widths.fit_time()

    def shown_columns(self) -> list[int]:
        """Return the indices of the visible columns, from left to right."""
        return self.header.shown_columns()

    def show_order(self, order: tuple[str, bool] | None) -> None:
        """Show in the header by which column the rows are sorted, without sorting them."""
        self._order = order
        orders = [column.order for column in self.packets.columns]
        at = orders.index(order[0]) if order is not None and order[0] in orders else -1
        way = Qt.SortOrder.DescendingOrder if order and order[1] else Qt.SortOrder.AscendingOrder
        with QSignalBlocker(self.header):
            self.header.setSortIndicator(at, way)
        self.header.viewport().update()

    def _rename(self, section: int, title: str) -> None:
        states, key = self.columns_state(), self.packets.columns[section].key
        self.restore_columns([s._replace(title=title) if s.key == key else s for s in states])

    def _ask_order(self, section: int, order: Qt.SortOrder) -> None:
        if not 0 <= section < len(self.packets.columns):
            self._order = None
        else:
            descending = order is Qt.SortOrder.DescendingOrder
            self._order = (self.packets.columns[section].order, descending)
        self.order_asked.emit(self._order)

    def _set_row_height(self) -> None:
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(QFontMetrics(self.font()).height() + 5)

    def _places(self, area: QRect) -> list[Place]:
        """Return the columns in `area`, from left to right."""
        header = self.header
        found = (
            Place(at, header.sectionViewportPosition(at), header.sectionSize(at))
            for at in self.shown_columns()
        )
        return [
            place
            for place in found
            if place.left <= area.right() and place.left + place.width > area.left()
        ]

    # Qt's own names

    def paintEvent(self, event: QPaintEvent) -> None:
        area, model = event.rect(), self.packets
        first, last = self.rowAt(area.top()), self.rowAt(area.bottom())
        if first < 0:
            return
        last = model.rowCount() - 1 if last < 0 else last
        places, chosen = self._places(area), self.selectionModel()
        height, width = self.rowHeight(first), self.viewport().width()
        line = QRect(0, self.rowViewportPosition(first), width, height)
        painter, nowhere, active = QPainter(self.viewport()), QModelIndex(), self.isActiveWindow()
        try:
            for position in range(first, last + 1):
                if self._scrolled and not model.loaded(position):
                    self._load_timer.start()  # no frame waits for rows while the bar is dragged
                elif cells := model.cells(position):
                    selected = chosen.isRowSelected(position, nowhere)
                    self.painter.paint(painter, line, places, cells, selected, active)
                line.translate(0, height)
            if self.hasFocus() and self.currentIndex().isValid():  # the cell that Copy Cell copies
                painter.drawRect(self.visualRect(self.currentIndex()).adjusted(0, 0, -1, -1))
        finally:
            painter.end()
        self._ahead_timer.start()

    def keyboardSearch(self, search: str) -> None:
        """Start typing a display filter when a letter is typed in the list, as Wireshark does.

        By default, Qt would search for the letter and read every row.
        """
        if search.strip():
            self.typed.emit(search)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """If the current row was in view, keep it in view."""
        row = self.currentIndex()
        top = self.rowViewportPosition(row.row()) if row.isValid() else -1
        super().resizeEvent(event)
        if 0 <= top < event.oldSize().height():
            self.scrollTo(row)
        self.widths.fill()
        self._visible_timer.start()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange:
            self.packets.set_dark(is_dark(self.palette()))
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.PaletteChange):
            self.painter.use_looks()
        if event.type() == QEvent.Type.FontChange:
            self._set_row_height()
            self.widths.scale()
