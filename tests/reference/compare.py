# SPDX-License-Identifier: MIT
"""Compare a session with the reference, cell by cell.

Input: a session file of one log, and the log.  Output: a line for each difference.  What is taken
from the session is which legs are a packet's (matching), and, of a log with losses, of which legs
records may be lost.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .calls import MISSED, Calls, Nested
from .layout import EVENT
from .lifetimes import Lifetimes
from .packet_times import packet
from .passes import Pass, Passes
from .rows import CallCells, event_cells, leg_cells, merge_cells, series_cells
from .slots import Event, read
from .spent import NO_TIME, RANK, Leg, Spent

EXACT = 0
READERS = (
    "__skb_datagram_iter", "__skb_recv_datagram", "__skb_recv_udp", "__skb_try_recv_datagram",
    "__skb_try_recv_from_queue", "__sock_recv_cmsgs", "__sock_recv_timestamp", "inet_recv_error",
    "ping_recvmsg", "raw_recvmsg", "skb_attempt_defer_free", "skb_consume_udp",
    "skb_copy_and_csum_datagram_msg", "skb_copy_datagram_iter", "skb_free_datagram",
    "skb_recv_datagram", "tcp_eat_recv_skb", "tcp_recvmsg", "tcp_recvmsg_locked", "udp_recvmsg",
    "ipv6_recv_error", "rawv6_recvmsg", "udpv6_recvmsg",
)  # fmt: skip
QUEUES = (EVENT.QDISC_ENQUEUE, EVENT.QDISC_DEQUEUE, EVENT.SOCK_ENQUEUE, EVENT.COPY_TO_USER)


class Made(NamedTuple):
    """What the reference computes from a log; legs by number."""

    calls: Calls
    passes: Passes
    legs: dict[int, Leg]


class Found(NamedTuple):
    """Differences, how many cells were compared, and ns of all packets by name."""

    lines: list[str]
    cells: int
    ns: Counter[str]


def compare(session: Path, log: Path, made: Made | None = None) -> Found:
    """Return all cells of a session that has this log, and no other."""
    db = sqlite3.connect(f"file:{session}?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    made = made or make(db, log)
    found = Found([], 0, Counter())
    cells = 0
    for what, is_, should in _cells(db, made, found.ns):
        cells += 1
        if is_ != should:
            found.lines.append(f"{what}: {is_}, should be {should}")
    db.close()
    return found._replace(cells=cells)


def make(db: sqlite3.Connection, log: Path) -> Made:
    """Return the reference's calls and legs."""
    calls = Calls(read(log))
    lives = Lifetimes(calls)
    passes = Passes(calls, lives, frozenset(READERS))
    events = dict[int, list[Event]]()
    for record, leg, _ in passes.events:
        if record.event in QUEUES and leg > 0 and isinstance(record.of, Event):
            events.setdefault(leg, []).append(record.of)
    gaps = {row["id"] for row in db.execute("SELECT id FROM leg WHERE gap != 0")}
    legs = {}
    for one in passes.legs:
        rows = [(row, row.record.of) for row in one.rows if isinstance(row.record.of, Nested)]
        legs[one.number] = Leg(
            one.series.number + 1,
            one.begin,
            one.end,
            list(dict.fromkeys(call for row, call in rows if row.skb)),
            list(dict.fromkeys(call for row, call in rows if not row.skb)),
            events.get(one.number, []),
            one.number in gaps,
            len(rows),
        )
    Spent(calls, list(legs.values()), READERS)
    return Made(calls, passes, legs)


Cell = tuple[str, Any, Any]


def _cells(db: sqlite3.Connection, made: Made, ns: Counter[str]) -> Iterator[Cell]:
    yield from _of_calls(db, made)
    yield from _of_legs(db, made)
    yield from _of_events(db, made)
    yield from _of_losses(db, made)
    yield from _of_packets(db, made, ns)
    yield from _of_series(db, made)


