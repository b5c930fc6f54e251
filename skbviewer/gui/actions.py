# SPDX-License-Identifier: MIT
"""Everything the menus offer, in one table: where it stands, its keys, what it does, its tip.

A new action is one line here.  Its slot is given the window; what takes longer than a frame runs
through Tasks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtWidgets import QMenu

from . import recent
from .packet_columns import TimeFormat

if TYPE_CHECKING:
    from .main_window import MainWindow

Slot = Callable[["MainWindow"], object]
MENUS = ("&File", "&Edit", "&View", "&Go", "&Analyze", "&Statistics", "&Tools", "&Help")
LINE = ""


class Action(NamedTuple):
    """One entry of a menu.  `menu` may go deeper: "&View/&Time Display Format".

    A text of LINE is a separator.  With `checked` the entry has a check mark, asked for each time
    the menu opens.  With `fill` it is a sub-menu made anew each time it opens.
    """

    menu: str
    text: str
    slot: Slot | None = None
    keys: tuple[str, ...] = ()
    tip: str = ""
    needs_recording: bool = True
    checked: Callable[[MainWindow], bool] | None = None
    fill: Callable[[MainWindow, QMenu], None] | None = None

    @property
    def name(self) -> str:
        """The text without its mnemonic and dots, as in the list of keys."""
        return self.text.replace("&", "").rstrip("…")


def _separator(menu: str) -> Action:
    return Action(menu, LINE)


def _fill_recent(window: MainWindow, menu: QMenu) -> None:
    for entry in recent.recent_files():
        action = menu.addAction(recent.label(entry))
        action.triggered.connect(lambda _=False, entry=entry: window.open_files(entry))
    if menu.isEmpty():
        menu.addAction("Nothing opened yet").setEnabled(False)


def _fill_panes(window: MainWindow, menu: QMenu) -> None:
    for dock in window.workspace.docks.values():
        menu.addAction(dock.toggleViewAction())


def _time_format(form: TimeFormat) -> Action:
    return Action(
        TIMES,
        form.value,
        lambda w: w.workspace.table.packets.set_time_format(form),
        checked=lambda w: w.workspace.table.packets.time_format is form,
    )


TIMES = "&View/&Time Display Format"
FILE = (
    Action("&File", "&Open…", lambda w: w.ask_open(), ("Ctrl+O",),
           "Open captures, kernel recordings or a session", False),
    Action("&File", "Open &Recent", fill=_fill_recent, needs_recording=False),
    Action("&File", "Open &Bundled Recording", lambda w: w.open_bundled(), (),
           "Open the recording that comes with the program", False),
    _separator("&File"),
    Action("&File", "&Close", lambda w: w.close_recording(), ("Ctrl+W",),
           "Close what is open"),
    _separator("&File"),
    Action("&File", "Export &PNG…", lambda w: w.ask_png(), ("Ctrl+Shift+E",),
           "Write the selected packet's path as a picture"),
    Action("&File", "Export C&SV…", lambda w: w.ask_csv(), (),
           "Write the selected packet's path as a table"),
    _separator("&File"),
    Action("&File", "&Quit", lambda w: w.close(), ("Ctrl+Q",), "Leave the program", False),
)  # fmt: skip

VIEW = (
    *(_time_format(form) for form in TimeFormat),
    Action("&View", "&Kernel-Only Packets", lambda w: w.toggle_kernel_only(), (),
           "List packet lives that met no wire packet", checked=lambda w: w.kernel_only),
    _separator("&View"),
    Action("&View", "&Panes", fill=_fill_panes, needs_recording=False),
    _separator("&View"),
    Action("&View", "Timeline Zoom &In", lambda w: w.workspace.timeline.box.zoom(0.5)),
    Action("&View", "Timeline Zoom &Out", lambda w: w.workspace.timeline.box.zoom(2.0)),
    Action("&View", "&Fit Timeline", lambda w: w.workspace.timeline.fit(), ("Ctrl+0",),
           "Show the whole path"),
)  # fmt: skip

GO = (
    Action("&Go", "&Next Packet", lambda w: w.workspace.table.step(1), ("Ctrl+Down", "F8"),
           "Go to the next packet, from any pane"),
    Action("&Go", "&Previous Packet", lambda w: w.workspace.table.step(-1), ("Ctrl+Up", "F7"),
           "Go to the previous packet, from any pane"),
    Action("&Go", "&First Packet", lambda w: w.workspace.table.go_to_row(0), ("Ctrl+Home",)),
    Action("&Go", "&Last Packet", lambda w: w.workspace.table.go_to_last(), ("Ctrl+End",)),
    _separator("&Go"),
    Action("&Go", "&Go to Packet…", lambda w: w.ask_packet(), ("Ctrl+G",),
           "Go to a packet by its number"),
)  # fmt: skip

HELP = (
    Action("&Help", "&About skbviewer", lambda w: w.about(), needs_recording=False),
)  # fmt: skip

ACTIONS = (*FILE, *VIEW, *GO, *HELP)
