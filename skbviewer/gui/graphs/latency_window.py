# SPDX-License-Identifier: MIT
"""Statistics > Latency Graphs: histogram and heat map of the time in kernel of packets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from skbviewer.analysis.graphs.latency_histogram_and_heat_map import PERCENTS, LatencyGrid
from skbviewer.analysis.stats import Chosen
from skbviewer.records import Progress

from ..base.graph_plot import SERIES_COLOURS, GraphPlot, duration
from ..base.recording_interface import Recording
from ..base.shown_packets import View
from ..base.theme import WIRE_COLOURS, themed
from ..packets.selection import Selection
from .graph_window import GraphWindow

SECOND = 1e9
# Of few to many packets, light and dark.
COLOURS = (("#cfe3f5", "#0072b2", "#062a4a"), ("#17344d", "#4ea5dc", "#f2f9ff"))
Floats = npt.NDArray[np.float64]


class LatencyGraphs(GraphWindow):
    """A histogram of the packets' time in kernel, and a heat map of this histogram over time."""

    title = "Latency Graphs"
    captured_only = True

    def __init__(self, selection: Selection, view: View, parent: QWidget | None = None) -> None:
        super().__init__(selection, view, parent)
        self.made: LatencyGrid | None = None
        self.histogram = GraphPlot("Time in kernel")
        self.heat = GraphPlot("Time since packet 1 (s)", both=True)
        self._image = pg.ImageItem()
        self._image.setZValue(-10)
        self._build()
        self._link()
        self.count()

    def _build(self) -> None:
        self.histogram.bottom.durations = self.histogram.bottom.logarithmic = True
        self.histogram.left.setLabel("Packets")
        self.heat.left.durations = self.heat.left.logarithmic = True
        self.heat.left.setLabel("Time in kernel")
        self.heat.addItem(self._image)
        self.middle.addWidget(self.histogram, 2)
        self.middle.addWidget(self.heat, 3)

    def _link(self) -> None:
        self.histogram.box.brushed.connect(self._brush_latency)
        self.heat.box.brushed.connect(self._brush_both)
        for plot in (self.histogram, self.heat):
            plot.box.fit_asked.connect(self.fit)
        self.histogram.hovered.connect(self._describe_bin)
        self.heat.hovered.connect(self._describe_cell)
        self.clear.clicked.connect(self._unmark)

    # counting

    def work(self, recording: Recording, chosen: Chosen) -> Callable[[Progress], Any]:
        """Return the function that counts the chosen packets by time in kernel and capture time.

        The function runs in another thread.  If no packet has a known time in kernel, the function
        returns a message.
        """

        def count(progress: Progress) -> LatencyGrid | str:
            made = recording.graphs.latencies(chosen, progress)
            return made or "No packet has a known time in kernel."

        return count

    def show_made(self, made: LatencyGrid) -> None:
        """Draw the histogram and the heat map of the counted packets `made`."""
        self.made = made
        self.draw()
        self.fit()
        self._say()

    def erase(self) -> None:
        """Remove all packets from both pictures."""
        self.made = None
        self.histogram.getPlotItem().clear()
        self._image.clear()

    # drawing

    def draw(self) -> None:
        """Draw the histogram and the heat map."""
        if self.made is None:
            return
        dark = self.histogram.dark
        self._draw_histogram(self.made, dark)
        seen = self.made.counts.astype(np.float64)
        shade = np.log1p(seen) / np.log1p(max(seen.max(), 1.0))
        self._image.setImage(_coloured(shade, dark), autoLevels=False, levels=None)
        x, y = self._sides(self.made)
        self._image.setRect(QRectF(x[0], y[0], x[1] - x[0], y[1] - y[0]))

    def _draw_histogram(self, made: LatencyGrid, dark: bool) -> None:
        plot, colour = self.histogram, QColor(SERIES_COLOURS[0][dark])
        plot.getPlotItem().clear()
        x = np.log10(made.edges_ns)
        brush, line = pg.mkBrush(colour), themed(WIRE_COLOURS, dark)
        plot.plot(x, made.histogram, stepMode="center", fillLevel=0, brush=brush, pen=colour)
        for percent, ns in zip(PERCENTS, made.percentiles_ns, strict=True):
            label = {"position": 0.93, "color": line, "rotateAxis": None}
            place = float(np.log10(max(ns, 1)))
            mark = pg.InfiniteLine(place, 90, pg.mkPen(line), label=f"p{percent}", labelOpts=label)
            plot.addItem(mark)

    def _sides(self, made: LatencyGrid) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the edges of the heat map: s since packet 1, log10 of times in kernel (ns)."""
        begin = (made.begin_ns - made.origin_ns) / SECOND
        low, high = np.log10(made.edges_ns[[0, -1]]).tolist()
        return (begin, begin + len(made.counts) * made.interval_ns / SECOND), (low, high)

    def fit(self) -> None:
        """Zoom both pictures out to all counted packets."""
        if self.made is None:
            return
        x, y = self._sides(self.made)
        self.heat.box.setXRange(*x, padding=0.01)
        self.heat.box.setYRange(*y, padding=0.02)
        self.histogram.box.setXRange(*y, padding=0.01)
        self.histogram.box.setYRange(0, float(self.made.histogram.max()) * 1.15, padding=0)

    def recolour(self) -> None:
        """Use the colours of the present theme."""
        self.histogram.recolour()
        self.heat.recolour()
        self.draw()

    # the mouse

    def _brush_latency(self, area: QRectF) -> None:
        if self.made is not None:
            self.heat.box.unmark()
            self.use_range(None, self._between(area.left(), area.right()))

    def _brush_both(self, area: QRectF) -> None:
        if self.made is not None:
            self.histogram.box.unmark()
            origin = self.made.origin_ns
            begin, end = (origin + round(x * SECOND) for x in (area.left(), area.right()))
            self.use_range((begin, end), self._between(area.top(), area.bottom()))

    @staticmethod
    def _between(low: float, high: float) -> str:
        """Return the display filter for times in kernel between 10^`low` and 10^`high` ns."""
        begin, end = (round(10**one) for one in (low, high))
        return f"kbl.in_kernel >= {begin}ns && kbl.in_kernel < {max(end, begin + 1)}ns"

    def _unmark(self) -> None:
        for plot in (self.histogram, self.heat):
            plot.box.unmark()

    # texts

    def _say(self) -> None:
        if self.made is None:
            return
        ranks = zip(PERCENTS, self.made.percentiles_ns, strict=True)
        texts = [_packets(self.made.total)]
        texts += [f"p{percent} {duration(ns)}" for percent, ns in ranks]
        if self.made.unknown:
            texts.append(f"{self.made.unknown:,} whose time in kernel is unknown")
        texts.append("Drag in one of the pictures to filter the packet list")
        self.note.setText(" · ".join(texts))

    def _describe_bin(self, place: QPointF | None) -> None:
        at = -1 if place is None or self.made is None else _index(self.made, place.x())
        if self.made is None or at < 0:
            self._say()
            return
        number = _packets(int(self.made.histogram[at]))
        self.note.setText(f"{_bin(self.made, at)}: {number}")

    def _describe_cell(self, place: QPointF | None) -> None:
        made = self.made
        at = -1 if place is None or made is None else _index(made, place.y())
        if made is None or place is None or at < 0:
            self._say()
            return
        begin = (made.begin_ns - made.origin_ns) / SECOND
        column = int((place.x() - begin) * SECOND // made.interval_ns)
        if not 0 <= column < len(made.counts):
            self._say()
            return
        since = begin + column * made.interval_ns / SECOND
        number = _packets(int(made.counts[column, at]))
        self.note.setText(f"{since:.6f} s, {_bin(made, at)}: {number}")


def _index(made: LatencyGrid, logarithm: float) -> int:
    """Return the bin of a latency; -1 if it is outside all bins."""
    at = int(np.searchsorted(made.edges_ns, 10**logarithm, side="right")) - 1
    return at if 0 <= at < len(made.edges_ns) - 1 else -1


def _bin(made: LatencyGrid, at: int) -> str:
    low, high = made.edges_ns[at : at + 2].tolist()
    return f"{duration(low)} to {duration(high)} in kernel"


def _packets(number: int) -> str:
    return f"{number:,} {'packet' if number == 1 else 'packets'}"


def _coloured(shade: Floats, dark: bool) -> npt.NDArray[np.uint8]:
    """Return RGBA colours for shades from 0, which is transparent, to 1."""
    stops = [(of.red(), of.green(), of.blue()) for of in map(QColor, COLOURS[dark])]
    places = np.linspace(0, 1, len(stops))
    found = np.empty((*shade.shape, 4), np.uint8)
    for channel in range(3):
        values = [stop[channel] for stop in stops]
        found[..., channel] = np.round(np.interp(shade, places, values))
    found[..., 3] = np.where(shade > 0, 255, 0)
    return found


def show_latency_graphs(window: QWidget, selection: Selection, view: View) -> LatencyGraphs:
    """Open the latency graphs of the open recording; `view` says what the main window shows."""
    dialog = LatencyGraphs(selection, view, window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    return dialog
