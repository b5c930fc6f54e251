# SPDX-License-Identifier: MIT
"""The menus: a table of (text, shortcuts, what it does), and the sub-menus that are made anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu

from . import recent
from .packet_columns import TimeFormat

if TYPE_CHECKING:
    from .main_window import MainWindow

Entry = tuple[str, tuple[str, ...], Callable[[], object]] | None


def build(window: MainWindow) -> None:
    """Fill the menu bar of `window`."""
    _file_menu(window)
    _view_menu(window)
    table = window.workspace.table
    _menu(
        window,
        "&Go",
        (
            ("&Next Packet", ("Ctrl+Down", "F8"), lambda: table.step(1)),
            ("&Previous Packet", ("Ctrl+Up", "F7"), lambda: table.step(-1)),
            ("&First Packet", ("Ctrl+Home",), lambda: table.go_to_row(0)),
            ("&Last Packet", ("Ctrl+End",), lambda: table.go_to_row(table.packets.rowCount())),
            None,
            ("&Go to Packet…", ("Ctrl+G",), window.ask_packet),
        ),
        needs_recording=True,
    )
    _menu(window, "&Help", (("&About skbviewer", (), window.about),))


def _file_menu(window: MainWindow) -> None:
    menu = _menu(window, "&File", (("&Open…", ("Ctrl+O",), window.ask_open),))
    latest = menu.addMenu("Open &Recent")
    latest.aboutToShow.connect(lambda: _fill_recent(window, latest))
    _add(window, menu, ("Open &Bundled Recording", (), window.open_bundled), False)
    menu.addSeparator()
    _add(window, menu, ("&Close", ("Ctrl+W",), window.close_recording), True)
    menu.addSeparator()
    _add(window, menu, ("Export &PNG…", ("Ctrl+Shift+E",), window.ask_png), True)
    _add(window, menu, ("Export C&SV…", (), window.ask_csv), True)
    menu.addSeparator()
    _add(window, menu, ("&Quit", ("Ctrl+Q",), window.close), False)


def _view_menu(window: MainWindow) -> None:
    line = window.workspace.timeline
    menu = _menu(window, "&View", ())
    times = menu.addMenu("&Time Display Format")
    group = QActionGroup(window)
    for form in TimeFormat:
        action = times.addAction(form.value)
        action.setCheckable(True)
        action.setChecked(form is TimeFormat.FIRST)
        action.triggered.connect(
            lambda _=False, form=form: window.workspace.table.packets.set_time_format(form)
        )
        group.addAction(action)
    kernel_only = menu.addAction("&Kernel-Only Packets")
    kernel_only.setCheckable(True)
    kernel_only.toggled.connect(window.show_kernel_only)
    window.kernel_only_action = kernel_only
    menu.addSeparator()
    for title, pane in (("Function &Tree", window.workspace.tree), ("Time&line", line)):
        action = menu.addAction(title)
        action.setCheckable(True)
        action.setChecked(True)
        action.toggled.connect(pane.setVisible)
    menu.addSeparator()
    for entry in (
        ("Zoom &In", ("Ctrl++", "Ctrl+="), lambda: line.box.zoom(0.5)),
        ("Zoom &Out", ("Ctrl+-",), lambda: line.box.zoom(2.0)),
        ("&Fit Timeline", ("Ctrl+0",), line.fit),
    ):
        _add(window, menu, entry, True)


def _fill_recent(window: MainWindow, menu: QMenu) -> None:
    menu.clear()
    for entry in recent.recent_files():
        action = menu.addAction(recent.label(entry))
        action.triggered.connect(lambda _=False, entry=entry: window.open_files(entry))
    if menu.isEmpty():
        menu.addAction("Nothing opened yet").setEnabled(False)


def _menu(
    window: MainWindow, title: str, entries: tuple[Entry, ...], needs_recording: bool = False
) -> QMenu:
    menu = window.menuBar().addMenu(title)
    for entry in entries:
        if entry is None:
            menu.addSeparator()
        else:
            _add(window, menu, entry, needs_recording)
    return menu


def _add(
    window: MainWindow,
    menu: QMenu,
    entry: tuple[str, tuple[str, ...], Callable[[], object]],
    needs_recording: bool,
) -> None:
    text, keys, slot = entry
    action = QAction(text, window)
    action.setShortcuts([QKeySequence(key) for key in keys])
    action.triggered.connect(lambda _=False: slot())
    menu.addAction(action)
    if needs_recording:
        action.setEnabled(False)
        window.recording_actions.append(action)
