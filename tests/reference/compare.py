# SPDX-License-Identifier: MIT
"""Compare a session with the reference, cell by cell.

In: a session file of one log, and the log.  Out: a line for each difference.  What is taken from
the session is which calls are a leg's, when the leg begins and ends, and which legs are a packet's.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .calls import Calls, Costs, Nested
from .slots import EVENT, Event, read
from .spent import LOST, NO_TIME, OUTSIDE, RANK, Leg, Spent, packet

EXACT = 0
UNKNOWN = -1
READERS = (
    "__skb_datagram_iter", "__skb_recv_datagram", "__skb_recv_udp", "__skb_try_recv_datagram",
    "__skb_try_recv_from_queue", "__sock_recv_cmsgs", "__sock_recv_timestamp", "inet_recv_error",
    "ping_recvmsg", "raw_recvmsg", "skb_attempt_defer_free", "skb_consume_udp",
    "skb_copy_and_csum_datagram_msg", "skb_copy_datagram_iter", "skb_free_datagram",
    "skb_recv_datagram", "tcp_eat_recv_skb", "tcp_recvmsg", "tcp_recvmsg_locked", "udp_recvmsg",
)  # fmt: skip
QUEUES = (EVENT.QDISC_ENQUEUE, EVENT.QDISC_DEQUEUE, EVENT.SOCK_ENQUEUE, EVENT.COPY_TO_USER)


class Made(NamedTuple):
    """What the reference made: of each row of table call its call; legs by number."""

    calls: Calls
    rows: dict[int, Nested]
    legs: dict[int, Leg]


class Found(NamedTuple):
    """Differences, how many cells were compared, and ns of all packets by name."""

    lines: list[str]
    cells: int
    ns: Counter[str]


def compare(session: Path, log: Path) -> Found:
    """All cells of a session that has this log, and no other."""
    db = sqlite3.connect(f"file:{session}?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    made = make(db, log)
    found = Found([], 0, Counter())
    cells = 0
    for what, is_, should in _cells(db, made, found.ns):
        cells += 1
        if is_ != should:
            found.lines.append(f"{what}: {is_}, should be {should}")
    db.close()
    return found._replace(cells=cells)


def make(db: sqlite3.Connection, log: Path) -> Made:
    """The reference's calls and legs."""
    calls = Calls(read(log))
    rows, of_leg = {}, dict[int, list[tuple[sqlite3.Row, Nested]]]()
    for row in db.execute("SELECT * FROM call ORDER BY id"):
        rows[row["id"]] = calls.at[row["cpu"], row["entry_ns"]]
        of_leg.setdefault(row["leg"], []).append((row, rows[row["id"]]))
    events = dict[int, list[Event]]()
    marks = ",".join(str(int(one)) for one in QUEUES)
    wanted = f"SELECT * FROM event WHERE leg > 0 AND event IN ({marks}) ORDER BY id"  # noqa: S608
    for row in db.execute(wanted):
        told = (row[name] for name in ("ts", "event", "cpu", "context", "pid", "skb", "data"))
        events.setdefault(row["leg"], []).append(Event(*told))
    legs = {}
    for row in db.execute("SELECT * FROM leg ORDER BY id"):
        mine = of_leg.get(row["id"], [])
        legs[row["id"]] = Leg(
            row["series"],
            row["begin_ns"],
            row["end_ns"],
            list(dict.fromkeys(call for told, call in mine if told["skb"])),
            list(dict.fromkeys(call for told, call in mine if not told["skb"])),
            events.get(row["id"], []),
            bool(row["gap"]),
            len(mine),
        )
    Spent(calls, list(legs.values()), READERS)
    return Made(calls, rows, legs)


Cell = tuple[str, Any, Any]


def _cells(db: sqlite3.Connection, made: Made, ns: Counter[str]) -> Iterator[Cell]:
    yield from _of_calls(db, made)
    yield from _of_legs(db, made)
    yield from _of_packets(db, made, ns)
    yield from _of_series(db, made)


