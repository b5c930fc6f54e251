# SPDX-License-Identifier: MIT
"""Say of every exact match of a session whether it is right, by a witness that is not ours.

Right: the packet is matched with the lifetime of the very skb that the sniffer's socket held; of an
outgoing packet, the skb that the stack gave to the sniffers, not the sniffer's clone.  An address
is no identity: a lifetime is at an address between two moments at which one began or ended there.
Where the session says at which device, in which direction and when the packet was captured, that is
right as well, or the match is wrong.
It imports nothing of the product: it reads the session by SQL.
"""

from __future__ import annotations

import bisect
import json
import sqlite3
import statistics
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from .capture_files import Frame
from .judge_join import Join, join, socket_hits
from .judge_session import Log, Match, Moment, Source, between, read_matches
from .judge_witness import Hit, Witness

RIGHT, WRONG, UNSEEN = "right", "wrong", "no witness"
SLACK_NS = 1000  # of a witness that writes us
ERROR_NS = 10_000  # of a clock that outgoing packets show


class Opinion(NamedTuple):
    """The truth about one packet."""

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


def witnessed(
    frames: list[Frame], witness: Witness, sock: int | None = None, netns: int = 0
) -> Witnessed:
    """Join a recorded capture with the hits of its socket: if it is not known, the one with which
    most packets can be joined.  `netns` is the sniffer's network namespace, 0 if not known."""
    best: Witnessed | None = None
    for hits in [witness.sockets.get(sock, [])] if sock else witness.sockets.values():
        own = socket_hits(hits, netns)
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
    """Return the lifetimes that had the address of a hit's skb, or why there is not exactly one."""
    fine = 0 if hit.row.fine else SLACK_NS
    low, high = between(witness.bounds.get(hit.skb, []), hit.ns)
    times, series = log.seen(signed(hit.skb), low - fine, high + fine)
    found = set(series)
    if not witness.whole or len(found) > 1:
        found = _nearest(hit, log, times, series, fine)
    if len(found) > 1:
        return found, "another lifetime came to the address, when is not known"
    return found, "" if found else "the log has no record of this skb"


def _nearest(hit: Hit, log: Log, times: list[int], series: list[int], fine: int) -> set[int]:
    """Return the lifetimes before and after the hit at its address, within its bounds there."""
    early, late = log.between(signed(hit.skb), hit.ns + fine)
    at = bisect.bisect_right(times, hit.ns + fine)
    before = series[at - 1 : at] if at and times[at - 1] >= early else []
    return set(before + (series[at : at + 1] if at < len(times) and times[at] <= late else []))


def signed(address: int) -> int:
    """Return an address as sessions have it."""
    return address - (1 << 64) if address >> 63 else address


def _known(hit: Hit, witness: Witness, log: Log) -> tuple[set[int], str]:
    if id(hit) not in log.known:
        log.known[id(hit)] = holders(hit, witness, log)
    return log.known[id(hit)]


class Origin(NamedTuple):
    """Which recorded packet a packet of a session was."""

    found: Witnessed | None  # None: of no capture of this recording
    number: int  # from 0, in that capture
    interface: int = 0  # of the session's capture


def opinion(match: Match, origin: Origin, witness: Witness, log: Log) -> Opinion:
    """Return the truth of one packet."""
    made, hit = _of_lifetime(match, origin, witness, log), _hit_of(origin)
    if made.truth in (RIGHT, UNSEEN) and hit is not None:
        own = [moment for moment in match.moments if moment.source == log.source]
        for reason in filter(None, (astray(moment, hit) for moment in own)):
            return made._replace(truth=WRONG, reason=reason)
    return made


def _hit_of(origin: Origin) -> Hit | None:
    """Return the witness's hit of a packet, if it is known."""
    if origin.found is None or origin.found.join.hits[origin.number] < 0:
        return None
    return origin.found.hits[origin.found.join.hits[origin.number]]


