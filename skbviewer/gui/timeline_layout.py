# SPDX-License-Identifier: MIT
"""Where everything of a packet's path stands in the timeline: arrays, no Qt.

In: a PacketPath.  Out: a Layout; x in ns since `origin_ns` (the first entry), y in rows.
Times are rebased as int64 before they become float64, which is exact up to 2**53 ns.
"""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skbviewer.records import Leg, PacketPath, PathCall

from . import wording

TITLE_ROWS = 1.25
GAP_ROWS = 0.75
NEAR_SPANS = 4  # a wire time further away than this many spans is told, not drawn

_BAR = np.dtype(
    [
        ("begin", "f8"),
        ("end", "f8"),
        ("y", "f8"),
        ("layer", "i4"),
        ("leg", "i4"),
        ("call", "i4"),
        ("open", "?"),
        ("drop", "?"),
    ]
)


class LaneTitle(NamedTuple):
    """A leg's heading and the rows it covers."""

    leg: int
    text: str
    y: float
    bottom: float
    begin: float
    end: float


class WaitBar(NamedTuple):
    """Time the packet lay somewhere."""

    text: str
    begin: float
    end: float
    y: float


class Layout(NamedTuple):
    """One packet's picture; `bars` is sorted by leg, then call."""

    origin_ns: int
    bars: npt.NDArray[np.void]
    labels: tuple[str, ...]
    layers: tuple[str, ...]
    titles: tuple[LaneTitle, ...]
    waits: tuple[WaitBar, ...]
    rows: float
    begin: float
    end: float
    wire: float | None
    wire_error: float


def lay_out(path: PacketPath | None) -> Layout:
    """Stack the legs of `path`; empty for None or a path without calls."""
    legs = () if path is None else path.legs
    entries = [_begin_ns(leg, call) for leg in legs for call in leg.calls]
    origin = min(entries, default=0)
    layers = tuple(dict.fromkeys(call.layer for leg in legs for call in leg.calls))
    bars = np.zeros(len(entries), _BAR)
    titles: list[LaneTitle] = []
    waits: list[WaitBar] = []
    at, top = 0, 0.0
    for number, leg in enumerate(legs):
        y = top + TITLE_ROWS
        for wait in leg.waits:
            begin = float(wait.begin_ns - origin)
            text = f"{wait.what}: {wording.duration(wait.dur_ns)}"
            waits.append(WaitBar(text, begin, begin + wait.dur_ns, y))
        y += bool(leg.waits)
        places, height = call_rows(leg)
        span = (origin, _last_ns(leg))
        for place, call in enumerate(leg.calls):
            row = y + places[place]
            bars[at] = _bar(leg, call, number, place, row, layers.index(call.layer), span)
            at += 1
        bottom = y + height
        titles.append(_title(leg, number, top, bottom, origin))
        top = bottom + GAP_ROWS
    labels = tuple(call.function for leg in legs for call in leg.calls)
    end = max([*bars["end"].tolist(), *(wait.end for wait in waits), 1.0])
    begin = min([0.0, *(wait.begin for wait in waits)])
    wire, error = _wire(path, origin, end - begin)
    if wire is not None:
        begin, end = min(begin, wire), max(end, wire)
    rows = max(top - GAP_ROWS, 1.0)
    return Layout(
        origin, bars, labels, layers, tuple(titles), tuple(waits), rows, begin, end, wire, error
    )


def call_rows(leg: Leg) -> tuple[list[int], int]:
    """A row for each call, and how many rows there are.

    Calls stand by depth.  A top call that began while another was still running (a softirq that
    interrupted it, another CPU) gets rows of its own below, so that no bar hides another.
    """
    tracks: list[tuple[int, int]] = []  # end of the latest top call, deepest row used
    of_call: list[int] = []
    last = _last_ns(leg)
    for call in leg.calls:
        if call.parent < 0:
            free = (at for at, track in enumerate(tracks) if track[0] <= call.entry_ns)
            of_call.append(next(free, len(tracks)))
        else:
            of_call.append(of_call[call.parent])
        at = of_call[-1]
        end, deepest = (tracks[at : at + 1] or [(0, 0)])[0]
        tracks[at : at + 1] = [(max(end, _end_ns(leg, call, last)), max(deepest, call.depth))]
    tops = list(accumulate((deepest + 1 for _, deepest in tracks), initial=0))
    rows = [tops[at] + call.depth for at, call in zip(of_call, leg.calls, strict=True)]
    return rows, max(tops[-1], 1)


def _begin_ns(leg: Leg, call: PathCall) -> int:
    """When the bar begins: a call that only has the packet's socket may be far longer."""
    return call.entry_ns if call.skb else max(call.entry_ns, leg.begin_ns)


def _end_ns(leg: Leg, call: PathCall, last: int) -> int:
    leave = max(leg.end_ns, call.entry_ns) if call.exit_ns is None else call.exit_ns
    return leave if call.skb else max(min(leave, last), _begin_ns(leg, call))


def _last_ns(leg: Leg) -> int:
    """When the last call that has the packet ends."""
    ends = [call.exit_ns for call in leg.calls if call.skb and call.exit_ns is not None]
    return max([leg.end_ns, *ends])


def _bar(
    leg: Leg, call: PathCall, number: int, place: int, y: float, layer: int, span: tuple[int, int]
) -> tuple[float, float, float, int, int, int, bool, bool]:
    is_open, is_drop = call.exit_ns is None, call.note.startswith("drop")
    origin, last = span
    begin, end = float(_begin_ns(leg, call) - origin), float(_end_ns(leg, call, last) - origin)
    return begin, end, y, layer, number, place, is_open, is_drop


def _title(leg: Leg, number: int, top: float, bottom: float, origin: int) -> LaneTitle:
    begin, end = float(leg.begin_ns - origin), float(leg.end_ns - origin)
    return LaneTitle(number, wording.leg_title(leg), top, bottom, begin, end)


def _wire(path: PacketPath | None, origin: int, span: float) -> tuple[float | None, float]:
    if path is None or path.wire_ns is None or not path.legs:
        return None, 0.0
    wire = float(path.wire_ns - origin)
    near = -NEAR_SPANS * span <= wire <= (1 + NEAR_SPANS) * span
    return (wire if near else None), float(path.wire_error_ns or 0)


def wait_at(layout: Layout, x: float, y: float, slack: float) -> WaitBar | None:
    """The wait at (x ns, y rows), as bar_at."""
    for wait in layout.waits:
        if wait.y <= y < wait.y + 1 and wait.begin - slack <= x <= wait.end + slack:
            return wait
    return None


def bar_at(layout: Layout, x: float, y: float, slack: float) -> int | None:
    """The bar at (x ns, y rows), None beside all; `slack` ns catch bars thinner than a pixel."""
    bars = layout.bars
    inside = (bars["y"] <= y) & (y < bars["y"] + 1)
    inside &= (bars["begin"] - slack <= x) & (x <= bars["end"] + slack)
    hits = np.flatnonzero(inside)
    if not len(hits):
        return None
    middle = (bars["begin"][hits] + bars["end"][hits]) / 2
    return int(hits[np.argmin(np.abs(middle - x))])
