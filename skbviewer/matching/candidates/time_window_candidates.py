# SPDX-License-Identifier: MIT
"""Find candidates for packets whose header values are so frequent that only time can choose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...records import Packets
from ...records.types import Int64s
from ..arrays.hash_join import spread
from ..arrays.hash_join_loops import Hash
from ..clock.capture_point_distances import FAR
from ..clock.clock_fit import ClockFit, precision_of
from ..identity.identity_candidates import Candidates, Partly, full_keys, unique
from ..identity.identity_columns import Known
from ..identity.identity_ladder import climb
from ..identity.packets_without_ip_id import Unnumbered, joined_hashes, joining_keys, meetings
from .repeated_identities import far
from .same_traffic import is_local

if TYPE_CHECKING:
    from ..match_types import KernelSide

MAX_LIFETIMES = (
    256  # most lifetimes of one packet at its time; with more, the clock decides nothing
)


def near_in_time(
    packets: Packets, kernel: KernelSide, found: Candidates, clock: ClockFit | None
) -> Candidates:
    """Return `found` and, for its `many` packets, further pairs that the clock allows.

    If the clock allows no pair of a packet, the packet gets some pairs at other times.  Without a
    clock, or with too many pairs, a packet gets some of its pairs and stays in `many`.
    """
    if not len(found.many):
        return found
    wire, prints, seen = found.many, kernel.prints, _seen(kernel)
    at, error = packets["ts"][wire], np.full(len(wire), FAR // 4)
    if clock is not None:
        precision = precision_of(packets["ts"])
        error = clock.error(at, wire) + precision
        local = is_local(clock, precision)[clock.segment_of(wire)]
        error = np.where(local, error, far(error))
        at = clock.to_kernel(at, wire)
    asked, known = Known(packets, wire), prints.known()
    unnumbered, shown = joining_keys(asked)[1], joining_keys(known)[1]
    when = _When(at, error)
    frames, rows, left = [], [], [found.many[:0]]
    for hashes, mine, theirs in _joins(asked, unnumbered, known, shown, prints.series):
        frame, row, more = _among_lives(*hashes, prints.series[theirs], when.selected(mine), seen)
        frames.append(mine[frame])
        rows.append(theirs[row])
        left.append(wire[mine[more]])
    frame, row = np.concatenate(frames), np.concatenate(rows)
    packet, start = wire[frame], np.zeros(len(frame), np.int8)
    packet, row, rung = climb(packets, prints, packet, row, start)
    partly = Partly.of(asked, unnumbered, known, shown)
    added = unique(packets, prints, packet, row, rung, partly, wire[:0])
    return found._replace(many=np.unique(np.concatenate(left))).and_also(added)


class _When(NamedTuple):
    """Times of packets on the log's clock (`at`) and their possible errors (`error`), ns."""

    at: Int64s
    error: Int64s

    def selected(self, some: Int64s) -> _When:
        """Return the times and errors of the packets `some` (row numbers)."""
        return _When(self.at[some], self.error[some])


def _joins(
    asked: Known, unnumbered: Unnumbered, known: Known, shown: Unnumbered, series: Int64s
) -> Iterator[tuple[tuple[Hash, Hash], Int64s, Int64s]]:
    """Yield hashes of packets and of footprints, and their row numbers; equal hashes make a pair.

    The first hashes are made from all fields.  Further hashes are for packets and footprints that
    lack a field, and are made from the fields that both have.
    """
    every, prints = np.arange(len(asked.at)), np.arange(len(known.at))
    yield (full_keys(asked), full_keys(known)), every, prints
    for met in meetings(asked, unnumbered, known, shown, series):
        yield joined_hashes(asked, known, met), met.packets, met.prints


def _among_lives(
    asked: Hash, hashes: Hash, series: Int64s, when: _When, seen: _Seen
) -> tuple[Int64s, Int64s, Int64s]:
    """Return pairs of a packet and a footprint with equal hashes and overlapping times.

    The third array holds the packets that have too many pairs.  `series` is the series of each
    footprint hash in `hashes`.
    """
    keys, group = np.unique(asked, return_inverse=True)
    place = np.clip(np.searchsorted(keys, hashes), 0, len(keys) - 1)
    mine = np.flatnonzero(keys[place] == hashes)
    mine = mine[np.lexsort((series[mine], place[mine]))]
    lives = np.ones(len(mine), np.bool_)  # True for the first print of each lifetime
    lives[1:] = (place[mine][1:] != place[mine][:-1]) | (series[mine][1:] != series[mine][:-1])
    first = np.flatnonzero(lives)
    size = np.diff(np.append(first, len(mine)))
    owner = series[mine[first]]
    frame, life, more = _of_the_time(
        group.reshape(-1), when, place[mine[first]], seen.after[owner], seen.before[owner]
    )
    pair, shown = spread(first[life], size[life], mine)
    return frame[pair], shown, more


class _Seen(NamedTuple):
    """For each series, the earliest and the latest time (ns) at which it may have been captured.

    For a series without a moment, `after` is later than `before`.
    """

    after: Int64s
    before: Int64s


def _seen(kernel: KernelSide) -> _Seen:
    moments, count = kernel.moments, len(kernel.series.parent)
    after, before = np.full(count, FAR), np.full(count, -FAR)
    np.minimum.at(after, moments["series"], moments["after"])
    np.maximum.at(before, moments["series"], moments["before"])
    return _Seen(after, before)


def _of_the_time(
    group: Int64s, when: _When, place: Int64s, after: Int64s, before: Int64s
) -> tuple[Int64s, Int64s, Int64s]:
    """Return pairs of a packet and a lifetime that have the same group and overlap in time.

    A packet gets at most MAX_LIFETIMES pairs; the third array holds the packets that have more.  By
    packet: `group` is the number of its group of equal hashes, `when` its time.  By lifetime:
    `place` is the number of its group, `after` and `before` are the ends of its time.  If a packet
    overlaps no lifetime of its group, the packet gets the MAX_LIFETIMES nearest lifetimes, because
    the log may have the packet at another time.
    """
    order, count = np.lexsort((after, place)), len(place) + 1
    first, end = (np.searchsorted(place[order], group, side) for side in ("left", "right"))
    after, before, base = after[order], before[order], place[order] * count
    ends = np.maximum.accumulate(base + np.searchsorted(np.sort(before), before))
    low = group * count + np.searchsorted(np.sort(before), when.at - when.error)
    high = group * count + np.searchsorted(np.sort(after), when.at + when.error, "right")
    begin = np.searchsorted(ends, low)
    begins = base + np.searchsorted(np.sort(after), after)
    number = np.maximum(np.searchsorted(begins, high) - begin, 0)
    more = np.flatnonzero(number > MAX_LIFETIMES)
    nearest = np.maximum(np.minimum(begin - MAX_LIFETIMES // 2, end - MAX_LIFETIMES), first)
    begin = np.where(number == 0, nearest, begin)
    number = np.where(number == 0, end - first, number)
    packet, life = spread(begin, np.minimum(number, MAX_LIFETIMES), order)
    return packet, life, more
