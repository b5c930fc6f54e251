# SPDX-License-Identifier: MIT
"""Groups of packets whose tap moments depend on each other.

Two packets are in one group if they may have the same moment, if their moments may contradict their
order in the file, or if each is in one group with a third packet.
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
    """The moments of packet groups, sorted by group and begin; group g begins at place first[g].

    By moment: `of` is the place of the moment in this order.  By place: `begin` and `end` of the
    moment at this place.
    """

    of: Int64s
    first: Int64s
    begin: Int64s
    end: Int64s


def group_roots(tangle: Tangle, ordered: bool) -> Int64s:
    """Return for each packet the first packet of its group, which stands for the group.

    Packets that share moments are in one group.  With `ordered`, packets whose moments may
    contradict their order in the file are in one group, too.
    """
    root = np.arange(len(tangle.why))
    join_by_moment(tangle, np.full(len(tangle.begin), -1), root)
    if ordered:
        join_by_order(tangle, np.zeros(len(root), np.int64), np.zeros(len(root), np.int64), root)
    settle_roots(root)
    return root


def groups_of_several(root: Int64s, tangle: Tangle, known: Int64s | None = None) -> Groups:
    """Return the groups of several packets; root[p] is the packet that stands for p's group.

    Leaves out groups whose packets already form one group in `known`, an array like `root`.
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
    """Return for each packet whether it has a possible moment that the log surely has."""
    return np.asarray((tangle.why == EXACT) | (tangle.why == TOO_LARGE))


def moments_by_group(tangle: Tangle, groups: Groups) -> Places:
    """Return the moments that packets of `groups` may still have, sorted by group and begin."""
    group = np.full(len(tangle.begin), -1)
    groups_of(tangle, groups, group)
    moments = np.flatnonzero(group >= 0)
    moments = moments[by_group(group[moments], tangle.begin[moments])]
    of = np.full(len(group), -1)
    of[moments] = np.arange(len(moments))
    first = np.searchsorted(group[moments], np.arange(len(groups.first)))
    return Places(of, first, tangle.begin[moments], tangle.end[moments])
