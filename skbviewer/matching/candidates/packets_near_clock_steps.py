# SPDX-License-Identifier: MIT
"""Find packets whose converted times may be wrong because the capture's clock was set near them.

Input: the packets of one interface with their candidates; which packets identity alone decides
(anchors); and which packets were captured at no moment of a candidate (`against`).  Output: packets
whose times must not decide their match.

If packets look alike and the clock is set among them, most of them are still near some moment by
chance.  Only the packets that are near no moment show that the clock was set.  The clock may have
been set if some other clock places both the packet and its neighbour at moments of their
candidates.  A packet that no other clock explains does not belong to this recording.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...records import Packets
from ...records.types import Bools, Int64s
from ..clock.capture_point_distances import points_of
from ..clock.clock_fit import MAX_DRIFT_PPM, precision_of
from ..identity.identity_candidates import Candidates
from .time_window_candidates import near_in_time

if TYPE_CHECKING:
    from ..match_types import KernelSide

MAX_NEIGHBOUR_PAIRS = (
    500  # most pairs of neighbours that are tested; with more, the clock is doubted
)


def contradicted_by_clock(
    packets: Packets, kernel: KernelSide, found: Candidates, anchors: Bools, against: Bools
) -> Bools:
    """Return for each packet whether the capture's clock may have been set and set back near it.

    "Near" means between the last anchor before the packet and the first anchor after it.  `found`
    are the candidates of the packets.  `anchors` marks packets that identity alone decides, and
    that were captured at a moment of their lifetime.  `against` marks packets that have candidates,
    but were captured at no moment of a candidate.  All packets are in the order of the file.
    """
    stretch, doubts = np.cumsum(anchors), np.zeros(len(packets), np.bool_)
    open_ones = np.zeros(len(packets), np.bool_)
    open_ones[found.packet] = True
    open_ones &= ~anchors
    some = np.flatnonzero(open_ones)
    earlier, later = _neighbours(some, np.asarray(stretch, np.int64), against)
    if not len(earlier):
        return doubts
    set_there = _explained(packets, kernel, found, earlier, later)
    contradicted = np.zeros(int(stretch.max()) + 1, np.bool_)
    contradicted[stretch[later[set_there]]] = True
    return np.asarray(contradicted[stretch] & ~anchors)


def _neighbours(some: Int64s, stretch: Int64s, against: Bools) -> tuple[Int64s, Int64s]:
    """Return pairs of adjacent packets between the same anchors; at least one is `against`."""
    earlier, later = some[:-1], some[1:]
    asked = (stretch[earlier] == stretch[later]) & (against[earlier] | against[later])
    return earlier[asked], later[asked]


def _explained(
    packets: Packets, kernel: KernelSide, found: Candidates, earlier: Int64s, later: Int64s
) -> Bools:
    """Return for each pair of packets whether some clock puts both at moments of candidates.

    If there are too many pairs to test, the result is True for all.
    """
    made = np.ones(len(earlier), np.bool_)
    if len(earlier) > MAX_NEIGHBOUR_PAIRS:
        return made
    none = found.only(np.zeros(len(found.packet), np.bool_))
    asked = none._replace(many=np.union1d(earlier, later))
    lives = near_in_time(packets, kernel, asked, None)
    moments = kernel.moments
    pair, at = points_of(moments.stored("series"), lives.series)
    packet = lives.packet[pair]
    order = np.argsort(packet, kind="stable")
    packet, at = packet[order], at[order]
    too_many = np.isin(earlier, lives.many) | np.isin(later, lives.many)
    first = np.searchsorted(packet, np.stack([earlier, earlier + 1, later, later + 1]))
    after, before = (moments.part(name, at).astype(np.int64) for name in ("after", "before"))
    apart, off = _apart(packets, earlier, later)
    for n, (a, b, c, d) in enumerate(_rows(first)):
        longest = before[None, c:d] - after[a:b, None] >= apart[n] - off[n]
        shortest = after[None, c:d] - before[a:b, None] <= apart[n] + off[n]
        other = at[None, c:d] != at[a:b, None]
        made[n] = bool((longest & shortest & other).any())
    return np.asarray(made | too_many)


def _rows(first: Int64s) -> Iterator[tuple[int, int, int, int]]:
    yield from zip(*first.tolist(), strict=True)


def _apart(packets: Packets, earlier: Int64s, later: Int64s) -> tuple[Int64s, Int64s]:
    """Return the time between the two stamps of each pair, and its possible error, ns."""
    apart = packets["ts"][later] - packets["ts"][earlier]
    drifted = np.abs(apart) * MAX_DRIFT_PPM // 1_000_000
    return apart, drifted + 2 * precision_of(packets["ts"])
