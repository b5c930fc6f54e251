# SPDX-License-Identifier: MIT
"""The axis and the view box of the timeline, in ns.  Only they subclass pyqtgraph's classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QSettings, Qt, Signal
from PySide6.QtWidgets import QGraphicsSceneWheelEvent

ZOOM_STEP = 0.8
DRAG = "timeline_drag"  # in the settings: "selects" or "moves"
TICK_PX = 90  # minimum distance of labelled ticks
FAR_SPANS = 100  # ticks further than this many spans from 0 count from a base
_UNITS = ((2_000, 1, "ns"), (2_000_000, 1_000, "µs"), (2_000_000_000, 1_000_000, "ms"))


def unit_of(span_ns: float) -> tuple[int, str]:
    """Return the unit of an axis that is `span_ns` wide: (ns per unit, name of the unit)."""
    for limit, divisor, name in _UNITS:
        if span_ns < limit:
            return divisor, name
    return 1_000_000_000, "s"


def tick_text(ns: float, spacing_ns: float, span_ns: float) -> str:
    """Return the label of a tick at `ns`.

    The label has enough digits to distinguish ticks that are `spacing_ns` apart.
    """
    divisor, name = unit_of(span_ns)
    digits = 0
    while digits < 3 and (spacing_ns / divisor * 10**digits) % 1 > 1e-9:
        digits += 1
    return f"{ns / divisor:,.{digits}f} {name}"


def round_step(least_ns: float) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, 50, ... ns that is at least `least_ns`."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if step * factor >= least_ns:
                return step * factor
        step *= 10


def base_of(low_ns: float, span_ns: float) -> int:
    """Return the time (ns) from which the tick labels count.

    This time is 0 or, if the view is far from 0, a round time to the left of the view.
    """
    if abs(low_ns) < FAR_SPANS * span_ns:
        return 0
    step = 1
    while step < 2 * span_ns:
        step *= 10
    return int(low_ns // step) * step


def base_text(base_ns: int) -> str:
    """Return the label of the time to which tick labels are relative: "1.234567 s +"; "" for 0.

    The label has 0, 3, 6 or 9 decimals, as needed.
    """
    if not base_ns:
        return ""
    whole, rest = divmod(base_ns, 10**9)
    digits = f"{rest:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f"{whole:,}{'.' if digits else ''}{digits} s +"


def drag_moves() -> bool:
    """Return whether the user wants a plain drag to pan, and Shift+drag to select."""
    return bool(QSettings().value(DRAG, "selects") == "moves")


class TimeAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """An axis with ticks such as "12.5 µs", relative to 0, or to `base_ns` if 0 is far away."""

    def __init__(self) -> None:
        super().__init__(orientation="top")
        self.enableAutoSIPrefix(False)
        self.base_ns = 0
        self.setStyle(maxTextLevel=0)

    def tickSpacing(self, low: float, high: float, pixels: float) -> list[tuple[float, float]]:
        step = round_step((high - low) * TICK_PX / max(pixels, 1.0))
        return [(step, 0), (step / 5, 0)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        low, high = self.range
        self.base_ns = base_of(low, high - low)
        return [tick_text(value - self.base_ns, spacing, high - low) for value in values]


class TimeBox(pg.ViewBox):  # type: ignore[misc]  # pyqtgraph has no types
    """Ctrl+wheel zooms at the pointer, Shift+wheel pans, the plain wheel scrolls lanes.

    Dragging selects a range. Dragging with Shift or the middle button pans; with the right button
    it zooms to a box. A preference swaps the actions of dragging with Shift and without Shift.
    """

    lanes_scrolled = Signal(int)  # wheel steps, positive = down
    range_dragged = Signal(float, float, bool)  # from, to: ns; whether the button was released

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

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        event.accept()
        button, shift = event.button(), event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        start = self.mapSceneToView(event.buttonDownScenePos(button))
        now = self.mapSceneToView(event.scenePos())
        left = button == Qt.MouseButton.LeftButton
        if button == Qt.MouseButton.MiddleButton or (left and bool(shift) != drag_moves()):
            moved = now.x() - self.mapSceneToView(event.lastScenePos()).x()
            low, high = self.viewRange()[0]
            self.setXRange(low - moved, high - moved)
        elif button == Qt.MouseButton.RightButton:
            self._drag_box(event, start.x(), now.x())
        else:
            self.range_dragged.emit(start.x(), now.x(), event.isFinish())

    def _drag_box(self, event: Any, start: float, now: float) -> None:
        if not event.isFinish():
            self.updateScaleBox(event.buttonDownPos(event.button()), event.pos())
            return
        self.rbScaleBox.hide()
        low, high = min(start, now), max(start, now)
        if high > low:
            self.setXRange(low, high)

    def zoom(self, factor: float, around: float | None = None) -> None:
        """Make the visible span `factor` times as long.

        The time `around` (ns) stays where it is in the view; None is the middle of the view.
        """
        low, high = self.viewRange()[0]
        middle = (low + high) / 2 if around is None else around
        self.setXRange(middle - (middle - low) * factor, middle + (high - middle) * factor)

    def pan(self, part: float) -> None:
        """Move the view to the right by `part` of its width; to the left if it is negative."""
        low, high = self.viewRange()[0]
        self.setXRange(low + (high - low) * part, high + (high - low) * part)
