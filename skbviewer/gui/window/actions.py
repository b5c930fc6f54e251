# SPDX-License-Identifier: MIT
"""All menu entries in one table: menu, keys, action, tooltip.

A new entry needs only a line here.  Its slot takes the window.  Work that takes longer than a frame
runs through Tasks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtWidgets import QMenu

from skbviewer.analysis.stats import STATISTICS as STATISTICS_TABLES
from skbviewer.export import Export
from skbviewer.records.annotation import IGNORE, MARK, TIME_REF

from ..base.appearance import Theme
from ..base.shown_packets import View
from ..dialogs.colouring_rules import CONVERSATIONS
from ..dialogs.comparison_window import ask_comparison
from ..dialogs.diagnosis_window import show_diagnosis
from ..dialogs.follow_stream import ask_stream
from ..dialogs.preferences import Preferences
from ..dialogs.profile_dialog import ProfileDialog
from ..dialogs.sql_console import show_sql_console
from ..dialogs.statistics_window import show_statistic
from ..files import bundled_recordings, export_menu, timeline_export
from ..files import recent_files as recent
from ..files.file_menu import FILES
from ..files.open_in_wireshark import open_in_wireshark
from ..graphs.all_graphs import GRAPHS, Graph
from ..packets.executed_instructions_file import ask_counts
from ..packets.time_column import Precision, TimeFormat
from ..timeline.window_connection import ask_range, shown_now
from .row_menu import fill_conversations, fill_filters
from .window_parts import WindowParts

Slot = Callable[[WindowParts], object]
MENUS = ("&File", "&Edit", "&View", "&Go", "&Analyze", "&Statistics", "&Tools", "&Help")
LINE = ""


class Action(NamedTuple):
    """One entry of a menu.  `menu` may be nested: "&View/&Time Display Format".

    An entry whose `text` is LINE is a separator.  An entry with `checked` has a check mark, updated
    each time the menu opens.  An entry with `fill` is a submenu, filled each time it opens.
    `possible` returns whether the action applies to the recording now.  `colour` is shown next to
    the text.
    """

    menu: str
    text: str
    slot: Slot | None = None
    keys: tuple[str, ...] = ()
    tip: str = ""
    needs_recording: bool = True
    checked: Callable[[WindowParts], bool] | None = None
    fill: Callable[[WindowParts, QMenu], None] | None = None
    possible: Callable[[WindowParts], bool] | None = None
    colour: str = ""

    @property
    def name(self) -> str:
        """Return the text as in the list of keys: without mnemonic and ellipsis."""
        return self.text.replace("&", "").rstrip("…")


def _line(menu: str) -> Action:
    return Action(menu, LINE)


def _fill_recent(window: WindowParts, menu: QMenu) -> None:
    for entry in recent.recent_files():
        action = menu.addAction(recent.label(entry).replace("&", "&&"))
        action.triggered.connect(lambda _=False, entry=entry: window.opening.open_recent(entry))
    if menu.isEmpty():
        menu.addAction("Nothing opened yet").setEnabled(False)
    else:
        menu.addSeparator()
        menu.addAction("&Clear Menu").triggered.connect(recent.forget_all)


def _fill_bundled(window: WindowParts, menu: QMenu) -> None:
    for name, title in bundled_recordings.titles().items():
        action = menu.addAction(title.replace("&", "&&"))
        action.setStatusTip(f"Open {name}.kbl and {name}.pcap")
        action.triggered.connect(lambda _=False, name=name: window.opening.open_bundled(name))


def _fill_panes(window: WindowParts, menu: QMenu) -> None:
    for dock in window.workspace.docks.values():
        menu.addAction(dock.toggleViewAction())
    menu.addSeparator()
    menu.addAction("&Reset Layout").triggered.connect(lambda: window.workspace.restore_layout(None))


def _time_format(form: TimeFormat) -> Action:
    return Action(
        TIMES,
        form.value,
        lambda w: w.workspace.table.set_time_format(form),
        tip="Format of the Time column",
        checked=lambda w: w.workspace.table.packets.time_format is form,
    )


def _precision(precision: Precision) -> Action:
    return Action(
        TIMES,
        precision.value,
        lambda w: w.workspace.table.set_precision(precision),
        tip="Number of digits in the Time column",
        checked=lambda w: w.workspace.table.packets.precision is precision,
    )


CONVERSATION = "&View/Colorize C&onversation"


def _conversation_colour(number: int) -> Action:
    return Action(
        CONVERSATION,
        f"Color {number}",
        lambda w: w.colouring.paint(number),
        (f"Ctrl+{number}",) if number < 10 else (),  # Ctrl+0 shows the whole timeline
        tip="Color the selected packet's conversation until other files are opened",
        colour=CONVERSATIONS[number - 1],
    )


EXPORT_KEYS = {"png": ("Ctrl+Shift+E",)}


def _export_packet(export: Export) -> Action:
    return Action(
        "&File",
        export.menu,
        lambda w: export_menu.ask(w, export, w.selection, w.messages),
        EXPORT_KEYS.get(export.name, ()),
        f"Write the selected packet's path as {export.help}",
    )


def _export_timeline(window: WindowParts) -> None:
    shown = shown_now(window.workspace.timeline, window.selection, window.row_query.filter)
    timeline_export.ask_export(window, window.recording, shown, window.messages)


def _open_in_wireshark(window: WindowParts) -> None:
    open_in_wireshark(window.recording, window.row_query.filter, window.tasks, window.messages)


def _ask_range(window: WindowParts) -> None:
    ask_range(window, window.workspace.timeline, window.workspace.docks["timeline"])


def _statistic(name: str) -> Action:
    statistic = STATISTICS_TABLES[name]
    return Action(
        "&Statistics",
        f"{statistic.title}…",
        lambda w: show_statistic(w, name, w.selection, w.row_query.filter, w.names),
        tip=statistic.tip,
    )


def _view(parts: WindowParts) -> View:
    """Return what the window shows now."""
    return View(lambda: parts.row_query.filter, parts.visible_ns)


def _graph(graph: Graph) -> Action:
    return Action(
        "&Statistics",
        graph.menu,
        lambda w: graph.show(w, w.selection, _view(w)),
        tip=graph.tip,
    )


def _theme(theme: Theme) -> Action:
    return Action(
        "&View/Th&eme",
        theme.value,
        lambda w: w.appearance.set_theme(theme),
        needs_recording=False,
        checked=lambda w: w.appearance.theme is theme,
    )


FILE = (
    Action("&File", "&Open…", lambda w: w.opening.ask(), ("Ctrl+O",),
           "Open captures, kernel logs or sessions; several files are joined", False),
    Action("&File", "Open &Recent", fill=_fill_recent, needs_recording=False),
    Action("&File", "Ope&n Dataset…", lambda w: w.dataset_opening.ask(), (),
           "List the hosts and times of a dataset, and open recordings of it", False),
    Action("&File", "Restore Last &View", lambda w: w.opening.restore(), ("Ctrl+Shift+L",),
           "Reopen the last files with their filter, row, zoom and columns", False),
    Action("&File", "Open &Bundled Recording", fill=_fill_bundled, needs_recording=False,
           tip="Open a recording that comes with the program"),
    Action("&File", "Re&load", lambda w: w.opening.reload(), ("Ctrl+R",),
           "Read the files again"),
    Action("&File", "Locate &Moved Files…", lambda w: w.opening.locate(), (),
           "Locate the session's captures and kernel logs"),
    _line("&File"),
    Action("&File", "&Close", lambda w: w.close_recording(), ("Ctrl+W",), "Close the recording"),
    Action("&File", "&Save", lambda w: w.opening.save(), ("Ctrl+S",),
           "Save the session under a name; notes and marks are always saved immediately"),
    Action("&File", "Save &As…", lambda w: w.opening.save_as(), ("Ctrl+Shift+S",),
           "Save the session, with notes and marks, under another name"),
    _line("&File"),
    Action("&File", "Compare &With…",
           lambda w: ask_comparison(w, w.selection, w.row_query.filter, FILES), (),
           "Show what changed between this recording and another recording"),
    _line("&File"),
    *map(_export_packet, export_menu.OF_PACKET),
    Action("&File", "Export &Timeline…", _export_timeline, ("Ctrl+E",),
           "Write the timeline as a picture or table, or write the packets in another format"),
    Action("&File", "Open in Wireshar&k", _open_in_wireshark,
           tip="Show the displayed packets in Wireshark, with the kernel's fields"),
    _line("&File"),
    Action("&File", "&Quit", lambda w: w.close(), ("Ctrl+Q",), "Quit the program", False),
)  # fmt: skip

EDIT = (
    Action("&Edit", "&Undo", lambda w: w.notes.undo(), ("Ctrl+Z",),
           "Undo the last mark, flag or comment",
           possible=lambda w: w.notes.stack.canUndo()),
    Action("&Edit", "&Redo", lambda w: w.notes.redo(), ("Ctrl+Y", "Ctrl+Shift+Z"),
           "Redo what was undone",
           possible=lambda w: w.notes.stack.canRedo()),
    _line("&Edit"),
    Action("&Edit/&Copy", "Copy Ce&ll", lambda w: w.rows.copy_cell(), ("Ctrl+C",),
           "Copy the text of the current cell"),
    Action("&Edit/&Copy", "Copy Rows as &CSV", lambda w: w.rows.copy_rows(True), ("Ctrl+Shift+C",),
           "Copy the selected rows as CSV, with a header line"),
    Action("&Edit/&Copy", "Copy Rows as &Text", lambda w: w.rows.copy_rows(False), (),
           "Copy the selected rows as text separated by tabs"),
    Action("&Edit", "Select A&ll", lambda w: w.workspace.table.selectAll(), ("Ctrl+A",),
           "Select all listed rows"),
    _line("&Edit"),
    Action("&Edit", "&Find Packet…", lambda w: w.workspace.find_bar.begin(), ("Ctrl+F",),
           "Find a packet by display filter, text, bytes or regular expression"),
    Action("&Edit", "Find Ne&xt", lambda w: w.workspace.find_bar.ask(1), ("Ctrl+N", "F3")),
    Action("&Edit", "Find Pre&vious", lambda w: w.workspace.find_bar.ask(-1),
           ("Ctrl+B", "Shift+F3")),
    _line("&Edit"),
    Action("&Edit", "&Mark/Unmark Packet", lambda w: w.rows.toggle_flag(MARK), ("Ctrl+M",),
           "Mark the selected rows; marks are saved in the session"),
    Action("&Edit", "Mark All &Displayed", lambda w: w.rows.flag_displayed(MARK, True),
           ("Ctrl+Shift+M",)),
    Action("&Edit", "Unmark All Displayed", lambda w: w.rows.flag_displayed(MARK, False),
           ("Ctrl+Alt+M",)),
    Action("&Edit", "Next Mark", lambda w: w.navigation.next_flag(MARK, 1), ("Ctrl+Shift+N",)),
    Action("&Edit", "Previous Mark", lambda w: w.navigation.next_flag(MARK, -1), ("Ctrl+Shift+B",)),
    _line("&Edit"),
    Action("&Edit", "&Ignore/Unignore Packet", lambda w: w.rows.toggle_flag(IGNORE), ("Ctrl+D",),
           "Show the selected rows in grey; View > Hide Ignored Packets hides them"),
    Action("&Edit", "Ignore All Displayed", lambda w: w.rows.flag_displayed(IGNORE, True),
           ("Ctrl+Shift+D",)),
    Action("&Edit", "Unignore All", lambda w: w.rows.clear_flag(IGNORE), ("Ctrl+Alt+D",)),
    _line("&Edit"),
    Action("&Edit", "Set/Unset &Time Reference", lambda w: w.rows.toggle_flag(TIME_REF),
           ("Ctrl+T",), "Show the times of the following packets relative to this packet"),
    Action("&Edit", "Unset All Time References", lambda w: w.rows.clear_flag(TIME_REF),
           ("Ctrl+Alt+T",)),
    Action("&Edit", "Next Time Reference", lambda w: w.navigation.next_flag(TIME_REF, 1),
           ("Ctrl+Alt+N",)),
    Action("&Edit", "Previous Time Reference", lambda w: w.navigation.next_flag(TIME_REF, -1),
           ("Ctrl+Alt+B",)),
    _line("&Edit"),
    Action("&Edit", "Packet Comme&nt…", lambda w: w.rows.ask_comment(), ("Ctrl+Alt+C",),
           "Comment on the packet; comments are saved in the session"),
    Action("&Edit", "Delete All Comments", lambda w: w.rows.delete_comments()),
    _line("&Edit"),
    Action("&Edit", "Confi&guration Profiles…",
           lambda w: ProfileDialog(w, w.settings, w.show_profile).open(),
           ("Ctrl+Shift+A",), "Choose a set of columns, panes, colors and filter buttons", False),
    Action("&Edit", "&Preferences…",
           lambda w: Preferences(w, w.appearance, w.workspace.table).open(),
           ("Ctrl+Shift+P",), "Change colors, text size, time format and mouse dragging", False),
)  # fmt: skip

TIMES = "&View/&Time Display Format"
VIEW = (
    *(_time_format(form) for form in TimeFormat),
    _line(TIMES),
    *(_precision(precision) for precision in Precision),
    Action("&View", "&Columns", fill=lambda w, menu: w.workspace.table.header.fill_shown(menu)),
    Action("&View", "Add &Field as Column…", lambda w: w.workspace.table.header.ask_field(),
           tip="Show any display filter field as a column"),
    Action("&View", "Resize All Columns", lambda w: w.workspace.table.fit_column(-1),
           ("Ctrl+Shift+R",), "Fit the columns to their contents"),
    _line("&View"),
    Action("&View", "&Kernel-Only Packets", lambda w: w.toggle_kernel_only(), (),
           "List skb lifetimes that match no captured packet: K1, K2, …",
           checked=lambda w: w.row_query.kernel_only),
    Action("&View", "Packets Without an &Address", lambda w: w.toggle_all_lives(), (),
           "Also list skb lifetimes without a known IP or ARP header",
           checked=lambda w: w.row_query.all_lives),
    Action("&View", "&Hide Ignored Packets", lambda w: w.toggle_ignored(), (),
           "Leave ignored rows out of the list", checked=lambda w: w.row_query.ignored_hidden),
    Action("&View", "Functions &Without an skb", lambda w: w.toggle_inner(), (),
           "Show locks, route lookups and other functions without an skb in paths and statistics",
           checked=lambda w: w.selection.inner),
    Action("&View", "Color&ize Packet List", lambda w: w.colouring.switch(), (),
           "Color packets by the coloring rules", checked=lambda w: w.colouring.on),
    *(_conversation_colour(number) for number in range(1, len(CONVERSATIONS) + 1)),
    Action(CONVERSATION, "&Reset Colorization", lambda w: w.colouring.unpaint(), ("Ctrl+Space",),
           "Remove the colors of conversations"),
    Action("&View", "Coloring &Rules…", lambda w: w.colouring.ask(), (),
           "Edit the filters and their colors", False),
    Action("&View", "Resolve &Names", lambda w: w.names.switch(not w.names.on), (),
           "Show host names instead of addresses",
           checked=lambda w: w.names.on),
    _line("&View"),
    Action("&View", "&Panes", fill=_fill_panes, needs_recording=False),
    *(_theme(theme) for theme in Theme),
    Action("&View/&Zoom", "Zoom &In", lambda w: w.appearance.zoom_by(1), ("Ctrl++",),
           "Larger text", False),
    Action("&View/&Zoom", "Zoom &Out", lambda w: w.appearance.zoom_by(-1), ("Ctrl+-",),
           "Smaller text", False),
    Action("&View/&Zoom", "&Normal Size", lambda w: w.appearance.zoom_by(0), ("Ctrl+=",),
           "Reset the text size", False),
    _line("&View"),
    Action("&View", "Timeline Zoom In", lambda w: w.workspace.timeline.box.zoom(0.5)),
    Action("&View", "Timeline Zoom Out", lambda w: w.workspace.timeline.box.zoom(2.0)),
    Action("&View", "Fit Ti&meline", lambda w: w.workspace.timeline.fit(), ("Ctrl+0",),
           "Show the whole timeline"),
)  # fmt: skip

GO = (
    Action("&Go", "&Back", lambda w: w.navigation.back(), ("Alt+Left",),
           "Go back to the previously selected packet"),
    Action("&Go", "&Forward", lambda w: w.navigation.forward(), ("Alt+Right",)),
    Action("&Go", "&Go to Packet…", lambda w: w.navigation.ask(), ("Ctrl+G",),
           "Go to the packet with a number, or to the nearest packet if this one is not shown"),
    _line("&Go"),
    Action("&Go", "&Next Packet", lambda w: w.workspace.table.step(1), ("Ctrl+Down", "F8"),
           "Go to the next packet, from any pane"),
    Action("&Go", "&Previous Packet", lambda w: w.workspace.table.step(-1), ("Ctrl+Up", "F7"),
           "Go to the previous packet, from any pane"),
    Action("&Go", "F&irst Packet", lambda w: w.workspace.table.go_to_row(0), ("Ctrl+Home",)),
    Action("&Go", "&Last Packet", lambda w: w.workspace.table.go_to_last(), ("Ctrl+End",)),
    Action("&Go", "Next in &Conversation", lambda w: w.navigation.in_conversation(1), ("Ctrl+.",),
           "Go to the next packet between the same addresses and ports"),
    Action("&Go", "Previous in C&onversation",
           lambda w: w.navigation.in_conversation(-1), ("Ctrl+,",)),
    Action("&Go", "Go to Ti&me Range…", _ask_range, ("Ctrl+Shift+G",),
           "Show an exact time range in the timeline"),
    _line("&Go"),
    Action("&Go", "Next P&ane", lambda w: w.workspace.next_pane(1), ("F6",),
           "Move the keyboard focus to the next part of the window"),
    Action("&Go", "Previous Pan&e", lambda w: w.workspace.next_pane(-1), ("Shift+F6",)),
)  # fmt: skip

ANALYZE = (
    Action("&Analyze", "&Display Filter", lambda w: w.workspace.filter_bar.setFocus(), ("Ctrl+/",),
           "Type a display filter"),
    Action("&Analyze", "&Apply as Filter", fill=lambda w, menu: fill_filters(w, menu, True)),
    Action("&Analyze", "&Prepare as Filter", fill=lambda w, menu: fill_filters(w, menu, False)),
    Action("&Analyze", "&Conversation Filter", fill=fill_conversations),
    _line("&Analyze"),
    Action("&Analyze", "&Follow Stream",
           lambda w: ask_stream(w, w.selection, w.tasks, w.messages), ("Ctrl+Alt+Shift+T",),
           "Show the data that both ends of the selected packet's conversation sent"),
    Action("&Analyze", "D&iagnose…",
           lambda w: show_diagnosis(w, w.selection, _view(w)), (),
           "Show why packets were slow or lost, with evidence and advice"),
)  # fmt: skip

STATISTICS = (
    *map(_graph, GRAPHS),
    _line("&Statistics"),
    *map(_statistic, STATISTICS_TABLES),
    _line("&Statistics"),
    Action("&Statistics", "&Summary…", lambda w: w.opening.show_summary(), ("Ctrl+Alt+Shift+C",),
           "How many packets and records were loaded, matched and lost, and why"),
)  # fmt: skip

TOOLS = (
    Action("&Tools", "S&QL Console…", lambda w: show_sql_console(w, w.selection), (),
           "Query the recording's tables with a SELECT"),
    Action("&Tools", "Executed &Instructions…", lambda w: ask_counts(w, w.selection), (),
           "Choose a file of the emulator's plugin, to show how many instructions each call ran"),
    Action("&Tools", "Kernel &Source…", lambda w: w.workspace.source.ask(), (),
           "Choose a file that skbscan wrote, to show the source of functions", False),
)  # fmt: skip
HELP = (
    Action("&Help", "&Keys…", lambda w: w.keys_asked.emit(), ("F1",),
           "List what every key does", False),
    Action("&Help", "&About skbviewer", lambda w: w.about(), needs_recording=False),
)  # fmt: skip

ACTIONS = (*FILE, *EDIT, *VIEW, *GO, *ANALYZE, *STATISTICS, *TOOLS, *HELP)
