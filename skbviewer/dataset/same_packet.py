# SPDX-License-Identifier: MIT
"""`dataset find`: packets of other sessions that may be the same packet.

The packets are only candidates: equal headers within a time do not prove that two captured packets
are one packet, and the clocks of two hosts were not compared.  No verdict is made here.
"""

from __future__ import annotations

from pathlib import Path

from ..records import BadInput, Progress
from ..session.querying import Answer
from .connection import connection, literal
from .querying import BOUNDS, run

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
  p.verdict AS match, p.kernel_ns, 'candidate' AS verdict
FROM packets p JOIN wanted w ON {EQUAL}
WHERE p.session <> w.session AND p.ts_ns BETWEEN w.ts_ns - {{window}} AND w.ts_ns + {{window}}
ORDER BY abs(after_ns), p.session, p.number"""


def candidates(folder: Path, word: str, window_ns: int, progress: Progress) -> Answer:
    """Return packets of other sessions with the headers of packet `word`, "SESSION:N".

    Column after_ns is the difference of the times on the two sniffers' clocks, at most `window_ns`;
    `agreeing` is the number of values of NOT_CONTRARY that are equal in both packets.  SESSION may
    be the first digits of a session's id.  Raises KeyError if there is no such packet, BadInput if
    the packet has no IP header or no time, and Cancelled.
    """
    session, _, number = word.partition(":")
    if not number.isdecimal() or not session.isalnum():
        raise KeyError(f"--packet {word}: expected SESSION:N, such as 20955b9e4a49:14")
    with connection(folder) as db:
        db.execute(
            "CREATE TABLE wanted AS SELECT * FROM packets "
            f"WHERE starts_with(session, {literal(session)}) AND number = {number}"
        )
        found = db.execute("SELECT session, saddr, ts_ns FROM wanted").fetchall()
        if len(found) != 1:
            why = "several sessions begin so" if found else "there is no such packet"
            raise KeyError(f"--packet {word}: {why}")
        if None in found[0]:
            raise BadInput(folder, None, f"packet {word} has no IP header, or no time")
        return run(db, folder, FIND.format(window=window_ns), BOUNDS, progress)
