# SPDX-License-Identifier: MIT
"""The Go menu and Find Packet: go to a number, back and forward, in a conversation, to a match."""

from __future__ import annotations

import re

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QInputDialog, QWidget

from skbviewer.analysis.display_filter import FilterError
from skbviewer.records import Progress

from ..base.background_tasks import Tasks
from ..base.messages import Messages
from ..filters import find_packet
from ..filters.cell_filter import NO_CONVERSATION, conversations
from ..filters.find_bar import FindBar
from ..packets.packet_rows import ListRow
from ..packets.packet_table import PacketTable
from ..packets.row_marks_and_comments import Notes
from ..packets.row_query import RowQuery
from ..packets.selection import Selection
from .row_history import History

_NUMBER = re.compile(r"([Kk]?)\s*([0-9][0-9,]*)")


class Navigation(QObject):
    """Goes to rows of one window's packet list.

    If there is no such row, the status bar says why.
    """

    life_asked = Signal(object)  # row -n, that of a lifetime which is not listed

    def __init__(
        self,
        window: QWidget,
        selection: Selection,
        row_query: RowQuery,
        notes: Notes,
        table: PacketTable,
        find_bar: FindBar,
        messages: Messages,
    ) -> None:
        super().__init__(window)
        self._window, self._selection, self._row_query = window, selection, row_query
        self._notes, self._table, self._messages = notes, table, messages
        self.history = History()
        self.tasks = Tasks(self)
        self.tasks.failed.connect(messages.error)
        find_bar.find_asked.connect(self.find)
        find_bar.closed.connect(lambda: messages.clear("Find Packet:"))
        selection.row_asked.connect(self.to_id)
        self._table.row_chosen.connect(lambda row: self.history.visit(row.id))

    def to_id(self, row_id: int) -> None:
        """Go to the row with this id; if it is not listed, go to the nearest row, and say so.

        The id is n for packet n, -n for row K<n>.
        """
        if row_id < 0 and not self._row_query.lists_kernel_only(-row_id):
            self.life_asked.emit(row_id)
            return
        if not self._table.go_to_id(row_id):
            name = f"Packet {row_id}" if row_id > 0 else f"K{-row_id}"
            self._say(f"{name} is not in the list; the nearest row is selected")

    def use_nothing(self) -> None:
        """Stop searching and forget the visited rows, because no recording is open any more."""
        self.tasks.cancel()
        self.history.clear()

    def back(self) -> None:
        """Go back to the row that was visited before."""
        self._step_history(self.history.back())

    def forward(self) -> None:
        """Go forward to the next visited row."""
        self._step_history(self.history.forward())

    def _step_history(self, row_id: int | None) -> None:
        if row_id is not None:
            self._table.go_to_id(row_id)

    def ask(self) -> None:
        """Ask for the number of a row, such as "12" or "K3", and go to this row."""
        row, recording = self._table.current_row(), self._selection.recording
        if recording is None:
            return
        packets, kernel_only = recording.packets.count(), recording.packets.all_kernel_only_count()
        spans = [f"1 to {packets:,}"] * (packets > 0) + [f"K1 to K{kernel_only:,}"] * (
            kernel_only > 0
        )
        text, chosen = QInputDialog.getText(
            self._window,
            "Go to Packet",
            f"Packet number ({' or '.join(spans)}):",
            text="" if row is None else row.number,
        )
        found = _NUMBER.fullmatch(text.strip()) if chosen else None
        if found is not None:
            number = int(found[2].replace(",", ""))
            self.to_id(min(-number, -1) if found[1] else max(number, 1))
        elif chosen:
            self._say(f"Not a packet number: {text.strip()}")

    def in_conversation(self, step: int) -> None:
        """Go to the next (1) or previous (-1) packet of the current packet's conversation."""
        recording, row = self._selection.recording, self._table.current_row()
        if recording is None or row is None:
            return
        ways = conversations(row)
        if not ways:
            self._say(NO_CONVERSATION)
            return
        text = ways[0][1]

        def work(progress: Progress) -> int | None:
            return find_packet.conversation_step(recording, row, text, step, progress)

        self.tasks.start("Conversation", work, self._arrive_in_conversation)

    def _arrive_in_conversation(self, row_id: int | None) -> None:
        if row_id is None:
            self._say("No more packets in this conversation")
        else:
            self.to_id(row_id)

    def find(self, search: find_packet.Search, step: int) -> None:
        """Go to the next (1) or previous (-1) row that matches `search`."""
        recording, ids = self._selection.recording, self._row_query.rows
        if recording is None:
            return
        start = self._table.currentIndex().row()
        self._messages.clear("Find Packet:")

        def work(progress: Progress) -> int | str | None:
            try:
                return find_packet.find_position(recording, ids, start, step, search, progress)
            except (find_packet.BadSearch, FilterError) as error:
                return str(error)

        self.tasks.start("Searching", work, self._arrive)

    def _arrive(self, found: int | str | None) -> None:
        if isinstance(found, str):
            self._messages.error(f"Find Packet: {found}")
        elif found is None:
            self._say("Find Packet: nothing found")
        else:
            self._table.go_to_row(found)

    def next_flag(self, kind: str, step: int) -> None:
        """Go to the next (`step` 1) or previous (-1) row with the flag `kind`, one of FLAGS."""
        position = self._table.currentIndex().row()
        rows = self._row_query.rows
        row_id = self._notes.next_flag(kind, rows, position, step)
        if row_id is None:
            self._say("No other packet with this flag is in the list")
        else:
            self.to_id(row_id)

    def current(self) -> ListRow | None:
        """Return the current row of the packet list; None if there is none."""
        return self._table.current_row()

    def _say(self, text: str) -> None:
        self._messages.say(text)
