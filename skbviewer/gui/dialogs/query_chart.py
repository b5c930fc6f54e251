# SPDX-License-Identifier: MIT
"""The result of a query as a chart: points or a line of two columns, or bars with texts."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from skbviewer.analysis.graphs.query_result_columns import (
    Pairs,
    number_columns,
    pairs,
    text_columns,
)

from ..base.graph_plot import SERIES_COLOURS, GraphPlot, ValueAxis, duration, short
from ..base.message_and_progress_bars import PALETTE_CHANGES
from .query_process import Result

BAR = 0.7  # height of a bar; bars are 1 apart
NEAR_PX = 20  # between the pointer and a point
NO_NUMBERS = "A chart needs a column with numbers, and a second column with numbers or texts."


class QueryChart(QWidget):
    """Draws one column of the result against another column.

    Dragging zooms, a click chooses a row.
    """

    row_chosen = Signal(int)  # position in the result

    def __init__(self) -> None:
        super().__init__()
        self.made: Pairs | None = None
        self._result: Result | None = None
        self.over, self.value, self.note = QComboBox(), QComboBox(), QLabel(NO_NUMBERS)
        self.plot = GraphPlot("")
        self.plot.show_axes(False)
        self._build()
        self._link()

    def _build(self) -> None:
        row = QHBoxLayout()
        for text, box in (("&Over:", self.over), ("&Value:", self.value)):
            label = QLabel(text)
            label.setBuddy(box)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            row.addWidget(label)
            row.addWidget(box)
        row.addSpacing(12)
        row.addWidget(self.note, 1)
        column = QVBoxLayout(self)
        column.addLayout(row)
        column.addWidget(self.plot, 1)

    def _link(self) -> None:
        for box in (self.over, self.value):
            box.activated.connect(lambda _: self.draw())
        self.plot.box.brushed.connect(self._zoom)
        self.plot.box.fit_asked.connect(self.fit)
        self.plot.box.clicked.connect(self._choose)
        self.plot.hovered.connect(self._describe)

    def show_result(self, result: Result) -> None:
        """Offer the columns of a result, and draw the first two that can be drawn."""
        self._result = result
        numbers = number_columns(result.columns, result.rows)
        texts = text_columns(result.columns, result.rows)
        over = [name for name in result.columns if name in (*numbers, *texts)]
        for box, names in ((self.over, over), (self.value, numbers)):
            box.clear()
            box.addItems(names)
        second = next((name for name in numbers if name != self.over.currentText()), "")
        self.value.setCurrentText(second or (numbers[0] if numbers else ""))
        self.draw()

    def draw(self) -> None:
        """Draw the two columns that the user chose."""
        result, x, y = self._result, self.over.currentText(), self.value.currentText()
        self.plot.getPlotItem().clear()
        self.made = None
        self.plot.show_axes(result is not None and bool(x and y))
        self.note.setText(NO_NUMBERS)
        if result is None or not x or not y:
            return
        self.made = pairs(result.columns, result.rows, x, y)
        colour = QColor(SERIES_COLOURS[0][self.plot.dark])
        over: ValueAxis = self.plot.bottom
        value: ValueAxis = self.plot.left
        if self.made.labels:
            over, value = value, over
            self._bars(self.made, colour)
        else:
            self._points(self.made, colour)
        for axis, name in ((over, x), (value, y)):
            axis.durations = name.endswith("_ns")
            axis.setLabel(name if axis is not over or not self.made.labels else "")
        if self.made.first:
            over.setLabel(f"{x}, since the first one")
        self.fit()
        self._describe(None)

    def _bars(self, made: Pairs, colour: QColor) -> None:
        y = -made.x
        bars = pg.BarGraphItem(x0=0, width=made.y, y=y, height=BAR, brush=colour, pen=None)
        self.plot.addItem(bars)
        self.plot.left.setTicks([list(zip(y.tolist(), made.labels, strict=True))])

    def _points(self, made: Pairs, colour: QColor) -> None:
        """Draw a line if the rows are in the order of x; otherwise draw points."""
        self.plot.left.setTicks(None)
        line = len(made.x) > 1 and bool(np.all(np.diff(made.x) > 0))
        symbol = {"symbol": "o", "symbolSize": 5, "symbolPen": None, "symbolBrush": colour}
        given = symbol if not line or len(made.x) < 400 else {}
        pen = pg.mkPen(colour, width=1.5) if line else None
        self.plot.plot(made.x, made.y, pen=pen, **given)

    def fit(self) -> None:
        """Zoom out until the whole chart is visible."""
        made = self.made
        if made is None or not len(made.x):
            return
        if made.labels:
            low, high = min(float(made.y.min()), 0.0), max(float(made.y.max()), 0.0)
            self.plot.box.setXRange(low, high or 1.0, padding=0.03)
            self.plot.box.setYRange(0.4 - len(made.x), 0.6, padding=0)
            return
        for values, show in ((made.x, self.plot.box.setXRange), (made.y, self.plot.box.setYRange)):
            low, high = float(values.min()), float(values.max())
            space = (high - low) * 0.03 or max(abs(high) * 0.03, 1.0)
            show(low - space, high + space, padding=0)

    def _zoom(self, area: QRectF) -> None:
        self.plot.box.unmark()
        self.plot.box.setXRange(area.left(), area.right(), padding=0)

    def _at(self, x: float, y: float) -> int | None:
        """Return the bar or point at a position of the plot."""
        made = self.made
        if made is None or not len(made.x):
            return None
        if made.labels:
            at = round(-y)
            return at if 0 <= at < len(made.x) else None
        wide, high = self.plot.box.viewPixelSize()
        far = np.hypot((made.x - x) / wide, (made.y - y) / high)
        at = int(np.argmin(far))
        return at if far[at] <= NEAR_PX else None

    def _choose(self, x: float, y: float) -> None:
        at = self._at(x, y)
        if self.made is not None and at is not None:
            self.row_chosen.emit(int(self.made.row[at]))

    def _describe(self, place: QPointF | None) -> None:
        made = self.made
        at = None if place is None else self._at(place.x(), place.y())
        if made is None:
            return
        if at is None:
            shown = f"{len(made.x):,} of {len(self._result.rows if self._result else ()):,} rows."
            self.note.setText(f"{shown} Drag to zoom, click to choose a row.")
            return
        over = made.labels[at] if made.labels else self._text(self.over, float(made.x[at]))
        self.note.setText(f"{over}: {self._text(self.value, float(made.y[at]))}")

    @staticmethod
    def _text(box: QComboBox, value: float) -> str:
        return duration(value) if box.currentText().endswith("_ns") else short(value)

    # Qt's own names

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in PALETTE_CHANGES:
            self.plot.recolour()
            self.draw()
