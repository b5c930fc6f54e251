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
        """Return whether times count from the first entry in each lane (else: session time)."""

    @property
    def filters_by_range(self) -> bool:
        """Return whether the packet list is filtered when the user drags a range."""

    @property
    def has_low_rows(self) -> bool:
        """Return whether rows may be less high than their text."""

    @property
    def origin_ns(self) -> int:
        """Return the session time at x = 0; 0 if times are relative."""

    @property
    def rows(self) -> float:
        """Return the total height of the drawing, in rows."""

    @property
    def top_rows(self) -> float:
        """Return the height of the part above the first row, in rows."""

    def layers(self) -> Iterable[str]:
        """Return the names of the layers that are drawn."""

    def bounds(self) -> tuple[float, float, float]:
        """Return (start, end, margin) of all boxes, ns; one may pan by `margin` beyond the ends."""

    def message(self) -> str:
        """Return the text to show if nothing is drawn."""

    def selected_call(self) -> int | None:
        """Return the id of the selected call in table `calls`; None if no call is selected."""

    def click(self, scene: QPointF) -> None:
        """Select the call at a position of the scene."""

    def tip_at(self, scene: QPointF) -> str:
        """Return the tooltip at a position of the scene; "" if there is none."""

    def function_at(self, scene: QPointF) -> str:
        """Return the function of the single call at a position of the scene; "" if none."""

    def edges(self, y: float, pixel: float) -> npt.NDArray[np.float64]:
        """Return the times (ns since `origin_ns`) at which boxes begin or end.

        Markers snap to these times.  Only boxes in one row count: `y` is the position in rows,
        `pixel` the same position in pixels.
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
        """Show in the legend the layers that are drawn."""
        self.legend.show_layers(self.mode.layers(), self.colours)

    # Position and zoom

    def fit(self) -> None:
        """Zoom out until everything that the mode draws is visible."""
        begin, end, slack = self.mode.bounds()
        pad = (end - begin) * 0.02
        self.box.setLimits(xMin=begin - slack, xMax=end + slack, minXRange=MIN_SPAN_NS)
        self.box.setXRange(begin - pad, end + pad)
        self.fit_rows()

    def show_window(self, begin_ns: int, end_ns: int) -> None:
        """Zoom to the range from `begin_ns` to `end_ns` of session time."""
        origin = self.mode.origin_ns
        self.box.setXRange(begin_ns - origin, end_ns - origin)

    def window_ns(self) -> tuple[int, int]:
        """Return the range that is shown, in session time (ns).

        If the mode has relative times, the range is in relative times, too.
        """
        low, high = self.box.viewRange()[0]
        return round(low) + self.mode.origin_ns, round(high) + self.mode.origin_ns

    def zero_ns(self) -> int:
        """Return the session time (ns) at which the recording starts; 0 if times are relative."""
        overview = self.loader.overview
        return 0 if overview is None or self.mode.is_relative else overview.t0_ns

    def zoom_to_selection(self) -> None:
        """Show the selected range, or else the range between the markers, or else the packet."""
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
        """Make rows as high as the space allows, within ROW_PX.

        If the space is too small for all rows, the user can scroll.
        """
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
        """Set the marker `letter` to a session time (ns); None removes the marker."""
        self.state.set_marker(letter, at_ns)
        self.legend.show_text(self.difference())
        self.marks.update()

    def choose_range(self, times: tuple[int, int] | None, is_final: bool = True) -> None:
        """Select a range of session time, and emit `range_selected`.

        `times` is (begin, end) in ns; None selects no range.  If `is_final`, `range_finished` is
        also emitted.
        """
        self.show_range(times)
        self.range_selected.emit(times)
        if is_final:
            self.range_finished.emit(times)

    def show_range(self, times: tuple[int, int] | None) -> None:
        """Mark a range of session time (ns) without selecting it; None marks nothing."""
        self.state.range = times
        self.marks.update()

    def selected_call(self) -> int | None:
        """Return the id of the selected call in table `calls`; None if no call is selected."""
        return self.mode.selected_call()

    def call_number(self, path: PacketPath, leg: int, call: int) -> int | None:
        """Return the id in table `calls` of call `call` of leg `leg` in a path."""
        if self.recording is None:
            return None
        packet = path.packet.number if path.packet is not None else None
        return self.recording.paths.call_number(packet, path.legs[leg].series, leg, call)

    def difference(self) -> str:
        """Return the time between the two markers as text; "" unless both are set."""
        ns = self.state.difference
        return "" if ns is None else f"B − A = {wording.difference(ns)}"
