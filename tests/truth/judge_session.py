# SPDX-License-Identifier: MIT
"""Read a session file by SQL: exact matches, and which lifetime had an address when."""

from __future__ import annotations

import bisect
import sqlite3
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

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


class Log:
    """The lifetimes of one kernel log: which one had an address when."""

    def __init__(self, source: int, points: Numbers, bounds: Numbers, ends: Numbers) -> None:
        """Sort the rows: `points` are (address, ns, series), the others (address, ns)."""
        self.source = source
        self._points = _sorted(points)
        self._seen = _by_address(self._points)
        self._bounds = _by_address(_sorted(bounds))
        self._ends = _sorted(ends)
        self.known: dict[int, tuple[set[int], str]] = {}  # the judge's answers, by hit

    def seen(self, address: int, low: int, high: int) -> tuple[list[int], list[int]]:
        """Return when the log saw the address from `low` until before `high`, and whose it was."""
        ns, series = self._seen.get(address, ([], []))
        begin, end = bisect.bisect_left(ns, low), bisect.bisect_left(ns, high)
        return ns[begin:end], series[begin:end]

    def between(self, address: int, ns: int) -> tuple[int, int]:
        """Return the last begin or end at an address up to `ns`, and the first one after it."""
        return between(self._bounds.get(address, ([],))[0], ns)

    def gone(self, series: int, ns: int, error_ns: int) -> bool:
        """Return whether a lifetime had ended at each of its addresses before a moment.

        The log's own records must show this, and the next lifetime at the address must be later.
        """
        own = self._points[:, self._points[2] == series]
        if np.any(np.abs(own[1] - ns) <= error_ns) or not own.size:
            return False
        for address in set(own[0].tolist()):
            before = own[1][(own[0] == address) & (own[1] < ns)]
            ends = self._ends[1][(self._ends[0] == address) & (self._ends[1] < ns)]
            if not before.size or not np.any(ends >= before.max()):
                return False
        return True


def _sorted(rows: Numbers) -> Numbers:
    return rows[:, np.lexsort((rows[1], rows[0]))]


def _by_address(rows: Numbers) -> dict[int, tuple[list[int], ...]]:
    """Return the other columns by the first one, by which the rows are sorted."""
    address, begin = np.unique(rows[0], return_index=True)
    ends = np.append(begin, rows.shape[1])[1:].tolist()
    columns = rows[1:].tolist()
    return {
        of: tuple(column[low:high] for column in columns)
        for of, low, high in zip(address.tolist(), begin.tolist(), ends, strict=True)
    }


class Moment(NamedTuple):
    """Where and when a packet was captured, by one log of the session."""

    source: int  # the log
    netns: int
    ifindex: int  # not known below 1
    sends: bool
    after_ns: int
    before_ns: int


class Match(NamedTuple):
    """A packet, its verdict, and what it is matched with."""

    packet: int  # from 0, in its capture
    verdict: str
    series: tuple[int, ...]
    legs: tuple[tuple[int, int, int, int, int], ...]  # series, begin, end, netns, ifindex
    moments: tuple[Moment, ...] = ()


def connect(path: Path) -> sqlite3.Connection:
    """Return the session, opened to be read."""
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def sources(db: sqlite3.Connection) -> list[Source]:
    """Return the session's inputs."""
    rows = db.execute("SELECT id, path, kind, first, rows FROM source ORDER BY id")
    return [Source(n, Path(path), kind, first, count) for n, path, kind, first, count in rows]


COLUMNS = """SELECT count, dtype, low, data FROM chunk
WHERE table_name = ? AND column_name = ? ORDER BY first"""


def _column(db: sqlite3.Connection, table: str, name: str) -> Numbers:
    """Return a column of integers from the parts in which sessions store it.

    A part holds the values' distances from its lowest value, or the values themselves in 8 bytes.
    """
    parts = [np.zeros(0, np.int64)]
    for count, dtype, low, data in db.execute(COLUMNS, (table, name)):
        if not dtype:
            parts.append(np.full(count, low, np.int64))
        else:
            values = np.frombuffer(data, dtype).astype(np.int64)
            parts.append(values if dtype == "<i8" else values + low)
    return np.concatenate(parts)


