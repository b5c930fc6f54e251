# SPDX-License-Identifier: MIT
"""Help > Keys: the action of every key, made from the table of actions."""

from __future__ import annotations

import html

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from ..base.window_size import open_at
from ..timeline import timeline_keys
from .actions import ACTIONS, MENUS

# Keys of one pane only, so that typing elsewhere does not trigger them.
PANES = (
    ("Packet list", (
        ("↑ ↓ Page Up Page Down", "Previous or next packet; one screen up or down"),
        ("← →", "Select the previous or next cell, for Copy Cell and Apply as Filter"),
        ("Shift+↑ Shift+↓", "Select several packets"),
        ("Menu, right click", "Open the menu of the cell"),
    )),
    ("Timeline", timeline_keys.rows()),
    ("Kernel path", (
        ("← →", "Collapse or expand"),
        ("* (keypad)", "Expand everything below"),
    )),
)  # fmt: skip


def keys_html() -> str:
    """Return as HTML all actions that have keys, by menu, and then the keys of the panes."""
    parts = []
    for menu in MENUS:
        rows = [
            (", ".join(_native(key) for key in action.keys), action.name)
            for action in ACTIONS
            if action.menu.split("/")[0] == menu and action.keys
        ]
        parts.append(_table(menu.replace("&", ""), rows))
    parts.extend(_table(title, rows) for title, rows in PANES)
    return "".join(parts)


def _native(key: str) -> str:
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)


def _table(title: str, rows: list[tuple[str, str]] | tuple[tuple[str, str], ...]) -> str:
    if not rows:
        return ""
    cells = "".join(
        f"<tr><td width='230'><b>{html.escape(keys)}</b></td><td>{html.escape(what)}</td></tr>"
        for keys, what in rows
    )
    return f"<h3>{html.escape(title)}</h3><table cellpadding='2'>{cells}</table>"


class KeyList(QDialog):
    """The list of keys in a window that may stay open beside the main window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.text = QTextBrowser()
        self.text.setAccessibleName("List of keys")
        self.text.setHtml(keys_html())
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self.text)
        column.addWidget(buttons)
        open_at(self, 620, 640)
