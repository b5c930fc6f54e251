# SPDX-License-Identifier: MIT
"""The packet list in the middle, and the panes of panes.py around it."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QByteArray, QChildEvent, QEvent, Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar, QVBoxLayout, QWidget

from skbviewer.records import PacketPath

from ..base import focus_order
from ..base.recording_interface import Recording, RowIds
from ..base.theme import is_dark, layer_colours
from ..filters.filter_bar import FilterBar
from ..filters.find_bar import FindBar
from ..packet_panes.call_tree import CallTree
from ..packet_panes.source_view import SourceView
from ..packets.packet_table import PacketTable
from ..packets.row_marks_and_comments import Notes
from ..packets.selected_packet_summary import Summary
from ..packets.selection import Selection
from ..timeline.timeline_view import TimelineView
from .panes import PANES, Pane

LIST_SHARE = (38, 62)  # share of the height: list, panes
WIDTHS = (43, 57)  # share of the width: kernel path, timeline


class Workspace(QMainWindow):
    """Connects all views to the Selection.  Panes can be moved, tabbed and closed."""

    def __init__(self, selection: Selection, notes: Notes, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Widget)
        self._selection = selection
        self.filter_bar = FilterBar()
        self.find_bar = FindBar()
        self.table = PacketTable()
        self.table.packets.notes = notes
        self.summary = Summary()
        self.docks: dict[str, QDockWidget] = {}
        self._build()
        self._link()
        self._first_layout = self.saveState()
        self._layout: QByteArray | None = None
        self._lay_out_when_shown = True

    @property
    def tree(self) -> CallTree:
        """Return the pane of the kernel path."""
        return cast(CallTree, self.docks["tree"].widget())

    @property
    def timeline(self) -> TimelineView:
        """Return the pane of the timeline."""
        return cast(TimelineView, self.docks["timeline"].widget())

    @property
    def source(self) -> SourceView:
        """Return the pane of kernel source."""
        return cast(SourceView, self.docks["source"].widget())

    def _build(self) -> None:
        middle = QWidget()
        self.column = QVBoxLayout(middle)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)
        self.column.addWidget(self.filter_bar)
        self.column.addWidget(self.find_bar)
        self.column.addWidget(self.table, 1)
        self.column.addWidget(self.summary)
        self.setCentralWidget(middle)
        self.setDockNestingEnabled(True)
        for pane in PANES:
            self._add(pane)

    def _add(self, pane: Pane) -> None:
        dock = QDockWidget(pane.title, self)
        dock.setObjectName(pane.name)
        dock.setWidget(pane.make(self._selection))
        self.docks[pane.name] = dock
        self.addDockWidget(pane.area, dock)
        if pane.beside:
            first = self.docks[pane.beside]
            self.tabifyDockWidget(first, dock)
            first.raise_()
        dock.setVisible(not pane.closed)
        focus_order.follow(dock)

    def _link(self) -> None:
        self.table.row_chosen.connect(self._selection.choose_row)
        self.table.visible_changed.connect(self._selection.visible_changed)
        self.table.typed.connect(self._begin_filter)
        self.find_bar.closed.connect(self.table.setFocus)
        self._selection.path_changed.connect(self._show_path)

    def show_recording(self, recording: Recording | None) -> None:
        """Show `recording` in all views; None empties them.

        The packet list has no rows until show_rows() is called.
        """
        self._colour(recording)
        self._selection.use(recording)
        self.filter_bar.show_applied("")
        self.find_bar.hide()
        self.table.show_order(None)
        self.table.show_rows(None)

    def show_rows(self, recording: Recording | None, rows: RowIds | None) -> None:
        """List the rows `rows` of `recording`, by their ids; None means all packets by number."""
        self.table.show_rows(recording, rows)
        if self.table.current_row() is None:
            self._selection.choose_nothing()
        self._selection.show_rows(rows)

    def close_tasks(self) -> None:
        """Stop the work that the panes do in the background."""
        for dock in self.docks.values():
            close = getattr(dock.widget(), "close_tasks", None)
            if close is not None:
                close()

    def _begin_filter(self, letter: str) -> None:
        self.filter_bar.edit.setFocus(Qt.FocusReason.OtherFocusReason)
        self.filter_bar.edit.setText(letter)
        self.filter_bar.edit.propose()

    def lanes(self) -> str:
        """Return the kind of lanes in the timeline; "" if nothing is selected."""
        return "" if self._selection.path is None else str(self.timeline.kind.currentData())

    def next_pane(self, step: int) -> None:
        """Move the focus to the next (`step` 1) or previous (-1) pane or bar; raise its tab."""
        parts = [self.filter_bar, self.table]
        parts += [dock.widget() for dock in self.docks.values() if dock.widget().isVisible()]
        focus = self.focusWidget()
        at = next((n for n, p in enumerate(parts) if p is focus or p.isAncestorOf(focus)), -1)
        for further in range(1, len(parts) + 1):
            part = parts[(at + step * further) % len(parts)]
            for dock in self.docks.values():
                if dock.isAncestorOf(part):
                    dock.raise_()
            target = _focusable(part)
            if target is not None:
                target.setFocus(Qt.FocusReason.TabFocusReason)
                return

    def _share_room(self) -> None:
        """Give the list and the panes below it their default sizes."""
        below = [d for d in self.docks.values() if self.dockWidgetArea(d) == PANES[0].area]
        height = self.height() * LIST_SHARE[1] // sum(LIST_SHARE)
        self.resizeDocks(below, [height] * len(below), Qt.Orientation.Vertical)
        widths = [self.width() * part // sum(WIDTHS) for part in WIDTHS]
        docks = [self.docks["tree"], self.docks["timeline"]]
        self.resizeDocks(docks, widths, Qt.Orientation.Horizontal)

    def restore_layout(self, layout: QByteArray | None) -> None:
        """Restore the panes' positions from layout_to_keep(); None means the default ones."""
        self._layout = layout
        self._lay_out_when_shown = not self.isVisible()
        if not self._lay_out_when_shown:
            self._use_layout()

    def _use_layout(self) -> None:
        if self._layout is None or not self.restoreState(self._layout):
            self.restoreState(self._first_layout)
            self._share_room()

    def layout_to_keep(self) -> QByteArray | None:
        """Return the panes' positions, for restore_layout(); None means the default ones."""
        return self._layout if self._lay_out_when_shown else self.saveState()

    def _show_path(self, path: PacketPath | None) -> None:
        self.summary.show_path(self._selection.row, path)

    def _colour(self, recording: Recording | None) -> None:
        dark = is_dark(self.palette())
        layers = () if recording is None else recording.layers()
        self._selection.colours_changed.emit(layer_colours(layers, dark), dark)
        self.summary.show_path(self._selection.row, self._selection.path)

    # Qt's own names

    def childEvent(self, event: QChildEvent) -> None:
        super().childEvent(event)
        if event.polished():  # else it may be partly destroyed already
            bar = event.child()
            if isinstance(bar, QTabBar):  # the tabs of panes that share a place
                bar.setAccessibleName("Panes")

    def showEvent(self, event: QShowEvent) -> None:
        """Lay out the panes when the size is known, after this event.

        Floating panes that are shown during this event would not be painted.
        """
        super().showEvent(event)
        QTimer.singleShot(0, self, self._lay_out)

    def _lay_out(self) -> None:
        if self._lay_out_when_shown and self.isVisible():
            self._lay_out_when_shown = False
            self._use_layout()

    def hideEvent(self, event: QHideEvent) -> None:
        """Hide floating panes, because they would stay visible when another page is shown."""
        super().hideEvent(event)
        if not event.spontaneous() and not self._lay_out_when_shown:
            self._layout, self._lay_out_when_shown = self.saveState(), True
            for dock in self.docks.values():
                if dock.isFloating():
                    dock.hide()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.docks:
            self._colour(self._selection.recording)


def _focusable(part: QWidget) -> QWidget | None:
    """Return the widget that takes the keyboard in a part of the window: itself or a child."""
    inside = [part.focusProxy() or part, *part.findChildren(QWidget)]
    wanted = Qt.FocusPolicy.TabFocus.value
    for widget in inside:
        can = widget.isVisible() and widget.isEnabled() and widget.focusProxy() is None
        if widget.focusPolicy().value & wanted and can:
            return widget
    return None
