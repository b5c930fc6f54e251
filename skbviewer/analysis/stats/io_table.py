# SPDX-License-Identifier: MIT
"""Packets, bits, time in kernel and drops over time: `skbviewer stats io`.

Intervals begin at the time of packet 1, as those of tshark's -z io,stat.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records import UNTIMED
from ...records.kbl_layout import KblEvent
from ...records.types import Int64s
from ..timeline.session_time import packet_times
from .duration_spread import by_group
from .scope import Scope

INTERVALS = 100  # about so many, unless the user gives their length
MOST = 100_000
STEPS = (1, 2, 5, 10)
PERCENTS = (50, 90, 99, 100)

Ranks = tuple[int | None, int | None, int | None, int | None]


class IoRow(NamedTuple):
    """One interval.  Times in kernel are of the packets captured in it; None if none is known."""

    after_ns: int  # begin of the interval, since packet 1
    packets: int
    bits: int  # on the wire
    p50_ns: int | None
    p90_ns: int | None
    p99_ns: int | None
    max_ns: int | None
    drops: int


def io_rows(scope: Scope) -> list[IoRow]:
    """Return one row for each interval, also for empty ones between others.

    Raises Cancelled, and KeyError with a message if the user's intervals are too short.
    """
    scope.progress.report("Counting", 0, 0)
    when, rows = _packet_times(scope)
    dropped = _drop_times(scope)
    both = np.concatenate([when, dropped])
    if not len(both):
        return []
    origin, first, last = _origin(scope, both), int(both.min()), int(both.max())
    length = scope.interval_ns or interval_for(last - first)
    low = (first - origin) // length
    count = (last - origin) // length - low + 1
    if count > MOST:
        raise KeyError(f"{count} intervals: choose a longer one, at most {MOST} are counted")
    place = (when - origin) // length - low
    bits = np.zeros(count, np.int64)
    np.add.at(bits, place, 8 * np.asarray(scope.columns.array("packet", "len"), np.int64)[rows])
    packets = np.bincount(place, minlength=count)
    drops = np.bincount((dropped - origin) // length - low, minlength=count)
    ranks = _ranks(
        place, np.asarray(scope.columns.array("packet", "kernel_ns"), np.int64)[rows], count
    )
    return [
        IoRow((low + at) * length, int(packets[at]), int(bits[at]), *ranks[at], int(drops[at]))
        for at in range(count)
    ]


def interval_for(span: int) -> int:
    """Return 1, 2 or 5 times a power of ten, ns, which divides a span into about INTERVALS."""
    power = 1
    while True:
        for step in STEPS:
            if step * power * INTERVALS >= span:
                return step * power
        power *= 10


def _packet_times(scope: Scope) -> tuple[Int64s, Int64s]:
    """Return the session times of the chosen packets that have one, and their 0-based rows."""
    rows = scope.packets - 1
    ts = np.asarray(scope.columns.array("packet", "ts"), np.int64)[rows]
    rows, ts = rows[ts != UNTIMED], ts[ts != UNTIMED]
    source = np.asarray(scope.columns.array("packet", "source"), np.int64)[rows]
    when = np.empty(len(rows), np.int64)
    for one in np.flatnonzero(np.bincount(source)).tolist() if len(rows) else []:
        mine = np.flatnonzero(source == one)
        when[mine] = packet_times(scope.columns, scope.clock, one, rows[mine], ts[mine])
    return when, rows


def _drop_times(scope: Scope) -> Int64s:
    """Return the session times of the chosen packets' drops, as `stats drops` counts them."""
    event = np.asarray(scope.columns.array("event", "event"))
    leg = np.asarray(scope.columns.array("event", "leg"), np.int64) - 1
    mine = np.flatnonzero((event == int(KblEvent.DROP)) & (leg >= 0))
    ts = np.asarray(scope.columns.array("event", "ts"), np.int64)[mine]
    kept = scope.happened(leg[mine], ts)
    source = np.asarray(scope.columns.array("event", "source"), np.int64)[mine[kept]]
    ts, when = ts[kept], np.empty(int(kept.sum()), np.int64)
    for one in np.unique(source).tolist():
        when[source == one] = scope.clock.to_session(one, ts[source == one])
    return when


def _origin(scope: Scope, times: Int64s) -> int:
    """Return the session time of packet 1, else of the first packet or drop that is counted."""
    columns = scope.columns
    if not columns.length("packet"):
        return int(times.min())
    ts, source = (
        np.asarray(columns.array("packet", name), np.int64)[:1] for name in ("ts", "source")
    )
    if ts[0] == UNTIMED:
        return int(times.min())
    return int(packet_times(columns, scope.clock, int(source[0]), np.array([0]), ts)[0])


def _ranks(place: Int64s, ns: Int64s, count: int) -> list[Ranks]:
    """Return the 50th, 90th and 99th percentiles (nearest rank) and the maximum by interval."""
    known = ns >= 0
    return [_ranks_of(mine) for mine in by_group(place[known], ns[known], count)]


def _ranks_of(ns: Int64s) -> Ranks:
    """Return PERCENTS of sorted values."""
    if not len(ns):
        return None, None, None, None
    p50, p90, p99, most = (int(ns[-(-len(ns) * percent // 100) - 1]) for percent in PERCENTS)
    return p50, p90, p99, most
