# SPDX-License-Identifier: MIT
"""The packet list: a table that tells which row is current."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from .contract import Recording
from .packet_columns import COLUMNS
from .packet_model import PacketModel
from .packet_rows import ListRow
from .theme import is_dark


class PacketTable(QTableView):
    """Emits `row_chosen` with the ListRow the user went to, by mouse or keys."""

    row_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("packets")
        self.setAccessibleName("Packet list")
        self.packets = PacketModel(self)
        self.packets.set_dark(is_dark(self.palette()))
        self.setModel(self.packets)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._lay_out()
        self.selectionModel().currentRowChanged.connect(self._tell)

    def show_recording(self, recording: Recording | None, kernel_only: bool) -> None:
        """Show the rows of `recording` and go to the first."""
        self.packets.show(recording, kernel_only)
        self.go_to_row(0)

    def go_to_row(self, position: int) -> None:
        """Make the row at `position` current, as near as there is one."""
        position = max(0, min(position, self.packets.rowCount() - 1))
        if self.packets.row(position) is not None:
            self.setCurrentIndex(self.packets.index(position, 0))

    def go_to_last(self) -> None:
        self.go_to_row(self.packets.rowCount() - 1)

    def step(self, rows: int) -> None:
        """Go `rows` further down."""
        self.go_to_row(self.currentIndex().row() + rows)

    def go_to_packet(self, number: int) -> bool:
        """Go to packet `number`; False if there is none."""
        position = self.packets.position_of(number)
        if position is None:
            return False
        self.go_to_row(position)
        return True

    def current_row(self) -> ListRow | None:
        return self.packets.row(self.currentIndex().row())

    def _tell(self, current: QModelIndex, _before: QModelIndex) -> None:
        row = self.packets.row(current.row())
        if row is not None:
            self.row_chosen.emit(row)

    def _lay_out(self) -> None:
        metrics = QFontMetrics(self.font())
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(metrics.height() + 5)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        for place, column in enumerate(COLUMNS):
            if column.sample:
                header.resizeSection(place, metrics.horizontalAdvance(column.sample) + 14)
            else:
                header.setSectionResizeMode(place, QHeaderView.ResizeMode.Stretch)

    # Qt's own names

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange:
            self.packets.set_dark(is_dark(self.palette()))
        elif event.type() == QEvent.Type.FontChange:
            self._lay_out()
        super().changeEvent(event)
