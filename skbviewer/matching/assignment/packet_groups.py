# SPDX-License-Identifier: MIT
"""Groups of packets whose tap moments depend on each other.

Two packets are in one group if they may have the same moment, if they may have moments that
contradict their order in the file, or if both are in a group with a third one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Int64s
from ..arrays.hash_join import by_group
from .packet_group_loops import (
    EXACT,
    TOO_LARGE,
    Groups,
    Tangle,
    groups_of,
    join_by_moment,
    join_by_order,
    settle_roots,
)


class Places(NamedTuple):
    """The moments of groups, sorted by group and begin; those of group g start at index first[g].

    `of` is the place of each moment; `begin` and `end` are those of the moment at each place.
    """

    of: Int64s
    first: Int64s
    begin: Int64s
    end: Int64s


def group_roots(tangle: Tangle, ordered: bool) -> Int64s:
    """Return for each packet the first packet of its group.

    Packets that share moments are in one group.  If `ordered`, so are packets whose order in the
    file may be contradicted by their moments.
    """
    root = np.arange(len(tangle.why))
    join_by_moment(tangle, np.full(len(tangle.begin), -1), root)
    if ordered:
        join_by_order(tangle, np.zeros(len(root), np.int64), np.zeros(len(root), np.int64), root)
    settle_roots(root)
    return root


def groups_of_several(root: Int64s, tangle: Tangle, known: Int64s | None = None) -> Groups:
    """Return the groups that have several packets; `root` is the group of each packet.

    Groups whose packets are already one group in `known` are left out.
    """
    size = np.bincount(root, minlength=len(root))
    wanted = size > 1
    if known is not None:
        wanted = np.zeros(len(root), np.bool_)
        wanted[root[known != known[root]]] = True
    order = np.flatnonzero(wanted[root] & open_packets(tangle))
    order = order[np.argsort(root[order], kind="stable")]
    new = np.r_[True, root[order[1:]] != root[order[:-1]]][: len(order)]
    return Groups(order, np.r_[np.flatnonzero(new), len(order)])


def open_packets(tangle: Tangle) -> Bools:
    """Return for each packet whether the log must have its moment, and some moment is possible."""
    return np.asarray((tangle.why == EXACT) | (tangle.why == TOO_LARGE))


def moments_by_group(tangle: Tangle, groups: Groups) -> Places:
    """Return the moments that packets of `groups` may still have, group by group."""
    group = np.full(len(tangle.begin), -1)
    groups_of(tangle, groups, group)
    moments = np.flatnonzero(group >= 0)
    moments = moments[by_group(group[moments], tangle.begin[moments])]
    of = np.full(len(group), -1)
    of[moments] = np.arange(len(moments))
    first = np.searchsorted(group[moments], np.arange(len(groups.first)))
    return Places(of, first, tangle.begin[moments], tangle.end[moments])
