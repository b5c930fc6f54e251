# SPDX-License-Identifier: MIT
"""The three linked views of a recording: packet list above, function tree and timeline below."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from skbviewer.records import PacketPath

from .call_tree import CallTree
from .contract import Recording
from .packet_table import PacketTable
from .selection import Selection
from .summary import Summary
from .theme import is_dark, layer_colours
from .timeline_view import TimelineView


class Workspace(QWidget):
    """Connects every view to the one Selection."""

    def __init__(self, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self._recording: Recording | None = None
        self.table = PacketTable()
        self.summary = Summary()
        self.tree = CallTree()
        self.timeline = TimelineView()
        self.timeline.legend.hint = "Ctrl+wheel zooms, drag moves, F fits"
        self._build()
        self._link()

    def _build(self) -> None:
        self.lower_panes = QSplitter(Qt.Orientation.Horizontal)
        self.lower_panes.addWidget(self.tree)
        self.lower_panes.addWidget(self.timeline)
        self.lower_panes.setSizes([1000, 1000])
        below = QWidget()
        column = QVBoxLayout(below)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.summary)
        column.addWidget(self.lower_panes, 1)
        self.all_panes = QSplitter(Qt.Orientation.Vertical)
        self.all_panes.addWidget(self.table)
        self.all_panes.addWidget(below)
        self.all_panes.setSizes([380, 620])
        self.all_panes.setChildrenCollapsible(False)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.all_panes)

    def _link(self) -> None:
        self.table.row_chosen.connect(self._selection.choose_row)
        self.tree.call_chosen.connect(self._selection.choose_call)
        self.timeline.call_chosen.connect(self._selection.choose_call)
        self._selection.path_changed.connect(self._show_path)
        self._selection.call_changed.connect(self.tree.show_call)
        self._selection.call_changed.connect(self.timeline.show_call)

    def show_recording(self, recording: Recording | None, kernel_only: bool) -> None:
        """Show `recording` from its first row; None empties all views."""
        self._recording = recording
        self._colour()
        self._selection.use(recording)
        self.table.show_recording(recording, kernel_only)

    def _show_path(self, path: PacketPath | None) -> None:
        self.summary.show_path(self._selection.row, path)
        self.tree.show_path(path)
        self.timeline.show_path(path)

    def _colour(self) -> None:
        dark = is_dark(self.palette())
        layers = () if self._recording is None else self._recording.layers()
        colours = layer_colours(layers, dark)
        self.tree.set_colours(colours, dark)
        self.timeline.set_colours(colours)
        self.summary.show_path(self._selection.row, self._selection.path)

    # Qt's own names

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._colour()
