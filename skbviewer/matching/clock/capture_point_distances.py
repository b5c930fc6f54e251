# SPDX-License-Identifier: MIT
"""Compute how far in time packets are from the points where a sniffer may have captured them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import ColumnTable
from ...records.types import INT64_MAX, Bools, Int64s
from ..arrays.hash_join import by_group, distinct, runs, spread
from ..legs.capture_points import SOCKET

Points = ColumnTable | npt.NDArray[np.void]  # POINT_DTYPE

FAR = np.int64(INT64_MAX)


class Place(NamedTuple):
    """A place where a capture may have been taken: device, direction and kind of point.

    `netns` and `ifindex` are the device (None: all devices).  `sends` is the direction (None:
    both).  `how` is the kind of point, a constant of capture_points.py.
    """

    netns: int | None
    ifindex: int
    sends: int | None
    how: int

    @property
    def at_socket(self) -> bool:
        """Return whether points at this place are calls of packet sockets."""
        return self.how == SOCKET

    def holds(self, points: Points | Mapping[str, npt.NDArray[Any]]) -> Bools:
        """Return for each of `points` whether it has this place's device, direction and kind."""
        here = points["how"] == self.how
        if self.netns is not None:
            here &= (points["netns"] == self.netns) & (points["ifindex"] == self.ifindex)
        if self.sends is not None:
            here &= points["sends"] == self.sends
        return np.asarray(here, np.bool_)


class Reach(NamedTuple):
    """For each pair (packet, series): its nearest point (-1: none), and the distance to it (ns)."""

    point: Int64s
    distance: Int64s


def points_of(owner: npt.NDArray[np.integer], series: Int64s) -> tuple[Int64s, Int64s]:
    """Return all points that belong to each of `series`: (index in `series`, index in `owner`)."""
    return spread(*runs(owner, series), np.arange(len(owner)))


def devices_of(rows: npt.NDArray[np.void]) -> list[tuple[int, int]]:
    """Return the distinct devices (netns, ifindex) of points or moments, sorted."""
    netns, ifindex = (np.ascontiguousarray(rows[name]) for name in ("netns", "ifindex"))
    first = distinct(netns, ifindex)
    return list(zip(netns[first].tolist(), ifindex[first].tolist(), strict=True))


def reach(
    at: Int64s, series: Int64s, points: ColumnTable, here: Bools, anywhere: Bools, blind: Bools
) -> Reach:
    """Return the nearest point of each pair, and the distance to it.

    By pair: `at` is the packet's time on the KBL's clock (ns), and `series` its lifetime.  Points
    that are `here` are preferred, except for pairs with the flag `anywhere`.  Packets with the flag
    `blind` are not IP packets, and are not paired with points of IP packets.
    """
    pair, point = _at_hand(series, points, here, anywhere, blind)
    known = points["how"][point] == SOCKET  # a packet socket's call, from entry to exit
    inside = np.where(known, points["before"][point] - points["ts"][point], 0)
    away = np.maximum(np.abs(at[pair] - points["ts"][point]) - inside, 0)
    order = by_group(pair, away)
    first = order[np.unique(pair[order], return_index=True)[1]]
    made = Reach(np.full(len(series), -1, np.int64), np.full(len(series), FAR))
    made.point[pair[first]], made.distance[pair[first]] = point[first], away[first]
    return made


def _at_hand(
    series: Int64s, points: ColumnTable, here: Bools, anywhere: Bools, blind: Bools
) -> tuple[Int64s, Int64s]:
    """Return pairs (index in `series`, point): for each series its points that are `here`.

    A series that has the flag `anywhere`, or has no point `here`, gets all its points.
    """
    pair, point = points_of(points.stored("series"), series)
    if blind.any():
        other = blind[pair] & points["ip"][point]
        pair, point = pair[~other], point[~other]
    chosen = here[point] | anywhere[pair]
    has = np.bincount(pair[chosen], minlength=len(series)) > 0
    chosen |= ~has[pair]
    return pair[chosen], point[chosen]
