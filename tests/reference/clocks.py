# SPDX-License-Identifier: MIT
"""Check whether the output of `stats clock` about a capture's clock can be true.

Input: a session, and the log.  Taken from the session, because matching finds them: which packets
are which legs, and between which moments each was stamped.  Output: cells: name, printed, expected.

A fit is not computed again.  But a capture of the log's host has the host's wall clock, whose
offset the log's clock table has; each packet must have been stamped between its moments; and how
far off the clock may be is what is left open by all clocks that do so.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from .calls import MISSED
from .compare import EXACT, Cell, Made
from .outputs import run

SLOPE = 1e-3  # at most: 1000 ppm
STEPS = 100  # halvings of an interval of slopes
ROUNDED = 2  # ns
BY_TIME = 5  # rungs from here on use the clock
NEVER = 1 << 62  # number of a packet
Bounds = tuple[int, float, float]  # at a place a line is from low to high


class Stamp(NamedTuple):
    """A packet: its number, its time in the capture, and the moments around it.

    `begin` is when the leg began, if it is received, and `birth` when its skb did.  A fit may count
    on a stamp from `begin` on; from `birth` on, if matching found later at which pass it was made.
    """

    packet: int
    ts: int
    after: int
    before: int
    rung: int
    begin: int
    birth: int


def of_clocks(
    session: Path, made: Made, set_meanwhile: bool = False, any_pass: bool = False
) -> Iterator[Cell]:
    """Yield `stats clock`.

    With `set_meanwhile`, the wall clock was set after the log began.  With `any_pass`, packets may
    have had further moments when the clock was fitted: it may be less exact than the last ones.
    """
    shown = json.loads(run("stats", "--json", str(session), "clock"))
    db = sqlite3.connect(session)
    captures = "SELECT source, count(*) FROM packet GROUP BY source ORDER BY source"
    for source, packets in db.execute(captures).fetchall():
        stamps = _stamps(db, source)
        places = "SELECT first, origin_ns FROM clock WHERE source = ? ORDER BY first"
        begins = db.execute(places, (source,)).fetchall()
        fits = [one for one in shown if one["source"] == source]
        known = 0 < len(fits) <= len(begins) if begins else not fits
        yield f"segments of capture {source}", known, True
        if len(fits) != len(begins) or any(fit["interface"] is not None for fit in fits):
            continue  # a segment without packets has no row; interfaces have clocks of their own
        ends = [*(first for first, _ in begins[1:]), NEVER][: len(begins)]
        for fit, (first, origin), end in zip(fits, begins, ends, strict=True):
            mine = [one for one in stamps if first <= one.packet < end]
            where = f"the clock of capture {source} from packet {first} on"
            yield from _fit(where, fit, origin, mine)
            if len(fits) > 1:
                continue  # which packets each segment is made from is for matching to say
            lost = any(loss.reason != MISSED for loss in made.calls.log.losses)
            if not lost and not _without_moment(db, source):
                yield from _residual(where, fit, origin, mine, packets, any_pass)
            if not mine:
                continue  # no packet matches for certain: the capture may be of another host
            if not set_meanwhile and fit["drift_ppm"] == 0:
                off = abs(fit["offset_ns"] - made.calls.log.wall_ns)
                most = fit["residual_ns"] + made.calls.log.wall_error_ns
                yield f"wall clock by {where}", off <= most, True
    db.close()


def _stamps(db: sqlite3.Connection, source: int) -> list[Stamp]:
    rows = db.execute(
        "SELECT packet.id, packet.ts, min(after_ns), max(before_ns), packet.rung,"
        " min(iif(sends, after_ns, leg.begin_ns)),"
        " min((SELECT min(begin_ns) FROM leg l WHERE l.series = leg.series))"
        " FROM moment JOIN packet ON packet.id = moment.packet JOIN leg ON leg.id = moment.leg"
        " WHERE packet.verdict = ? AND packet.source = ? GROUP BY packet.id ORDER BY packet.id",
        (EXACT, source),
    )
    return [Stamp(*row) for row in rows]


def _without_moment(db: sqlite3.Connection, source: int) -> int:
    """Return the number of exact packets whose moment is not known; they may have made the fit."""
    count = (
        "SELECT count(*) FROM packet WHERE verdict = ? AND source = ?"
        " AND id IN (SELECT packet FROM match) AND id NOT IN (SELECT packet FROM moment)"
    )
    return int(db.execute(count, (EXACT, source)).fetchone()[0])


def _fit(where: str, fit: dict[str, Any], origin: int, stamps: list[Stamp]) -> Iterator[Cell]:
    """Each packet was stamped between its moments, give or take the residual."""
    for one in stamps:
        here, residual = _here(one, fit, origin), fit["residual_ns"]
        low, high = one.after - origin - residual, one.before - origin + residual
        yield f"packet {one.packet} by {where}", low <= here <= high, True


def _here(stamp: Stamp, fit: dict[str, Any], origin: int) -> float:
    """Return when the packet was stamped on the log's clock, from `origin` on."""
    return float((stamp.ts - origin - fit["offset_ns"]) / (1 + fit["drift_ppm"] * 1e-6))


