# SPDX-License-Identifier: MIT
"""Find the median packet of each path, and its quickest and slowest packets, in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...records.compiled import compiled
from ...records.types import Bools, Int64s
from ..breakdown.group_percentiles import Ranked
from ..breakdown.path_class_loops import find_members

EXAMPLES = 5  # slowest packets that are listed
NONE = -1


class Members(NamedTuple):
    """Packets of each group, as indices of the arrays that were passed to members_of().

    If several packets have the same time, the middle one is the median, and the first one is the
    quickest.
    """

    median: Int64s
    quickest: Int64s
    slow: Int64s  # [group, EXAMPLES], the slowest first; NONE = there are fewer

    def slowest(self, group: int) -> Int64s:
        """Return the indices of the slowest captured packets in a group, the slowest first.

        If several packets have the same time, the last one comes first.
        """
        mine = self.slow[group]
        return np.asarray(mine[mine != NONE], np.int64)


def members_of(group: Int64s, ns: Int64s, captured: Bools, found: Sequence[Ranked]) -> Members:
    """Return median, quickest and slowest packets; `ns` are the packets' times, at least 0.

    `found` has a result for each group, whose first value is the median time.  `captured` says for
    each packet whether it is in a capture.  Each group must have at least one packet.
    """
    size = len(found)
    wanted = np.array([one.at[0] for one in found], np.int64)
    less = np.zeros(size, np.int64)
    quickest, slow = np.full(size, NONE, np.int64), np.full((size, EXAMPLES), NONE, np.int64)
    ns = np.ascontiguousarray(ns)
    find_extremes(group, ns, captured, wanted, less, quickest, slow)
    rank = np.array([(one.number - 1) // 2 for one in found], np.int64) - less
    median = np.zeros(size, np.int64)
    find_members(group, ns, wanted, rank, median)
    return Members(median, quickest, slow)


@compiled
def find_extremes(
    group: Int64s, ns: Int64s, captured: Bools, median: Int64s, less: Int64s, quickest: Int64s,
    slow: Int64s,
) -> None:  # fmt: skip
    """Find the quickest packet, and the slowest captured packets, of each group.

    `quickest` and `slow` must be filled with NONE. less[g] becomes the number of packets in group g
    whose time is less than median[g].
    """
    last = slow.shape[1] - 1
    for i in range(len(group)):
        of = group[i]
        less[of] += ns[i] < median[of]
        if quickest[of] < 0 or ns[i] < ns[quickest[of]]:
            quickest[of] = i
        if not captured[i] or (slow[of, last] >= 0 and ns[i] < ns[slow[of, last]]):
            continue
        at = last
        while at > 0 and (slow[of, at - 1] < 0 or ns[slow[of, at - 1]] <= ns[i]):
            slow[of, at] = slow[of, at - 1]
            at -= 1
        slow[of, at] = i
