# SPDX-License-Identifier: MIT
"""Packets, bits, times in kernel and drops in intervals of time, for several sets of packets.

Input: one Scope for each set of packets.  Output: arrays with an element for each interval, the
same intervals for all sets.  Intervals count from the time of packet 1, as in tshark's `-z
io,stat`; without a capture, from the start of the first leg.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...records import UNTIMED
from ...records.types import Int64s
from ..breakdown.lost_packets import drop_events
from ..parallel_blocks import each_made
from ..timeline.packet_session_times import packet_times

if TYPE_CHECKING:
    from ..scope import Scope

INTERVALS = 100  # approximate number of intervals, unless the user gives their length
MAX_INTERVALS = 100_000
STEPS = (1, 2, 5, 10)
PERCENTS = (50, 90, 99, 100)
UNKNOWN = -1
_NONE = np.zeros(0, np.int64), np.zeros(0, np.int64)
KEY_BITS = 63  # of an interval and a time in kernel; with MAX_INTERVALS, a time has 46: 19 hours
BLOCK = 1 << 17  # packets; near() does not keep so many neighbouring values in memory


class IoSeries(NamedTuple):
    """Counts in consecutive intervals of `interval_ns`, as int64 arrays of equal length.

    The first interval begins at `begin_ns` of session time.  `after_ns` is how long after the zero
    of the Time column (origin_of) the first interval begins.  Times in kernel (nearest rank) are
    those of packets captured in the interval.  Times in kernel are UNKNOWN if the interval has no
    packet with a known time.  `first` is the number of the first packet in each interval; 0 = none.
    """

    begin_ns: int
    after_ns: int
    interval_ns: int
    packets: Int64s
    bits: Int64s  # on the wire
    p50_ns: Int64s
    p90_ns: Int64s
    p99_ns: Int64s
    max_ns: Int64s
    drops: Int64s
    first: Int64s


class _Moments(NamedTuple):
    """Session times (ns) of chosen packets (0-based `rows`, rising), and of their drops."""

    when: Int64s
    rows: Int64s
    dropped: Int64s


def io_series(scopes: Sequence[Scope], interval_ns: int | None = None) -> list[IoSeries]:
    """Return one series for each scope, all with the same intervals; [] if nothing is chosen.

    `interval_ns` is the length of intervals; if it is None, a suitable length is used.  Raises
    Cancelled.  Raises KeyError, with a message, if the intervals are too short.
    """
    every = [_moments(scope) for scope in scopes]
    known = [times for found in every for times in (found.when, found.dropped) if len(times)]
    if not known:
        return []
    first, last = min(int(t.min()) for t in known), max(int(t.max()) for t in known)
    origin = origin_of(scopes[0], first)
    length = interval_ns or interval_for(last - first)
    low = (first - origin) // length
    count = (last - origin) // length - low + 1
    if count > MAX_INTERVALS:
        raise KeyError(
            f"{count} intervals: choose a longer interval, because at most {MAX_INTERVALS} are "
            "counted"
        )
    begin = origin + low * length
    return [
        _series(scope, found, begin, begin - origin, length, count)
        for scope, found in zip(scopes, every, strict=True)
    ]


def interval_for(span: int) -> int:
    """Return a length (ns) that divides `span` (ns) into about INTERVALS intervals.

    The length is 1, 2 or 5 times a power of ten.
    """
    power = 1
    while True:
        for step in STEPS:
            if step * power * INTERVALS >= span:
                return step * power
        power *= 10


def _series(
    scope: Scope, found: _Moments, begin: int, after: int, length: int, count: int
) -> IoSeries:
    packets, bits, first = (np.zeros(count, np.int64) for _ in range(3))
    keys = [np.zeros(0, np.int64)]
    part = partial(_counted, scope, found, begin, length, count)
    for done, one in enumerate(each_made(part, range(0, len(found.when), BLOCK))):
        scope.progress.report("Counting", done * BLOCK, len(found.when))
        packets += one.packets
        bits += 8 * one.bytes
        np.copyto(first, one.first, where=first == 0)
        keys.append(one.keys)
    drops = np.bincount((found.dropped - begin) // length, minlength=count)
    p50, p90, p99, most = _ranks(np.concatenate(keys), count)
    times = p50, p90, p99, most
    return IoSeries(begin, after, length, packets, bits, *times, drops, first)


class _Counts(NamedTuple):
    """Sums over some packets by interval, and sorted keys for their known times in kernel.

    A key is the number of the interval << _ns_bits() | the time in kernel.
    """

    packets: Int64s
    bytes: Int64s
    first: Int64s
    keys: Int64s


def _counted(
    scope: Scope, found: _Moments, begin: int, length: int, count: int, at: int
) -> _Counts:
    """Count the packets of the block that begins at index `at`."""
    rows = found.rows[at : at + BLOCK]
    place = (found.when[at : at + BLOCK] - begin) // length
    sizes = scope.columns.near("packet", "len", rows)
    packets = np.bincount(place, minlength=count)
    sums = np.bincount(place, weights=sizes, minlength=count)  # exact: far below 2^53
    first = np.zeros(count, np.int64)
    first[place[::-1]] = rows[::-1] + 1  # the last assignment counts
    kernel = np.asarray(scope.columns.near("packet", "kernel_ns", rows), np.int64)
    known = kernel >= 0
    place, kernel, bits = place[known], kernel[known], _ns_bits(count)
    if kernel.max(initial=0) >> bits:
        raise KeyError(
            f"{count} intervals: choose a longer interval, because a packet took {kernel.max()} ns"
        )
    keys = np.sort(place << bits | kernel)
    return _Counts(packets, sums.astype(np.int64), first, keys)


def _moments(scope: Scope) -> _Moments:
    scope.progress.report("Counting", 0, 0)
    return _Moments(*timed_packets(scope), _drop_times(scope))


def timed_packets(scope: Scope) -> tuple[Int64s, Int64s]:
    """Return the session times (ns) of chosen packets that have a time, and their 0-based rows."""
    chosen = scope.packets
    if any(scope.clock.interfaces(one) for one in scope.captures):
        scope.columns.array("packet", "interface")  # read once, instead of in each thread
    parts = each_made(partial(_times_of, scope, chosen), range(0, len(chosen), BLOCK))
    when, rows = zip(_NONE, *parts, strict=True)
    return np.concatenate(when), np.concatenate(rows)


def _times_of(scope: Scope, chosen: Int64s, at: int) -> tuple[Int64s, Int64s]:
    """Return what timed_packets() returns, for the block of packets that begins at index `at`."""
    rows = chosen[at : at + BLOCK] - 1
    ts = np.asarray(scope.columns.near("packet", "ts", rows), np.int64)
    source = np.asarray(scope.columns.near("packet", "source", rows), np.int64)
    timed = ts != UNTIMED
    if not timed.all():
        rows, ts, source = rows[timed], ts[timed], source[timed]
    when = np.empty(len(rows), np.int64)
    for one in np.flatnonzero(np.bincount(source)).tolist() if len(rows) else []:
        mine = np.flatnonzero(source == one)
        when[mine] = packet_times(scope.columns, scope.clock, one, rows[mine], ts[mine])
    return when, rows


def _drop_times(scope: Scope) -> Int64s:
    """Return the session times (ns) of the chosen packets' drops that `stats drops` counts."""
    dropped = drop_events(scope)
    leg = scope.of_event("leg", dropped) - 1
    dropped, leg = dropped[leg >= 0], leg[leg >= 0]
    if not len(dropped):
        return dropped
    ts = scope.of_event("ts", dropped)
    kept = scope.happened(leg, ts)
    source, ts = scope.of_event("source", dropped[kept]), ts[kept]
    when = np.empty(len(ts), np.int64)
    for one in np.unique(source).tolist():
        when[source == one] = scope.clock.to_session(one, ts[source == one])
    return when


