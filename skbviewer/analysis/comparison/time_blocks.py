# SPDX-License-Identifier: MIT
"""Divide a recording into blocks of time and groups of flows; calls in a block may be alike.

A call resembles the next one, because both use the same caches, queues, and clock rate of the CPU.
So calls are not an independent sample.  Two periods of time are nearly independent of each other if
they are much longer than the time over which calls depend on each other.  Blocks have equal numbers
of legs rather than equal durations; otherwise, pauses in the traffic would leave most blocks empty.

Packets of one flow are alike, too: all packets of a connection may take the same path.  But another
recording of the same set-up has other flows, which may take other paths.  So flows are divided into
random groups, which are independent of each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Int32s, Int64s, UInt64s
from ..stats import Scope
from ..stats.leg_stages import sniffed_legs

WINDOWS = 16  # stretches that do not overlap, from which errors are estimated
LONGEST = 8  # blocks of a stretch, if there are enough legs
LEGS = 4  # the fewest legs of a block
GROUPS = 64
GROUP_BITS = 8  # blocks are fewer than 1 << GROUP_BITS
BLOCK = (1 << GROUP_BITS) - 1
SAMPLE = 1 << 20  # legs from which the times between blocks are taken


class Blocks(NamedTuple):
    """The blocks of time and groups of flows to which the legs of a session belong.

    `of_leg` is block + (group << GROUP_BITS) for each leg, or -1 if the leg is not used.  There are
    `number` blocks, in the order of session time; 0 means that there were too few legs.  A window
    consists of `longest` neighbouring blocks.  Arrays of sums have a row for each block (at least
    one), then a row for each of GROUPS groups of flows.
    """

    of_leg: Int32s
    number: int
    longest: int

    @property
    def first_group(self) -> int:
        """Return the row at which groups of flows begin in arrays of sums."""
        return max(self.number, 1)

    @property
    def rows(self) -> int:
        """Return the number of rows of arrays of sums."""
        return self.first_group + GROUPS


def time_blocks(scope: Scope) -> Blocks:
    """Return the blocks of the chosen legs: WINDOWS windows of 1 to LONGEST blocks each.

    Copies for sniffers belong to blocks, but do not influence where blocks begin.
    """
    chosen = np.flatnonzero(scope.legs)
    own = ~sniffed_legs(scope, chosen)
    longest = LONGEST
    while longest and np.count_nonzero(own) < WINDOWS * longest * LEGS:
        longest //= 2
    of_leg = np.full(len(scope.legs), -1, np.int32)
    group = flow_groups(scope, chosen) << GROUP_BITS
    if not longest:
        of_leg[chosen] = group
        return Blocks(of_leg, 0, 0)
    begin = _session_begin(scope, chosen)
    number = WINDOWS * longest
    known = begin[own]
    known = np.sort(known[:: -(-len(known) // SAMPLE)])
    edges = known[np.arange(1, number) * len(known) // number]
    of_leg[chosen] = np.searchsorted(edges, begin, "right") + group
    return Blocks(of_leg, number, longest)


def flow_groups(scope: Scope, legs: Int64s) -> Int64s:
    """Return a group for the flow of each of `legs`: a hash of addresses, ports and protocol.

    Both directions of a flow are in one group.
    """
    series = scope.of_leg("series")[legs] - 1

    def column(name: str) -> UInt64s:
        return np.asarray(scope.columns.array("series", name))[series].astype(np.uint64)

    ends = [
        _mixed(_mixed(_mixed(column(f"{side}addr_hi")) + column(f"{side}addr_lo")) + column(port))
        for side, port in (("s", "sport"), ("d", "dport"))
    ]
    whole = _mixed(ends[0] + ends[1] + column("protocol"))
    return (whole >> np.uint64(64 - 6)).astype(np.int64)  # GROUPS = 1 << 6


def _mixed(value: UInt64s) -> UInt64s:
    """Return a hash of each value: the finalizer of splitmix64 (Steele, Lea & Flood 2014)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(value ^ (value >> np.uint64(31)))


def _session_begin(scope: Scope, chosen: Int64s) -> Int64s:
    """Return the start of each chosen leg in session time."""
    source, begin = scope.of_leg("source")[chosen], scope.of_leg("begin_ns")[chosen]
    for one in np.flatnonzero(np.bincount(source)).tolist():
        mine = source == one
        begin[mine] = scope.clock.to_session(one, begin[mine])
    return begin