def _or_unknown(value: int | None) -> int:
    return UNKNOWN if value is None else value


def _of_calls(db: sqlite3.Connection, made: Made) -> Iterator[Cell]:
    costs = Costs(made.calls) if made.calls.log.calibration else None
    leg, inside = 0, Counter[int]()
    members: dict[int, Counter[int]] = {}
    for row in db.execute("SELECT id, leg FROM call"):
        members.setdefault(row["leg"], Counter())[id(made.rows[row["id"]])] += 1
    for row in db.execute("SELECT * FROM call ORDER BY id"):
        nested = made.rows[row["id"]]
        call = nested.call
        if row["leg"] != leg:
            leg, inside = row["leg"], Counter()
        inside[id(nested)] += 1
        should = {
            "func": call.func,
            "exit_ns": _or_unknown(call.end),
            "dur_ns": _or_unknown(nested.dur),
            "self_ns": _or_unknown(nested.self_ns),
            "irq_ns": nested.irq_ns,
            "off_ns": nested.off_ns,
            "context": call.context,
            "pid": call.pid,
            "flags": call.flags,
        }
        if costs is not None:
            should["comp_ns"] = _or_unknown(costs.of(nested))
        if inside[id(nested)] == 1:  # else it is in the leg for a further packet
            should["depth"] = _depth(nested, members[leg])
        name = made.calls.log.functions.get(call.func)
        for key, value in should.items():
            yield f"call {row['id']} ({name}) of leg {leg}, {key}", row[key], value


def _depth(nested: Nested, members: Counter[int]) -> int:
    depth, above = 0, nested.parent
    while above is not None:
        depth += members[id(above)]  # a row for each skb of the packet that it was given
        above = above.parent
    return depth


def _of_legs(db: sqlite3.Connection, made: Made) -> Iterator[Cell]:
    told: dict[int, list[tuple[str, int, int]]] = {}
    for row in db.execute("SELECT * FROM wait ORDER BY leg, begin_ns"):
        told.setdefault(row["leg"], []).append((RANK[row["kind"]], row["begin_ns"], row["end_ns"]))
    for row in db.execute("SELECT * FROM leg ORDER BY id"):
        leg = made.legs[row["id"]]
        yield f"waits of leg {row['id']}", told.get(row["id"], []), leg.waits
        for key in ("busy_ns", "unknown_ns", "cpu_ns"):
            yield f"{key} of leg {row['id']}", row[key], getattr(leg, key)
        yield f"functions of leg {row['id']}", row["functions"], _functions(db, row["id"])


def _functions(db: sqlite3.Connection, leg: int) -> int:
    return int(db.execute("SELECT count(*) FROM call WHERE leg = ?", (leg,)).fetchone()[0])


def _of_packets(db: sqlite3.Connection, made: Made, ns: Counter[str]) -> Iterator[Cell]:
    legs: dict[int, list[int]] = {}
    for row in db.execute("SELECT packet, leg FROM match WHERE verdict = ?", (EXACT,)):
        legs.setdefault(row["packet"], []).append(row["leg"])
    for row in db.execute("SELECT * FROM packet ORDER BY id"):
        mine = [made.legs[number] for number in legs.get(row["id"], [])]
        for key, value in _sums(mine, ns).items():
            yield f"{key} of packet {row['id']}", row[key], value


def _of_series(db: sqlite3.Connection, made: Made) -> Iterator[Cell]:
    legs: dict[int, list[Leg]] = {}
    for leg in made.legs.values():
        legs.setdefault(leg.series, []).append(leg)
    for row in db.execute("SELECT * FROM series ORDER BY id"):
        for key, value in _sums(legs.get(row["id"], []), Counter()).items():
            yield f"{key} of packet life {row['id']}", row[key], value


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


__all__ = ["LOST", "OUTSIDE", "Found", "compare", "make"]