def read_log(db: sqlite3.Connection, source: int) -> Log:
    """Follow the addresses of a log's lifetimes, as signed numbers.

    A call shows its skb when it begins, one that returns an skb when it ends.  XMIT is not used,
    because its skb may be another packet's when it is recorded.
    """
    series = np.concatenate([[0], _column(db, "leg", "series")])
    series[np.flatnonzero(np.concatenate([[0], _column(db, "leg", "source")]) != source)] = 0
    calls = [_column(db, "call", name) for name in ("skb", "entry_ns", "dur_ns", "flags", "leg")]
    skb, entry, took, flags, leg = calls
    returned = (flags & RETURNED != 0) & (took >= 0)
    call = np.array([skb, np.where(returned, entry + took, entry), series[leg]])
    events = [
        _column(db, "event", name) for name in ("skb", "ts", "event", "data", "leg", "source")
    ]
    skb, ns, kind, data, leg, of = events
    event = np.array([skb, ns, series[np.maximum(leg, 0)]])[:, kind != XMIT]
    rows = db.execute(
        "SELECT skb, ts, series FROM record WHERE source = ? AND series > 0", (source,)
    )
    record = np.array(rows.fetchall(), np.int64).reshape(-1, 3).T
    points = np.concatenate([call, event, record], axis=1)
    born = np.isin(kind, (CLONE, COPY, SEGMENT))
    bound = (born | np.isin(kind, (ALLOC, FREE, CONSUME, DROP))) & (of == source)
    bounds = np.array([np.where(born, data, skb), ns])
    end = np.isin(kind, (FREE, CONSUME, DROP)) & (of == source)
    shown = (points[0] != 0) & (points[2] > 0)
    return Log(source, points[:, shown], bounds[:, bound], bounds[:, end])


MATCHES = """
SELECT match.packet, leg.series, leg.begin_ns, leg.end_ns, leg.netns, leg.ifindex
FROM match JOIN leg ON leg.id = match.leg
WHERE match.packet >= :first AND match.packet < :last AND match.verdict <= :worst
"""


MOMENTS = """
SELECT moment.packet, leg.source, moment.netns, moment.ifindex, moment.sends, after_ns, before_ns
FROM moment JOIN leg ON leg.id = moment.leg
WHERE moment.packet >= :first AND moment.packet < :last
"""


def _moments(db: sqlite3.Connection, first: int, last: int) -> dict[int, list[Moment]]:
    """Return moments by packet number; none in sessions of programs that did not store them."""
    found: dict[int, list[Moment]] = {}
    known = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'moment'"
    if db.execute(known).fetchone() == (0,):
        return found
    rows = db.execute(MOMENTS, {"first": first, "last": last})
    for packet, source, netns, ifindex, sends, after, before in rows:
        moment = Moment(source, netns, ifindex, bool(sends), after, before)
        found.setdefault(packet, []).append(moment)
    return found


def read_matches(db: sqlite3.Connection, capture: Source, exact: bool = True) -> list[Match]:
    """Return every packet of a capture, with the lifetimes it is exact with, or its candidates."""
    first, last = capture.first, capture.first + capture.packets
    legs: dict[int, list[tuple[int, int, int, int, int]]] = {}
    wanted = {"first": first, "last": last, "worst": 0 if exact else len(VERDICTS)}
    for packet, *leg in db.execute(MATCHES, wanted):
        legs.setdefault(packet, []).append(tuple(leg))
    rows = db.execute(
        "SELECT id, verdict FROM packet WHERE id >= ? AND id < ? ORDER BY id", (first, last)
    )
    found, moments = [], _moments(db, first, last)
    for packet, verdict in rows:
        of = tuple(legs.get(packet, ()))
        series = tuple(sorted({leg[0] for leg in of}))
        seen = tuple(moments.get(packet, ()))
        found.append(Match(packet - first, VERDICTS[verdict], series, of, seen))
    return found


def between(moments: list[int], ns: int) -> tuple[int, int]:
    """Return the last of ascending moments at or before `ns`, and the first one after it."""
    at = bisect.bisect_right(moments, ns)
    low = moments[at - 1] if at else -(1 << 62)
    return low, moments[at] if at < len(moments) else 1 << 62


def clock_error(db: sqlite3.Connection, capture: int) -> int | None:
    """Return how far off the clock that was fitted to a capture may be, ns; None if none was."""
    (error,) = db.execute(
        "SELECT max(residual_ns) FROM clock WHERE source = ? AND pairs > 0", (capture,)
    ).fetchone()
    return None if error is None else int(error)


def declared(db: sqlite3.Connection, log: int) -> list[tuple[int, int]]:
    """Return the stretches in which a log says that records are missing, ns.

    A stretch is all time if its probes missed hits at unknown times, or if it is filtered.  A row's
    `ts` is the end of its stretch.
    """
    always = [(-(1 << 62), 1 << 62)]
    if db.execute("SELECT 1 FROM meta WHERE source = ? AND key = 'filter'", (log,)).fetchone():
        return always
    rows = db.execute("SELECT ts, max(dur, 0) FROM loss WHERE source = ?", (log,))
    found = [(ts - dur, ts) for ts, dur in rows]
    (missed,) = db.execute(
        "SELECT coalesce(sum(missed), 0) FROM probe WHERE source = ?", (log,)
    ).fetchone()
    return found if found or not missed else always
