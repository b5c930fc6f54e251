# SPDX-License-Identifier: MIT
"""Cut a recording into blocks of time, within which calls may depend on each other.

A call says something about the next one: they share caches, queues, the clock rate of a CPU.  So
calls are no independent sample, but stretches of time that are much longer than this dependence
nearly are.  The blocks have equal numbers of legs instead of equal lengths, so that pauses of the
traffic do not leave most of them empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Int32s, Int64s
from ..stats import Scope

WINDOWS = 16  # stretches that do not overlap: what errors are estimated from
LONGEST = 8  # blocks of a stretch, if there are enough legs
LEGS = 4  # the fewest legs of a block
SAMPLE = 1 << 20  # legs from which the times between blocks are taken


class Blocks(NamedTuple):
    """`of_leg` is the block (from 0) of each leg of the session, -1 for legs that do not count.

    There are `number` blocks in the order of session time; 0 = too few legs for any.  A window is
    `longest` neighbouring blocks.
    """

    of_leg: Int32s
    number: int
    longest: int


def time_blocks(scope: Scope) -> Blocks:
    """Return the blocks of the chosen legs: WINDOWS windows of 1 to LONGEST blocks each."""
    chosen = np.flatnonzero(scope.legs)
    longest = LONGEST
    while longest and len(chosen) < WINDOWS * longest * LEGS:
        longest //= 2
    of_leg = np.full(len(scope.legs), -1, np.int32)
    if not longest:
        of_leg[chosen] = 0
        return Blocks(of_leg, 0, 0)
    begin = _session_begin(scope, chosen)
    number = WINDOWS * longest
    known = np.sort(begin[:: -(-len(begin) // SAMPLE)])
    edges = known[np.arange(1, number) * len(known) // number]
    of_leg[chosen] = np.searchsorted(edges, begin, "right")
    return Blocks(of_leg, number, longest)


def _session_begin(scope: Scope, chosen: Int64s) -> Int64s:
    """Return when each chosen leg begins, session time."""
    source, begin = scope.of_leg("source")[chosen], scope.of_leg("begin_ns")[chosen]
    for one in np.flatnonzero(np.bincount(source)).tolist():
        mine = source == one
        begin[mine] = scope.clock.to_session(one, begin[mine])
    return begin
