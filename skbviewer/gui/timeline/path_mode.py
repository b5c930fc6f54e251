# SPDX-License-Identifier: MIT
"""The timeline of one packet's path: a lane per leg, a bar per call by depth."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF

from skbviewer.records import POINTS_ONLY, PacketPath

from .hover_tips import call_tip, leg_rows
from .path_layout import bar_at, lay_out, wait_at
from .path_painter import TITLE_ROWS, TimelineItem
from .timeline_plot import TimelinePlot

SLACK_PADS = 20  # one may pan this many fiftieths of the path beyond it


class PathMode:
    """Draws the selected packet's path in the plot."""

    is_relative = filters_by_range = has_low_rows = False

    def __init__(self, view: TimelinePlot) -> None:
        self._view = view
        self.item = TimelineItem()

    @property
    def origin_ns(self) -> int:
        """Return the session time at x = 0."""
        return self.item.layout.origin_ns

    @property
    def rows(self) -> float:
        """Return the height of the path, in rows."""
        return self.item.layout.rows

    @property
    def top_rows(self) -> float:
        """Return the height of the first leg's title, in rows."""
        return TITLE_ROWS if self.item.layout.titles else 0.0

    def layers(self) -> Iterable[str]:
        """Return the names of the layers that are drawn."""
        return self.item.layout.layers

    def bounds(self) -> tuple[float, float, float]:
        """Return (start, end, margin) of the path, ns; one may pan by `margin` beyond the ends."""
        layout = self.item.layout
        return layout.begin, layout.end, (layout.end - layout.begin) * 0.02 * SLACK_PADS

    def message(self) -> str:
        """Return the text to show if nothing is drawn."""
        if self.item.layout.labels:
            return ""
        if self._view.path is None:
            return "Select a packet to show its path through the kernel."
        if any(leg.note == POINTS_ONLY for leg in self._view.path.legs):
            return (
                "The kernel log has only points, which have no duration, so there are no boxes to "
                "draw."
            )
        return "No kernel log has a record of this packet."

    def show_path(self, path: PacketPath | None) -> None:
        """Draw the path of a packet; None draws nothing."""
        view = self._view
        self.item.draw(lay_out(path))
        span = None
        if path is not None and path.legs:
            ends = [leg.end_ns + leg.session_offset_ns for leg in path.legs]
            span = (min(leg.session_ns for leg in path.legs), max(ends))
        view.state.span = span
        if view.mode is self:
            view.show_layers()
            view.bar.setValue(0)
            view.axis.setStyle(showValues=bool(self.item.layout.labels))
            view.fit()

    def show_call(self, leg: int, call: int) -> None:
        """Highlight a call and bring it into view."""
        bars = self.item.layout.bars
        hits = ((bars["leg"] == leg) & (bars["call"] == call)).nonzero()[0]
        self.item.select(int(hits[0]) if len(hits) else None)
        if len(hits) and self._view.mode is self:
            self._bring_into_view(bars[hits[0]])

    def selected_call(self) -> int | None:
        """Return the id of the selected call in table `calls`; None if no call is selected."""
        path, at = self._view.path, self.item.selected
        if path is None or at is None:
            return None
        bar = self.item.layout.bars[at]
        return self._view.call_number(path, int(bar["leg"]), int(bar["call"]))

    def step(self, by: int) -> None:
        """Select the call that is `by` calls after the selected call (before it if negative)."""
        bars, now = self.item.layout.bars, self.item.selected
        if len(bars):
            at = (0 if by > 0 else len(bars) - 1) if now is None else now + by
            bar = bars[min(max(at, 0), len(bars) - 1)]
            self._view.call_chosen.emit(int(bar["leg"]), int(bar["call"]))

    def _bring_into_view(self, bar: np.void) -> None:
        begin, end, y = (float(bar[name]) for name in ("begin", "end", "y"))
        box = self._view.box
        low, high = box.viewRange()[0]
        if end < low or begin > high:
            half = max((high - low) / 2, (end - begin) * 0.6)
            box.setXRange((begin + end) / 2 - half, (begin + end) / 2 + half)
        self._view.scroll_to(y)

    def bar_under(self, scene: QPointF) -> int | None:
        """Return the number of the bar at a position of the scene; None if there is none."""
        box = self._view.box
        at = box.mapSceneToView(scene)
        return bar_at(self.item.layout, at.x(), at.y(), 2 * box.viewPixelSize()[0])

    def function_at(self, scene: QPointF) -> str:
        """Return the function of the call at a position of the scene; "" if no call is there."""
        at, path = self.bar_under(scene), self._view.path
        if at is None or path is None:
            return ""
        bar = self.item.layout.bars[at]
        return path.legs[int(bar["leg"])].calls[int(bar["call"])].function

    def click(self, scene: QPointF) -> None:
        """Select the call at a position of the scene."""
        at = self.bar_under(scene)
        leg, call = -1, -1
        if at is not None:
            bar = self.item.layout.bars[at]
            leg, call = int(bar["leg"]), int(bar["call"])
        self._view.call_chosen.emit(leg, call)

    def edges(self, y: float, _pixel: float) -> npt.NDArray[np.float64]:
        """Return the times (ns) at which bars of the row at y, or else all bars, begin or end."""
        bars = self.item.layout.bars
        mine = bars[(bars["y"] <= y) & (y < bars["y"] + 1)]
        chosen = mine if len(mine) else bars
        return np.concatenate([chosen["begin"], chosen["end"]])

    def tip_at(self, scene: QPointF) -> str:
        """Return the tooltip of the call or wait at a position of the scene."""
        layout, path = self.item.layout, self._view.path
        box = self._view.box
        at = box.mapSceneToView(scene)
        wait = wait_at(layout, at.x(), at.y(), 2 * box.viewPixelSize()[0])
        if wait is not None:
            return wait.tip
        bar = self.bar_under(scene)
        if bar is None or path is None:
            return ""
        number, call = int(layout.bars["leg"][bar]), int(layout.bars["call"][bar])
        leg, since = path.legs[number], layout.origin_ns - layout.offsets[number]
        return call_tip(leg.calls[call], since, leg_rows(leg, since))
