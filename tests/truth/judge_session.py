# SPDX-License-Identifier: MIT
"""What a session file says, read by SQL: its exact matches, and which lifetime had which address
when."""

from __future__ import annotations

import bisect
import sqlite3
from pathlib import Path
from typing import NamedTuple

ADDRESS = (1 << 64) - 1
ALLOC, CLONE, COPY, SEGMENT, FREE, CONSUME, DROP, XMIT = 1, 2, 3, 4, 5, 6, 7, 20
RETURNED = 0x10  # of a call's flags: its skb is what it returned
VERDICTS = ("exact", "ambiguous", "wire-only")


class Source(NamedTuple):
    """An input file of the session."""

    id: int
    path: Path
    kind: str
    first: int  # number of its first packet
    packets: int


class Log(NamedTuple):
    """The lifetimes of one kernel log: by address the moments at which the log saw them."""

    source: int
    seen: dict[int, list[tuple[int, int]]]  # address: (ns, series), ascending
    bounds: dict[int, list[int]]  # address: moments at which a lifetime began or ended there
    ends: dict[int, list[int]]  # of these the ends
    parent: dict[int, int]


class Match(NamedTuple):
    """A packet, its verdict, and what it is matched with."""

    packet: int  # from 0, in its capture
    verdict: str
    series: tuple[int, ...]
    legs: tuple[tuple[int, int, int, int, int], ...]  # series, begin, end, netns, ifindex


def connect(path: Path) -> sqlite3.Connection:
    """The session, opened to be read."""
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def sources(db: sqlite3.Connection) -> list[Source]:
    """The session's inputs."""
    rows = db.execute("SELECT id, path, kind, first, rows FROM source ORDER BY id")
    return [Source(n, Path(path), kind, first, count) for n, path, kind, first, count in rows]


POINTS = f"""
SELECT call.skb, CASE WHEN call.flags & {RETURNED} THEN call.exit_ns ELSE call.entry_ns END,
       leg.series FROM call JOIN leg ON leg.id = call.leg WHERE leg.source = :log AND call.skb != 0
UNION ALL
SELECT event.skb, event.ts, leg.series FROM event JOIN leg ON leg.id = event.leg
       WHERE leg.source = :log AND event.skb != 0 AND event.event NOT IN ({XMIT})
UNION ALL
SELECT skb, ts, series FROM record WHERE source = :log AND series > 0 AND skb != 0
"""  # noqa: S608
BOUNDS = f"""
SELECT CASE WHEN event IN ({CLONE}, {COPY}, {SEGMENT}) THEN data ELSE skb END, ts,
       event IN ({FREE}, {CONSUME}, {DROP}) FROM event
       WHERE source = :log AND event IN ({ALLOC}, {CLONE}, {COPY}, {SEGMENT}, {FREE}, {CONSUME},
       {DROP})
"""  # noqa: S608


def gone(log: Log, series: int, ns: int, error_ns: int) -> bool:
    """Whether a lifetime had ended at each of its addresses before a moment, by the log's own
    records, and what came to the address again came after it."""
    known = False
    for address, points in log.seen.items():
        own = [at for at, of in points if of == series]
        if not own:
            continue
        known = True
        if min(abs(at - ns) for at in own) <= error_ns:
            return False
        before = max((at for at in own if at < ns), default=None)
        if before is None or not any(before <= at < ns for at in log.ends.get(address, [])):
            return False
    return known


def read_log(db: sqlite3.Connection, source: int) -> Log:
    """Follow the addresses of a log's lifetimes."""
    seen: dict[int, list[tuple[int, int]]] = {}
    for skb, ns, series in db.execute(POINTS, {"log": source}):
        seen.setdefault(skb & ADDRESS, []).append((ns, series))
    bounds: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for skb, ns, end in db.execute(BOUNDS, {"log": source}):
        bounds.setdefault(skb & ADDRESS, []).append(ns)
        if end:
            ends.setdefault(skb & ADDRESS, []).append(ns)
    for points in seen.values():
        points.sort()
    for moments in (*bounds.values(), *ends.values()):
        moments.sort()
    parent = dict(db.execute("SELECT id, parent FROM series WHERE source = ?", (source,)))
    return Log(source, seen, bounds, ends, parent)


MATCHES = """
SELECT match.packet, leg.series, leg.begin_ns, leg.end_ns, leg.netns, leg.ifindex, match.verdict
FROM match JOIN leg ON leg.id = match.leg
WHERE match.packet >= :first AND match.packet < :last
"""


def read_matches(db: sqlite3.Connection, capture: Source, exact: bool = True) -> list[Match]:
    """Every packet of a capture, with the lifetimes it is exact with, or its candidates."""
    first, last = capture.first, capture.first + capture.packets
    legs: dict[int, list[tuple[int, int, int, int, int]]] = {}
    for packet, *leg, verdict in db.execute(MATCHES, {"first": first, "last": last}):
        if verdict == 0 or not exact:
            legs.setdefault(packet, []).append(tuple(leg))  # type: ignore[arg-type]
    rows = db.execute(
        "SELECT id, verdict FROM packet WHERE id >= ? AND id < ? ORDER BY id", (first, last)
    )
    found = []
    for packet, verdict in rows:
        of = tuple(legs.get(packet, ()))
        series = tuple(sorted({leg[0] for leg in of}))
        found.append(Match(packet - first, VERDICTS[verdict], series, of))
    return found


def between(moments: list[int], ns: int) -> tuple[int, int]:
    """The last of ascending moments at or before `ns`, and the first one after it."""
    at = bisect.bisect_right(moments, ns)
    low = moments[at - 1] if at else -(1 << 62)
    return low, moments[at] if at < len(moments) else 1 << 62


def clock_error(db: sqlite3.Connection, capture: int) -> int | None:
    """How far off the clock that was fitted to a capture may be, ns; None if none was."""
    (error,) = db.execute(
        "SELECT max(residual_ns) FROM clock WHERE source = ? AND pairs > 0", (capture,)
    ).fetchone()
    return None if error is None else int(error)


def declared(db: sqlite3.Connection, log: int) -> list[tuple[int, int]]:
    """The stretches in which a log says that records are missing, ns; all time if its probes missed
    hits and it does not say when."""
    rows = db.execute("SELECT ts, max(dur, 0) FROM loss WHERE source = ?", (log,))
    found = [(ts, ts + dur) for ts, dur in rows]
    (missed,) = db.execute(
        "SELECT coalesce(sum(missed), 0) FROM probe WHERE source = ?", (log,)
    ).fetchone()
    return found if found or not missed else [(-(1 << 62), 1 << 62)]
