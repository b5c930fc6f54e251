# SPDX-License-Identifier: MIT
"""Tab goes through what can be seen: Qt's own way leads into panes that lie behind others."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QWidget

KEPT = "focus_policy_when_seen"  # a property


def follow(dock: QDockWidget) -> None:
    """Let Tab stop in a pane only while no other one is before it."""

    def change(is_seen: bool) -> None:
        if is_seen or dock.isVisible():  # one behind another counts as visible, a closed one not
            let_tab(dock.widget(), is_seen)

    dock.visibilityChanged.connect(change)


def let_tab(part: QWidget, on: bool) -> None:
    """Let Tab stop in `part` and what is inside as it would, or not at all."""
    for widget in (part, *part.findChildren(QWidget)):
        kept = widget.property(KEPT)
        if on and kept is not None:
            widget.setFocusPolicy(Qt.FocusPolicy(kept))
            widget.setProperty(KEPT, None)
        elif not on and kept is None and widget.focusPolicy().value & 1:
            widget.setProperty(KEPT, widget.focusPolicy().value)
            widget.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
