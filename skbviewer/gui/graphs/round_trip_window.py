# SPDX-License-Identifier: MIT
"""Statistics > Round Trip Graph: parts of TCP round trips over time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QWidget

from skbviewer.analysis.graphs.round_trip_bars import PARTS, RoundTripBars
from skbviewer.analysis.stats import Chosen
from skbviewer.analysis.streams.round_trips import UNKNOWN
from skbviewer.records import Progress

from ..base.graph_plot import SERIES_COLOURS, GraphPlot, duration
from ..base.layer_legend import Legend
from ..base.recording_interface import Recording
from ..base.shown_packets import View
from ..base.theme import WIRE_COLOURS, themed
from ..packets.selection import Selection
from ..timeline.selection_links import choose_row
from .graph_window import GraphWindow

SECOND = 1e9
MEDIAN = "median of tcp.analysis.ack_rtt"
COLOURS = (0, 4, 2, 5, 1)  # of PARTS, in SERIES_COLOURS


class RoundTripGraph(GraphWindow):
    """A bar for each interval, stacked by part, and a point for the captured round trip."""

    title = "Round Trip Graph"
    captured_only = True

    def __init__(self, selection: Selection, view: View, parent: QWidget | None = None) -> None:
        super().__init__(selection, view, parent)
        self.made: RoundTripBars | None = None
        self.plot, self.legend = GraphPlot("Time since packet 1 (s)"), Legend()
        self.plot.left.durations = True
        self.plot.left.setLabel("Average round trip in an interval")
        self.middle.addWidget(self.plot, 1)
        self.middle.addWidget(self.legend)
        self.plot.box.brushed.connect(self._brush)
        self.plot.box.clicked.connect(self._choose)
        self.plot.box.fit_asked.connect(self.fit)
        self.plot.hovered.connect(self._describe)
        self.clear.clicked.connect(self.plot.box.unmark)
        self.count()

    def work(self, recording: Recording, chosen: Chosen) -> Callable[[Progress], Any]:
        """Return the function that sums up the round trips that end with the chosen packets.

        The function runs in another thread.  If there are no round trips, the function returns a
        message.
        """

        def count(progress: Progress) -> RoundTripBars | str:
            made = recording.graphs.round_trips(chosen, progress)
            return made or "These packets acknowledge no captured TCP segment."

        return count

    def show_made(self, made: RoundTripBars) -> None:
        """Draw the bars and points."""
        self.made = made
        self.draw()
        self.fit()
        self._describe(None)

    def erase(self) -> None:
        """Remove all round trips from the graph."""
        self.made = None
        self.plot.getPlotItem().clear()

    def draw(self) -> None:
        """Draw the bars and the points."""
        made = self.made
        if made is None:
            return
        dark = self.plot.dark
        self.plot.getPlotItem().clear()
        middle = self._begin() + (np.arange(len(made.number)) + 0.5) * made.interval_ns / SECOND
        below = np.zeros(len(made.number))
        colours = self._colours(dark)
        for part, ns in zip(PARTS, made.parts_ns, strict=True):
            if ns.any():
                width = 0.9 * made.interval_ns / SECOND
                colour = colours[part]
                bars = pg.BarGraphItem(
                    x=middle, y0=below, height=ns, width=width, brush=colour, pen=None
                )
                self.plot.addItem(bars)
                below = below + ns
        known = made.median_ns != UNKNOWN
        points = {"pen": None, "symbol": "d", "symbolSize": 8, "symbolBrush": colours[MEDIAN]}
        edge = QGuiApplication.palette().color(QPalette.ColorRole.Base)
        median = made.median_ns[known].astype(np.float64)
        self.plot.plot(middle[known], median, symbolPen=edge, **points)
        shown = [part for part, ns in zip(PARTS, made.parts_ns, strict=True) if ns.any()]
        self.legend.show_layers([*shown, MEDIAN], colours)

    @staticmethod
    def _colours(dark: bool) -> dict[str, QColor]:
        found = {
            part: QColor(SERIES_COLOURS[at][dark]) for part, at in zip(PARTS, COLOURS, strict=True)
        }
        return found | {MEDIAN: themed(WIRE_COLOURS, dark)}

    def fit(self) -> None:
        """Zoom out to all intervals."""
        made = self.made
        if made is None:
            return
        begin = self._begin()
        end = begin + len(made.number) * made.interval_ns / SECOND
        self.plot.box.setXRange(begin, end, padding=0.01)
        top = max(float(made.parts_ns.sum(axis=0).max()), float(made.median_ns.max()), 1.0)
        self.plot.box.setYRange(0, top * 1.05, padding=0)

    def recolour(self) -> None:
        """Use the colours of the present theme."""
        self.plot.recolour()
        self.draw()

    def _begin(self) -> float:
        """Return the start of the first interval, s since packet 1."""
        assert self.made is not None
        return (self.made.begin_ns - self.made.origin_ns) / SECOND

    def _brush(self, area: QRectF) -> None:
        if self.made is not None:
            origin = self.made.origin_ns
            begin, end = (origin + round(x * SECOND) for x in (area.left(), area.right()))
            self.use_range((begin, end))

    def _choose(self, x: float, _: float) -> None:
        """Select the first acknowledging packet of the interval at `x`."""
        at = self._interval_at(x)
        if self.made is not None and at is not None and self.made.first[at]:
            choose_row(self.selection, int(self.made.first[at]))

    def _interval_at(self, x: float) -> int | None:
        if self.made is None:
            return None
        at = int((x - self._begin()) * SECOND // self.made.interval_ns)
        return at if 0 <= at < len(self.made.number) else None

    def _describe(self, place: QPointF | None) -> None:
        """Show the numbers of the interval at the pointer; elsewhere, show the totals."""
        made = self.made
        if made is None:
            return
        at = None if place is None else self._interval_at(place.x())
        if at is None:
            number, complete = int(made.number.sum()), int(made.complete.sum())
            text = (
                f"{number:,} acknowledged segments; for {complete:,} of them, all parts of the "
                "round trip are known"
            )
            hint = "Drag to filter the list by time, click to go to a packet."
            self.note.setText(f"{text}. {hint}")
            return
        texts = [f"{int(made.number[at]):,} acknowledged segments"]
        if made.median_ns[at] != UNKNOWN:
            texts.append(f"{MEDIAN} {duration(float(made.median_ns[at]))}")
        averages = zip(PARTS, made.parts_ns[:, at].tolist(), strict=True)
        texts += [f"{part} {duration(ns)}" for part, ns in averages if ns]
        since = self._begin() + at * made.interval_ns / SECOND
        self.note.setText(f"{since:.6f} s · " + " · ".join(texts))


def show_round_trips(window: QWidget, selection: Selection, view: View) -> RoundTripGraph:
    """Open the round trip graph of the open recording; `view` says what the main window shows."""
    dialog = RoundTripGraph(selection, view, window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    return dialog
