# SPDX-License-Identifier: MIT
"""The menu bar, made from the table of actions."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtGui import QAction, QColor, QKeySequence
from PySide6.QtWidgets import QMenu

from ..base.theme import chip
from .actions import ACTIONS, LINE, MENUS, Action
from .window_parts import WindowParts


class Menus:
    """The actions of one window by name, and the menus that show them."""

    def __init__(self, window: WindowParts, actions: Iterable[Action] = ACTIONS) -> None:
        self._window = window
        self._menus: dict[str, QMenu] = {}
        self._made: list[tuple[Action, QAction]] = []
        self.actions: dict[str, QAction] = {}
        table = tuple(actions)
        for top in MENUS:
            for action in table:
                if action.menu.split("/")[0] == top:
                    self._add(action)
        self.enable(False)

    def enable(self, recording_open: bool) -> None:
        """Enable the actions that need a recording if one is open, or else disable them."""
        for action, made in self._made:
            if action.needs_recording:
                possible = action.possible is None or action.possible(self._window)
                made.setEnabled(recording_open and possible)

    def _menu(self, path: str) -> QMenu:
        if path not in self._menus:
            above, _, title = path.rpartition("/")
            made = (
                self._menu(above).addMenu(title) if above else self._window.menuBar().addMenu(title)
            )
            made.setToolTipsVisible(True)
            # without its own tooltip, that of the previous entry would stay
            made.menuAction().setStatusTip(title.replace("&", ""))
            made.aboutToShow.connect(self.refresh)
            self._menus[path] = made
        return self._menus[path]

    def _add(self, action: Action) -> None:
        menu = self._menu(action.menu)
        if action.text == LINE:
            menu.addSeparator()
        elif action.fill is not None:
            self._add_filled(menu, action)
        else:
            self._add_action(menu, action)

    def _add_filled(self, menu: QMenu, action: Action) -> None:
        inner = menu.addMenu(action.text)
        inner.menuAction().setStatusTip(action.tip or action.text.replace("&", ""))

        def fill() -> None:
            inner.clear()
            if action.fill is not None:
                action.fill(self._window, inner)

        inner.aboutToShow.connect(fill)
        self._made.append((action, inner.menuAction()))

    def _add_action(self, menu: QMenu, action: Action) -> None:
        made = QAction(action.text, self._window)
        made.setShortcuts([QKeySequence(key) for key in action.keys])
        if action.tip:
            made.setToolTip(action.tip)
            made.setStatusTip(action.tip)
        if action.colour:
            made.setIcon(chip(QColor(action.colour)))
        made.setCheckable(action.checked is not None)
        made.triggered.connect(lambda _=False: self._run(action))
        menu.addAction(made)
        self._made.append((action, made))
        self.actions[action.name] = made

    def _run(self, action: Action) -> None:
        if action.slot is not None:
            action.slot(self._window)
        self.refresh()

    def refresh(self) -> None:
        """Update the check marks of all menu entries."""
        for action, made in self._made:
            if action.checked is not None:
                made.setChecked(action.checked(self._window))
