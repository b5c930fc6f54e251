# SPDX-License-Identifier: MIT
"""Candidates for packets whose key comes again so often that only time can choose among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..records import Packets
from .clock import ClockFit
from .identity import Candidates, Partly, full_keys, unique
from .keys import Hash, spread
from .kinds import Index
from .ladder import Known, climb
from .nearest import FAR
from .points import WIRE
from .weak import joined_hashes, joining_keys, meetings

if TYPE_CHECKING:
    from .matcher import Sightable

BESIDE = 4  # lives looked at on either side: those farther cannot be the nearest


def near_in_time(
    packets: Packets, kernel: Sightable, found: Candidates, clock: ClockFit | None
) -> Candidates:
    """`found` with pairs of its `many` packets; without a clock with any few of them."""
    if not len(found.many):
        return found
    wire, prints, seen = found.many, kernel.prints, _seen(kernel)
    at = packets["ts"][wire] if clock is None else clock.to_kernel(packets["ts"][wire], wire)
    asked, known = Known(packets, wire), prints.known()
    weak, shown = joining_keys(asked)[1], joining_keys(known)[1]
    frame, row = _among_lives(full_keys(asked), full_keys(known), prints.series, at, seen)
    frames, rows = [frame], [row]
    for met in meetings(asked, weak, known, shown, prints.series):
        hashes = joined_hashes(asked, known, met)
        mine = prints.series[met.prints]
        frame, row = _among_lives(*hashes, mine, at[met.packets], seen)
        frames.append(met.packets[frame])
        rows.append(met.prints[row])
    frame, row = np.concatenate(frames), np.concatenate(rows)
    packet, start = wire[frame], np.zeros(len(frame), np.int8)
    packet, row, rung = climb(packets, prints, packet, row, start)
    more = unique(
        packets, prints, packet, row, rung, Partly.of(asked, weak, known, shown), wire[:0]
    )
    return found.and_also(more)


def _among_lives(
    asked: Hash, hashes: Hash, series: Index, at: Index, seen: Index
) -> tuple[Index, Index]:
    """Pairs of equal hashes, of those only with the lives nearest in time; `series` is by hash."""
    keys, group = np.unique(asked, return_inverse=True)
    place = np.clip(np.searchsorted(keys, hashes), 0, len(keys) - 1)
    mine = np.flatnonzero(keys[place] == hashes)
    mine = mine[np.lexsort((series[mine], place[mine]))]
    lives = np.ones(len(mine), np.bool_)  # the first print of each life
    lives[1:] = (place[mine][1:] != place[mine][:-1]) | (series[mine][1:] != series[mine][:-1])
    first = np.flatnonzero(lives)
    frame, life = _beside(group.reshape(-1), at, place[mine[first]], seen[series[mine[first]]])
    size = np.diff(np.append(first, len(mine)))
    pair, shown = spread(first[life], size[life], mine)
    return frame[pair], shown


def _seen(kernel: Sightable) -> Index:
    """When each series came to its first device, ns; FAR for one without a leg."""
    points = kernel.points.only_rows(kernel.points["how"] == WIRE)
    seen = np.full(len(kernel.series.parent), FAR)
    np.minimum.at(seen, points["series"], points["ts"])
    return seen


def _beside(group: Index, at: Index, place: Index, ts: Index) -> tuple[Index, Index]:
    """Pairs within the groups: each time with the BESIDE lives before and after it."""
    order = np.lexsort((ts, place))
    both_group, both_ts = np.concatenate([place, group]), np.concatenate([ts, at])
    asks = np.arange(len(both_ts)) >= len(place)
    ranked = np.lexsort((asks, both_ts, both_group))
    before = np.cumsum(~asks[ranked])
    middle = np.zeros(len(both_ts), np.int64)
    middle[ranked] = before
    middle = middle[len(place) :]
    sizes = np.bincount(place, minlength=int(group.max(initial=0)) + 1)
    end = np.cumsum(sizes)
    low = np.maximum(middle - BESIDE, (end - sizes)[group])
    high = np.minimum(middle + BESIDE, end[group])
    return spread(low, np.maximum(high - low, 0), order)
