# SPDX-License-Identifier: MIT
"""Statistics > I/O Graphs: packets, bits, time in kernel and drops over time, by display filter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QWidget

from skbviewer.analysis.display_filter import FilterError, parse
from skbviewer.analysis.graphs.io_graph_series import UNKNOWN, IoSeries
from skbviewer.analysis.stats import Chosen
from skbviewer.records import Progress
from skbviewer.records.types import Int64s

from ..base.graph_plot import GraphPlot, duration, short
from ..base.recording_interface import Recording
from ..base.shown_packets import View
from ..packets.selection import Selection
from ..timeline.selection_links import choose_row
from .graph_window import GraphWindow
from .io_graph_series_list import ALL, SeriesList

INTERVALS = {
    "Automatic": None,
    "100 µs": 100_000,
    "1 ms": 1_000_000,
    "10 ms": 10_000_000,
    "100 ms": 100_000_000,
    "1 s": 1_000_000_000,
    "10 s": 10_000_000_000,
    "1 min": 60_000_000_000,
}
PACKETS, BITS, TIMES, DROPS = "Packets/s", "Bits/s", "Time in kernel", "Drops"
STYLES = (
    ("p50", Qt.PenStyle.SolidLine),
    ("p90", Qt.PenStyle.DashLine),
    ("p99", Qt.PenStyle.DotLine),
)
FILL = 50  # of 255
SECOND = 1e9
Floats = npt.NDArray[np.float64]


class Made(NamedTuple):
    """The counted series, each with its index in the list."""

    places: tuple[int, ...]
    series: Sequence[IoSeries]


class IoGraphs(GraphWindow):
    """Counts all series in the same intervals, and draws one quantity, such as packets."""

    title = "I/O Graphs"

    def __init__(self, selection: Selection, view: View, parent: QWidget | None = None) -> None:
        super().__init__(selection, view, parent)
        self.made = Made((), ())
        self.quantity, self.interval = QComboBox(), QComboBox()
        self.log = QCheckBox("Lo&g scale")
        self.plot = GraphPlot("Time since packet 1 (s)")
        self.list = SeriesList()
        self._build()
        self._link()
        self.list.add_series("")
        self.count()

    def _build(self) -> None:
        self.quantity.addItems((PACKETS, BITS, TIMES, DROPS))
        self.quantity.setAccessibleName("Quantity")
        self.interval.addItems(list(INTERVALS))
        self.interval.setAccessibleName("Interval")
        for words, box in (("&Y axis:", self.quantity), ("&Interval:", self.interval)):
            label = QLabel(words)
            label.setBuddy(box)
            self.top.addWidget(label)
            self.top.addWidget(box)
        self.top.addWidget(self.log)
        self.middle.addWidget(self.plot, 1)
        self.middle.addWidget(self.list)
        self.list.recolour(self.plot.dark)

    def _link(self) -> None:
        self.quantity.activated.connect(lambda _: self.fit())
        self.log.toggled.connect(lambda _: self.fit())
        self.interval.activated.connect(lambda _: self.count())
        self.list.filters_changed.connect(self.count)
        self.list.look_changed.connect(self.draw)
        self.plot.box.brushed.connect(self._brush)
        self.plot.box.clicked.connect(self._choose)
        self.plot.box.fit_asked.connect(self.fit)
        self.plot.hovered.connect(self._describe)
        self.clear.clicked.connect(self.plot.box.unmark)

    # counting

    def work(self, recording: Recording, chosen: Chosen) -> Callable[[Progress], Any]:
        """Return the function that counts the chosen packets by series and interval.

        The function runs in another thread.  If no series has a valid display filter, the function
        returns a message.
        """
        places, texts = [], []
        for at, one in enumerate(self.list.series()):
            error = _error_of(one.text)
            self.list.complain(at, error)
            if not error:
                places.append(at)
                texts.append(one.text)
        chosen = chosen._replace(interval_ns=INTERVALS[self.interval.currentText()])

        def count(progress: Progress) -> Made | str:
            if not texts:
                return "None of the series has a valid display filter."
            try:
                return Made(tuple(places), recording.graphs.io(chosen, texts, progress))
            except FilterError as error:
                return error.message
            except KeyError as error:
                return str(error.args[0])

        return count

    def show_made(self, made: Made) -> None:
        """Draw the counted series."""
        self.made = made
        self.fit()
        self._describe(None)

    def erase(self) -> None:
        """Remove all series from the graph."""
        self.made = Made((), ())
        self.draw()

    # drawing

    def fit(self) -> None:
        """Draw the series, and zoom out until all intervals are visible."""
        self.draw()
        if self.made.series:
            edges = _edges(self.made.series[0])
            self.plot.box.setXRange(edges[0], edges[-1], padding=0)

    def draw(self) -> None:
        """Draw the chosen quantity (packets, for example) of the series that are turned on."""
        quantity, logarithmic = self.quantity.currentText(), self.log.isChecked()
        self.plot.getPlotItem().clear()
        axis = self.plot.left
        axis.durations, axis.logarithmic = quantity == TIMES, logarithmic
        names = ", ".join(name for name, _ in STYLES)
        axis.setLabel(f"{quantity} ({names})" if quantity == TIMES else quantity)
        shown = [s for s in self._shown() if len(s[0].packets)]
        top = 0.0
        for series, colour in shown:
            for values, style in _lines(series, quantity):
                top = max(top, float(np.nanmax(values, initial=0)))
                self._add(series, values, colour, style, quantity)
        if logarithmic:
            lows = [v[v > 0].min(initial=top) for s, _ in shown for v, _ in _lines(s, quantity)]
            low = max(min(lows, default=1.0), 1e-3)
            self.plot.box.setYRange(np.log10(low) - 0.1, np.log10(max(top, low)) + 0.1, padding=0)
        else:
            self.plot.box.setYRange(0, top * 1.05 or 1.0, padding=0)

    def _shown(self) -> list[tuple[IoSeries, QColor]]:
        """Return the counted series that are turned on, with their colours."""
        every = self.list.series()
        return [
            (series, every[at].colour)
            for at, series in zip(self.made.places, self.made.series, strict=False)
            if at < len(every) and every[at].on
        ]

    def _add(
        self, series: IoSeries, values: Floats, colour: QColor, style: Qt.PenStyle, quantity: str
    ) -> None:
        logarithmic = self.log.isChecked()
        if logarithmic:
            values = np.log10(np.where(values > 0, values, np.nan))
        pen = QPen(colour, 1.5, style)
        pen.setCosmetic(True)
        edges = _edges(series)
        if quantity == TIMES:
            middle = (edges[:-1] + edges[1:]) / 2
            known = np.isfinite(values)  # a line over intervals without packets
            size = 4 if known.sum() < 400 else None
            symbol = {"symbol": "o", "symbolSize": size, "symbolPen": None, "symbolBrush": colour}
            more = symbol if size else {}
            self.plot.plot(middle[known], values[known], pen=pen, **more)
            return
        shade = QColor(colour)
        shade.setAlpha(FILL)
        fill = {} if logarithmic else {"fillLevel": 0, "brush": pg.mkBrush(shade)}
        self.plot.plot(edges, values, stepMode="center", pen=pen, connect="finite", **fill)

    def recolour(self) -> None:
        """Use the colours of the present theme."""
        self.plot.recolour()
        self.list.recolour(self.plot.dark)
        self.draw()

    # the mouse

    def _brush(self, area: QRectF) -> None:
        if not self.made.series:
            return
        origin = self._origin()
        times = (origin + round(area.left() * SECOND), origin + round(area.right() * SECOND))
        self.use_range(times)

    def _choose(self, x: float, _: float) -> None:
        """Select the first packet in the interval at `x`, from the first series with a packet."""
        at = self._interval_at(x)
        if at is None:
            return
        for series, _colour in self._shown():
            if series.first[at]:
                choose_row(self.selection, int(series.first[at]))
                return

    def _origin(self) -> int:
        """Return the session time of packet 1."""
        first = self.made.series[0]
        return first.begin_ns - first.after_ns

    def _interval_at(self, x: float) -> int | None:
        if not self.made.series:
            return None
        first = self.made.series[0]
        at = int((x * SECOND - first.after_ns) // first.interval_ns)
        return at if 0 <= at < len(first.packets) else None

    def _describe(self, place: QPointF | None) -> None:
        """Show the numbers of the interval at the pointer; elsewhere, say what the mouse does."""
        at = None if place is None else self._interval_at(place.x())
        if not self.made.series:
            self.note.setText("No packets.")
        elif at is None:
            length = duration(self.made.series[0].interval_ns)
            self.note.setText(
                f"Intervals of {length}. Drag to filter the list by time, click to go to a packet."
            )
        else:
            every = self.list.series()
            names = [every[at].text or ALL for at in self.made.places if at < len(every)]
            texts = [
                f"{name}: {_numbers(series, at)}"
                for name, series in zip(names, self.made.series, strict=False)
            ]
            begin = self.made.series[0].after_ns + at * self.made.series[0].interval_ns
            self.note.setText(f"{begin / SECOND:.6f} s · " + " · ".join(texts))


def _error_of(text: str) -> str:
    try:
        parse(text)
    except FilterError as error:
        return error.message
    return ""


def _edges(series: IoSeries) -> Floats:
    """Return the starts and ends of the intervals, s since packet 1."""
    at = np.arange(len(series.packets) + 1)
    return np.asarray((series.after_ns + at * series.interval_ns) / SECOND)


def _lines(series: IoSeries, quantity: str) -> list[tuple[Floats, Qt.PenStyle]]:
    """Return the values to draw, each with a line style; NaN stands for unknown."""
    solid = Qt.PenStyle.SolidLine
    if quantity == PACKETS:
        return [(_a_second(series, series.packets), solid)]
    if quantity == BITS:
        return [(_a_second(series, series.bits), solid)]
    if quantity == DROPS:
        return [(series.drops.astype(np.float64), solid)]
    columns = (series.p50_ns, series.p90_ns, series.p99_ns)
    return [
        (np.where(ns == UNKNOWN, np.nan, ns.astype(np.float64)), style)
        for ns, (_, style) in zip(columns, STYLES, strict=True)
    ]


def _a_second(series: IoSeries, counts: Int64s) -> Floats:
    return counts.astype(np.float64) * (SECOND / series.interval_ns)


def _numbers(series: IoSeries, at: int) -> str:
    """Return the numbers of one interval as text, as far as they are known."""
    found = f"{int(series.packets[at]):,} packets, {short(float(series.bits[at]))} bits"
    if series.p50_ns[at] != UNKNOWN:
        ranks = (series.p50_ns, series.p90_ns, series.p99_ns)
        found += ", in kernel " + " / ".join(duration(float(ns[at])) for ns in ranks)
    drops = int(series.drops[at])
    return found + (f", {drops:,} drops" if drops else "")


def show_io_graphs(window: QWidget, selection: Selection, view: View) -> IoGraphs:
    """Open the I/O graphs of the open recording; `view` says what the main window shows."""
    dialog = IoGraphs(selection, view, window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    return dialog
