# SPDX-License-Identifier: MIT
"""The layout of a packet's path in the timeline: arrays, no Qt.

Input: a PacketPath. Output: a Layout; x is ns since `origin_ns` (the start of the first leg,
session time), y is rows. Each leg is shifted as a whole from its log's clock to session time, so
differences between times of one leg stay exact. If a log's clock has no known relation to the other
clocks, its legs are placed after all other legs. Times are made relative as integers before they
become float64, which is exact up to 2**53 ns.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skbviewer.records import Leg, PacketPath, PathCall

from ..base import wording

TITLE_ROWS = 1.25
GAP_ROWS = 0.75
NEAR_SPANS = 4  # a wire time further away than this many spans is not drawn

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
    """The heading of a leg, and the rows that the leg covers."""

    leg: int
    text: str
    y: float
    bottom: float
    begin: float
    end: float


class WaitBar(NamedTuple):
    """A time in which the packet waited, or in which no record shows what happened to it."""

    text: str
    tip: str
    begin: float
    end: float
    y: float


class Layout(NamedTuple):
    """The picture of one packet. `bars` is sorted by leg, then call.

    `offsets` has a number (ns) for each leg.  Adding this number to a time of the leg's log gives a
    time that counts from `origin_ns`.
    """

    origin_ns: int
    offsets: tuple[int, ...]
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
    """Return the layout of `path`, with its legs one below the other.  For None, it is empty."""
    legs = () if path is None else path.legs
    offsets = _offsets(legs)
    moved = list(zip(legs, offsets, strict=True))
    entries = sum(len(leg.calls) for leg in legs)
    origin = legs[0].begin_ns + offsets[0] if legs else 0
    layers = tuple(dict.fromkeys(call.layer for leg in legs for call in leg.calls))
    bars = np.zeros(entries, _BAR)
    titles: list[LaneTitle] = []
    waits: list[WaitBar] = []
    at, top = 0, 0.0
    for number, (leg, offset) in enumerate(moved):
        since = origin - offset  # the origin, on the leg's own clock
        y = top + TITLE_ROWS
        for wait in leg.waits:
            begin = float(wait.begin_ns - since)
            text = f"{wait.what}: {wording.duration(wait.dur_ns)}"
            tip = wording.wait_text(wait)
            waits.append(WaitBar(text, tip[:1].upper() + tip[1:], begin, begin + wait.dur_ns, y))
        y += bool(leg.waits)
        places, height = call_rows(leg)
        span = (since, _last_ns(leg))
        for place, call in enumerate(leg.calls):
            row = y + places[place]
            bars[at] = _bar(leg, call, number, place, row, layers.index(call.layer), span)
            at += 1
        bottom = y + height
        text = wording.leg_title(leg, path and path.behind(leg))
        own = (float(leg.begin_ns - since), float(leg.end_ns - since))
        titles.append(LaneTitle(number, text, top, bottom, *own))
        top = bottom + GAP_ROWS
    labels = tuple(call.function for leg in legs for call in leg.calls)
    end = max([*bars["end"].tolist(), *(wait.end for wait in waits), 1.0])
    begin = min([0.0, *bars["begin"].tolist(), *(wait.begin for wait in waits)])
    wire, error = _wire(moved, origin, end - begin)
    if wire is not None:
        begin, end = min(begin, wire), max(end, wire)
    rows = max(top - GAP_ROWS, 1.0)
    picture = (bars, labels, layers, tuple(titles), tuple(waits), rows, begin, end, wire, error)
    return Layout(origin, offsets, *picture)


def _offsets(legs: Sequence[Leg]) -> tuple[int, ...]:
    """Return for each leg the number (ns) that is added to its times."""
    more: dict[int, int] = {}  # by source; 0: all sources with related clocks
    found, end = [], 0
    for leg in legs:
        group = leg.source if leg.session_error_ns is None else 0
        first = min([leg.begin_ns, *(_begin_ns(leg, call) for call in leg.calls)])
        behind = end - first - leg.session_offset_ns
        found.append(leg.session_offset_ns + more.setdefault(group, behind if more else 0))
        end = max(end, _last_ns(leg) + found[-1])
    return tuple(found)


def call_rows(leg: Leg) -> tuple[list[int], int]:
    """Return the row of each call of a leg, and the number of rows.

    The row is the depth of the call.  A call without a caller that began while another call was
    running (in a softirq, or on another CPU) gets rows of its own below, so that no bar hides
    another bar.
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
    """Return when the bar begins.

    A call that carries only the packet's socket may begin long before the packet exists.
    """
    return call.entry_ns if call.skb else max(call.entry_ns, leg.begin_ns)


def _end_ns(leg: Leg, call: PathCall, last: int) -> int:
    leave = max(leg.end_ns, call.entry_ns) if call.exit_ns is None else call.exit_ns
    return leave if call.skb else max(min(leave, last), _begin_ns(leg, call))


def _last_ns(leg: Leg) -> int:
    """Return the time at which the last call with the packet ends."""
    ends = [call.exit_ns for call in leg.calls if call.skb and call.exit_ns is not None]
    return max([leg.end_ns, *ends])


def _bar(
    leg: Leg, call: PathCall, number: int, place: int, y: float, layer: int, span: tuple[int, int]
) -> tuple[float, float, float, int, int, int, bool, bool]:
    is_open, is_drop = call.exit_ns is None, call.note.startswith("drop")
    origin, last = span
    begin, end = float(_begin_ns(leg, call) - origin), float(_end_ns(leg, call, last) - origin)
    return begin, end, y, layer, number, place, is_open, is_drop


def _wire(moved: Sequence[tuple[Leg, int]], origin: int, span: float) -> tuple[float | None, float]:
    """Return (wire time, its error) in ns, from the log with the smallest clock error.

    The wire time is None if it is unknown or too far away to be drawn.
    """
    known = [
        (leg.wire_error_ns or 0, leg.wire_ns + offset)
        for leg, offset in moved
        if leg.wire_ns is not None
    ]
    if not known:
        return None, 0.0
    error, at = min(known, key=lambda each: each[0])
    wire = float(at - origin)
    near = -NEAR_SPANS * span <= wire <= (1 + NEAR_SPANS) * span
    return (wire if near else None), float(error)


def wait_at(layout: Layout, x: float, y: float, slack: float) -> WaitBar | None:
    """Return the wait at (x ns, y rows); None if there is none.

    A wait also counts if it is at most `slack` ns away.
    """
    for wait in layout.waits:
        if wait.y <= y < wait.y + 1 and wait.begin - slack <= x <= wait.end + slack:
            return wait
    return None


def bar_at(layout: Layout, x: float, y: float, slack: float) -> int | None:
    """Return the number of the bar at (x ns, y rows); None if there is none.

    A bar also counts if it is at most `slack` ns away, because bars may be narrower than a pixel.
    """
    bars = layout.bars
    inside = (bars["y"] <= y) & (y < bars["y"] + 1)
    inside &= (bars["begin"] - slack <= x) & (x <= bars["end"] + slack)
    hits = np.flatnonzero(inside)
    if not len(hits):
        return None
    middle = (bars["begin"][hits] + bars["end"][hits]) / 2
    return int(hits[np.argmin(np.abs(middle - x))])