def origin_of(scope: Scope, other: int) -> int:
    """Return the session time (ns) from which the Time column counts: the time of packet 1.

    Without a capture, the Time column counts from the start of the first leg.  If packet 1 has no
    time, the result is `other`.
    """
    columns = scope.columns
    if not columns.length("packet"):
        return _first_leg(scope, other)
    ts, source = (
        np.asarray(columns.array("packet", name), np.int64)[:1] for name in ("ts", "source")
    )
    if ts[0] == UNTIMED:
        return other
    return int(packet_times(columns, scope.clock, int(source[0]), np.array([0]), ts)[0])


def _first_leg(scope: Scope, other: int) -> int:
    source, begin = scope.of_leg("source"), scope.of_leg("begin_ns")
    first = [(log, begin[source == log].min()) for log in np.unique(source).tolist()]
    times = [int(scope.clock.to_session(log, np.array([ns]))[0]) for log, ns in first]
    return min(times, default=other)


def _ns_bits(count: int) -> int:
    """Return how many bits of a key hold the time in kernel if there are `count` intervals."""
    return KEY_BITS - count.bit_length()


def _ranks(keys: Int64s, count: int) -> list[Int64s]:
    """Return the percentiles PERCENTS of the times in kernel in each of `count` intervals.

    `keys` are keys of _Counts.  The keys consist of sorted blocks, which makes sorting fast.
    """
    keys = np.sort(keys, kind="stable")
    bits = _ns_bits(count)
    ns = keys & ((1 << bits) - 1)
    number = np.bincount(keys >> bits, minlength=count)
    begin = np.cumsum(number) - number
    found = []
    for percent in PERCENTS:
        at = begin + np.maximum(-(-number * percent // 100) - 1, 0)
        rank = np.full(count, UNKNOWN, np.int64)
        rank[number > 0] = ns[at[number > 0]]
        found.append(rank)
    return found
