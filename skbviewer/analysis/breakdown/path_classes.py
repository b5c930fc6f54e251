# SPDX-License-Identifier: MIT
"""Path classes: packets that took the same path through the kernel (path_class_rule.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...records.types import Bools, Int64s
from ...store.lazy_column import LazyColumn
from ...store.whole_columns import Array
from ..parallel_blocks import each_made
from ..timeline.row_stacking import ranks
from .grouped_sorting import by_group
from .leg_columns import legs_of_units
from .path_class_loops import find_members, number_paths, number_values
from .timed_packets import Units

if TYPE_CHECKING:
    from ..scope import Scope

TABLE = 1 << 16  # slots of the first hash table
BLOCK = 1 << 18  # packets whose legs are read together
SMALL_CLASS = 8  # packets; a smaller class is compared with packets of the same layers


class PathClasses(NamedTuple):
    """The path classes of packets: class 0 has the most packets.

    Each packet is compared with a set of packets; `peers` has the number of each packet's set.  The
    set is the packet's class or, if the class has fewer than SMALL_CLASS packets, all packets with
    the same directions and layers.  `median` is, for each set, the packet with the median time in
    kernel (of two middle packets, the quicker one).  `size` is the number of packets in each set.
    `path` is the number of each class's path (see path_class_rule); equal paths have equal numbers
    in all recordings.  The arrays that have an element for each packet may have any integer type.
    """

    number: Array | LazyColumn  # by packet
    sizes: Int64s  # by class
    path: Int64s  # by class
    peers: Array | LazyColumn  # by packet
    size: Int64s  # by peers
    median: Int64s  # by peers: a packet, as an index of Units

    @property
    def comparable(self) -> Bools:
        """Return for each packet whether it has enough `peers` for a comparison."""
        return self.are_comparable(slice(None))

    def are_comparable(self, rows: Int64s | slice) -> Bools:
        """Return for each of the packets `rows` whether it has enough `peers` for a comparison."""
        return np.asarray((self.size >= SMALL_CLASS)[self.peers[rows]])


def path_classes(scope: Scope, units: Units) -> PathClasses:
    """Return the path class of each packet in `units`.  Raises Cancelled.

    If a class has fewer than SMALL_CLASS packets, they are compared with all packets that have the
    same layers.
    """
    path, of_layers = packet_paths(scope, units)
    fine, sizes = _ranked(path)
    coarse, wide = _ranked(of_layers)
    of_class = np.zeros(len(sizes), np.int64)
    of_class[fine] = path
    own = sizes[fine] >= SMALL_CLASS
    peers = np.where(own, fine, len(sizes) + coarse)
    used, peers = ranks(peers)
    # A wider class has all packets of these layers, also those with a class of their own.
    size = np.r_[sizes, wide][used]
    median = _medians(used, fine, len(sizes) + coarse, np.asarray(units.kernel_ns))
    by_packet = fine.astype(np.int32), peers.astype(np.int32)
    return PathClasses(by_packet[0], sizes, of_class, by_packet[1], size, median)


def packet_paths(scope: Scope, units: Units) -> tuple[Int64s, Int64s]:
    """Return two int64 numbers for each packet in `units`: one for its path, one for its layers.

    The number for the layers depends only on the legs' directions and layers: see
    path_class_rule.py.
    Raises Cancelled.
    """

    def numbers(rows: Int64s) -> Int64s:
        of, at, legs = legs_of_units(scope, units, rows)
        scratch = np.full(len(legs.layer), -1, np.int64), np.full(128, -1, np.int64)
        made = np.zeros((2, len(rows)), np.int64)
        number_paths(at, of, legs, *scratch, made)
        return made

    count, found = len(units.id), [np.zeros((2, 0), np.int64)]
    blocks = (np.arange(at, min(at + BLOCK, count)) for at in range(0, count, BLOCK))
    for made in each_made(numbers, blocks):
        scope.progress.report("Counting", BLOCK * len(found), count)
        found.append(made)
    path, layers = np.concatenate(found, axis=1)
    return path, layers


def _ranked(value: Int64s) -> tuple[Int64s, Int64s]:
    """Number the distinct values, the most frequent first; return the numbers, and counts."""
    number, size = np.empty(len(value), np.int64), TABLE
    while number_values(value, *_table(size), number) < 0:
        size *= 8
    count = np.bincount(number)
    order = np.argsort(-count, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place[number], np.asarray(count[order], np.int64)


def _table(size: int) -> tuple[Int64s, Int64s]:
    """Return an empty hash table for number_values()."""
    return np.zeros(size, np.int64), np.full(size, -1, np.int64)


def _medians(used: Int64s, fine: Int64s, coarse: Int64s, ns: Int64s) -> Int64s:
    """Return for each class in `used` the packet with the median time in kernel."""
    found = np.zeros(len(used), np.int64)
    if not len(used):
        return found
    is_fine = used <= int(fine.max())
    for number, mine in ((fine, is_fine), (coarse, ~is_fine)):
        if mine.any():
            found[mine] = _median_packets(number, ns, int(used[mine].max()) + 1)[used[mine]]
    return found


def _median_packets(number: Int64s, ns: Int64s, classes: int) -> Int64s:
    """Return for each class the index of the packet whose time (`ns`) is the median.

    If several packets have the median time, the middle one of them is returned.
    """
    some = np.flatnonzero(number < classes)
    group, ns = number[some], ns[some]
    values = by_group(group, ns, classes)
    middle = [(len(one) - 1) // 2 for one in values]
    median = [one[at] if len(one) else 0 for one, at in zip(values, middle, strict=True)]
    wanted = np.array(median, np.int64)
    before = [np.searchsorted(one, each) for one, each in zip(values, median, strict=True)]
    rank = np.array(middle, np.int64) - np.array(before, np.int64)
    found = np.zeros(classes, np.int64)
    find_members(group, ns, wanted, rank, found)
    return some[found] if len(some) else found
