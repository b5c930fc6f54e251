# SPDX-License-Identifier: MIT
"""Compute the window's tips for calls, waits, bins of calls, and gaps.

Input: what the reference made of a log, and what the timeline shows under a pointer.  Output:
cells.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

from PySide6.QtCore import QPointF

from skbviewer.gui.timeline.hover_tips import bin_tip, gap_tip
from skbviewer.gui.timeline.path_layout import lay_out
from skbviewer.gui.timeline.path_mode import PathMode
from skbviewer.records import PacketPath
from skbviewer.session import Session

from .calls import MISSED
from .compare import Cell, Made
from .passes import Pass, Row
from .path_output import PathCells, layer_of
from .rows import Cells
from .shown_times import WAITS, micros, seconds, time_cell

PIXELS = 3000
LANES = "cpu", "layer", "process"


def of_tip(where: str, tip: dict[str, str], cells: Cells, zero: int) -> Iterator[Cell]:
    """Compare the lines of a call's tip; `zero` is when the first leg began."""
    bar = tip.get("Without probes", "").partition(" ± ")
    duration = "" if cells["dur_ns"] is None else tip.get("Duration", "")
    for what, text, ns in (
        ("Duration", duration, cells["dur_ns"]),
        ("Self", tip.get("Self", ""), cells["self_ns"]),
        ("Interrupts inside", tip.get("Interrupts inside", ""), cells["irq_ns"] or None),
        ("Switched out inside", tip.get("Switched out inside", ""), cells["off_ns"] or None),
        ("Without probes", bar[0], cells["comp_ns"]),
        ("the error", bar[2], cells["comp_err_ns"] or None),
    ):
        yield time_cell(f"{what} in the tip of {where}", text, ns)
    comm, since = cells["comm"], f"+{micros(cells['entry_ns'] - zero)} µs".replace("+-", "-")
    counter, tail = cells["counter"], "  (tail call)" if cells["tail_call"] else ""
    for what, text in (
        ("Entry", f"{since} since the first leg began"),
        ("Called from", cells["caller"] + tail),
        ("Layer", cells["layer"]),
        ("Hardware counter", "" if counter is None else f"{counter:,}"),
        ("CPU", f"{cells['cpu']}, {cells['context']}"),
        ("Task", f"{comm} [{cells['pid']}]" if comm else f"[{cells['pid']}]"),
        ("skb", f"0x{cells['skb']:016x}" if cells["skb"] else ""),
        ("Socket", f"0x{cells['sock']:016x}" if cells["sock"] else ""),
        ("Mark", f"0x{cells['mark']:x}" if cells["mark"] else ""),
        ("Device", cells["device"]),
        ("Note", cells["note"]),
    ):
        yield f"{what} in the tip of {where}", tip.get(what, ""), text


def of_path(path: PacketPath, legs: list[Pass], made: Made, cells: PathCells) -> Iterator[Cell]:
    """Yield the tip of each call and wait of a packet in the timeline; `legs` are its own."""
    mode, zero = _mode(path), legs[0].begin
    bars, rows = mode.item.layout.bars, [(leg, row) for leg in legs for row in leg.rows]
    yield "bars of a packet", len(bars), len(rows)
    for bar, (leg, row) in zip(bars, rows, strict=False):
        begin, end = _span(leg, row)
        where = f"the bar of call {row.number}"
        yield where, (bar["begin"], bar["end"]), (begin - zero, end - zero)
        text = mode.tip_at(QPointF((bar["begin"] + bar["end"]) / 2, bar["y"] + 0.5))
        of = cells.of_call(row)
        yield f"title of {where}", _title(text), of["function"]
        yield from of_tip(where, _lines(text), of, zero)
    should = [wait for leg in legs for wait in made.legs[leg.number].waits]
    yield "waits drawn of a packet", len(mode.item.layout.waits), len(should)
    for drawn, (name, begin, end) in zip(mode.item.layout.waits, should, strict=False):
        where = f"the wait at {begin - zero} ns"
        yield where, (drawn.begin, drawn.end), (begin - zero, end - zero)
        text = mode.tip_at(QPointF((drawn.begin + drawn.end) / 2, drawn.y + 0.5))
        found = re.fullmatch(r"(?:Waited )?([\d.]+ \w+) (.*)", text) or ("", "", text)
        yield f"name of {where}", WAITS.get(found[2], found[2]), name
        yield time_cell(f"time of {where}", found[1], end - begin)


