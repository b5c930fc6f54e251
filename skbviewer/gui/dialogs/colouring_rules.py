# SPDX-License-Identifier: MIT
"""Apply the colouring rules to the packet list, and let the user edit them.

TCP streams of large recordings are followed while the user is idle. Coloring rules and Info texts
that depend on streams are applied when all streams have been followed. After the streams have been
followed, the tables that statistics read are loaded.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QDialog, QWidget

from skbviewer.records import Progress

from ..base.background_tasks import Tasks
from ..base.messages import Messages
from ..base.recording_interface import Recording
from ..filters.cell_filter import NO_CONVERSATION, conversations
from ..packets.colour_rules import DARK_TEXT, Rule, store, stored_rules
from ..packets.packet_table import PacketTable
from ..packets.row_query import RowQuery
from ..packets.selection import Selection
from ..timeline.lane_loader import Loader
from .colouring_rules_dialog import ColourDialog

# Wireshark's ten colours
CONVERSATIONS: tuple[str, ...] = ("#ffc0c0", "#ffc0ff", "#e0c0e0", "#c0c0ff", "#c0e0e0")
CONVERSATIONS += ("#c0ffff", "#c0ffc0", "#ffffc0", "#e0e0c0", "#e0e0e0")
SLOW = "tcp.analysis"  # fields that need whole streams, followed once per recording
PAUSE_MS = 700  # of idle time, so that following streams delays no click or scrolling


class Colouring(QObject):
    """The rules of one window."""

    def __init__(
        self,
        window: QWidget,
        selection: Selection,
        row_query: RowQuery,
        table: PacketTable,
        messages: Messages,
        lanes: Loader,
    ) -> None:
        super().__init__(window)
        self._lanes = lanes
        self._window, self._selection, self._row_query = window, selection, row_query
        self._table, self._messages = table, messages
        self.rules = stored_rules()
        self.on = True
        self.painted: tuple[Rule, ...] = ()  # of conversations, until other files are opened
        self._shown: tuple[Rule, ...] = ()
        self.tasks = Tasks(self)
        self._pause = QTimer(self, interval=PAUSE_MS, singleShot=True)
        self._pause.timeout.connect(self._prepare)
        for touched in (selection.path_changed, selection.visible_changed, selection.rows_changed):
            touched.connect(lambda _: self._pause.isActive() and self._pause.start())
        for started in (row_query.tasks.started, lanes.arranging_all):
            started.connect(self._give_way)

    @property
    def busy(self) -> bool:
        """Return whether following streams or loading statistics is running, or will begin."""
        return self._pause.isActive() or self.tasks.busy

    def close(self) -> None:
        """Stop the work that runs while the user is idle, and wait until its threads have ended."""
        self._pause.stop()
        self.tasks.close()

    def use(self, recording: Recording | None) -> None:
        """Colour the rows of `recording` from now on.

        Rules that depend on TCP streams apply as soon as these have been followed.
        """
        self.painted = ()
        self._use(recording)

    def paint(self, number: int) -> None:
        """Paint the conversation of the current packet in the colour `number` (from 1)."""
        row = self._table.current_row()
        found = [] if row is None else conversations(row)
        if not found:
            self._messages.say(NO_CONVERSATION)
            return
        name, text = found[0]
        rule = Rule(f"{name} conversation", text, CONVERSATIONS[number - 1], DARK_TEXT)
        self.painted = (rule, *(one for one in self.painted if one.text != text))
        self._set(self._shown)

    def unpaint(self) -> None:
        """Remove the colours that paint() gave to conversations."""
        self.painted = ()
        self._set(self._shown)

    def _use(self, recording: Recording | None) -> None:
        self._pause.stop()
        self.tasks.cancel()
        rules = self.rules if self.on else ()
        if recording is None or recording.packets.streams_followed():
            self._set(rules)
            return
        self._set([rule for rule in rules if SLOW not in rule.text])
        self._pause.start()

    def _give_way(self, _: str) -> None:
        """Pause this work while the user waits for a filter, a sort or lanes of all calls.

        Both this work and the making of lanes of all calls take much memory.
        """
        if self.busy:
            self.tasks.cancel()
            self._pause.start()

    def _prepare(self) -> None:
        recording = self._selection.recording
        if recording is None:
            return
        if self._row_query.tasks.busy or self._lanes.arranges_all:
            self._pause.start()
            return

        def prepare(progress: Progress) -> None:
            recording.packets.follow_streams(progress)

        def ready(_: None) -> None:
            self._set(self.rules if self.on else ())
            self._table.packets.read_again()
            self.tasks.start("", recording.stats.prepare, lambda _: None)

        self.tasks.start("", prepare, ready)

    def switch(self) -> None:
        """Switch the colours of the packet list on or off."""
        self.on = not self.on
        self._use(self._selection.recording)

    def ask(self) -> None:
        """Open the dialog that edits the rules."""
        dialog = ColourDialog(self.rules, self._window)
        dialog.accepted.connect(lambda: self.change(dialog.rules()))
        dialog.finished.connect(dialog.deleteLater)
        QDialog.open(dialog)

    def change(self, rules: tuple[Rule, ...]) -> None:
        """Use the coloring rules `rules` from now on, and save them."""
        self.rules = rules
        store(rules)
        self._use(self._selection.recording)

    def _set(self, rules: list[Rule] | tuple[Rule, ...]) -> None:
        self._shown = tuple(rules)
        self._table.packets.set_rules((*self.painted, *rules))
