# SPDX-License-Identifier: MIT
"""The timeline pane: one packet's path or lanes of all calls, with overview, markers and notes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QWidget

from skbviewer.analysis.timeline.lanes import Timeline
from skbviewer.analysis.timeline.session_overview import Overview
from skbviewer.records import PacketPath

from ..base.recording_interface import Recording
from .lane_painter import Look
from .lane_titles import Gutter, width_in
from .lanes_mode import LanesMode
from .markers_and_range import LANE_TITLES, SELECTED
from .mouse_actions import Mouse
from .overview_strip import OverviewStrip
from .path_mode import PathMode
from .time_axis import base_of, base_text
from .timeline_keys import KEYS
from .timeline_notes import Notes
from .timeline_plot import TimelinePlot

HINT = "Ctrl+wheel zooms, drag selects, Shift+drag moves, F fits"
_RELOAD_MS = 150  # delay after the list was scrolled


class TimelineView(TimelinePlot):
    """Shows a mode: PathMode (the selected packet) or LanesMode (all calls)."""

    keys_asked: Signal = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("timeline")
        self.setAccessibleName("Latency timeline")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.notes = Notes(self)
        self.mouse = Mouse(self, self.notes)
        self.path_mode, self.lanes_mode = PathMode(self), LanesMode(self, self.mouse)
        self.mode = self.path_mode
        self.item = self.path_mode.item
        self.gutter, self.overview = Gutter(self.lanes), OverviewStrip()
        self.kind = QComboBox()
        self._reload = QTimer(self)
        self._build()
        self._link()
        self._paint_palette()

    def _build(self) -> None:
        for item in (self.item, self.lanes, self.marks):
            self.box.addItem(item, ignoreBounds=True)
        self.lanes.hide()
        self.item.tags = self.marks.boxes
        self.marks.spared = lambda: self.item.texts() if self.item.isVisible() else []
        for kind, title in LANE_TITLES.items():
            self.kind.addItem(title, kind)
        self.kind.setToolTip("Kind of lanes")
        self.kind.setAccessibleName("Lanes of the timeline")
        self.legend.hint = HINT
        head = QHBoxLayout()
        head.setContentsMargins(4, 2, 0, 2)
        head.addWidget(self.kind)
        head.addWidget(self.legend, 1)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(0)
        grid.addLayout(head, 0, 0, 1, 3)
        grid.addWidget(self.overview, 1, 0, 1, 3)
        grid.addWidget(self.gutter, 2, 0)
        grid.addWidget(self.plot, 2, 1)
        grid.addWidget(self.bar, 2, 2)
        grid.setColumnStretch(1, 1)
        self.gutter.hide()
        self.overview.hide()
        self._reload.setSingleShot(True)
        self._reload.setInterval(_RELOAD_MS)

    def _link(self) -> None:
        self.box.sigRangeChanged.connect(self._report_items)
        self.box.sigResized.connect(self.fit_rows)
        self.box.sigResized.connect(self._report_items)  # the range may not change then
        self.box.lanes_scrolled.connect(lambda steps: self.bar.setValue(self.bar.value() + steps))
        self.bar.valueChanged.connect(self.fit_rows)
        self.kind.activated.connect(self._choose_kind)
        self.overview.window_asked.connect(self.show_window)
        self.loader.overview_ready.connect(self._show_overview)
        self.loader.timeline_ready.connect(self._show_timeline)
        self.loader.working.connect(self._show_work)
        self.loader.failed.connect(self.failed)
        self._reload.timeout.connect(self.lanes_mode.reload)

    # Contents

    def show_recording(self, recording: Recording | None) -> None:
        """Show the overview of `recording`; None empties the timeline."""
        self.recording = recording
        self.state.clear()
        self.notes.use(recording)
        self.lanes_mode.clear()
        self.overview.show_overview(None, "Reading the recording…")
        self.overview.setVisible(recording is not None)
        self.loader.use(recording)
        self.lanes_mode.load()
        self.marks.update()

    def show_path(self, path: PacketPath | None) -> None:
        """Show the selected packet: draw its path, or mark it in the lanes."""
        self.path = path
        self.path_mode.show_path(path)
        self.lanes_mode.show_path(path)
        self._show_message()

    def show_call(self, leg: int, call: int) -> None:
        """Highlight call `call` of leg `leg` and bring it into view; a call of -1: no call."""
        self.path_mode.show_call(leg, call)
        self.lanes_mode.show_call(leg, call)

    def show_visible(self, rows: Sequence[int]) -> None:
        """Show lanes of the packets that the packet list shows on screen.

        `rows` are the ids: n for packet n, -n for row K<n>.
        """
        self.lanes_mode.ids = tuple(int(one) for one in rows)
        if self.mode.has_low_rows:
            self._reload.start()

    def show_kind(self, kind: str) -> None:
        """Show lanes of the kind `kind`, a key of LANE_TITLES."""
        self.kind.setCurrentIndex(self.kind.findData(kind))
        was_relative = self.mode.is_relative
        is_path = kind == SELECTED
        if self.mode is self.lanes_mode:
            self.lanes_mode.leave()
        self.mode = self.path_mode if is_path else self.lanes_mode
        for thing, shown in ((self.item, is_path), (self.lanes, not is_path)):
            thing.setVisible(shown)
        self.gutter.setVisible(not is_path)
        self.bar.setValue(0)
        if is_path:
            self.path_mode.show_path(self.path)
        else:
            self.lanes_mode.show_kind(kind)
        if was_relative != self.mode.is_relative:
            self.state.swap_markers()
        if was_relative or self.mode.is_relative:  # relative times are not session times
            self.choose_range(None)
        self.show_layers()
        self._show_message()

    def _choose_kind(self) -> None:
        self.show_kind(self.kind.currentData())
        self.setFocus()  # so that its keys work

    def _show_overview(self, overview: Overview) -> None:
        self.overview.show_overview(overview)
        self.lanes.set_gaps(overview.gaps)
        self._report_items()

    def _show_timeline(self, timeline: Timeline) -> None:
        self.lanes_mode.show_timeline(timeline)
        self.show_layers()

    def _show_work(self, line: str) -> None:
        self.overview.message = line
        self.legend.show_text(line or self.difference())
        self._show_message()

    def _show_message(self) -> None:
        self.marks.message = self.mode.message()
        self.marks.update()

    def set_colours(self, colours: dict[str, QColor]) -> None:
        """Set the colours of the layers by name; call this again when the palette has changed."""
        self.colours = colours
        self.show_layers()
        self._paint_palette()

    def show_again(self, kind: str, window: tuple[int, int]) -> None:
        """Show the lanes `kind` and the range `window`, which window_ns() returned before.

        A kind of lanes that does not exist is ignored.
        """
        if self.kind.findData(kind) < 0:
            return
        if kind != SELECTED:
            self.lanes_mode.come_back(window)
        self.show_kind(kind)
        if kind == SELECTED:
            self.show_window(*window)

    def _report_items(self) -> None:
        view = self.box.viewRect()
        self.marks.origin_ns, self.marks.top_rows = self.mode.origin_ns, self.mode.top_rows
        self.item.set_view(view)
        for item in (self.lanes, self.marks):
            item.set_view(view, self.box.size())
        self._show_message()
        self.overview.show_window(None if self.mode.is_relative else self.window_ns())
        corner = self.plot.mapFromScene(self.box.mapToScene(QPointF(0, 0)))
        base = base_of(view.left(), view.width())
        self.gutter.show_base(base_text(base), corner.y())

    def _paint_palette(self) -> None:
        palette = self.palette()
        self.plot.setBackground(palette.color(QPalette.ColorRole.Base))
        self.axis.setTextPen(palette.color(QPalette.ColorRole.Text))
        self.axis.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
        self.item.set_colours(self.colours, palette)
        for item in (self.lanes, self.marks):
            item.set_look(Look(self.colours, palette))

    # Markers, range, notes

    def activate_marker(self, letter: str) -> None:
        """Make the marker `letter` active, and move it to the pointer if this is in the view."""
        self.state.active = letter
        if self.mouse.pointer is not None:
            self.set_marker(letter, self.mouse.ns_at(self.mouse.pointer))

    def ask_note(self) -> None:
        """Ask for a note on the selected range, or else on the call, or else on the packet."""
        self.notes.ask_new()

    def show_notes(self) -> None:
        """Show the notes again, because they have changed."""
        self.notes.reload()

    def step_call(self, by: int) -> None:
        """Select the next call (`by` 1) or the previous call (-1), in order of entry."""
        self.path_mode.step(by)

    def ask_keys(self) -> None:
        """Ask the window to show the list of keys."""
        self.keys_asked.emit()

    def close_tasks(self) -> None:
        """Stop all work in the background, and wait until its threads have ended."""
        self.loader.close()

    # Qt's own names

    def keyPressEvent(self, event: QKeyEvent) -> None:
        known = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        found = KEYS.get((event.key(), known))
        if found is None:
            super().keyPressEvent(event)
        else:
            found[1](self)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange:
            self._paint_palette()
        elif event.type() == QEvent.Type.FontChange:
            self.fit_rows()
        super().changeEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.gutter.setFixedWidth(width_in(self.width()))

    def sizeHint(self) -> QSize:
        return QSize(640, 360)
