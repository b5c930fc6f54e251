# SPDX-License-Identifier: MIT
"""Find for each packet the lifetime that it has in every consistent assignment to tap moments.

Input: packets of one interface of one capture in the order of its file, tap moments, and the pairs
whose identities do not contradict each other.  Output: for each packet, the lifetime that all
consistent assignments give it, or the reason why there is none.

In a consistent assignment, each packet has a moment with which it is paired, within the clock's
error.  If the log may lack the moment of a packet, an assignment may leave the packet without a
moment.  No two packets have the same moment.  The moment of a packet never ends before the moment
of an earlier packet in the file begins.

If the log may lack a packet's moment, the packet is never exact, and takes no moment from other
packets: a consistent assignment can always leave this packet out.  The other packets form groups.
Two packets are in one group if they share moments, or if their moments may contradict their order
in the file.  A group of packets that has no consistent assignment decides nothing.  In every other
group of packets, overlapping moments form clusters.  Each packet has a moment between the earliest
and the latest cluster that its place in the file allows.  If no moments of a packet group overlap,
each moment between these clusters is possible, and the group is decided.  If moments overlap, all
assignments are followed packet by packet (`consistent_assignments.py`).  If this search exceeds its
limits, some impossible assignments count as possible, but no possible one counts as impossible.  A
packet is therefore exact only if it has the same lifetime in every assignment.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.compiled import allocation_free
from ...records.types import Bools, Int8s, Int64s
from .assignment_loops import Limits, Scratch
from .consistent_assignments import follow
from .packet_group_loops import (
    CROWDED,
    EXACT,
    LACKING,
    NONE_IN_TIME,
    SEVERAL,
    TOO_LARGE,
    Groups,
    Tangle,
)
from .packet_groups import group_roots, groups_of_several, moments_by_group
from .tap_moment_bounds import narrow


class Problem(NamedTuple):
    """A file's packets in order, tap moments, and the possible pairs; times below 2**61 ns.

    By packet: its stamp is `at` on the log's clock, with an error of at most `error`; `may_lack` is
    True if the log may lack its moment.  By moment: `life` is its lifetime; a packet with this
    moment was stamped between `after` and `before`; the moment's call lasted from `begin` to `end`.
    The pairs `packet` and `moment` are sorted by packet.
    """

    at: Int64s
    error: Int64s
    may_lack: Bools
    life: Int64s
    after: Int64s
    before: Int64s
    begin: Int64s
    end: Int64s
    packet: Int64s
    moment: Int64s


class Assigned(NamedTuple):
    """By packet: lifetime and moment that it has in all assignments, or -1 and a reason (`why`).

    By pair: `possible` is True if a consistent assignment has the pair; if the search exceeded its
    limits, it may be True for other pairs, too.  `possible` is True for all pairs that the clock
    allows if the log may lack the packet's moment, or if the packet is CROWDED.
    """

    life: Int64s
    moment: Int64s
    possible: Bools
    why: Int8s


def assign(asked: Problem, limits: Limits | None = None) -> Assigned:
    """Return for each packet the lifetime that all consistent assignments give it, or a reason.

    Packets that share moments are solved as one group first, so a group that contradicts itself
    does not spoil other groups.  After that, larger groups are solved, in which the order of
    packets in the file matters, too.
    """
    size = len(asked.at)
    rows, why = np.zeros(size + 1, np.int64), np.zeros(size, np.int8)
    kept = np.zeros(len(asked.packet), np.bool_)
    _in_time(asked, rows, kept, why)
    possible, scratch = kept.copy(), Scratch.of(limits or Limits())
    tangle = Tangle(asked.moment, asked.begin, asked.end, rows, kept, why)
    root = group_roots(tangle, ordered=False)
    scratch = _solve(tangle, groups_of_several(root, tangle), scratch)
    both = group_roots(tangle._replace(kept=possible), ordered=True)
    _solve(tangle, groups_of_several(both, tangle, known=root), scratch)
    life, moment = np.full(size, -1), np.full(size, -1)
    _agreed(tangle, asked.life, possible, life, moment)
    return Assigned(life, moment, kept, why)


def _solve(tangle: Tangle, groups: Groups, scratch: Scratch) -> Scratch:
    """Drop pairs that are in no assignment of their packet group.

    Sets `tangle.why` for the packets of groups that have no solution.  Returns the scratch arrays,
    which may be new and larger.
    """
    if not len(groups.order):
        return scratch
    places = moments_by_group(tangle, groups)
    sure = np.zeros(len(groups.first) - 1, np.int8)
    narrow(tangle, groups, places, sure)
    if (sure == SEVERAL).any():
        scratch = scratch.ready(len(places.begin))
        follow(tangle, groups, places, scratch, sure)
    _mark(groups.order, groups.first, sure, tangle.why)
    return scratch


@allocation_free
def _in_time(asked: Problem, rows: Int64s, kept: Bools, why: Int8s) -> None:
    """Mark in `kept` the pairs that the clock allows; set rows[p] to the first pair of packet p."""
    pair = np.int64(0)
    for p in range(len(asked.at)):
        rows[p] = pair
        low, high = asked.at[p] - asked.error[p], asked.at[p] + asked.error[p]
        why[p] = LACKING if asked.may_lack[p] else NONE_IN_TIME
        while pair < len(asked.packet) and asked.packet[pair] == p:
            moment = asked.moment[pair]
            if low <= asked.before[moment] and high >= asked.after[moment]:
                kept[pair] = True
                if not asked.may_lack[p]:
                    why[p] = EXACT
            pair += 1
    rows[len(asked.at)] = pair


@allocation_free
def _mark(order: Int64s, first: Int64s, sure: Int8s, why: Int8s) -> None:
    for group in range(len(first) - 1):
        if sure[group] == CROWDED or sure[group] == TOO_LARGE:
            for n in range(first[group], first[group + 1]):
                why[order[n]] = sure[group]


@allocation_free
def _agreed(tangle: Tangle, lives: Int64s, possible: Bools, life: Int64s, moment: Int64s) -> None:
    """Set `life` and `moment` of each packet if all its remaining pairs have the same value."""
    rows, kept, why = tangle.rows, tangle.kept, tangle.why
    for p in range(len(why)):
        if why[p] == CROWDED:
            for pair in range(rows[p], rows[p + 1]):
                kept[pair] = possible[pair]
        if why[p] != EXACT and why[p] != TOO_LARGE:
            continue
        one, where = np.int64(-2), np.int64(-2)
        for pair in range(rows[p], rows[p + 1]):
            if kept[pair]:
                its = tangle.moment[pair]
                one = lives[its] if one == -2 or one == lives[its] else np.int64(-1)
                where = its if where == -2 or where == its else np.int64(-1)
        if one >= 0:
            life[p], moment[p], why[p] = one, where, EXACT
        elif why[p] == EXACT:
            why[p] = SEVERAL