def _mode(path: PacketPath) -> PathMode:
    """Return the picture of a path, with a pixel for each ns."""
    box = SimpleNamespace(mapSceneToView=lambda at: at, viewPixelSize=lambda: (0.0, 0.0))
    mode = PathMode(cast(Any, SimpleNamespace(box=box, path=path)))
    mode.item.layout = lay_out(path)
    return mode


def _span(leg: Pass, row: Row) -> tuple[int, int]:
    """Return begin and end of a bar; the call of a socket only is limited to the leg."""
    ends = [one.call.end for one in leg.rows if one.skb and one.call.end is not None]
    last, call = max([leg.end, *ends]), row.call
    begin = call.entry if row.skb else max(call.entry, leg.begin)
    leaves = max(leg.end, call.entry) if call.end is None else call.end
    return begin, leaves if row.skb else max(min(leaves, last), begin)


def of_lanes(session: Session, made: Made) -> Iterator[Cell]:
    """Yield the tip of each bin of all calls, in lanes of each kind."""
    for kind in LANES:
        timeline, counted, zeros = session.timeline.lanes(kind), Counter[str](), set[int]()
        for one in timeline.bins(0, timeline.span_ns + 1, PIXELS):
            lane = timeline.lane_of(int(one["row"]))
            if lane.what != "calls":
                continue
            text, count = bin_tip(one, timeline, lane), int(one["count"])
            tip, begin, end = _lines(text), int(one["begin"]), int(one["end"])
            counted[kind] += count
            where = f"a bin at {begin} ns of lane {lane.title}"
            title = f"{count:,} calls"
            if count == 1:
                row = made.passes.rows[int(one["item"])]
                title = made.calls.log.functions[row.call.func]
                leaves = row.call.entry if row.call.end is None else row.call.end
                zeros.add(row.call.entry - begin)
                end = begin + leaves - row.call.entry
                yield f"layer of {where}", tip["Layer"], layer_of(title)
            yield f"title of {where}", _title(text), title
            yield f"begin of {where}", tip["From"], f"{seconds(begin)} s"
            yield time_cell(f"time of {where}", tip["Duration"], end - begin)
        yield f"zero points by {kind}", len(zeros), min(len(zeros), 1)
        yield f"calls by {kind}", counted[kind], _boxes(made)


def _boxes(made: Made) -> int:
    """A call is one box, and one for each further packet of its list."""
    rows = made.passes.rows
    calls = {id(row.record.of) for row in rows if row.record.carried < 0}
    return len(calls) + sum(row.record.carried >= 0 for row in rows)


def of_gaps(session: Session, made: Made) -> Iterator[Cell]:
    """Yield the tip of each time in which a CPU lost records."""
    found = [one for one in session.timeline.overview().gaps if one.why in (1, 2, 3)]
    losses = [one for one in made.calls.log.losses if one.reason != MISSED]
    yield "gaps", len(found), len(losses)
    found.sort(key=lambda one: (one.cpu, one.end))
    losses.sort(key=lambda one: (one.cpu, one.end))
    for gap, loss in zip(found, losses, strict=False):
        text, where = gap_tip(gap), f"the gap at {loss.begin} of CPU {loss.cpu}"
        count = f"{loss.count:,} record{'' if loss.count == 1 else 's'} lost"
        yield f"title of {where}", _title(text), count
        yield f"CPU of {where}", _lines(text)["CPU"], str(loss.cpu)
        yield time_cell(f"time of {where}", _lines(text)["Duration"], loss.end - loss.begin)


def _title(text: str) -> str:
    found = re.match(r"<b>(.*?)</b>", text)
    return html.unescape(found[1]) if found else ""


def _lines(text: str) -> dict[str, str]:
    cells = re.findall(r"<tr><td>(.*?)&nbsp;&nbsp;</td><td>(.*?)</td></tr>", text)
    return {html.unescape(what): html.unescape(value) for what, value in cells}
