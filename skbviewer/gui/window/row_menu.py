# SPDX-License-Identifier: MIT
"""The list's context menu: actions on the current cell and the selected rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from skbviewer.analysis.display_filter import MODES, combine_filters

from ..dialogs.colouring_rules import CONVERSATIONS
from ..filters.cell_filter import cell_filter, conversations
from .window_parts import WindowParts

_MARKS = ("Mark/Unmark Packet", "Ignore/Unignore Packet", "Set/Unset Time Reference")
_NOTES = ("Packet Comment",)
_COPIES = ("Copy Cell", "Copy Rows as CSV", "Copy Rows as Text")


def current_filter(window: WindowParts) -> str | None:
    """Return the display filter for the current cell; None if no filter can express the cell."""
    table = window.workspace.table
    row, index = table.current_row(), table.currentIndex()
    if row is None:
        return None
    column = table.packets.columns[index.column()]
    return cell_filter(row, column.key, table.packets.text(index.row(), index.column()))


def fill_filters(window: WindowParts, menu: QMenu, apply: bool) -> None:
    """Fill the menu Apply as Filter (`apply`) or Prepare as Filter.

    There is an entry for each way to combine the cell's filter with the present filter.
    """
    new = current_filter(window)
    for mode in MODES:
        act = menu.addAction(_with_letter(mode))
        act.setEnabled(new is not None)
        if new is not None:
            text = combine_filters(new, mode, window.workspace.filter_bar.text())
            act.setToolTip(text)
            act.triggered.connect(lambda _=False, text=text: window.use_filter(text, apply))
    menu.setToolTipsVisible(True)


def _with_letter(mode: str) -> str:
    """Return the text of an entry with a mnemonic: S, N, A, O, D and R, in the order of entries."""
    letters = {"...and Selected": "a", "...or Selected": "o"}
    letters |= {"...and not Selected": "d", "...or not Selected": "r"}
    letter = letters.get(mode, mode[0])
    return mode.replace(letter, f"&{letter}", 1)


def fill_conversations(window: WindowParts, menu: QMenu) -> None:
    """Fill the menu Conversation Filter with an entry for each layer of the packet's addresses."""
    row = window.workspace.table.current_row()
    for name, text in [] if row is None else conversations(row):
        act = menu.addAction(name)
        act.setToolTip(text)
        act.triggered.connect(lambda _=False, text=text: window.use_filter(text, True))
    menu.setToolTipsVisible(True)
    if menu.isEmpty():
        menu.addAction("No addresses").setEnabled(False)


def row_menu(window: WindowParts, actions: Mapping[str, QAction]) -> QMenu:
    """Return the context menu of the current cell.

    The caller deletes the menu after it was closed.

    `actions` has the actions of the window's menus, by name.
    """
    menu = QMenu(window)
    for name in (*_MARKS, *_NOTES):
        menu.addAction(actions[name])
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
        colours.addAction(actions[f"Color {number}"])
    colours.addAction(actions["Reset Colorization"])
    menu.addAction(actions["Follow Stream"])
    menu.addSeparator()
    copy = menu.addMenu("&Copy")
    for name in _COPIES:
        copy.addAction(actions[name])
    menu.addSeparator()
    column = menu.addAction("Add Field as Col&umn…")
    column.triggered.connect(window.workspace.table.header.ask_field)
    return menu
