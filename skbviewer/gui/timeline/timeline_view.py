# SPDX-License-Identifier: MIT
"""The timeline pane: one packet's path or lanes of all calls, with overview, markers and notes."""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QScrollBar, QWidget

from skbviewer.analysis.timeline.lanes import PACKET_KINDS, Timeline
from skbviewer.analysis.timeline.session_overview import Overview
from skbviewer.records import PacketPath

from ..base import wording
from ..base.layer_legend import Legend
from ..base.recording import Recording
from .lane_items import LanesItem, MarksItem
from .lane_loader import Loader
from .lane_painter import Look
from .lane_titles import Gutter, width_in
from .lanes_mode import LanesMode
from .markers_and_range import LANE_TITLES, SELECTED, TimeState
from .mouse_actions import Mouse
from .overview_strip import OverviewStrip
from .path_mode import PathMode
from .time_axis import TimeAxis, TimeBox, base_of, base_text
from .timeline_keys import KEYS
from .timeline_notes import Notes

MIN_SPAN_NS = 20
ROW_PX = (16, 22)  # minimum and maximum height of a row
PACKETS_ROW_PX = (3, 22)  # lanes of packets: low rows show more packets
TEXT_ROWS = (0.95, 1.3)  # the same limits in heights of the text
SNAP_PX = 8
HINT = "Ctrl+wheel zooms, drag selects, Shift+drag moves, F fits"
_RELOAD_MS = 150  # delay after the list was scrolled


