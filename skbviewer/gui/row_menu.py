# SPDX-License-Identifier: MIT
"""What can be done with the cell and the rows that are selected: the list's context menu."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMenu

from skbviewer.analysis.filter import MODES, combined

from .colouring import CONVERSATIONS
from .filtering import cell_filter, conversations

if TYPE_CHECKING:
    from .main_window import MainWindow

_MARKS = ("Mark/Unmark Packet", "Ignore/Unignore Packet", "Set/Unset Time Reference")
_NOTES = ("Packet Comment",)
_COPIES = ("Copy Cell", "Copy Rows as CSV", "Copy Rows as Text")


def current_filter(window: MainWindow) -> str | None:
    """The filter the current cell stands for."""
    table = window.workspace.table
    row, index = table.current_row(), table.currentIndex()
    if row is None:
        return None
    column = table.packets.columns[index.column()]
    return cell_filter(row, column.key, table.packets.text(index.row(), index.column()))


def fill_filters(window: MainWindow, menu: QMenu, apply: bool) -> None:
    """Apply as Filter, Prepare as Filter: one entry each way to join the filter there is."""
    new = current_filter(window)
    for mode in MODES:
        act = menu.addAction(_with_letter(mode))
        act.setEnabled(new is not None)
        if new is not None:
            text = combined(new, mode, window.workspace.filter_bar.text())
            act.setToolTip(text)
            act.triggered.connect(lambda _=False, text=text: window.use_filter(text, apply))
    menu.setToolTipsVisible(True)


def _with_letter(mode: str) -> str:
    """With a mnemonic of its own: S, N, A, O, and of the last two D and R."""
    letters = {"...and Selected": "a", "...or Selected": "o"}
    letters |= {"...and not Selected": "d", "...or not Selected": "r"}
    letter = letters.get(mode, mode[0])
    return mode.replace(letter, f"&{letter}", 1)


def fill_conversations(window: MainWindow, menu: QMenu) -> None:
    """Conversation Filter: one entry each layer the current packet has addresses in."""
    row = window.workspace.table.current_row()
    for name, text in [] if row is None else conversations(row):
        act = menu.addAction(name)
        act.setToolTip(text)
        act.triggered.connect(lambda _=False, text=text: window.use_filter(text, True))
    menu.setToolTipsVisible(True)
    if menu.isEmpty():
        menu.addAction("No addresses").setEnabled(False)


def row_menu(window: MainWindow) -> QMenu:
    """The context menu of the current cell; delete it when it was closed."""
    menu = QMenu(window)
    for name in (*_MARKS, *_NOTES):
        menu.addAction(window.menus.actions[name])
    menu.addSeparator()
    fills: tuple[tuple[str, Callable[[QMenu], None]], ...] = (
        ("&Apply as Filter", lambda inner: fill_filters(window, inner, True)),
        ("&Prepare as Filter", lambda inner: fill_filters(window, inner, False)),
        ("Con&versation Filter", lambda inner: fill_conversations(window, inner)),
    )
    for title, fill in fills:
        fill(menu.addMenu(title))
    colours = menu.addMenu("Colori&ze Conversation")
    for number in range(1, len(CONVERSATIONS) + 1):
        colours.addAction(window.menus.actions[f"Color {number}"])
    colours.addAction(window.menus.actions["Reset Colorization"])
    menu.addAction(window.menus.actions["Follow Stream"])
    menu.addSeparator()
    copy = menu.addMenu("&Copy")
    for name in _COPIES:
        copy.addAction(window.menus.actions[name])
    menu.addSeparator()
    column = menu.addAction("Add Field as Col&umn…")
    column.triggered.connect(window.workspace.table.header.ask_field)
    return menu
