# SPDX-License-Identifier: MIT
"""The positions of title, lanes and footer in a picture of the timeline, and its texts. No Qt."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from skbviewer import __version__
from skbviewer.analysis.timeline.lanes import PACKET_KINDS, Timeline
from skbviewer.analysis.timeline.session_overview import Overview
from skbviewer.analysis.timeline.shown_timeline_part import (
    Shown,
    command_of,
    layout_units,
    seconds_text,
)
from skbviewer.records.types import EARLIEST_NS, LATEST_NS

from ..base import wording
from ..base.recording_interface import Recording
from ..base.status_text import clock_texts
from ..timeline.markers_and_range import LANE_TITLES, TimeState
from ..timeline.pixel_frame import Frame, places_of
from .line_wrapping import wrapped_lines
from .text_width import text_width

MARGIN = 20
GUTTER = 200
LINE = 18
STRIP = 36
ROW_PX = (3.0, 20.0)
FOOT_PX = 10
AXIS = 22  # height of the axis


class TimelineLayout:
    """The contents of a picture of the timeline, and their positions.

    The constructor reads the data.  Lengths are in units of a pixel at the resolution DPI.
    """

    def __init__(self, recording: Recording, shown: Shown, form: str) -> None:
        self.overview: Overview = recording.timeline.overview()
        self.timeline: Timeline = recording.timeline.lanes(shown.lanes, shown.ids)
        self._shown = shown
        self.width, self.height = layout_units(shown.size, shown.dpi)
        self.range = _part(shown.range, _all(self.timeline))
        self._t0 = 0 if self.timeline.is_relative else self.overview.t0_ns
        notes = tuple(
            place for place in recording.timeline.note_places() if self._is_seen(place[1:])
        )
        self.state = TimeState(shown.a, shown.b, notes=notes)
        self._command = command_of(shown, recording.words(), form, self._t0)
        self._sources = [f"{Path(s.path).name}  SHA-256 {s.sha256}" for s in recording.sources()]
        self._clocks = clock_texts(recording)
        self.title = shown.title or self._own_title()

    def _own_title(self) -> str:
        if self._shown.lanes in PACKET_KINDS and len(self.timeline.lanes) == 1:
            return f"Packet {self.timeline.lanes[0].title}"
        title = LANE_TITLES[self._shown.lanes]
        return title if self.timeline.is_relative else f"{title} over time"

    def _is_seen(self, times: tuple[int, int]) -> bool:
        return times[1] >= self.range[0] and times[0] <= self.range[1]

    def texts(self) -> dict[str, str]:
        """Return the metadata for the file of the picture: title, sources, command, filter."""
        texts = {"Title": self.title, "Source": "; ".join(self._sources), "Command": self._command}
        return texts | ({"Filter": self._shown.filter} if self._shown.filter else {})

    def subtitle(self) -> list[str]:
        """Return the lines below the title: time range, filter, marker difference."""
        t0, (begin, end) = self._t0, self.range
        wall = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(t0 // 10**9))
        span = f"{seconds_text(begin - t0)} s to {seconds_text(end - t0)} s"
        since = "each packet's first entry" if not t0 else f"{wall}.{t0 % 10**9:09d} UTC"
        lines = [f"{span} ({wording.duration(end - begin)}) after {since}"]
        if self._shown.filter:
            lines.append(f"Filter: {self._shown.filter}")
        if self.state.difference is not None:
            lines.append(f"B − A = {wording.difference(self.state.difference)}")
        return lines

    def footer(self) -> list[str]:
        """Return the notes, the input files, and the command that makes the picture."""
        t0 = self._t0
        notes = [
            f"Note at {seconds_text(place.begin_ns - t0)} s: {' '.join(place.note.text.split())}"
            for place in self.state.notes
        ]
        hidden = self._lanes_below()
        if hidden:
            notes.append(f"The last {hidden} lanes are not shown: the picture is not high enough")
        return [*notes, *self._sources, *self._clocks, self._made()]

    def _made(self) -> str:
        return f"Made with skbviewer {__version__}:  {self._command}"

    def foot_lines(self) -> list[str]:
        """Return the footer as lines that fit the width of the picture."""
        width = self.width - 2 * MARGIN
        return [line for text in self.footer() for line in wrapped_lines(text, _foot_width, width)]

    def _lanes_below(self) -> int:
        """Return how many lanes do not fit, because they begin below the end of the picture."""
        where = places_of(self.timeline)
        foot = len(self._sources) + len(self._clocks) + len(self.state.notes) + 3
        room = self.height - self.top - self._foot(foot)
        return int((where.lane_y * ROW_PX[0] > max(room, 40)).sum())

    @property
    def top(self) -> float:
        """Return the y at which the frame of the lanes begins."""
        return MARGIN + 26 + LINE * len(self.subtitle()) + 6 + STRIP + 8 + AXIS

    @staticmethod
    def _foot(lines: int) -> float:
        """Return the height of legend and footer."""
        return MARGIN + (LINE - 3) * lines + 12 + LINE

    def lines(self) -> list[str]:
        """Return all texts in the picture, for the CSV table, which begins with these texts."""
        return [self.title, *self.subtitle(), *self.footer()]

    def frame(self) -> Frame:
        """Return the frame of the lanes; its upper left corner is at (MARGIN + GUTTER, `top`)."""
        head = self.top
        foot = self._foot(len(self.foot_lines()))
        width = max(self.width - 2 * MARGIN - GUTTER, 50)
        height = max(self.height - head - foot, 40)
        total = places_of(self.timeline).total + 0.5
        row_px = min(max(height / max(total, 1), ROW_PX[0]), ROW_PX[1])
        begin, end = (at - self.timeline.t0_ns for at in self.range)
        return Frame(float(begin), float(end), -0.25, row_px, float(width), float(height))

    def bins(self) -> npt.NDArray[np.void]:
        """Return the boxes that are drawn; the CSV table has the same boxes."""
        frame = self.frame()
        rows = places_of(self.timeline).rows_between(frame.top, frame.row(frame.height))
        begin, end = (at - self.timeline.t0_ns for at in self.range)
        return self.timeline.bins(begin, max(end, begin + 1), round(frame.width), rows)


def _foot_width(text: str) -> float:
    return text_width(text, FOOT_PX)


def _part(wanted: tuple[int, int] | None, whole: tuple[int, int]) -> tuple[int, int]:
    """Return the range `wanted`; if one of its limits is missing, the limit of `whole` is used."""
    begin, end = wanted or whole
    begin = whole[0] if begin == EARLIEST_NS else begin
    return begin, max(whole[1], begin + 1) if end == LATEST_NS else end


def _all(timeline: Timeline) -> tuple[int, int]:
    """Return the whole range of the timeline.

    For lanes of packets, the range begins with the first call or wire time of the packets, and ends
    with the last one.
    """
    t0 = timeline.t0_ns
    if timeline.kind != "packet" or not (len(timeline.boxes.begin) or timeline.wires):
        return t0, t0 + timeline.span_ns
    ends = [wire.at for wire in timeline.wires]
    if len(timeline.boxes.begin):
        ends += [int(timeline.boxes.begin.min()), int(timeline.boxes.end.max())]
    pad = (max(ends) - min(ends)) // 50 + 10
    return t0 + min(ends) - pad, t0 + max(ends) + pad