class TimelineView(QWidget):
    """Shows a mode: PathMode (the selected packet) or LanesMode (all calls)."""

    call_chosen = Signal(int, int)  # leg, call of the shown path; (-1, -1): none
    range_selected = Signal(object)  # (begin_ns, end_ns) in session time, or None
    range_finished = Signal(object)  # as range_selected, but only when dragging ends
    call_located = Signal(object)  # CallPlace of a call clicked in the lanes
    packet_asked = Signal(object)  # number of the packet whose wire time was clicked
    filter_asked: Signal = Signal(str, bool)  # a filter, and whether to apply it
    source_asked: Signal = Signal(str)  # a function whose source is wanted
    keys_asked: Signal = Signal()
    notes_changed = Signal()
    failed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("timeline")
        self.setAccessibleName("Latency timeline")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.state = TimeState()
        self.colours: dict[str, QColor] = {}
        self.path: PacketPath | None = None
        self.box: TimeBox = TimeBox()
        self.axis: TimeAxis = TimeAxis()
        self.plot = pg.PlotWidget(viewBox=self.box, axisItems={"top": self.axis})
        self.lanes, self.marks = LanesItem(), MarksItem(self.state)
        self.loader, self.notes = Loader(self), Notes(self)
        self.mouse = Mouse(self)
        self.path_mode, self.lanes_mode = PathMode(self), LanesMode(self)
        self.mode: PathMode | LanesMode = self.path_mode
        self.item = self.path_mode.item
        self.gutter, self.overview = Gutter(self.lanes), OverviewStrip()
        self.legend, self.kind = Legend(), QComboBox()
        self.bar = QScrollBar(Qt.Orientation.Vertical)
        self._reload = QTimer(self)
        self._build()
        self._link()
        self._paint_palette()

    def _build(self) -> None:
        plot = self.plot.getPlotItem()
        for side, shown in (("left", False), ("bottom", False), ("right", False), ("top", True)):
            plot.showAxis(side, shown)
        plot.hideButtons()
        plot.setContentsMargins(0, 0, 0, 0)
        for item in (self.item, self.lanes, self.marks):
            self.box.addItem(item, ignoreBounds=True)
        self.lanes.hide()
        self.item.tags = self.marks.boxes
        self.marks.spared = lambda: self.item.texts() if self.item.isVisible() else []
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plot.setFrameShape(self.plot.Shape.NoFrame)
        for kind, title in LANE_TITLES.items():
            self.kind.addItem(title, kind)
        self.kind.setToolTip("What the lanes are")
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
        self.box.sigResized.connect(self._fit_rows)
        self.box.sigResized.connect(self._report_items)  # the range may not change then
        self.box.lanes_scrolled.connect(lambda steps: self.bar.setValue(self.bar.value() + steps))
        self.bar.valueChanged.connect(self._fit_rows)
        self.kind.activated.connect(self._choose_kind)
        self.overview.window_asked.connect(self.show_window)
        self.loader.overview_ready.connect(self._show_overview)
        self.loader.timeline_ready.connect(self._show_timeline)
        self.loader.working.connect(self._show_work)
        self.loader.failed.connect(self.failed)
        self._reload.timeout.connect(self.lanes_mode.reload)

    # Contents

    def show_recording(self, recording: Recording | None) -> None:
        """Show the overview of `recording`; None clears everything."""
        self.state.clear()
        self.notes.use(recording)
        self.lanes_mode.clear()
        self.overview.show_overview(None, "Looking over the recording…")
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
        """Mark one call of the path and bring it into view; a call of -1 marks none."""
        self.path_mode.show_call(leg, call)
        self.lanes_mode.show_call(leg, call)

    def show_visible(self, rows: Sequence[int]) -> None:
        """Set the rows of the list that are on screen: n = packet n, -n = K<n>."""
        self.lanes_mode.ids = tuple(int(one) for one in rows)
        if self._shows_packets():
            self._reload.start()

    def show_kind(self, kind: str) -> None:
        """Show other lanes: a key of LANE_TITLES."""
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
        if was_relative or self.mode.is_relative:  # relative times are no session times
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
        self.legend.show_text(line or self._difference())
        self._show_message()

    def _show_message(self) -> None:
        self.marks.message = self.mode.message()
        self.marks.update()

    def set_colours(self, colours: dict[str, QColor]) -> None:
        """Set the colour of each layer by name.  Call it after a palette change, too."""
        self.colours = colours
        self.show_layers()
        self._paint_palette()

    def show_layers(self) -> None:
        self.legend.show_layers(self.mode.layers(), self.colours)

    # Position and zoom

    def fit(self) -> None:
        """Show everything."""
        begin, end, slack = self.mode.bounds()
        pad = (end - begin) * 0.02
        self.box.setLimits(xMin=begin - slack, xMax=end + slack, minXRange=MIN_SPAN_NS)
        self.box.setXRange(begin - pad, end + pad)
        self._fit_rows()

    def show_window(self, begin_ns: int, end_ns: int) -> None:
        """Show a range of session time."""
        origin = self.mode.origin_ns
        self.box.setXRange(begin_ns - origin, end_ns - origin)

    def show_again(self, kind: str, window: tuple[int, int]) -> None:
        """Restore lanes and the range that window_ns() returned; ignore unknown lanes."""
        if self.kind.findData(kind) < 0:
            return
        if kind != SELECTED:
            self.lanes_mode.come_back(window)
        self.show_kind(kind)
        if kind == SELECTED:
            self.show_window(*window)

    def window_ns(self) -> tuple[int, int]:
        """Return the shown range in session time, ns."""
        low, high = self.box.viewRange()[0]
        return round(low) + self.mode.origin_ns, round(high) + self.mode.origin_ns

    def zero_ns(self) -> int:
        """Return the session time at which the recording begins; 0 if times are relative."""
        overview = self.loader.overview
        return 0 if overview is None or self.mode.is_relative else overview.t0_ns

    def zoom_to_selection(self) -> None:
        """Show the selected range, else the range of the markers, else the packet."""
        state = self.state
        found = state.range or state.span
        if state.range is None and state.a is not None and state.b is not None:
            found = (min(state.a, state.b), max(state.a, state.b))
        if found is not None:
            pad = max((found[1] - found[0]) // 20, MIN_SPAN_NS)
            self.show_window(found[0] - pad, found[1] + pad)

    def scroll_to(self, y: float) -> None:
        """Bring row `y` into view."""
        top, bottom = self.box.viewRange()[1]
        if y < top or y + 1 > bottom:
            self.bar.setValue(int(y - (bottom - top) / 2))

    def _fit_rows(self) -> None:
        """Make rows as high as the room allows, within ROW_PX; the rest is scrolled."""
        height, rows = max(self.box.height(), 1.0), max(self.mode.rows, 1.0)
        least, most = PACKETS_ROW_PX if self._shows_packets() else ROW_PX
        text = self.fontMetrics().height()
        most = max(most, round(text * TEXT_ROWS[1]))
        if not self._shows_packets():
            least = max(least, round(text * TEXT_ROWS[0]))
        row_px = min(max(height / rows, least), most)
        shown = height / row_px
        self.bar.setRange(0, max(0, round(rows - shown + 0.49)))
        self.bar.setPageStep(max(1, int(shown)))
        self.bar.setVisible(self.bar.maximum() > 0)
        self.box.setYRange(self.bar.value(), self.bar.value() + shown)

    def _shows_packets(self) -> bool:
        return self.mode is self.lanes_mode and self.lanes_mode.kind in PACKET_KINDS

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
        """Make a marker active, and move it to the pointer if that is in the view."""
        self.state.active = letter
        if self.mouse.pointer is not None:
            self.set_marker(letter, self.mouse.ns_at(self.mouse.pointer))

    def set_marker(self, letter: str, at_ns: int | None) -> None:
        """Set a marker to a session time; None removes it."""
        self.state.set_marker(letter, at_ns)
        self.legend.show_text(self._difference())
        self.marks.update()

    def choose_range(self, times: tuple[int, int] | None, is_final: bool = True) -> None:
        """Select a range of session time and emit `range_selected`."""
        self.show_range(times)
        self.range_selected.emit(times)
        if is_final:
            self.range_finished.emit(times)

    def show_range(self, times: tuple[int, int] | None) -> None:
        """Mark a range of session time."""
        self.state.range = times
        self.marks.update()

    def ask_note(self) -> None:
        """Ask for a note on the selected range, call or packet."""
        self.notes.ask_new()

    def show_notes(self) -> None:
        """Show the notes again after they changed."""
        self.notes.reload()

    def selected_call(self) -> int | None:
        """Return the id of the selected call in table call; None if none is selected."""
        return self.mode.selected_call()

    def step_call(self, by: int) -> None:
        """Select the next call (1) or the previous one (-1), in order of entry."""
        self.path_mode.step(by)

    def _difference(self) -> str:
        ns = self.state.difference
        return "" if ns is None else f"B − A = {wording.difference(ns)}"

    def bar_under(self, scene: QPointF) -> int | None:
        """Return the bar of the path drawn at a scene position."""
        return self.path_mode.bar_under(scene)

    def close_tasks(self) -> None:
        """Stop all work.  No thread is left afterwards."""
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
            self._fit_rows()
        super().changeEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.gutter.setFixedWidth(width_in(self.width()))

    def sizeHint(self) -> QSize:
        return QSize(640, 360)
