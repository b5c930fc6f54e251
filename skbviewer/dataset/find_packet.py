# SPDX-License-Identifier: MIT
"""`dataset find`: the path of a packet over all hosts, and packets that may be the same packet.

DuckDB finds packets with equal headers. The package `matching` decides which candidates are the
same packet: see same_packets_across_sessions.py and packet_path.py. The others stay candidates.
"""

from __future__ import annotations

from pathlib import Path

from ..records import BadInput, Progress
from ..session.query_thread import Answer
from .duckdb_connection import connection, literal
from .packet_path import members_of
from .query_thread import BOUNDS, run
from .same_packets_across_sessions import across_sessions

# The rungs of the identity ladder that the tables hold.  What is unknown contradicts nothing.
SAME = ("saddr", "daddr", "protocol")
NOT_CONTRARY = ("ip_id", "sport", "dport", "seq", "ack", "tcp_flags", "payload")
EQUAL = " AND ".join(
    [
        *(f"p.{name} = w.{name}" for name in SAME),
        *(
            f"(p.{name} = w.{name} OR p.{name} IS NULL OR w.{name} IS NULL)"
            for name in NOT_CONTRARY
        ),
    ]
)
AGREEING = " + ".join(f"coalesce(p.{name} = w.{name}, false)::INTEGER" for name in NOT_CONTRARY)
FIND = f"""
SELECT p.session, p.host, p.number, p.ts_ns - w.ts_ns AS after_ns, {AGREEING} AS agreeing,
  p.verdict AS match, p.kernel_ns, coalesce(m.verdict, 'candidate') AS verdict, m.reason, m.hop,
  m.least_ns, m.most_ns
FROM packets p CROSS JOIN wanted w LEFT JOIN member m
  ON m.session = p.session AND m.number = p.number
WHERE m.hop IS NOT NULL OR ({EQUAL} AND p.session <> w.session
  AND p.ts_ns BETWEEN w.ts_ns - {{window}} AND w.ts_ns + {{window}})
ORDER BY m.hop NULLS LAST, abs(after_ns), p.session, p.number"""
MEMBER = """
CREATE TABLE member (session VARCHAR, number BIGINT, verdict VARCHAR, reason VARCHAR, hop BIGINT,
  least_ns BIGINT, most_ns BIGINT)"""
DIGITS = 18  # at most, of a packet's number
AROUND_NS = 30_000_000_000  # traffic this far from the packet shows how the clocks differ


def find(folder: Path, word: str, window_ns: int, progress: Progress) -> Answer:
    """Return the path of packet `word`, "SESSION:N", and other packets that may be the same.

    First come the packets on the packet's path over all hosts: `hop` counts from 0, and `least_ns`
    and `most_ns` bound the time since the previous hop (NULL: not bounded). Then come candidates:
    packets of other sessions whose headers are equal. Column after_ns is the difference of the
    capture times, on the two sniffers' clocks; for candidates it is at most `window_ns`. Column
    `agreeing` is how many of the values NOT_CONTRARY are equal in both packets. SESSION may be the
    first digits of a session's id. Raises KeyError if the packet does not exist, BadInput if the
    packet has no IP header or no time, and Cancelled if the user cancels.
    """
    session, time = _wanted(folder, word)
    number = int(word.partition(":")[2])
    around = max(window_ns, AROUND_NS)
    found = across_sessions(folder, progress, (time - around, time + around))
    members = members_of(found, session, number)
    with connection(folder) as db:
        db.execute(MEMBER)
        if members:
            db.executemany(f"INSERT INTO member VALUES ({', '.join('?' * 7)})", members)
        db.execute(f"CREATE TABLE wanted AS {_select(session, number)}")
        return run(db, folder, FIND.format(window=window_ns), BOUNDS, progress)


def _select(session: str, number: int) -> str:
    return (
        f"SELECT * FROM packets WHERE starts_with(session, {literal(session)}) "
        f"AND number = {number}"
    )


def _wanted(folder: Path, word: str) -> tuple[str, int]:
    """Return the session and the time of capture of a packet "SESSION:N"."""
    session, _, number = word.partition(":")
    if not (number.isdecimal() and len(number) <= DIGITS and session.isalnum()):
        raise KeyError(f"--packet {word}: expected SESSION:N, such as 20955b9e4a49:14")
    with connection(folder) as db:
        packet = _select(session, int(number))
        rows = db.execute(f"SELECT session, ts_ns, saddr FROM ({packet})").fetchall()
    if len(rows) != 1:
        why = "several sessions begin so" if rows else "there is no such packet"
        raise KeyError(f"--packet {word}: {why}")
    if None in rows[0]:
        raise BadInput(folder, None, f"packet {word} has no IP header, or no time")
    return str(rows[0][0]), int(rows[0][1])
