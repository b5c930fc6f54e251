# SPDX-License-Identifier: MIT
"""The plot of the timeline: its axis and items, the shown range, markers.  A Mode draws into it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QScrollBar, QWidget

from skbviewer.records import PacketPath

from ..base import wording
from ..base.layer_legend import Legend
from ..base.recording_interface import Recording
from .lane_items import LanesItem, MarksItem
from .lane_loader import Loader
from .markers_and_range import TimeState
from .time_axis import TimeAxis, TimeBox

MIN_SPAN_NS = 20
ROW_PX = (16, 22)  # minimum and maximum height of a row
PACKETS_ROW_PX = (3, 22)  # lanes of packets: low rows show more packets
TEXT_ROWS = (0.95, 1.3)  # the same limits in heights of the text


class Mode(Protocol):
    """The content of the plot: the path of one packet, or lanes."""

    @property
    def is_relative(self) -> bool:
        """Return whether times are relative to each lane's first entry, not session times."""

    @property
    def filters_by_range(self) -> bool:
        """Return whether dragging a range filters the packet list."""

    @property
    def has_low_rows(self) -> bool:
        """Return whether rows may be lower than their text."""

    @property
    def origin_ns(self) -> int:
        """Return the session time at x = 0; 0 if times are relative."""

    @property
    def rows(self) -> float:
        """Return the height of everything, in rows."""

    @property
    def top_rows(self) -> float:
        """Return the height of the part above the first row, in rows."""

    def layers(self) -> Iterable[str]:
        """Return the names of the layers that are drawn."""

    def bounds(self) -> tuple[float, float, float]:
        """Return the start and end of everything, and how far one may pan beyond them, ns."""

    def message(self) -> str:
        """Return the text to show if nothing is drawn."""

    def selected_call(self) -> int | None:
        """Return the id of the selected call in table call."""

    def click(self, scene: QPointF) -> None:
        """Select what is drawn at a scene position."""

    def tip_at(self, scene: QPointF) -> str:
        """Return the tooltip at a scene position; "" if there is none."""

    def function_at(self, scene: QPointF) -> str:
        """Return the function of the single call painted at a scene position, "" if none."""

    def edges(self, y: float, pixel: float) -> npt.NDArray[np.float64]:
        """Return the starts and ends (ns since `origin_ns`) to which a marker may snap.

        These are the edges of the boxes in one row: `y` is the row's position in rows, `pixel` in
        pixels.
        """