def astray(moment: Moment, hit: Hit) -> str:
    """Return how a session's moment contradicts the witness; "" if no contradiction is known."""
    seen = hit.row.get("netns"), hit.row.get("if")
    witnessed = moment.netns, moment.ifindex
    if any(
        one > 0 and other > 0 and one != other for one, other in zip(witnessed, seen, strict=True)
    ):
        return f"captured at device {seen}, the session says {witnessed}"
    if moment.sends != hit.outgoing:
        return f"{'sent' if hit.outgoing else 'received'} as it was captured, not by the session"
    if not moment.after_ns - ERROR_NS <= hit.row.ns <= moment.before_ns + ERROR_NS:
        times = f"{moment.after_ns} to {moment.before_ns}"
        return f"captured at {hit.row.ns} ns, the session says {times}"
    return ""


def _of_lifetime(match: Match, origin: Origin, witness: Witness, log: Log) -> Opinion:
    """Return whether the lifetime is the one that the socket held."""

    def says(truth: str, reason: str, true: set[int] | None = None) -> Opinion:
        known = truth if match.verdict == "exact" else ""
        return Opinion(match.packet, match.verdict, known, reason, match.series, _sorted(true))

    found = origin.found
    if found is None:
        return says(WRONG, "a packet of another recording")
    number = found.join.hits[origin.number]
    if number < 0:
        ns = found.frames[origin.number].ts - found.offset
        if match.series and all(log.gone(one, ns, ERROR_NS) for one in match.series):
            return says(WRONG, "by the log's own records the lifetime had ended before")
        return says(UNSEEN, found.join.reasons[origin.number])
    hit = found.hits[number]
    if not hit.skb:
        return says(UNSEEN, "the witness did not see whose clone the sniffer had")
    true, reason = _known(hit, witness, log)
    if not set(match.series) & true:
        return says(WRONG, reason or "another skb's lifetime", true)
    if len(true) > 1:
        return says(UNSEEN, reason, true)
    if set(match.series) - true:
        return says(WRONG, "a lifetime of another skb as well", true)
    return says(RIGHT, "", true)


def _sorted(series: set[int] | None) -> tuple[int, ...]:
    return tuple(sorted(series or ()))


def judge_capture(
    db: sqlite3.Connection, capture: Source, log: Log, witness: Witness, origins: list[Origin]
) -> list[Opinion]:
    """Return the truth of every packet of a session's capture."""
    matches = read_matches(db, capture)
    if len(matches) != len(origins):
        raise ValueError(f"{capture.path}: {len(matches)} packets, {len(origins)} were recorded")
    opinions = [opinion(m, o, witness, log) for m, o in zip(matches, origins, strict=True)]
    return _once(opinions, origins)


def _once(opinions: list[Opinion], origins: list[Origin]) -> list[Opinion]:
    """A moment at a socket is one packet's of one interface: copies of it cannot both be exact."""
    keys = [(id(o.found), o.number, o.interface) for o in origins]
    count = Counter(k for k, o in zip(keys, opinions, strict=True) if o.truth == RIGHT)
    twice = "two packets of one interface are exact with one moment"
    return [
        one._replace(truth=WRONG, reason=twice) if one.truth == RIGHT and count[key] > 1 else one
        for key, one in zip(keys, opinions, strict=True)
    ]


def counted(opinions: list[Opinion]) -> Counter[str]:
    """Return how many packets, exact, right, wrong, no witness, ambiguous and wire-only."""
    count: Counter[str] = Counter(packets=len(opinions))
    for one in opinions:
        count[one.verdict] += 1
        if one.truth:
            count[one.truth] += 1
    return count


def origins_of(capture: Path, recorded: dict[str, Witnessed], own: str) -> list[Origin]:
    """Return for each packet of a capture the recorded packet that it was.

    The file that a treatment left beside the capture says so; without a treatment, it is `own`.
    """
    beside = capture.with_name(capture.name + ".origin.json")
    if not beside.exists():
        return [Origin(recorded[own], number) for number in range(len(recorded[own].frames))]
    left = json.loads(beside.read_text())
    names = [recorded.get(name) for name in left["captures"]]
    return [Origin(names[name], number, inter) for name, number, inter in left["packets"]]
