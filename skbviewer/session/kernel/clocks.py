# SPDX-License-Identifier: MIT
"""The clocks of an open session: clock fits, session time, and transit times between hosts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...analysis.timeline.packet_session_times import Clock
from ...matching import EVERY, EXACT, OneWay, Piece, Segment, Timebase
from ...records import PacketRow
from ...store import Database, clock_queries, queries


class UnderWay(NamedTuple):
    """The time that a packet was in transit between two hosts, as bounds in ns.

    `low_ns` and `high_ns` are these bounds.  `middle_ns` is the transit time if both directions
    take equally long.
    """

    sender: int  # source id of a KBL, as is `receiver`
    receiver: int
    low_ns: int
    high_ns: int

    @property
    def middle_ns(self) -> int:
        """Return the middle of the two bounds, ns."""
        return (self.low_ns + self.high_ns) // 2


def timebase_of(db: Database) -> Timebase:
    """Return the object that converts the clocks of all sources to session time."""
    return Timebase(Piece._make(row[1:]) for row in clock_queries.timebases(db))


def wire_time(db: Database, packet: PacketRow, kbl: int) -> tuple[int, int] | None:
    """Return when `packet` was captured, on the clock of a KBL, and the possible error; both in ns.

    `kbl` is the id of the KBL.  Returns None if the packet has no time, or if no clock was fitted
    between the capture and the KBL.
    """
    rows = [r for r in clock_queries.clocks(db) if (r.source, r.kbl) == (packet.source, kbl)]
    interface = clock_queries.interface_of(db, packet.number) if rows else EVERY
    rows = [r for r in rows if r.interface in (EVERY, interface)]
    if not rows or packet.ts_ns is None:
        return None
    row = max((r for r in rows if r.first <= packet.number), key=lambda r: r.first, default=rows[0])
    clock = (row.begin_ns, row.first, row.origin_ns, row.offset_ns, row.drift_ppm)
    segment = Segment(*clock, row.residual_ns, row.pairs, row.residual_ns)
    return int(segment.to_kernel(np.array([packet.ts_ns]))[0]), row.residual_ns


def session_time(db: Database, clock: Clock, source: int, number: int, ts: int) -> tuple[int, int]:
    """Return the session time (ns) of packet `number` of `source`, and its possible error (ns).

    `ts` is the time of capture.  The error is -1 if it is unknown.
    """
    interface = clock_queries.interface_of(db, number)
    columns = (np.array([value], np.int64) for value in (ts, number, interface))
    return int(clock.of_packets(source, *columns)[0]), clock.error(source, interface)


def one_way_bounds(db: Database) -> dict[tuple[int, int], OneWay]:
    """Return for each pair of KBLs (two ids) the bounds of the difference of their clocks."""
    bounds = clock_queries.oneway_bounds(db)
    found = {}
    for row in clock_queries.oneways(db):
        mine = [b[3:] for b in bounds if (b.kbl, b.other) == (row.kbl, row.other)]
        columns = [np.array(column, np.int64) for column in zip(*mine, strict=True)]
        found[row.kbl, row.other] = OneWay._make([*columns, *row[3:]])
    return found


def under_way(db: Database, packet: int) -> list[UnderWay]:
    """Return the transit times of a packet: for each pair of hosts that sent and received it.

    A pair is included only if the packet has exact matches on both hosts.
    """
    legs = [leg for leg in queries.legs_of_packet(db, packet) if leg.verdict == EXACT]
    found = []
    for (one, other), way in one_way_bounds(db).items():
        for sender, receiver, onward in ((one, other, True), (other, one, False)):
            sent = [leg.wire_ns for leg in legs if leg.source == sender and leg.kind == 0]
            got = [leg.wire_ns for leg in legs if leg.source == receiver and leg.kind == 1]
            if sent and got:
                times = (max(sent), min(got)) if onward else (min(got), max(sent))
                a_ns, b_ns = (np.array([time]) for time in times)
                low, high = way.transit_times(a_ns, b_ns, np.array([onward]))
                found.append(UnderWay(sender, receiver, int(low[0]), int(high[0])))
    return found


def one_way_json(db: Database) -> list[dict[str, Any]]:
    """Return the bounds of the clocks of KBLs for the JSON of `skbviewer info`.

    Between the times in "bounds", the bounds are straight lines.  "uncertainty_ns" is the largest
    distance between the two bounds at these times.
    """
    names = ("at_ns", "low_ns", "high_ns")
    return [
        {
            "kbl": kbl,
            "other": other,
            "bounds": [
                dict(zip(names, map(int, row), strict=True)) for row in zip(*way[:3], strict=True)
            ],
            "drift_ppm": [way.least_ppm, way.most_ppm],
            "packets": [way.onward, way.back],
            "uncertainty_ns": int((way.high_ns - way.low_ns).max()),
        }
        for (kbl, other), way in one_way_bounds(db).items()
    ]


def clock_json(db: Database) -> list[dict[str, Any]]:
    """Return the clock fits for the JSON of `skbviewer info`: an object for each capture and KBL.

    If the interfaces of a capture have their own clocks, each segment has a key "interface".
    """
    found: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for row in clock_queries.clocks(db):
        names = ("begin_ns", "first", "offset_ns", "drift_ppm", "residual_ns", "pairs")
        segment = {name: getattr(row, name) for name in names}
        if row.interface != EVERY:
            segment["interface"] = row.interface
        found.setdefault((row.source, row.kbl), []).append(segment)
    return [
        {"source": source, "kbl": kbl, "segments": segments}
        for (source, kbl), segments in found.items()
    ]
