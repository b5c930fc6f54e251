# SPDX-License-Identifier: MIT
"""The clocks of an open session: fits, session time, what is known of times under way."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..matching import ClockFit, OneWay, Piece, Segment, Timebase
from ..store import queries


class UnderWay(NamedTuple):
    """How long a packet was under way between two hosts, ns; `middle_ns` if ways are symmetric."""

    sender: int  # sources
    receiver: int
    low_ns: int
    high_ns: int

    @property
    def middle_ns(self) -> int:
        return (self.low_ns + self.high_ns) // 2


def timebase_of(db: Any) -> Timebase:
    """Session time of all sources."""
    return Timebase(Piece._make(row[1:]) for row in queries.timebases(db))


def wire_time(db: Any, packet: Any, kbl: int) -> tuple[int, int] | None:
    """When a packet was captured on a KBL's clock, and how far off that may be, ns."""
    rows = [r for r in queries.clocks(db) if (r.source, r.kbl) == (packet.source, kbl)]
    if not rows or packet.ts_ns is None:
        return None
    row = max((r for r in rows if r.first <= packet.number), key=lambda r: r.first, default=rows[0])
    segment = Segment._make([*row[3:10], row.residual_ns, ()])
    return int(segment.to_kernel(np.array([packet.ts_ns]))[0]), row.residual_ns


def fits(db: Any) -> dict[tuple[int, int], ClockFit]:
    """Per (capture, KBL) the clock fit."""
    found: dict[tuple[int, int], list[Segment]] = {}
    for row in queries.clocks(db):
        segment = Segment._make([*row[3:10], row.residual_ns, ()])
        found.setdefault((row.source, row.kbl), []).append(segment)
    return {key: ClockFit(tuple(segments)) for key, segments in found.items()}


def under_way(db: Any, packet: int) -> list[UnderWay]:
    """For each pair of hosts that sent and got a packet: how long it was under way."""
    legs = queries.legs_of_packet(db, packet)
    found = []
    for row in queries.oneways(db):
        way = OneWay._make(row[3:])
        for sender, receiver, onward in ((row.kbl, row.other, True), (row.other, row.kbl, False)):
            sent = [leg.wire_ns for leg in legs if leg.source == sender and leg.kind == 0]
            got = [leg.wire_ns for leg in legs if leg.source == receiver and leg.kind == 1]
            if sent and got:
                times = (max(sent), min(got)) if onward else (min(got), max(sent))
                a_ns, b_ns = (np.array([time]) for time in times)
                low, high = way.took(a_ns, b_ns, np.array([onward]))
                found.append(UnderWay(sender, receiver, int(low[0]), int(high[0])))
    return found


def one_way_json(db: Any) -> list[dict[str, Any]]:
    """The bounds of table oneway for the JSON of `skbviewer info`."""
    return [
        {
            "kbl": row.kbl,
            "other": row.other,
            "offset_ns": [row.low_ns, row.high_ns],
            "drift_ppm": row.drift_ppm,
            "packets": [row.onward, row.back],
            "uncertainty_ns": row.high_ns - row.low_ns,
        }
        for row in queries.oneways(db)
    ]


def clock_json(db: Any) -> list[dict[str, Any]]:
    """The fits for the JSON of `skbviewer info`: one object a capture and KBL."""
    found: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for row in queries.clocks(db):
        names = ("begin_ns", "first", "offset_ns", "drift_ppm", "residual_ns", "pairs")
        segment = {name: getattr(row, name) for name in names}
        found.setdefault((row.source, row.kbl), []).append(segment)
    return [
        {"source": source, "kbl": kbl, "segments": segments}
        for (source, kbl), segments in found.items()
    ]
