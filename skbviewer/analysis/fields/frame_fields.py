# SPDX-License-Identifier: MIT
"""Fields of the frame itself: its number, lengths and times."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...records import UNTIMED
from ...records.annotation import IGNORE, MARK, TIME_REF
from ...records.types import Bools, Int64s
from .field_definition import Field, Kind, Make, Values, known_column
from .field_source_tables import PACKET, SERIES, View


def _times(view: View) -> Int64s:
    """Return the time of each row in ns since the epoch; rows K<n> need the clock fit."""
    if view.table == PACKET:
        return view.column("ts").astype(np.int64, copy=False)
    times, source = view.column("begin_ns").astype(np.int64), view.column("source")
    for log in view.data.logs():
        mine = source == log
        if mine.any():
            times[mine] = view.data.fitted(log, times[mine])
    return times


def _timed(view: View) -> Bools | None:
    """Return for each row whether it has a time; None if every row has one."""
    return view.column("ts") != UNTIMED if view.table == PACKET else None


def _time(view: View) -> list[Values]:
    return [Values(view.cached("times", _times), _timed(view))]


def _relative(view: View) -> list[Values]:
    """Return the time (ns) since packet 1; without packets, the time since the first row K<n>.

    If packet 1 has no time, times count from the epoch.
    """

    def first() -> int:
        columns = view.data.columns
        if columns.length(PACKET):
            ts = int(columns.part(PACKET, "ts", 0, 1)[0])
            return 0 if ts == UNTIMED else ts
        rows = view.data.kernel_only()
        return int(_times(rows).min(initial=0)) if rows.size else 0

    since = view.cached("times", _times) - view.data.cached("first time", first)
    return [Values(since, _timed(view))]


def _delta(view: View) -> list[Values]:
    """Return the time (ns) since the previous packet of the same file; 0 for its first packet."""
    if view.table == SERIES:
        return [Values(np.zeros(view.size, np.int64), np.zeros(view.size, np.bool_))]
    rows = np.arange(view.size) if view.rows is None else view.rows
    before = np.maximum(rows - 1, 0)
    ts = view.column("ts").astype(np.int64, copy=False)
    if view.rows is None:
        earlier, source = np.r_[ts[:1], ts[:-1]], view.column("source")
        other = np.r_[source[:1], source[:-1]] != source
    else:
        columns = view.data.columns
        earlier = columns.take(PACKET, "ts", before).astype(np.int64)
        other = columns.take(PACKET, "source", before) != view.column("source")
    return [Values(np.where(other, 0, ts - earlier), (ts != UNTIMED) & (earlier != UNTIMED))]


def _number(view: View) -> list[Values]:
    number = np.arange(1, view.size + 1) if view.rows is None else view.number()
    return [Values(number, None if view.table == PACKET else np.zeros(view.size, np.bool_))]


def _wire(name: str) -> Make:
    return lambda view: [known_column(view, name)]


def _length(view: View) -> list[Values]:
    return [known_column(view, "len" if view.table == PACKET else "skb_len")]


def _file(view: View) -> list[Values]:
    texts = [Path(source.path).name for source in view.data.sources]
    return [Values(view.column("source").astype(np.int64) - 1, None, None, texts)]


def _flagged(kind: str) -> Make:
    def make(view: View) -> list[Values]:
        return [Values(np.isin(view.ids(), view.data.flags(kind)))]

    return make


def _comment(view: View) -> list[Values]:
    comments = view.data.comments()
    rows, texts = np.array(sorted(comments), np.int64), [comments[row] for row in sorted(comments)]
    low = np.full(view.size, -1, np.int64)
    if len(rows):
        ids = view.ids()
        at = np.minimum(np.searchsorted(rows, ids), len(rows) - 1)
        low = np.where(rows[at] == ids, at, -1)
    return [Values(low, low >= 0, None, texts)]


def _there(view: View) -> list[Values]:
    there = np.full(view.size, view.table == PACKET)
    return [Values(there, there)]


FRAME_FIELDS: tuple[Field, ...] = (
    Field(
        "frame",
        Kind.PROTOCOL,
        "The row is a captured packet (not a row K<n>)",
        _there,
        layer="frame",
    ),
    Field("frame.number", Kind.UNSIGNED, "The packet's number", _number),
    Field(
        "frame.len",
        Kind.UNSIGNED,
        "Length of the packet on the wire; for a row K<n>, length of the sk_buff",
        _length,
    ),
    Field("frame.cap_len", Kind.UNSIGNED, "Length captured", _wire("caplen")),
    Field("frame.time", Kind.TIME, 'Time of capture, UTC: "2026-11-21 10:00:00.5"', _time),
    Field("frame.time_epoch", Kind.DURATION, "Time since 1970", _time),
    Field("frame.time_relative", Kind.DURATION, "Time since packet 1", _relative),
    Field("frame.time_delta", Kind.DURATION, "Time since the previous packet", _delta),
    Field("frame.interface_id", Kind.UNSIGNED, "Interface, from 0", _wire("interface"), bits=32),
    Field("frame.marked", Kind.BOOLEAN, "The row is marked", _flagged(MARK), bits=1),
    Field("frame.ignored", Kind.BOOLEAN, "The row is ignored", _flagged(IGNORE), bits=1),
    Field(
        "frame.ref_time", Kind.BOOLEAN, "The row is a time reference", _flagged(TIME_REF), bits=1
    ),
    Field("frame.comment", Kind.STRING, "Comment on the packet", _comment),
    Field("frame.file", Kind.STRING, "Name of the file with the packet", _file),
)
