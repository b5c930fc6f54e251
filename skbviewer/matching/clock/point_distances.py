# SPDX-License-Identifier: MIT
"""Distances in time between packets and the points where a sniffer could have seen their lives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import ColumnTable
from ...records.types import INT64_MAX, Bools, Int64s
from ..arrays.hash_join import runs, spread
from ..legs.capture_points import SOCKET

Points = ColumnTable | npt.NDArray[np.void]  # POINT_DTYPE

FAR = np.int64(INT64_MAX)


class Place(NamedTuple):
    """Where a capture was taken: the device (None: everywhere), which way packets went (None: both
    ways), and by which `how` of capture_points.py the time is known."""

    netns: int | None
    ifindex: int
    sends: int | None
    how: int

    @property
    def at_socket(self) -> bool:
        """Whether a packet socket's calls say when."""
        return self.how == SOCKET

    def holds(self, points: Points) -> Bools:
        """Which points are at this place."""
        here = points["how"] == self.how
        if self.netns is not None:
            here &= (points["netns"] == self.netns) & (points["ifindex"] == self.ifindex)
        if self.sends is not None:
            here &= points["sends"] == self.sends
        return np.asarray(here, np.bool_)


class Reach(NamedTuple):
    """Per pair (packet, series): its nearest point (-1: none), how far it is (ns)."""

    point: Int64s
    distance: Int64s


def points_of(owner: npt.NDArray[np.integer], series: Int64s) -> tuple[Int64s, Int64s]:
    """For each entry of `series` all its points: (position in `series`, place in `owner`)."""
    return spread(*runs(owner, series), np.arange(len(owner)))


def reach(
    at: Int64s, series: Int64s, points: ColumnTable, here: Bools, anywhere: Bools, blind: Bools
) -> Reach:
    """The nearest point of each pair; `at` is its packet's time on the KBL's clock.

    Points that are `here` are preferred, but for pairs that may be `anywhere`.  Those whose packet
    is no IP packet (`blind`) were not at the points of one.
    """
    pair, point = _at_hand(series, points, here, anywhere, blind)
    known = points["how"][point] == SOCKET  # from its entry to its exit
    inside = np.where(known, points["before"][point] - points["ts"][point], 0)
    away = np.maximum(np.abs(at[pair] - points["ts"][point]) - inside, 0)
    order = np.lexsort((away, pair))
    first = order[np.unique(pair[order], return_index=True)[1]]
    made = Reach(np.full(len(series), -1, np.int64), np.full(len(series), FAR))
    made.point[pair[first]], made.distance[pair[first]] = point[first], away[first]
    return made


def _at_hand(
    series: Int64s, points: ColumnTable, here: Bools, anywhere: Bools, blind: Bools
) -> tuple[Int64s, Int64s]:
    """(position in `series`, point) for all points that are `here`, or where that does not matter.

    All of those whose series has none such.
    """
    pair, point = points_of(points.stored("series"), series)
    if blind.any():
        other = blind[pair] & points["ip"][point]
        pair, point = pair[~other], point[~other]
    chosen = here[point] | anywhere[pair]
    has = np.bincount(pair[chosen], minlength=len(series)) > 0
    chosen |= ~has[pair]
    return pair[chosen], point[chosen]
