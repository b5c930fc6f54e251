# SPDX-License-Identifier: MIT
"""Actions of the menus on rows of the packet list: flags, comments, copies."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication

from ..base.messages import Messages
from ..base.text_dialog import ask_text
from ..filters.find_packet import row_of
from ..packets import copied_rows
from ..packets.packet_table import PacketTable
from ..packets.row_marks_and_comments import Notes
from ..packets.selection import Selection


class RowActions:
    """Acts on the current row, the selected rows or all listed rows of one window."""

    def __init__(
        self, selection: Selection, notes: Notes, table: PacketTable, messages: Messages
    ) -> None:
        self._selection, self._notes = selection, notes
        self._table, self._messages = table, messages

    def toggle_flag(self, kind: str) -> None:
        """Set a flag on the selected rows; if all of them have it, clear it.

        `kind` is "mark", "ignore" or "time_ref".
        """
        self._notes.toggle(kind, self._table.chosen_ids())

    def flag_displayed(self, kind: str, on: bool) -> None:
        """Set the flag `kind` on all listed rows if `on`; otherwise, clear it."""
        packets = self._table.packets
        self._notes.put(kind, packets.ids(0, packets.rowCount()), on)

    def clear_flag(self, kind: str) -> None:
        """Clear the flag `kind` on all rows, even on rows that are not listed."""
        self._notes.put(kind, self._notes.flags.all(kind), False)

    def ask_comment(self) -> None:
        """Ask for the comment on the current packet; an empty text removes the comment."""
        row = self._table.current_row()
        if row is None:
            return
        label = f"Comment on packet {row.number}:"
        text = ask_text(self._table.window(), "Packet Comment", label, self._notes.comment(row))
        if text is not None:
            self._notes.put_comment(row, text)

    def delete_comments(self) -> None:
        """Remove all comments, as one step that can be undone."""
        if self._selection.recording is None:
            return
        self._notes.stack.beginMacro("Delete All Comments")
        for note in self._notes.comments():
            if note.packet is not None:
                self._notes.put_comment(row_of(self._selection.recording, note.packet), "")
        self._notes.stack.endMacro()

    def copy_cell(self) -> None:
        """Copy the text of the current cell."""
        index = self._table.currentIndex()
        text = self._table.packets.text(index.row(), index.column())
        QGuiApplication.clipboard().setText(text)

    def copy_rows(self, as_csv: bool) -> None:
        """Copy the selected rows with their visible columns: as CSV, or as text with tabs."""
        table = self._table
        positions = [p for part in table.chosen_positions() for p in part[: copied_rows.MOST]]
        if (
            len(positions) > copied_rows.MOST
            or sum(map(len, table.chosen_positions())) > copied_rows.MOST
        ):
            positions = positions[: copied_rows.MOST]
            most = f"{copied_rows.MOST:,}"
            self._messages.hint(f"Copied only the first {most} rows.")
        write = copied_rows.rows_as_csv if as_csv else copied_rows.rows_as_text
        columns = table.shown_columns()
        QGuiApplication.clipboard().setText(write(table.packets, columns, positions))