class TimelinePlot(QWidget):
    """The plot without the widgets around it; a subclass sets `mode` and arranges the widgets."""

    call_chosen = Signal(int, int)  # leg, call of the shown path; (-1, -1): none
    range_selected = Signal(object)  # (begin_ns, end_ns) in session time, or None
    range_finished = Signal(object)  # as range_selected, but only when dragging ends
    call_located = Signal(object)  # CallPlace of a call clicked in the lanes
    packet_asked = Signal(object)  # number of the packet whose wire time was clicked
    filter_asked: Signal = Signal(str, bool)  # a filter, and whether to apply it
    source_asked: Signal = Signal(str)  # a function whose source is wanted
    code_asked: Signal = Signal(str)  # a function to disassemble
    notes_changed = Signal()
    failed = Signal(str)
    mode: Mode

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.recording: Recording | None = None
        self.state = TimeState()
        self.colours: dict[str, QColor] = {}
        self.path: PacketPath | None = None
        self.box: TimeBox = TimeBox()
        self.axis: TimeAxis = TimeAxis()
        self.plot = pg.PlotWidget(viewBox=self.box, axisItems={"top": self.axis})
        self.lanes, self.marks = LanesItem(), MarksItem(self.state)
        self.loader = Loader(self)
        self.legend = Legend()
        self.bar = QScrollBar(Qt.Orientation.Vertical)
        plot = self.plot.getPlotItem()
        for side, shown in (("left", False), ("bottom", False), ("right", False), ("top", True)):
            plot.showAxis(side, shown)
        plot.hideButtons()
        plot.setContentsMargins(0, 0, 0, 0)
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plot.setFrameShape(self.plot.Shape.NoFrame)

    def show_layers(self) -> None:
        """Show the drawn layers in the legend."""
        self.legend.show_layers(self.mode.layers(), self.colours)

    # Position and zoom

    def fit(self) -> None:
        """Zoom out to everything that the mode draws."""
        begin, end, slack = self.mode.bounds()
        pad = (end - begin) * 0.02
        self.box.setLimits(xMin=begin - slack, xMax=end + slack, minXRange=MIN_SPAN_NS)
        self.box.setXRange(begin - pad, end + pad)
        self.fit_rows()

    def show_window(self, begin_ns: int, end_ns: int) -> None:
        """Show the range from `begin_ns` to `end_ns` of session time."""
        origin = self.mode.origin_ns
        self.box.setXRange(begin_ns - origin, end_ns - origin)

    def window_ns(self) -> tuple[int, int]:
        """Return the shown range in session time, ns; in relative times if the mode has these."""
        low, high = self.box.viewRange()[0]
        return round(low) + self.mode.origin_ns, round(high) + self.mode.origin_ns

    def zero_ns(self) -> int:
        """Return the session time at which the recording starts; 0 if times are relative."""
        overview = self.loader.overview
        return 0 if overview is None or self.mode.is_relative else overview.t0_ns

    def zoom_to_selection(self) -> None:
        """Show the selected range; if none, the range of the markers; if none, the packet."""
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

    def fit_rows(self) -> None:
        """Make rows as high as the space allows, within ROW_PX; scrolling shows further rows."""
        height, rows = max(self.box.height(), 1.0), max(self.mode.rows, 1.0)
        least, most = PACKETS_ROW_PX if self.mode.has_low_rows else ROW_PX
        text = self.fontMetrics().height()
        most = max(most, round(text * TEXT_ROWS[1]))
        if not self.mode.has_low_rows:
            least = max(least, round(text * TEXT_ROWS[0]))
        row_px = min(max(height / rows, least), most)
        shown = height / row_px
        self.bar.setRange(0, max(0, round(rows - shown + 0.49)))
        self.bar.setPageStep(max(1, int(shown)))
        self.bar.setVisible(self.bar.maximum() > 0)
        self.box.setYRange(self.bar.value(), self.bar.value() + shown)

    # Markers, range, calls

    def set_marker(self, letter: str, at_ns: int | None) -> None:
        """Set a marker to a session time; None removes it."""
        self.state.set_marker(letter, at_ns)
        self.legend.show_text(self.difference())
        self.marks.update()

    def choose_range(self, times: tuple[int, int] | None, is_final: bool = True) -> None:
        """Select a range of session time and emit `range_selected`.

        `times` is (begin, end) in ns; None selects nothing.  If `is_final`, `range_finished` is
        emitted, too.
        """
        self.show_range(times)
        self.range_selected.emit(times)
        if is_final:
            self.range_finished.emit(times)

    def show_range(self, times: tuple[int, int] | None) -> None:
        """Mark a range of session time."""
        self.state.range = times
        self.marks.update()

    def selected_call(self) -> int | None:
        """Return the id of the selected call in table call; None if none is selected."""
        return self.mode.selected_call()

    def call_number(self, path: PacketPath, leg: int, call: int) -> int | None:
        """Return the id in table `call` of a call in a path."""
        if self.recording is None:
            return None
        packet = path.packet.number if path.packet is not None else None
        return self.recording.paths.call_number(packet, path.legs[leg].series, leg, call)

    def difference(self) -> str:
        """Return the time between the markers in words; "" unless both markers are set."""
        ns = self.state.difference
        return "" if ns is None else f"B − A = {wording.difference(ns)}"
