# SPDX-License-Identifier: MIT
"""Tab goes through what can be seen: Qt's own way leads into panes that lie behind others."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def step(window: QWidget, forward: bool) -> bool:
    """Move the keyboard to the next (or previous) widget of `window`; False if there is none."""
    now = window.focusWidget() or window
    at: QWidget | None = now
    reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
    while at is not None:
        at = at.nextInFocusChain() if forward else at.previousInFocusChain()
        if at is now:
            break
        if at is not None and _takes_tab(window, at):
            at.setFocus(reason)
            return True
    return False


def _takes_tab(window: QWidget, widget: QWidget) -> bool:
    wanted = Qt.FocusPolicy.TabFocus.value
    return (
        bool(widget.focusPolicy().value & wanted)
        and widget.focusProxy() is None
        and widget.window() is window
        and widget.isEnabled()
        and widget.isVisible()
        and not widget.visibleRegion().isEmpty()  # a pane behind another one counts as visible
    )
