# SPDX-License-Identifier: MIT
"""Candidates for packets whose key comes again so often that only time can choose among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..records import Packets
from .clock import ClockFit
from .identity import Candidates, full_keys, is_strong
from .keys import distinct, spread
from .kinds import Index
from .ladder import Known, climb
from .nearest import FAR
from .points import WIRE

if TYPE_CHECKING:
    from .matcher import Sightable

BESIDE = 4  # lives looked at on either side: those farther cannot be the nearest


def near_in_time(
    packets: Packets, kernel: Sightable, found: Candidates, clock: ClockFit | None
) -> Candidates:
    """`found` with pairs of its `many` packets; without a clock with any few of them."""
    if not len(found.many):
        return found
    wire, prints = found.many, kernel.prints
    at = packets["ts"][wire] if clock is None else clock.to_kernel(packets["ts"][wire], wire)
    keys, group = np.unique(full_keys(Known(packets, wire)), return_inverse=True)
    asked = full_keys(prints.known())
    place = np.clip(np.searchsorted(keys, asked), 0, len(keys) - 1)
    mine = np.flatnonzero(keys[place] == asked)
    mine = mine[np.lexsort((prints.series[mine], place[mine]))]
    lives = np.ones(len(mine), np.bool_)  # the first print of each life
    lives[1:] = (place[mine][1:] != place[mine][:-1]) | (
        prints.series[mine][1:] != prints.series[mine][:-1]
    )
    first = np.flatnonzero(lives)
    seen = _seen(kernel)[prints.series[mine[first]]]
    frame, life = _beside(group.reshape(-1), at, place[mine[first]], seen)
    size = np.diff(np.append(first, len(mine)))
    pair, shown = spread(first[life], size[life], mine)
    packet = wire[frame[pair]]
    start = np.zeros(len(packet), np.int8)
    packet, shown, rung = climb(packets, prints, packet, shown, start)
    pairs = distinct(packet, prints.series[shown])
    packet, series = packet[pairs], prints.series[shown[pairs]]
    return Candidates(
        np.concatenate([found.packet, packet]),
        np.concatenate([found.series, series]),
        np.concatenate([found.rung, rung[pairs]]),
        np.concatenate([found.strong, is_strong(packets, packet)]),
        wire,
    )


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
