# SPDX-License-Identifier: MIT
"""The result of a query as a lane over time: a box or a mark for each row."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from skbviewer.analysis.graphs.query_result_columns import DURATIONS, NAMES, TIMES, Spans, spans

from ..base.graph_plot import SERIES_COLOURS, GraphPlot, duration
from ..base.layer_legend import Legend
from ..base.message_and_progress_bars import PALETTE_CHANGES
from .query_process import Result

BOX = 0.8  # height of a box; lines are 1 apart
NEAR_PX = 6
OTHERS = "others"
NO_TIMES = (
    f"A lane needs a column {', '.join(TIMES[:-1])} or {TIMES[-1]}, in ns; columns such as "
    f"{DURATIONS[-1]} and {NAMES[0]} make boxes with names."
)


class QueryLane(QWidget):
    """Shows rows over time.  Dragging zooms, a click chooses a row."""

    row_chosen = Signal(int)  # position in the result

    def __init__(self) -> None:
        super().__init__()
        self.made: Spans | None = None
        self.plot, self.legend, self.note = GraphPlot("Time"), Legend(), QLabel(NO_TIMES)
        self.plot.bottom.durations = True
        self.plot.bottom.setLabel("Time since the first row")
        self.plot.left.setTicks([])
        self.plot.left.setGrid(False)
        self.plot.show_axes(False)
        column = QVBoxLayout(self)
        column.addWidget(self.note)
        column.addWidget(self.plot, 1)
        column.addWidget(self.legend)
        self.plot.box.brushed.connect(self._zoom)
        self.plot.box.fit_asked.connect(self.fit)
        self.plot.box.clicked.connect(self._choose)
        self.plot.hovered.connect(self._describe)

    def show_result(self, result: Result) -> None:
        """Draw the rows of a result, if they have times."""
        self.made = spans(result.columns, result.rows)
        self.plot.show_axes(self.made is not None)
        self.draw()
        self.fit()
        self._describe(None)

    def draw(self) -> None:
        """Draw a box for each row of the result."""
        made = self.made
        self.plot.getPlotItem().clear()
        colours = self._colours()
        self.legend.show_layers([name for name in colours if name], colours)
        if made is None:
            return
        group = np.minimum(made.name, len(SERIES_COLOURS) - 1)
        for at, colour in enumerate(colours.values()):
            mine = np.flatnonzero(group == at)
            pen = pg.mkPen(colour)  # a narrow box is as wide as its line
            bars = {"x0": made.begin[mine].astype(np.float64), "y": -made.line[mine]}
            width = made.dur[mine].astype(np.float64)
            self.plot.addItem(
                pg.BarGraphItem(**bars, width=width, height=BOX, brush=colour, pen=pen)
            )

    def _colours(self) -> dict[str, QColor]:
        """Return a colour for each of the most frequent names, and for all others together."""
        names = () if self.made is None else self.made.names
        most = len(SERIES_COLOURS)
        shown = names if len(names) <= most else (*names[: most - 1], OTHERS)
        pairs = zip(shown, SERIES_COLOURS, strict=False)
        return {name: QColor(pair[self.plot.dark]) for name, pair in pairs}

    def fit(self) -> None:
        """Zoom out until the whole lane is visible."""
        made = self.made
        if made is None:
            return
        end = float((made.begin + made.dur).max()) or 1.0
        self.plot.box.setXRange(0, end, padding=0.01)
        lines = max(int(made.line.max()) + 1, 4)
        self.plot.box.setYRange(0.3 - lines, 0.7, padding=0)

    def _zoom(self, area: QRectF) -> None:
        self.plot.box.unmark()
        self.plot.box.setXRange(area.left(), area.right(), padding=0)

    def _at(self, x: float, y: float) -> int | None:
        """Return the index of the box at a position of the plot, or of the box next to it."""
        made = self.made
        if made is None:
            return None
        mine = np.flatnonzero(made.line == round(-y))
        if not len(mine):
            return None
        begin = made.begin[mine].astype(np.float64)
        outside = np.maximum(np.maximum(begin - x, x - begin - made.dur[mine]), 0)
        at = int(np.argmin(outside))
        return int(mine[at]) if outside[at] <= NEAR_PX * self.plot.box.viewPixelSize()[0] else None

    def _choose(self, x: float, y: float) -> None:
        at = self._at(x, y)
        if self.made is not None and at is not None:
            self.row_chosen.emit(int(self.made.row[at]))

    def _describe(self, place: QPointF | None) -> None:
        made = self.made
        if made is None:
            self.note.setText(NO_TIMES)
            return
        at = None if place is None else self._at(place.x(), place.y())
        if at is None:
            self.note.setText(f"{len(made.row):,} rows. Drag to zoom, click to choose a row.")
            return
        name = made.names[int(made.name[at])]
        text = f"{name}: " if name else ""
        text += f"row {int(made.row[at]) + 1}, at {duration(float(made.begin[at]))}"
        length = float(made.dur[at])
        self.note.setText(text + (f", {duration(length)} long" if length else ""))

    # Qt's own names

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in PALETTE_CHANGES:
            self.plot.recolour()
            self.plot.left.setGrid(False)
            self.draw()
