# SPDX-License-Identifier: MIT
"""Tooltips of the timeline, as rich text.  Times are ns since the first leg began."""

from __future__ import annotations

from html import escape

import numpy as np

from skbviewer.analysis.timeline.lanes import Lane, Timeline
from skbviewer.analysis.timeline.pixel_bins import DROP, LAYER, OPEN
from skbviewer.analysis.timeline.session_overview import Gap
from skbviewer.records import HOLE, Leg, PathCall

from ..base import wording

LOST = {  # enum kbl_lost
    1: "the recorder's buffers were full, because kblrecord read them too slowly",
    2: "the probe missed calls",
    3: "a probe was hit while another probe ran",
    HOLE: "a part of the kernel log is missing or damaged",
}


def call_tip(call: PathCall, origin_ns: int, more: tuple[tuple[str, str], ...] = ()) -> str:
    """Return the tooltip of a call, with all that is known about it.

    The lines `more` come first.  Times count from `origin_ns`.
    """
    rows = (*more, *wording.call_details(call, origin_ns))
    return _table(call.function, rows)


def log_rows(leg: Leg) -> tuple[tuple[str, str], ...]:
    """Return (name, value) lines about a leg's log and its clock error; () if there is just one."""
    if not leg.log:
        return ()
    if leg.session_error_ns is None:
        return (("Log", leg.log), ("Clock error", "unknown"))
    error = f"± {wording.duration(leg.session_error_ns)}"
    return (("Log", leg.log), *((("Clock error", error),) if leg.session_error_ns else ()))


def leg_rows(leg: Leg, origin_ns: int) -> tuple[tuple[str, str], ...]:
    """Return lines about a leg as (name, value): log_rows(), and where its packet was captured."""
    seen = wording.capture_text(leg, origin_ns)
    return (*log_rows(leg), *((("Captured", seen),) if seen else ()))


def bin_tip(of: np.void, timeline: Timeline, lane: Lane) -> str:
    """Return the tooltip of a box that stands for several calls or packets.

    The tooltip says how many calls or packets there are, and from when to when.
    """
    count, layer = int(of["count"]), timeline.layers[int(of["look"]) & LAYER]
    begin, end = int(of["begin"]), int(of["end"])
    what = {"wire": "packet", "events": "time"}.get(lane.what, "call")
    rows = [("Lane", lane.title), ("From", f"{wording.seconds(begin)} s")]
    if count > 1:
        rows.append(("Duration", wording.duration(end - begin)))
        if lane.what != "events":
            rows.append(("Layer", f"mostly {layer}" if of["mixed"] else layer))
        rows.append(("Zoom in", f"to see the {what}s one by one"))
        title = f"{count:,} {what}s"
    elif lane.what == "events":
        title = timeline.names[int(of["name"])]
        rows.append(("Duration", wording.duration(end - begin)))
    elif what == "packet":
        title = f"Packet {int(of['item']) + 1} on the wire"
        known = f"± {wording.duration(lane.error_ns)}" if lane.error_ns >= 0 else "unknown"
        rows.append(("Clock error", known))
    else:
        title = timeline.names[int(of["name"])] or "an unnamed function"
        rows += [("Duration", wording.duration(end - begin)), ("Layer", layer)]
    for bit, text in ((DROP, "a packet was dropped"), (OPEN, "no exit recorded")):
        if of["look"] & bit:
            rows.append(("Note", text))
    return _table(title, tuple(rows))


def gap_tip(gap: Gap) -> str:
    """Return the tooltip of a gap: what was lost, when, and why."""
    rows = (
        ("CPU", str(gap.cpu)),
        ("From", f"{wording.seconds(gap.begin)} s"),
        ("Duration", wording.duration(gap.end - gap.begin)),
        ("Why", LOST.get(gap.why, "unknown")),
    )
    least = "At least " if gap.why == HOLE else ""
    return _table(f"{least}{gap.lost:,} record{'s' * (gap.lost != 1)} lost", rows)


def _table(title: str, rows: tuple[tuple[str, str], ...]) -> str:
    lines = "".join(
        f"<tr><td>{escape(what)}&nbsp;&nbsp;</td><td>{escape(value)}</td></tr>"
        for what, value in rows
    )
    return f"<b>{escape(title)}</b><table>{lines}</table>"
