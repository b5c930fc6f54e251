# SPDX-License-Identifier: MIT
"""The window: its parts, and the menus that act on them."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt

from ..base.recording_interface import Opener
from .key_list import KeyList
from .menus import Menus
from .row_menu import row_menu
from .window_parts import WindowParts


class MainWindow(WindowParts):
    """The window with its menus.

    `opener` opens files as a Recording; it runs in a worker thread.
    """

    def __init__(self, opener: Opener) -> None:
        super().__init__(opener)
        self.menus: Menus = Menus(self)
        self.selection.recording_changed.connect(
            lambda recording: self.menus.enable(recording is not None)
        )
        stack = self.notes.stack
        for word, changed, possible in (
            ("Undo", stack.undoTextChanged, stack.canUndoChanged),
            ("Redo", stack.redoTextChanged, stack.canRedoChanged),
        ):
            possible.connect(self.menus.actions[word].setEnabled)
            changed.connect(
                lambda text, word=word: self.menus.actions[word].setText(f"&{word} {text}".strip())
            )
        self.keys_asked.connect(lambda: KeyList(self).show())
        self.workspace.table.customContextMenuRequested.connect(self._show_row_menu)
        self.use_settings()

    def _show_row_menu(self, place: QPoint) -> None:
        if self.workspace.table.current_row() is not None:
            menu = row_menu(self, self.menus.actions)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            # without a menu bar, Qt would leave the last entry's tooltip instead of the counts
            menu.aboutToHide.connect(self.statusBar().clearMessage)
            menu.popup(self.workspace.table.viewport().mapToGlobal(place))
