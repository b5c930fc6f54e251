# SPDX-License-Identifier: MIT
"""Path classes: packets that took the same path through the kernel (path_rule.py)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Int64s
from .class_loops import number_paths
from .leg_columns import LegColumns
from .units import Units

FEW = 8  # a class of fewer packets is compared with packets of the same layers


class PathClasses(NamedTuple):
    """The class of each packet, numbered from 0, most frequent first.

    `peers` is the class with which the packet is compared: its own or, if that has fewer than FEW
    packets, all packets with the same directions and layers.  `median` is, by peers, the packet
    whose time in kernel is the median (of an even number, the lower one).  `size` is by peers.
    `path` is the number of the path (see path_rule), which names the class in all recordings.
    """

    number: Int64s  # by packet
    sizes: Int64s  # by class
    path: Int64s  # by class
    peers: Int64s  # by packet
    size: Int64s  # by peers
    median: Int64s  # by peers: a packet, as an index of Units

    @property
    def comparable(self) -> Bools:
        """Return for each packet whether there are enough others to compare it with."""
        return np.asarray(self.size[self.peers] >= FEW)


def path_classes(units: Units, legs: LegColumns) -> PathClasses:
    """Return the path class of each packet."""
    path, of_layers = packet_paths(units, legs)
    fine, sizes = _ranked(path)
    coarse, wide = _ranked(of_layers)
    of_class = np.zeros(len(sizes), np.int64)
    of_class[fine] = path
    own = sizes[fine] >= FEW
    peers = np.where(own, fine, len(sizes) + coarse)
    used, peers = np.unique(peers, return_inverse=True)
    peers = np.asarray(peers.reshape(-1), np.int64)
    # A wider class has all packets of these layers, also those with a class of their own.
    size = np.r_[sizes, wide][used]
    order = np.lexsort((np.arange(len(peers)), units.kernel_ns))
    median = _medians(used, fine, len(sizes) + coarse, order)
    return PathClasses(fine, sizes, of_class, peers, size, median)


def packet_paths(units: Units, legs: LegColumns) -> tuple[Int64s, Int64s]:
    """Return the number of each packet's path (see path_rule), and of its directions and layers."""
    made = np.zeros((2, len(units.id)), np.int64)
    seen = np.full(len(legs.layer), -1, np.int64)
    number_paths(units.at, units.legs, legs, seen, np.full(128, -1, np.int64), made)
    return made[0], made[1]


def _ranked(value: Int64s) -> tuple[Int64s, Int64s]:
    """Number equal values, the most frequent first; also return how often each number occurs."""
    _, first, which, count = np.unique(
        value, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -count))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place[which.reshape(-1)], np.asarray(count[order], np.int64)


def _medians(used: Int64s, fine: Int64s, coarse: Int64s, order: Int64s) -> Int64s:
    """Return for each class in use its packet with the median time; `order` is by time."""
    found = np.zeros(len(used), np.int64)
    for number in (fine, coarse):
        by_class = order[np.argsort(number[order], kind="stable")]
        values = number[by_class]
        low, high = np.searchsorted(values, used), np.searchsorted(values, used, "right")
        mine = high > low
        found[mine] = by_class[(low + (high - low - 1) // 2)[mine]]
    return found
