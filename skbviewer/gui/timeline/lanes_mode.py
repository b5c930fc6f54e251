# SPDX-License-Identifier: MIT
"""The timeline as lanes of all calls: by CPU, layer or process, or of the displayed packets."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF

from skbviewer.analysis.timeline.lanes import ALIGNED, PACKET_KINDS, Timeline
from skbviewer.records import PacketPath
from skbviewer.session.kernel.call_positions_in_path import CallPlace

from .hover_tips import bin_tip, call_tip, gap_tip, leg_rows
from .mouse_actions import Mouse
from .timeline_plot import TimelinePlot

NEAR_NS, STEADY = 1_000, 1_000  # tolerance for the time of a call: 1 us, and 1/1000 for clock drift


class LanesMode:
    """Draws a Timeline in the plot."""

    top_rows = 0.0  # titles are left of the lanes
    filters_by_range = True

    def __init__(self, view: TimelinePlot, mouse: Mouse) -> None:
        self._view, self._mouse = view, mouse
        self.kind = ""
        self.ids: tuple[int, ...] = ()
        self._fit_next = False
        self._left: tuple[int, int] | None = None  # range of session time shown before
        self._wanted: tuple[int, int] | None = None  # range to show next, in any lanes

    @property
    def timeline(self) -> Timeline | None:
        """Return the lanes that are drawn; None if there are none."""
        return self._view.lanes.timeline

    @property
    def is_relative(self) -> bool:
        """Return whether times count from the first entry in each lane (else: session time)."""
        return self.kind == ALIGNED

    @property
    def has_low_rows(self) -> bool:
        """Return whether rows may be less high than their text, as in lanes of packets.

        These lanes have many rows.
        """
        return self.kind in PACKET_KINDS

    @property
    def origin_ns(self) -> int:
        """Return the session time at x = 0; 0 if times are relative."""
        if self.is_relative:
            return 0
        if self.timeline is not None:
            return self.timeline.t0_ns
        overview = self._view.loader.overview
        return overview.t0_ns if overview is not None else 0

    @property
    def rows(self) -> float:
        """Return the height of all lanes, in rows."""
        return self._view.lanes.places.total + 1

    def layers(self) -> Iterable[str]:
        """Return the names of the layers that are drawn."""
        if self.timeline is None:
            return ()
        numbers = self.timeline.boxes.layers()
        known = self._view.colours
        return [name for n in numbers if (name := self.timeline.layers[n]) in known]

    def bounds(self) -> tuple[float, float, float]:
        """Return (start, end, margin) of the lanes, ns; one may pan by `margin` beyond the ends."""
        span = float(self.timeline.span_ns) if self.timeline is not None else 1.0
        return 0.0, span, span * 0.4

    def message(self) -> str:
        """Return the text to show if nothing is drawn."""
        lanes = self._view.lanes
        if self.timeline is None:
            return "Arranging calls…" if self._view.loader.busy else ""
        if not len(self.timeline.boxes.begin):
            return "No calls were recorded for the listed packets."
        if lanes.frame.width > 1 and not len(lanes.bins_of(lanes.frame)):
            return "Nothing was recorded in this time range. F shows everything."
        return ""

    def clear(self) -> None:
        """Draw nothing; the lanes that are shown next are zoomed out."""
        self._view.lanes.draw(None)
        self._fit_next, self._left, self._wanted = True, None, None

    def leave(self) -> None:
        """Store the range that is shown now, before other lanes are shown."""
        if self.timeline is not None and not self.is_relative:
            self._left = self._view.window_ns()

    def come_back(self, window: tuple[int, int]) -> None:
        """Show the range `window` (session time, ns) as soon as the lanes have been read."""
        self._wanted = window

    def show_kind(self, kind: str) -> None:
        """Show lanes of the kind `kind`, with the range that lanes showed last.

        The first time, the whole recording is shown.
        """
        self._fit_next = True
        if kind != self.kind or self.timeline is None:
            self.kind = kind
            self._view.lanes.draw(None)
            self.load()
        else:
            self._show(self.timeline)

    def load(self) -> None:
        """Read the lanes if they are shown."""
        if self._view.mode is self:
            self._view.loader.lanes(self.kind, self.ids)

    def reload(self) -> None:
        """Read the lanes again, but keep the view."""
        self.load()

    def show_timeline(self, timeline: Timeline) -> None:
        """Draw lanes that have been read."""
        if timeline.kind != self.kind or self._view.mode is not self:
            return
        self._view.lanes.draw(timeline)
        self._show(timeline)

    def _show(self, timeline: Timeline) -> None:
        view = self._view
        view.axis.setStyle(showValues=True)
        if self._fit_next:
            self._fit_next = False
            self._arrive(timeline)
        view.box.sigRangeChanged.emit(view.box, view.box.viewRange(), [True, True])
        view.show_layers()

    def _arrive(self, timeline: Timeline) -> None:
        view = self._view
        view.fit()
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            view.show_window(*wanted)
        elif self.kind in PACKET_KINDS:
            self._show_packets(timeline)
        elif self._left is not None:
            view.show_window(*self._left)
            self.show_path(view.path)

    def _show_packets(self, timeline: Timeline) -> None:
        """Show the range from the first to the last box of the displayed packets."""
        if len(timeline.boxes.begin):
            low, high = int(timeline.boxes.begin.min()), int(timeline.boxes.end.max())
            pad = (high - low) * 0.02 + 10
            self._view.box.setXRange(low - pad, high + pad)

    def show_path(self, path: PacketPath | None) -> None:
        """Bring the selected packet into view; zoom out only if the view is too short for it."""
        view, span = self._view, self._view.state.span
        view.lanes.span = None if self.is_relative else span
        view.lanes.select(None)
        if view.mode is not self or span is None or self.timeline is None or self.is_relative:
            return
        low, high = view.box.viewRange()[0]
        begin, end = (at - self.origin_ns for at in span)
        if end < low or begin > high:
            half = max((high - low) / 2, (end - begin) * 0.6)
            view.box.setXRange((begin + end) / 2 - half, (begin + end) / 2 + half)

    def show_call(self, leg: int, call: int) -> None:
        """Highlight call `call` of leg `leg` of the selected packet's path."""
        view, path = self._view, self._view.path
        if view.mode is not self or self.timeline is None:
            return
        if path is None or call < 0 or leg >= len(path.legs):
            view.lanes.select(None)
            return
        whole, chosen = path.legs[leg], path.legs[leg].calls[call]
        at = chosen.entry_ns + whole.session_offset_ns - self.origin_ns
        number = view.call_number(path, leg, call) or 0
        near = NEAR_NS + abs(chosen.entry_ns - whole.begin_ns) // STEADY
        item, row = self._find(number - 1, at - near, at + near)
        view.lanes.select(item)
        if row is not None:
            low, high = view.box.viewRange()[0]
            if not low <= at <= high:
                half = (high - low) / 2
                view.box.setXRange(at - half, at + half)
            view.scroll_to(float(view.lanes.places.row_y[row]))

    def _find(self, item: int, begin: int, end: int) -> tuple[int | None, int | None]:
        """Return (box, row) of the call `item`, whose entry is between `begin` and `end`.

        Returns (None, None) if there is no such box.

        Lanes convert each call's time to session time, but a path only shifts each leg as a whole,
        so clock drift may make the times differ.
        """
        assert self.timeline is not None
        of = self.timeline.boxes
        lanes = [lane for lane in self.timeline.lanes if lane.what == "calls"]
        for row in (lane.first + n for lane in lanes for n in range(lane.rows)):
            low, high = int(of.starts[row]), int(of.starts[row + 1])
            first, last = low + np.searchsorted(of.begin[low:high], (begin, end + 1))
            if item in of.item[first:last]:
                return item, row
        return None, None

    def selected_call(self) -> int | None:
        """Return the id of the selected call in table `calls`; None if no call is selected."""
        selected = self._view.lanes.selected
        return None if selected is None else selected + 1

    def click(self, scene: QPointF) -> None:
        """Select the call at a position of the scene, and the packet of this call."""
        view, timeline = self._view, self.timeline
        hit = self._bin(scene)
        if hit is None or timeline is None or hit["count"] != 1:
            view.call_chosen.emit(-1, -1)
            return
        what = timeline.lane_of(int(hit["row"])).what
        if what == "wire":
            view.packet_asked.emit(int(hit["item"]) + 1)
        elif what == "calls":
            view.lanes.select(int(hit["item"]))
            view.loader.place(int(hit["item"]) + 1, view.call_located.emit)

    def function_at(self, scene: QPointF) -> str:
        """Return the function of the single call at a position of the scene; "" if none."""
        hit, timeline = self._bin(scene), self.timeline
        if hit is None or timeline is None or hit["count"] != 1:
            return ""
        is_call = timeline.lane_of(int(hit["row"])).what == "calls"
        return timeline.names[int(hit["name"])] if is_call else ""

    def _bin(self, scene: QPointF) -> np.void | None:
        place = self._mouse.frame_point(scene)
        return self._view.lanes.bin_at(place.x(), place.y())

    def edges(self, _y: float, pixel: float) -> npt.NDArray[np.float64]:
        """Return the starts and ends of boxes, to which a marker may snap (ns)."""
        return self._view.lanes.edges_near(pixel)

    def tip_at(self, scene: QPointF) -> str:
        """Return the tooltip of the box at a position of the scene.

        The details of a single call are added as soon as they have been read.
        """
        hit, timeline = self._bin(scene), self.timeline
        if hit is None or timeline is None:
            place = self._mouse.frame_point(scene)
            gap = self._view.lanes.gap_at(place.x(), place.y())
            return "" if gap is None else gap_tip(gap)
        lane = timeline.lane_of(int(hit["row"]))
        if hit["count"] == 1 and lane.what == "calls":
            self._view.loader.place(int(hit["item"]) + 1, lambda found: self._report(found, scene))
        return bin_tip(hit, timeline, lane)

    def _report(self, found: CallPlace, scene: QPointF) -> None:
        pointer = self._mouse.pointer
        if pointer is not None and (pointer - scene).manhattanLength() > 4:
            return  # the pointer has moved on
        leg = found.path.legs[found.leg]
        row = found.row or found.packet or 0
        whose = f"K{-row}" if row < 0 else str(row or f"lifetime {found.series}")
        more = (("Packet", whose), *leg_rows(leg, leg.zero_ns))
        self._mouse.show_tip(call_tip(found.path_call, leg.zero_ns, more), scene)