def _rows(db: sqlite3.Connection, table: str, should: Sequence[dict[str, Any]]) -> Iterator[Cell]:
    """Yield all rows of a table, in order."""
    found = list(db.execute(f"SELECT * FROM {table} ORDER BY id"))  # noqa: S608
    yield f"rows of table {table}", len(found), len(should)
    for row, cells in zip(found, should, strict=False):
        for key, value in cells.items():
            yield f"{key} of {table} {row['id']}", row[key], value


def _of_calls(db: sqlite3.Connection, made: Made) -> Iterator[Cell]:
    cells = CallCells(made.calls)
    rows = [(row, row.record.of) for row in made.passes.rows]
    should = [cells.of(row, call) for row, call in rows if isinstance(call, Nested)]
    yield from _rows(db, "call", should)


def _of_legs(db: sqlite3.Connection, made: Made) -> Iterator[Cell]:
    waits: dict[int, list[tuple[str, int, int]]] = {}
    for row in db.execute("SELECT * FROM wait ORDER BY leg, begin_ns"):
        waits.setdefault(row["leg"], []).append((RANK[row["kind"]], row["begin_ns"], row["end_ns"]))
    yield "legs with waits", max(waits, default=0) <= len(made.legs), True
    for number, leg in made.legs.items():
        yield f"waits of leg {number}", waits.get(number, []), leg.waits
    yield from _rows(db, "leg", [leg_cells(one, made.legs[one.number]) for one in made.passes.legs])
    if not made.calls.log.losses:
        yield "legs with gaps", sum(leg.gap for leg in made.legs.values()), 0


def _of_events(db: sqlite3.Connection, made: Made) -> Iterator[Cell]:
    yield from _rows(db, "event", event_cells(made.passes))


def _of_losses(db: sqlite3.Connection, made: Made) -> Iterator[Cell]:
    stored = db.execute("SELECT ts - dur, ts, cpu, flags FROM loss WHERE ordinal >= 0").fetchall()
    losses = (
        (each.begin, each.end, -1 if each.reason == MISSED else each.cpu, each.reason)
        for each in made.calls.log.losses
    )
    yield "losses", sorted(tuple(row) for row in stored), sorted(losses)


def _of_packets(db: sqlite3.Connection, made: Made, ns: Counter[str]) -> Iterator[Cell]:
    legs: dict[int, list[int]] = {}
    for row in db.execute("SELECT packet, leg FROM match WHERE verdict = ?", (EXACT,)):
        legs.setdefault(row["packet"], []).append(row["leg"])
    unknown = {number for some in legs.values() for number in some} - set(made.legs)
    yield "legs of packets that only the session has", sorted(unknown), []
    for row in db.execute("SELECT * FROM packet ORDER BY id"):
        if not unknown.isdisjoint(some := legs.get(row["id"], [])):
            continue
        mine = [made.legs[number] for number in some]
        for key, value in _sums(mine, ns).items():
            yield f"{key} of packet {row['id']}", row[key], value


def _of_series(db: sqlite3.Connection, made: Made) -> Iterator[Cell]:
    passes: dict[int, list[Pass]] = {}
    for leg in made.passes.legs:
        passes.setdefault(leg.series.number, []).append(leg)
    should = []
    for number in sorted(passes):
        mine = [made.legs[leg.number] for leg in passes[number]]
        should.append(series_cells(passes[number]) | _sums(mine, Counter()))
    yield from _rows(db, "series", should)
    stored = sorted(tuple(row) for row in db.execute("SELECT series, target FROM merge"))
    yield "merged packets", stored, merge_cells(made.passes)


def _sums(legs: Iterable[Leg], ns: Counter[str]) -> dict[str, int]:
    legs = list(legs)
    if not legs or any(leg.gap for leg in legs):
        return dict.fromkeys(("kernel_ns", "busy_ns", "unknown_ns", "cpu_ns", "functions"), -1)
    found = packet(legs)
    ns.update(found)
    return {
        "kernel_ns": found["kernel"],
        "busy_ns": found["busy"],
        "unknown_ns": sum(found[name] for name in NO_TIME),
        "cpu_ns": found["cpu"],
        "functions": sum(leg.functions for leg in legs),
    }


__all__ = ["NO_TIME", "RANK", "Found", "compare", "make"]
