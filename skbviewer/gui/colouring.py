# SPDX-License-Identifier: MIT
"""Gives the packet list its colouring rules, and lets the user change them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialog

from skbviewer.records import Progress

from .colour_dialog import ColourDialog
from .colour_rules import Rule, store, stored
from .contract import Recording
from .tasks import Tasks

if TYPE_CHECKING:
    from .main_window import MainWindow

SLOW = "tcp.analysis"  # looks at whole streams, once for each recording
QUICK_PACKETS = 100_000  # of which even that takes no time


class Colouring(QObject):
    """The rules of one window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.rules = stored()
        self.on = True
        self.tasks = Tasks(self)

    def use(self, recording: Recording | None) -> None:
        """Colour the rows of `recording`; rules that take long come when they are ready."""
        rules = self.rules if self.on else ()
        slow = [rule.text for rule in rules if SLOW in rule.text and rule.on]
        if recording is None or not slow or recording.packet_count() <= QUICK_PACKETS:
            self._set(rules)
            return
        self._set([rule for rule in rules if SLOW not in rule.text])

        def prepare(_: Progress) -> None:
            recording.first_fit(slow, np.array([1]))

        self.tasks.start("", prepare, lambda _: self._set(rules))

    def switch(self) -> None:
        """Colours, or none."""
        self.on = not self.on
        self.use(self._window.recording)

    def ask(self) -> None:
        """Let the user edit the rules."""
        dialog = ColourDialog(self.rules, self._window)
        dialog.accepted.connect(lambda: self.change(dialog.rules()))
        dialog.finished.connect(dialog.deleteLater)
        QDialog.open(dialog)

    def change(self, rules: tuple[Rule, ...]) -> None:
        """Use and keep these rules."""
        self.rules = rules
        store(rules)
        self.use(self._window.recording)

    def _set(self, rules: list[Rule] | tuple[Rule, ...]) -> None:
        self._window.workspace.table.packets.set_rules(rules)
