# SPDX-License-Identifier: MIT
"""Say of every exact match of a session whether it is right, by a witness that is not ours.

Right: the packet is matched with the lifetime of the very skb that the sniffer's socket held; of an
outgoing packet, the skb that the stack gave to the sniffers, not the sniffer's clone.  An address
is no identity: a lifetime is at an address between two moments at which one began or ended there.
It imports nothing of the product: it reads the session by SQL.
"""

from __future__ import annotations

import sqlite3
import statistics
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from .capture_files import Frame
from .judge_join import Join, join, socket_hits
from .judge_session import Log, Match, Source, between, gone, read_matches
from .judge_witness import Hit, Witness

RIGHT, WRONG, UNSEEN = "right", "wrong", "no witness"
SLACK_NS = 1000  # of a witness that writes us
ERROR_NS = 10_000  # of a clock that outgoing packets show


class Opinion(NamedTuple):
    """What is true of one packet."""

    packet: int  # from 0, in its capture
    verdict: str  # the session's
    truth: str  # of an exact match: right, wrong, no witness; else ""
    reason: str
    series: tuple[int, ...]
    true: tuple[int, ...]  # lifetimes that may be the one the socket held


class Witnessed(NamedTuple):
    """One capture as it was recorded, and the hit of each of its packets."""

    frames: list[Frame]
    hits: list[Hit]
    join: Join
    offset: int  # the sniffer's clock minus the witness's, ns


def witnessed(frames: list[Frame], witness: Witness, sock: int | None = None) -> Witnessed:
    """Join a recorded capture with the hits of its socket: if it is not known, the one with which
    most packets can be joined."""
    best: Witnessed | None = None
    for hits in [witness.sockets.get(sock, [])] if sock else witness.sockets.values():
        own = socket_hits(hits)
        joined = join(frames, own)
        found = Witnessed(frames, own, joined, _offset(frames, own, joined))
        if best is None or _joined(found) > _joined(best):
            best = found
    none = Join([-1] * len(frames), ["the witness saw no packet socket"] * len(frames))
    return best or Witnessed(frames, [], none, 0)


def _offset(frames: list[Frame], hits: list[Hit], joined: Join) -> int:
    """An outgoing packet is stamped as it is given to the sockets; others may have waited since."""
    pairs = [(f.ts, hits[h]) for f, h in zip(frames, joined.hits, strict=True) if h >= 0]
    sent = [ts - hit.row.ns for ts, hit in pairs if hit.outgoing]
    return int(statistics.median(sent or [ts - hit.row.ns for ts, hit in pairs] or [0]))


def _joined(found: Witnessed) -> int:
    return sum(hit >= 0 for hit in found.join.hits)


def holders(hit: Hit, witness: Witness, log: Log) -> tuple[set[int], str]:
    """Lifetimes of the log that the address of a hit's skb belonged to, and why there is not one.

    With several the witness does not know which.
    """
    fine = 0 if hit.row.fine else SLACK_NS
    low, high = between(witness.bounds.get(hit.skb, []), hit.ns)
    points = [p for p in log.seen.get(hit.skb, []) if low - fine <= p[0] < high + fine]
    if witness.whole:
        found = {series for _, series in points}
        return found, "" if found else "the log has no record of this skb"
    early, late = between(log.bounds.get(hit.skb, []), hit.ns + fine)
    points = [p for p in points if early <= p[0] <= late]
    before = [series for ns, series in points if ns <= hit.ns + fine][-1:]
    after = [series for ns, series in points if ns > hit.ns + fine][:1]
    found = set(before + after)
    if len(found) > 1:
        return found, "another lifetime came to the address, when is not known"
    return found, "" if found else "the log has no record of this skb"


def opinion(match: Match, found: Witnessed, origin: int, witness: Witness, log: Log) -> Opinion:
    """The truth of one packet, which was packet `origin` (from 0; -1: none) when it was recorded."""

    def says(truth: str, reason: str, true: set[int] | None = None) -> Opinion:
        if match.verdict != "exact":
            truth = ""
        tuple_true = tuple(sorted(true or ()))
        return Opinion(match.packet, match.verdict, truth, reason, match.series, tuple_true)

    if origin < 0:
        return says(WRONG, "a packet of another recording")
    number = found.join.hits[origin]
    if number < 0:
        ns = found.frames[origin].ts - found.offset
        if match.series and all(gone(log, one, ns, ERROR_NS) for one in match.series):
            return says(WRONG, "by the log's own records the lifetime had ended before")
        return says(UNSEEN, found.join.reasons[origin])
    hit = found.hits[number]
    if not hit.skb:
        return says(UNSEEN, "the witness did not see whose clone the sniffer had")
    true, reason = holders(hit, witness, log)
    if not set(match.series) & true:
        return says(WRONG, reason or "another skb's lifetime", true)
    if len(true) > 1 and not witness.whole:
        return says(UNSEEN, reason, true)
    if set(match.series) - true:
        return says(WRONG, "a lifetime of another skb as well", true)
    return says(RIGHT, "", true)


def judge_capture(
    db: sqlite3.Connection,
    capture: Source,
    log: Log,
    witness: Witness,
    found: Witnessed,
    origin: list[int] | None = None,
) -> list[Opinion]:
    """The truth of every packet of a capture; `origin`: which recorded packet each was."""
    matches = read_matches(db, capture)
    numbers = origin if origin is not None else list(range(len(matches)))
    return [opinion(m, found, numbers[m.packet], witness, log) for m in matches]


def counted(opinions: list[Opinion]) -> Counter[str]:
    """How many packets, exact, right, wrong, no witness, ambiguous and wire-only."""
    count: Counter[str] = Counter(packets=len(opinions))
    for one in opinions:
        count[one.verdict] += 1
        if one.truth:
            count[one.truth] += 1
    return count


def read_origin(capture: Path) -> list[int] | None:
    """Which recorded packet each packet of a treated capture was; None of one as recorded."""
    import json

    beside = capture.with_name(capture.name + ".origin.json")
    return json.loads(beside.read_text()) if beside.exists() else None
