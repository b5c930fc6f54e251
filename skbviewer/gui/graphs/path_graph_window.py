# SPDX-License-Identifier: MIT
"""Statistics > Path Graph: the times of each path class, and its slowest packets as points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QWidget

from skbviewer.analysis.display_filter import expression_for
from skbviewer.analysis.graphs.path_box_plot import FACTOR, PERCENTS, PathBoxes
from skbviewer.analysis.stats import Chosen
from skbviewer.records import Progress

from ..base.graph_plot import SERIES_COLOURS, GraphPlot, duration
from ..base.layer_legend import Legend
from ..base.recording_interface import Recording
from ..base.shown_packets import View
from ..base.theme import WIRE_COLOURS, themed
from ..packets.selection import Selection
from ..timeline.selection_links import choose_row
from .graph_window import GraphWindow

BOX = 0.62  # height of a box; boxes are 1 apart
NEAR_PX = 8  # between the pointer and a point
FADED = 150  # of 255
REST = "rarer paths"
BOXES, MEDIAN, P99 = "fastest to p90", "median", "p99"
OUTLIERS = f"outliers: {FACTOR} times the median or more"
HINT = "Click a box to filter the list by its path, a point to go to its packet."


class PathGraph(GraphWindow):
    """A box for each path class, the most frequent one at the top."""

    title = "Path Graph"

    def __init__(self, selection: Selection, view: View, parent: QWidget | None = None) -> None:
        super().__init__(selection, view, parent)
        self.made: PathBoxes | None = None
        self.plot, self.legend = GraphPlot("Time in kernel"), Legend()
        self.plot.bottom.durations = self.plot.bottom.logarithmic = True
        self.plot.left.setGrid(False)
        self.middle.addWidget(self.plot, 1)
        self.middle.addWidget(self.legend)
        self.plot.box.brushed.connect(self._brush)
        self.plot.box.clicked.connect(self._choose)
        self.plot.box.fit_asked.connect(self.fit)
        self.plot.hovered.connect(self._describe)
        self.clear.clicked.connect(self.plot.box.unmark)
        self.count()

    def work(self, recording: Recording, chosen: Chosen) -> Callable[[Progress], Any]:
        """Return the function that computes a box for each path class of the chosen packets.

        The function runs in another thread.  If no packet has a known time in kernel, the function
        returns a message.
        """

        def count(progress: Progress) -> PathBoxes | str:
            made = recording.graphs.paths(chosen, progress)
            return made or "No packet has a known time in kernel."

        return count

    def show_made(self, made: PathBoxes) -> None:
        """Draw the boxes and the points."""
        self.made = made
        self.draw()
        self.fit()
        self._describe(None)

    def erase(self) -> None:
        """Remove all boxes and points from the graph."""
        self.made = None
        self.plot.getPlotItem().clear()

    def draw(self) -> None:
        """Draw the boxes and the points."""
        made = self.made
        if made is None:
            return
        self.plot.getPlotItem().clear()
        colours = self._colours(self.plot.dark)
        y = -np.arange(len(made.number), dtype=np.float64)
        least, median, most, far, _ = np.log10(np.maximum(made.ranks_ns, 1)).T
        shade = QColor(colours[BOXES])
        shade.setAlpha(FADED)
        bars = {"x0": least, "x1": most, "y": y, "height": BOX}
        self.plot.addItem(pg.BarGraphItem(**bars, brush=shade, pen=pg.mkPen(colours[BOXES])))
        self._line(np.stack([most, far], 1), np.stack([y, y], 1), colours[P99], 1)
        for at, part, name in ((far, 0.5, P99), (median, 1.0, MEDIAN)):
            half = BOX * part / 2
            self._line(np.stack([at, at], 1), np.stack([y - half, y + half], 1), colours[name], 2)
        self._points(made, colours[OUTLIERS])
        labels = [_label(made, at) for at in range(len(y))]
        self.plot.left.setTicks([list(zip(y.tolist(), labels, strict=True))])
        self.legend.show_layers([BOXES, MEDIAN, P99, OUTLIERS], colours)

    def _line(self, x: Any, y: Any, colour: QColor, width: int) -> None:
        """Draw a line from each point to the next."""
        pen = pg.mkPen(colour, width=width)
        self.plot.plot(x.ravel(), y.ravel(), connect="pairs", pen=pen)

    def _points(self, made: PathBoxes, colour: QColor) -> None:
        edge = QGuiApplication.palette().color(QPalette.ColorRole.Base)
        x = np.log10(np.maximum(made.point_ns, 1))
        given = {"size": 8, "brush": pg.mkBrush(colour), "pen": pg.mkPen(edge)}
        self.plot.addItem(pg.ScatterPlotItem(x=x, y=-made.point_class, **given))

    @staticmethod
    def _colours(dark: bool) -> dict[str, QColor]:
        box, points = (QColor(SERIES_COLOURS[at][dark]) for at in (0, 1))
        text = QGuiApplication.palette().color(QPalette.ColorRole.Text)
        return {BOXES: box, MEDIAN: text, P99: themed(WIRE_COLOURS, dark), OUTLIERS: points}

    def fit(self) -> None:
        """Zoom out until all boxes and points are visible."""
        made = self.made
        if made is None:
            return
        low, high = int(made.ranks_ns[:, 0].min()), int(made.ranks_ns.max())
        begin, end = np.log10([max(low, 1), max(high, 2)]).tolist()
        space = max((end - begin) * 0.03, 0.05)
        self.plot.box.setXRange(begin - space, end + space, padding=0)
        self.plot.box.setYRange(0.4 - len(made.number), 0.6, padding=0)

    def recolour(self) -> None:
        """Use the colours of the present theme."""
        self.plot.recolour()
        self.plot.left.setGrid(False)
        self.draw()

    # the mouse

    def _brush(self, area: QRectF) -> None:
        if self.made is not None:
            begin, end = (round(10**x) for x in (area.left(), area.right()))
            end = max(end, begin + 1)
            self.use_range(None, f"kbl.in_kernel >= {begin}ns && kbl.in_kernel < {end}ns")

    def _choose(self, x: float, y: float) -> None:
        """Select the outlier at a position of the plot, or filter by the path of the box there."""
        made, point, at = self.made, self._point_at(x, y), self._class_at(y)
        if made is None:
            return
        if point is not None:
            choose_row(self.selection, int(made.point_row[point]))
        elif at is not None and made.name[at]:
            self.plot.box.unmark()
            self.use_range(None, expression_for("kbl.path", made.name[at]))
        elif at is not None:
            self.note.setText(
                "This box contains all rare paths, which no single filter can select."
            )

    def _class_at(self, y: float) -> int | None:
        at = round(-y)
        there = self.made is not None and 0 <= at < len(self.made.number)
        return at if there and abs(y + at) <= BOX / 2 else None

    def _point_at(self, x: float, y: float) -> int | None:
        """Return the point that is next to a position of the plot, at most NEAR_PX pixels away."""
        made = self.made
        if made is None or not len(made.point_ns):
            return None
        wide, high = self.plot.box.viewPixelSize()
        aside = (np.log10(np.maximum(made.point_ns, 1)) - x) / wide
        far = np.hypot(aside, (made.point_class + y) / high)
        nearest = int(np.argmin(far))
        return nearest if far[nearest] <= NEAR_PX else None

    def _describe(self, place: QPointF | None) -> None:
        """Show the numbers of the point or box at the pointer, or else what the mouse does."""
        made = self.made
        if made is None:
            return
        at = point = None
        if place is not None:
            at, point = self._class_at(place.y()), self._point_at(place.x(), place.y())
        if point is not None:
            row, ns = int(made.point_row[point]), int(made.point_ns[point])
            name = f"packet {row}" if row > 0 else f"K{-row}"
            times = ns / max(int(made.ranks_ns[int(made.point_class[point]), 1]), 1)
            self.note.setText(f"{name}: {duration(ns)} in kernel, {times:.1f} times the median")
        elif at is not None:
            self.note.setText(_numbers(made, at))
        else:
            self.note.setText(f"{made.total:,} packets with a known time in kernel. {HINT}")


def _label(made: PathBoxes, at: int) -> str:
    what = f"{made.path[at]}  {made.legs[at]}" if made.path[at] else REST
    return f"{what}: {_packets(int(made.number[at]))}"


def _packets(number: int) -> str:
    return f"{number:,} {'packet' if number == 1 else 'packets'}"


def _numbers(made: PathBoxes, at: int) -> str:
    """Return the numbers of one box as text."""
    ranks = zip(PERCENTS[1:-1], made.ranks_ns[at, 1:-1].tolist(), strict=True)
    texts = [f"p{percent} {duration(ns)}" for percent, ns in ranks]
    what = f"Path {made.path[at]} ({made.name[at]}), {made.legs[at]}" if made.path[at] else REST
    texts += [f"slowest {duration(int(made.ranks_ns[at, -1]))}"]
    texts += [f"{int(made.outliers[at]):,} outliers"] if made.outliers[at] else []
    return f"{what}: {_packets(int(made.number[at]))}, {', '.join(texts)}"


def show_path_graph(window: QWidget, selection: Selection, view: View) -> PathGraph:
    """Open the path graph of the open recording; `view` says what the main window shows."""
    dialog = PathGraph(selection, view, window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    return dialog
