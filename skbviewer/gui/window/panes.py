# SPDX-License-Identifier: MIT
"""The panes around the packet list, in one table.  A new pane needs only a line here.

A pane is made once with the Selection and follows its signals.  It knows no other pane.  A pane
that works in the background has a method close_tasks().
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from ..packet_panes.accessed_memory_view import MemoryView
from ..packet_panes.call_tree import CallTree
from ..packet_panes.machine_code_view import CodeView
from ..packet_panes.packet_detail import PacketDetail
from ..packet_panes.raw_record_view import RawView
from ..packet_panes.source_view import SourceView
from ..packets.selection import Selection
from ..timeline.selection_links import choose_row, follow
from ..timeline.timeline_view import TimelineView

BOTTOM = Qt.DockWidgetArea.BottomDockWidgetArea
RIGHT = Qt.DockWidgetArea.RightDockWidgetArea


class Pane(NamedTuple):
    """A pane; `name` identifies it in the settings, `beside` is the pane with which it shares tabs.

    A `closed` pane is opened by the View menu, or when it has something to show.
    """

    name: str
    title: str
    make: Callable[[Selection], QWidget]
    area: Qt.DockWidgetArea = BOTTOM
    beside: str = ""
    closed: bool = False


def _tree(selection: Selection) -> CallTree:
    tree = CallTree()
    tree.call_chosen.connect(selection.choose_call)
    tree.source_asked.connect(selection.source_asked)
    tree.code_asked.connect(selection.code_asked)
    tree.row_asked.connect(lambda row: choose_row(selection, row))
    tree.filter_asked.connect(selection.filter_asked)
    selection.path_changed.connect(tree.show_path)
    selection.call_changed.connect(tree.show_call)
    selection.colours_changed.connect(tree.set_colours)
    return tree


def _timeline(selection: Selection) -> TimelineView:
    view = TimelineView()
    follow(view, selection)
    return view


PANES = (
    Pane("tree", "Kernel Path", _tree),
    Pane("detail", "Packet Details", PacketDetail, beside="tree"),
    Pane("raw", "Raw Records", RawView, beside="tree"),
    Pane("source", "Kernel Source", SourceView, beside="tree"),
    Pane("code", "Disassembly", CodeView, beside="tree"),
    Pane("memory", "Memory", MemoryView, beside="tree", closed=True),
    Pane("timeline", "Timeline", _timeline),
)
