# SPDX-License-Identifier: MIT
"""pyqtgraph's axis and view box, taught ns and our mouse: the only subclasses of its classes."""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGraphicsSceneWheelEvent

ZOOM_STEP = 0.8
_UNITS = ((2_000, 1, "ns"), (2_000_000, 1_000, "µs"), (2_000_000_000, 1_000_000, "ms"))


def unit_of(span_ns: float) -> tuple[int, str]:
    """ns per unit and the unit's name, for an axis `span_ns` wide."""
    for limit, divisor, name in _UNITS:
        if span_ns < limit:
            return divisor, name
    return 1_000_000_000, "s"


def tick_text(ns: float, spacing_ns: float, span_ns: float) -> str:
    """A tick at `ns`, with the digits that tell neighbours `spacing_ns` away apart."""
    divisor, name = unit_of(span_ns)
    digits = 0
    while digits < 3 and (spacing_ns / divisor * 10**digits) % 1 > 1e-9:
        digits += 1
    return f"{ns / divisor:,.{digits}f} {name}"


class TimeAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """Ticks as "12.5 µs" since the first entry."""

    def __init__(self) -> None:
        super().__init__(orientation="top")
        self.enableAutoSIPrefix(False)

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        low, high = self.range
        return [tick_text(value, spacing, high - low) for value in values]


class TimeBox(pg.ViewBox):  # type: ignore[misc]  # pyqtgraph has no types
    """Ctrl+wheel zooms at the pointer, Shift+wheel pans, the plain wheel asks to scroll lanes."""

    lanes_scrolled = Signal(int)  # wheel steps, positive = down

    def __init__(self) -> None:
        super().__init__(enableMenu=False, invertY=True)
        self.setMouseEnabled(x=True, y=False)
        self.setDefaultPadding(0)
        self.disableAutoRange()

    def wheelEvent(self, event: QGraphicsSceneWheelEvent, axis: int | None = None) -> None:
        steps = event.delta() / 120
        keys = event.modifiers()
        if keys & Qt.KeyboardModifier.ControlModifier:
            self.zoom(ZOOM_STEP**steps, self.mapSceneToView(event.scenePos()).x())
        elif keys & Qt.KeyboardModifier.ShiftModifier:
            self.pan(-steps / 8)
        else:
            self.lanes_scrolled.emit(-round(steps))
        event.accept()

    def zoom(self, factor: float, around: float | None = None) -> None:
        """Show `factor` times the present span; `around` ns keeps its place."""
        low, high = self.viewRange()[0]
        middle = (low + high) / 2 if around is None else around
        self.setXRange(middle - (middle - low) * factor, middle + (high - middle) * factor)

    def pan(self, part: float) -> None:
        """Move right by `part` of the visible span."""
        low, high = self.viewRange()[0]
        self.setXRange(low + (high - low) * part, high + (high - low) * part)
