# SPDX-License-Identifier: MIT
"""A plot in the colours of the theme, with readable numbers on its axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QGuiApplication, QPalette
from PySide6.QtWidgets import QWidget

from .graph_mouse_actions import BrushBox
from .theme import is_dark

# Of series, light and dark; colours that colour-blind people can tell apart.
SERIES_COLOURS = (
    ("#0072b2", "#4ea5dc"),
    ("#d55e00", "#ff8a4c"),
    ("#009e73", "#35c79a"),
    ("#aa3f83", "#e58fc4"),
    ("#8a6d00", "#e6c84d"),
    ("#555e68", "#b4bec8"),
)
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
SOME, NO_TEXT = 0.5, 1.0  # levels of ticks between powers of ten
MOST_DIGITS = 15  # of a float
MOST_DECADES = 4  # with ticks at 2 and 5 that have a text
_NS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def short(value: float, digits: int = 4) -> str:
    """Return a count with a metric prefix and at most `digits` digits: "1.5M" for 1500000."""
    for size, prefix in _PREFIXES:
        if abs(value) >= size:
            return f"{value / size:.{digits}g}{prefix}"
    return f"{value:.{digits}g}"


def duration(ns: float, digits: int = 3) -> str:
    """Return `ns` with a suitable unit and at most `digits` digits, for example "1.5 ms"."""
    for size, unit in _NS:
        if abs(ns) >= size:
            wide = f",.{digits - 3}f" if abs(ns) >= 1000 * size else f".{digits}g"
            return f"{ns / size:{wide}} {unit}"
    return f"{ns:.{digits}g} ns" if ns else "0"


def distinct_texts(values: Sequence[float], durations: bool) -> list[str]:
    """Return the axis labels of `values`, with so many digits that all labels differ.

    If `durations` is set, the values are times in ns; otherwise, they are counts.
    """
    write, least = (duration, 3) if durations else (short, 4)
    texts = [write(value) for value in values]
    for digits in range(least + 1, MOST_DIGITS + 1):
        if len(set(texts)) == len(set(values)):
            break
        texts = [write(value, digits) for value in values]
    return texts


class ValueAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """An axis of counts or, if `durations` is set, of durations in ns.

    If `logarithmic` is set, positions on the axis are the log10 of these values.
    """

    def __init__(self, side: str) -> None:
        super().__init__(orientation=side)
        self.enableAutoSIPrefix(False)
        self.durations = self.logarithmic = False

    def tickSpacing(self, low: float, high: float, size: float) -> list[tuple[float, float]]:
        if not self.logarithmic:
            found: list[tuple[float, float]] = super().tickSpacing(low, high, size)
            return found
        return [(1.0, 0.0)]

    def tickValues(
        self, low: float, high: float, size: float
    ) -> list[tuple[float, Sequence[float]]]:
        if not self.logarithmic:
            found: list[tuple[float, Sequence[float]]] = super().tickValues(low, high, size)
            return found
        decades = np.arange(np.floor(low), np.ceil(high) + 1)
        found = []
        for spacing, steps in ((0.0, (1,)), (SOME, (2, 5)), (NO_TEXT, (3, 4, 6, 7, 8, 9))):
            ticks = (decades[:, None] + np.log10(steps)).ravel()
            found.append((spacing, ticks[(ticks >= low) & (ticks <= high)].tolist()))
        return found

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        far = self.range[1] - self.range[0] > MOST_DECADES
        if self.logarithmic and (spacing == NO_TEXT or (far and spacing == SOME)):
            return [""] * len(values)
        shown = [10.0**value for value in values] if self.logarithmic else list(values)
        return distinct_texts(shown, self.durations)


class GraphPlot(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """A plot whose x axis has the title `x_title`; the mouse works as BrushBox describes."""

    hovered = Signal(object)  # QPointF in the units of the axes; None: the pointer left

    def __init__(self, x_title: str, both: bool = False, parent: QWidget | None = None) -> None:
        self.box: BrushBox = BrushBox(both)
        self.left, self.bottom = ValueAxis("left"), ValueAxis("bottom")
        axes = {"left": self.left, "bottom": self.bottom}
        super().__init__(parent, viewBox=self.box, axisItems=axes)
        self.getPlotItem().hideButtons()
        self.getPlotItem().setContentsMargins(4, 6, 12, 6)
        self.setFrameShape(self.Shape.StyledPanel)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.bottom.setLabel(x_title)
        self.scene().sigMouseMoved.connect(self._hover)
        self.recolour()

    @property
    def dark(self) -> bool:
        """Return whether the plot has dark colours."""
        return is_dark(QGuiApplication.palette())  # its own palette follows later

    def recolour(self) -> None:
        """Use the colours of the application's current palette."""
        palette = QGuiApplication.palette()
        self.setBackground(palette.color(QPalette.ColorRole.Base))
        text = palette.color(QPalette.ColorRole.Text)
        for axis in (self.left, self.bottom):
            axis.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
            axis.setTextPen(text)
            axis.setTickFont(self.font())
            axis.label.setFont(self.font())
            axis.setGrid(50)
        self.box.colour(palette.color(QPalette.ColorRole.Highlight))

    def show_axes(self, on: bool) -> None:
        """Show the axes if `on`.

        Without a curve, the axes are hidden, because their numbers mean nothing.
        """
        for side in ("left", "bottom"):
            self.getPlotItem().showAxis(side, on)

    def _hover(self, scene: QPointF) -> None:
        inside = self.box.sceneBoundingRect().contains(scene)
        self.hovered.emit(self.box.mapSceneToView(scene) if inside else None)
