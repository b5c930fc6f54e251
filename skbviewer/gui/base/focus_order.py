# SPDX-License-Identifier: MIT
"""Let the Tab key stop only in visible panes.

By default, Qt also stops in panes that are hidden behind other tabs.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QWidget

KEPT = "focus_policy_when_seen"  # name of a Qt property


def follow(dock: QDockWidget) -> None:
    """Let the Tab key stop in the pane `dock` only while the tab of this pane is in front."""

    def change(is_seen: bool) -> None:
        # A pane behind another tab is "visible", a closed one is not.
        if is_seen or dock.isVisible():
            let_tab(dock.widget(), is_seen)

    dock.visibilityChanged.connect(change)


def let_tab(part: QWidget, on: bool) -> None:
    """Let the Tab key stop in `part` and its children if `on`; otherwise, let it skip them."""
    for widget in (part, *part.findChildren(QWidget)):
        kept = widget.property(KEPT)
        if on and kept is not None:
            widget.setFocusPolicy(Qt.FocusPolicy(kept))
            widget.setProperty(KEPT, None)
        elif not on and kept is None and widget.focusPolicy().value & 1:
            widget.setProperty(KEPT, widget.focusPolicy().value)
            widget.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