def _residual(
    where: str,
    fit: dict[str, Any],
    origin: int,
    stamps: list[Stamp],
    packets: int,
    any_pass: bool,
) -> Iterator[Cell]:
    """The moments of all packets permit no more than the stated error, those of the fit's pairs no
    less.

    Packets may have made the fit that have no moment in the end: nothing follows then.
    """
    yield f"pairs of {where}", 0 <= fit["pairs"] <= packets, True
    decided = [one for one in stamps if one.rung < BY_TIME]
    if fit["pairs"] > len(decided) or not stamps:
        return
    base = origin + fit["offset_ns"]
    ends = [one.ts - base for one in stamps]

    def lines(some: list[Stamp], early: bool) -> list[Bounds]:
        found = []
        for one in some:
            here = origin + _here(one, fit, origin)
            first = min(one.begin, one.birth) if any_pass else one.begin
            after = min(one.after, first) if early else one.after
            found.append((one.ts - base, after - here, one.before - here))
        return found

    least = _error(lines(stamps, early=False), ends)
    if least is not None:
        yield f"the residual of {where} is too small", fit["residual_ns"] < least - ROUNDED, False
    wide = lines(decided, early=True)
    most = _error(wide, ends)
    if most is not None and fit["pairs"] == len(decided):  # the fit has these and no others
        most = max(most, _farthest(wide) if any_pass else _spread(wide)) + ROUNDED
        yield f"the residual of {where} is too large", fit["residual_ns"] > most, False


def _spread(lines: Sequence[Bounds]) -> float:
    """Return how the middles scatter."""
    middles = sorted((low + high) / 2 for _, low, high in lines)
    middle = middles[len(middles) // 2]
    return 1.4826 * sorted(abs(one - middle) for one in middles)[len(middles) // 2]


def _farthest(lines: Sequence[Bounds]) -> float:
    """Return the largest possible scatter of times within the bounds."""
    return 1.4826 * median(max(abs(low), abs(high)) for _, low, high in lines)


def _error(lines: Sequence[Bounds], places: Sequence[int]) -> float | None:
    """Return how far from 0, from the first to the last place, a line within all bounds may be.

    None without such a line.
    """
    if not lines:
        return None
    ends = min(places), max(places)

    def tops(slope: float) -> float:
        return min(high - slope * at for at, _, high in lines)

    def bottoms(slope: float) -> float:
        return max(low - slope * at for at, low, _ in lines)

    def room(slope: float) -> float:
        return tops(slope) - bottoms(slope)

    best = _top(room, -SLOPE, SLOPE)
    if room(best) < 0:
        return None
    steep = _edge(room, best, -SLOPE), _edge(room, best, SLOPE)
    above = (_highest(tops, at, steep) for at in ends)
    below = (_highest(lambda slope: -bottoms(slope), -at, steep) for at in ends)
    return max(0.0, *above, *below)


def _highest(of: Callable[[float], float], at: int, steep: tuple[float, float]) -> float:
    """Return the highest value at a place of lines of these slopes, whose values at 0 are given."""
    slope = _top(lambda one: of(one) + one * at, *steep)
    return of(slope) + slope * at


def _top(of: Callable[[float], float], low: float, high: float) -> float:
    """Return where a concave function is highest."""
    for _ in range(STEPS):
        third = (high - low) / 3
        if of(low + third) < of(high - third):
            low += third
        else:
            high -= third
    return (low + high) / 2


def _edge(of: Callable[[float], float], inside: float, outside: float) -> float:
    """Return how far from a place, where it is not negative, towards another it stays so."""
    if of(outside) >= 0:
        return outside
    for _ in range(STEPS):
        middle = (inside + outside) / 2
        if of(middle) >= 0:
            inside = middle
        else:
            outside = middle
    return inside
