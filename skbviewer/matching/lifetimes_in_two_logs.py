# SPDX-License-Identifier: MIT
"""Find pairs of skb lifetimes in two kernel logs of one host that are the same lifetime.

Input: a log of points and another log, each with the skbs of its lifetimes, and the packets whose
bytes are in the log of points.  Output: pairs of lifetimes and the offset between the two clocks,
or None.

At any time, an address belongs to one skb at most.  So two lifetimes that had the same address at
the same time are the same, if both logs are of one boot and the offset of their clocks is known.
docs/matching.md states the rule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import NO_DELTA, Capture, Packets
from ..records.types import INT64_MAX, Bools, Int64s
from .arrays.hash_join import runs
from .clock.clock_fit import ClockFit, Segment
from .clock.session_time import EVERY
from .identity.identity_candidates import candidates
from .match_rule_numbers import AMBIGUOUS, EXACT, Rung
from .match_types import CAPTURED_DTYPE, MATCH_DTYPE, Fitted, KernelSide, Matches
from .match_with_clock import incomplete
from .skb_spans import Spans

Rows = npt.NDArray[np.void]  # MATCH_DTYPE

MASK32 = 0xFFFFFFFF
MAX_OVERLAPS = 64  # most lifetimes that one may overlap
ONE_CLOCK_NS = 1_000_000_000  # most by which the wall clock may be set between the logs' begins
AGREEING = 3  # lifetimes that must agree in address, time and headers
FITTED = 8  # the same, if the distance of the clocks is unknown
# Two probes of one function fire one after the other: a point may precede the other log's first
# record of a lifetime, or follow its last one, by this much.
BESIDE_NS = 10_000
CONTRADICT = 0.05  # most of the lifetimes with one address and time that may have other headers


class SameHost(NamedTuple):
    """`points[i]` (in the log of points) and `kernel[i]` (in the kernel log) are the same lifetime.

    The time in the kernel log is the time in the log of points + offset_ns, with an error of at
    most error_ns.  `is_one_clock` is True if both logs use the same clock.  `agreeing` is the
    number of these lifetimes whose headers agree, too.
    """

    points: Int64s
    kernel: Int64s
    offset_ns: int
    error_ns: int
    is_one_clock: bool
    agreeing: int


def same_host(
    points: Spans, own: Capture, kernel: Spans, side: KernelSide, apart_ns: int
) -> SameHost | None:
    """Find the lifetimes of a log of points (`points`) among those of another log (`kernel`).

    `own` are the packets in the log of points, and `side` is what matching needs of the other log.
    `apart_ns` is "wall clock - log's clock" of the log of points, minus "wall clock - log's clock"
    of the other log.  Returns None if nothing shows that both logs are of one host and boot, or if
    the offset of the clocks cannot be bounded.
    """
    if own.lifetimes is None or not len(points) or not len(kernel):
        return None
    alike = _alike(own, side)
    if abs(apart_ns) <= ONE_CLOCK_NS:
        found = _joined(points, kernel, alike, 0, 0, incomplete(side.log))
        if found is not None:
            return found._replace(is_one_clock=True)
    low, high = _bounds(points, kernel, alike)
    if low > high:
        return None
    middle, error = (low + high) // 2, (high - low + 1) // 2
    found = _joined(points, kernel, alike, middle, error, incomplete(side.log))
    return found if found is not None and found.agreeing >= FITTED else None


def _alike(own: Capture, side: KernelSide) -> Int64s:
    """Return pairs of lifetimes whose headers agree, each as one number (see _code())."""
    assert own.lifetimes is not None
    found = candidates(own.packets, side.prints)
    return np.unique(_code(own.lifetimes[found.packet].astype(np.int64), found.series))


def _code(points: Int64s, kernel: Int64s) -> Int64s:
    return np.asarray(points << 32 | kernel, np.int64)


def _meeting(points: Spans, kernel: Spans, offset: int, error: int) -> tuple[Int64s, Int64s]:
    """Return pairs of rows with the same address that may have had it at the same time.

    Rows that would have more than MAX_OVERLAPS partners are left out.
    """
    begin, end = points["begin"] + offset - error, points["end"] + offset + error
    by_end = np.lexsort((kernel["end"], kernel["skb"]))
    # Lifetimes of one address follow each other, so those that begin later also end later.
    first = _before(kernel["skb"][by_end], kernel["end"][by_end], points["skb"], begin, False)
    stop = _before(kernel["skb"], kernel["begin"], points["skb"], end, True)
    count = np.maximum(stop - first, 0)
    count[count > MAX_OVERLAPS] = 0
    row = np.repeat(np.arange(len(points)), count)
    other = np.arange(len(row)) - np.repeat(np.cumsum(count) - count - first, count)
    meets = (begin[row] <= kernel["end"][other]) & (end[row] >= kernel["begin"][other])
    return row[meets], other[meets]


def _before(skb: Int64s, time: Int64s, of: Int64s, at: Int64s, or_equal: bool) -> Int64s:
    """Return for each i how many rows come before the address of[i] and the time at[i].

    The rows are sorted by `skb` and `time`.  If `or_equal`, a row with exactly this address and
    time counts, too.
    """
    is_asked = np.arange(len(skb) + len(of)) >= len(skb)
    last = is_asked if or_equal else ~is_asked
    order = np.lexsort((last, np.concatenate([time, at]), np.concatenate([skb, of])))
    count = np.cumsum(~is_asked[order])
    made = np.empty(len(order), np.int64)
    made[order] = count
    return made[len(skb) :]


def _alike_pairs(points: Spans, kernel: Spans, alike: Int64s) -> tuple[Int64s, Int64s]:
    """Return pairs of rows with the same address, whose lifetimes have the same headers."""
    of_points, of_kernel = (np.argsort(some["series"], kind="stable") for some in (points, kernel))
    pair, row = _rows_of(points["series"][of_points], alike >> 32)
    code, other = _rows_of(kernel["series"][of_kernel], (alike & MASK32)[pair])
    row, other = of_points[row[code]], of_kernel[other]
    same = points["skb"][row] == kernel["skb"][other]
    return row[same], other[same]


def _rows_of(owner: Int64s, asked: Int64s) -> tuple[Int64s, Int64s]:
    """Return all index pairs (i, j) for which asked[i] == owner[j]; `owner` is sorted."""
    first, count = runs(owner, asked)
    index = np.repeat(np.arange(len(asked)), count)
    return index, np.arange(len(index)) - np.repeat(np.cumsum(count) - count - first, count)


def _bounds(points: Spans, kernel: Spans, alike: Int64s) -> tuple[int, int]:
    """Return the least and the greatest time (ns) by which the clock of `kernel` may be ahead.

    If the clock of `kernel` is ahead by a time between the two results, each lifetime of `points`
    lies within its partner in `kernel`, extended by BESIDE_NS.  Partners have the same address and
    the same headers.  If no such time exists, or there are too few partners, the first result is
    greater than the second.
    """
    row, other = _alike_pairs(points, kernel, alike)
    once = np.bincount(row, minlength=len(points))[row] == 1
    once &= np.bincount(other, minlength=len(kernel))[other] == 1
    row, other = row[once], other[once]
    if len(row) < FITTED:
        return 1, 0
    low = kernel["begin"][other] - points["begin"][row] - BESIDE_NS
    high = kernel["end"][other] - points["end"][row] + BESIDE_NS
    return int(low.max()), int(high.min())


def _joined(
    points: Spans, kernel: Spans, alike: Int64s, offset: int, error: int, is_lossy: bool
) -> SameHost | None:
    """Return the pairs that have one address at one time, if headers prove that the host is one.

    Returns None otherwise.
    """
    row, other = _meeting(points, kernel, offset, error)
    inside = _inside(points[row], kernel[other], offset, error)
    once = np.bincount(row, minlength=len(points))[row] == 1
    once &= _is_only_series(points["series"][row], other)
    if is_lossy:  # another lifetime may have had the address in the gap
        once &= inside
    row, other = row[once], other[once]
    one, same = points["series"][row], kernel["series"][other]
    agrees = np.isin(_code(one, same), alike)
    known = np.isin(one, alike >> 32) & np.isin(same, alike & MASK32)
    codes = _code(one, same)
    agreeing, against = (len(np.unique(codes[some])) for some in (agrees, known & ~agrees))
    if agreeing < AGREEING or against > CONTRADICT * agreeing:
        return None
    pairs = np.unique(codes[agrees | ~known])
    return SameHost(pairs >> 32, pairs & MASK32, offset, error, False, agreeing)


def _inside(points: Spans, kernel: Spans, offset: int, error: int) -> Bools:
    begin: Int64s = points["begin"] + offset
    end: Int64s = points["end"] + offset
    return np.asarray((begin - error >= kernel["begin"]) & (end + error <= kernel["end"]))


def _is_only_series(series: Int64s, other: Int64s) -> Bools:
    """Return for each pair whether its row in `other` is paired with only one lifetime."""
    if not len(series):
        return np.zeros(0, np.bool_)
    size = int(other.max()) + 1
    least, most = np.full(size, INT64_MAX), np.full(size, -1, np.int64)
    np.minimum.at(least, other, series)
    np.maximum.at(most, other, series)
    return np.asarray(least[other] == most[other])


def own_matches(own: Capture, side: KernelSide, ahead_ns: int) -> Matches:
    """Return matches between the packets in a log and the lifetimes of this log.

    `ahead_ns` is the wall clock of the log's host minus the log's clock.
    """
    assert own.lifetimes is not None
    packet = np.arange(len(own.lifetimes))
    rows = _rows(side, packet, own.lifetimes.astype(np.int64), Rung.OF_LOG)
    wire = side.legs.rows.part("wire_ns", rows["leg"])
    at = own.packets["ts"][rows["packet"]] - ahead_ns
    rows["delta_ns"] = np.where(wire >= 0, at - wire, NO_DELTA)
    return _matches(rows, _steady(own.packets, ahead_ns, 0))


def joined_matches(found: Matches, of: KernelSide, to: KernelSide, same: SameHost) -> Matches:
    """Return matches with the log `to` for the packets that are matched with the log `of`.

    Each packet gets the lifetimes in `to` that are the same as its exact lifetime in `of`.
    """
    exact = np.flatnonzero(found.rows["verdict"] == EXACT)
    packet = found.rows["packet"][exact].astype(np.int64)
    series = of.legs.rows.part("series", found.rows["leg"][exact]).astype(np.int64)
    own, theirs = (same.points, same.kernel) if not of.log.returns else (same.kernel, same.points)
    order = np.argsort(own, kind="stable")
    first, count = runs(own[order], series)
    pair = np.repeat(np.arange(len(packet)), count)
    at = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count - first, count)
    codes = np.unique(_code(packet[pair], theirs[order][at]))
    rows = _rows(to, codes >> 32, codes & MASK32, Rung.BY_ADDRESS)
    return _matches(rows, ())


def with_joined(found: Matches, made: Matches) -> Matches:
    """Return `found`; the rows of `made` replace all its rows about the same packets.

    `made` are matches that were found through a log of the same host.
    """
    keep = ~np.isin(found.rows["packet"], made.rows["packet"])
    rows = np.concatenate([found.rows[keep], made.rows])
    rows = rows[np.lexsort((rows["leg"], rows["packet"]))]
    contested = found.contested[~np.isin(found.contested, made.rows["packet"])]
    return found._replace(rows=rows, contested=contested)


def uncaptured_matches(found: Matches) -> Matches:
    """Return `found`, without exact verdicts and clocks, for packets that no sniffer captured."""
    rows = found.rows.copy()
    exact = rows["verdict"] == EXACT
    rows["rung"][exact] = Rung.BY_POINTS_ONLY
    rows["verdict"], rows["confidence"], rows["delta_ns"] = AMBIGUOUS, 0, NO_DELTA
    return found._replace(rows=rows, moments=found.moments[:0], clocks=())


def _steady(packets: Packets, ahead_ns: int, error_ns: int) -> tuple[Fitted, ...]:
    """Return the clock for packets whose times are times of a log plus `ahead_ns`."""
    begin = int(packets["ts"][0]) if len(packets) else 0
    segment = Segment(begin, 0, 0, ahead_ns, 0.0, error_ns, len(packets), 0)
    return (Fitted(EVERY, ClockFit((segment,)), None),)


def _rows(side: KernelSide, packet: Int64s, series: Int64s, rung: int) -> Rows:
    """Return MATCH_DTYPE rows for exact pairs: one row for each leg of the series."""
    first, count = runs(side.legs.rows.stored("series"), series)
    pair = np.repeat(np.arange(len(packet)), count)
    rows = np.zeros(len(pair), MATCH_DTYPE)
    rows["packet"] = packet[pair]
    rows["leg"] = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count - first, count)
    rows["verdict"], rows["rung"], rows["confidence"] = EXACT, rung, 1.0
    rows["delta_ns"] = NO_DELTA
    return rows[np.lexsort((rows["leg"], rows["packet"]))]


def _matches(rows: Rows, clocks: tuple[Fitted, ...]) -> Matches:
    none = np.zeros(0, np.int64)
    return Matches(rows, np.zeros(0, CAPTURED_DTYPE), clocks, none, none, none)
