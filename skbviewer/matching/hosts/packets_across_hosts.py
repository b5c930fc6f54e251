# SPDX-License-Identifier: MIT
"""Decide which packets of several recordings are the same, and bound the recordings' clocks.

First, packets whose identity occurs only once in each of two recordings bound the clocks.  The
bounds of the clocks then show which other pairs are possible.  A pair is exact if every consistent
assignment contains it (docs/across-hosts.md).
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Int8s, Int64s
from ..match_rule_numbers import AMBIGUOUS, EXACT
from .clock_bound_loops import FAR
from .clock_bounds import ClockBounds, Crossings, clock_bounds
from .forced_pairs import forced, has_no_rival
from .packet_appearances import Appearances, Pairs, appearances, candidate_pairs
from .packet_sightings import RECEIVES, SENDS, Recordings, Sightings
from .rough_clock_alignment import align
from .shared_flows import is_shared

COPY_NS = 1_000_000  # a capture may have a packet twice, this far apart
LIFE_NS = 120_000_000_000  # an IP packet's longest life (RFC 6864); a rival may be this far away


class HostReason(IntEnum):
    """The reason for the verdict about two appearances on two hosts."""

    UNIQUE = 0  # exact: no other packet of both recordings has this identity
    BY_CLOCKS = 1  # exact: the clocks exclude all others
    RIVALS = 2  # another packet may be the same
    NOT_SHARED = 3  # too few packets of the conversation are in both recordings
    TWO_SENDERS = 4  # two hosts sent, or received, such a packet
    HIDDEN = 5  # identities repeat, and the sender's recording may lack one
    CLOCKS_CONTRADICT = 6  # by the clocks, it would have arrived before it was sent


class AcrossHosts(NamedTuple):
    """The possible pairs of sightings, each with a verdict, a reason, and a transit time in ns.

    `a` and `b` are rows of the sightings: `a` is where the packet left one recording, and `b` where
    it reached the other recording.  The transit time is from `least_ns` to `most_ns`; these are
    -FAR and FAR if nothing bounds it.
    """

    made: Appearances
    pairs: Pairs
    a: Int64s
    b: Int64s
    verdict: Int8s
    reason: Int8s
    least_ns: Int64s
    most_ns: Int64s
    clocks: ClockBounds


def across_hosts(found: Sightings, of: Recordings) -> AcrossHosts:
    """Give a verdict to all pairs of sightings with one identity in different recordings."""
    made = appearances(found)
    pairs, _ = candidate_pairs(found, made)
    twins = _same_end(found, made, pairs)
    rows, ends = made.last[pairs.a], made.first[pairs.b]
    possible = ~twins
    alone = possible & has_no_rival(made, pairs, possible)
    sure = alone & is_shared(found, made, pairs, alone, of)
    sure &= ~_with_twins(made, pairs, twins)
    scale = align(found, rows[sure], ends[sure], of.steady)
    crossing = np.flatnonzero(sure & pairs.ordered)
    clocks = clock_bounds(scale, Crossings(rows[crossing], ends[crossing]))
    least, most = clocks.transit(rows, ends)
    fits = _fits(pairs, least, most)
    refused = sure & ~fits
    refused[crossing[clocks.refused]] = True
    possible &= fits
    verdict, reason = _verdicts(found, made, pairs, possible, alone, twins & fits, of)
    verdict[refused], reason[refused] = AMBIGUOUS, HostReason.CLOCKS_CONTRADICT
    keep = possible | refused
    return AcrossHosts(
        made, pairs.rows(keep), rows[keep], ends[keep], verdict[keep], reason[keep], least[keep],
        most[keep], clocks,
    )  # fmt: skip


def _fits(pairs: Pairs, least: Int64s, most: Int64s) -> Bools:
    """Return for each pair whether its transit time may be from 0 to LIFE_NS.

    If the order of the pair is not known, the transit time may also be from -LIFE_NS to 0.
    """
    begin = np.where(pairs.ordered, 0, -LIFE_NS)
    return np.asarray((most >= begin) & (least <= LIFE_NS), np.bool_)


def _same_end(found: Sightings, made: Appearances, pairs: Pairs) -> Bools:
    """Return the pairs in which both hosts sent the packet, or both are its only receiver."""
    role_a, role_b = made.role[pairs.a], made.role[pairs.b]
    one = found.shared[made.first[pairs.a]] == 0
    same = (role_a == SENDS) | ((role_a == RECEIVES) & one)
    return np.asarray((role_a == role_b) & same, np.bool_)


def _with_twins(made: Appearances, pairs: Pairs, twins: Bools) -> Bools:
    """Return the pairs whose identity was sent by two hosts, or received by two hosts."""
    return np.isin(made.identity[pairs.a], made.identity[pairs.a[twins]])


def _verdicts(
    found: Sightings,
    made: Appearances,
    pairs: Pairs,
    possible: Bools,
    unique: Bools,
    twins: Bools,
    of: Recordings,
) -> tuple[Int8s, Int8s]:
    """Return the verdict and the reason of each pair; pairs that are not `possible` are ignored."""
    complete = (made.role[pairs.a] == SENDS) & of.complete[made.clock[pairs.a]] & pairs.ordered
    alone = forced(made, pairs, possible, complete)
    shared = is_shared(found, made, pairs, alone, of)
    hidden = ~complete & np.isin(found.flow[made.first[pairs.a]], _repeating(found, made, of))
    reason = np.where(unique, HostReason.UNIQUE, HostReason.BY_CLOCKS).astype(np.int8)
    reason[hidden] = HostReason.HIDDEN
    reason[_with_twins(made, pairs, twins)] = HostReason.TWO_SENDERS
    reason[~shared] = HostReason.NOT_SHARED
    reason[~alone] = HostReason.RIVALS
    verdict = np.where(reason <= HostReason.BY_CLOCKS, EXACT, AMBIGUOUS).astype(np.int8)
    return verdict, reason


def _repeating(found: Sightings, made: Appearances, of: Recordings) -> Int64s:
    """Return the flows in which a recording has two packets with one identity within LIFE_NS."""
    low = found.low_ns[made.first]
    order = np.lexsort((low, made.clock, made.identity))
    one, two = order[:-1], order[1:]
    same = (made.identity[one] == made.identity[two]) & (made.clock[one] == made.clock[two])
    apart = low[two] - low[one]
    same &= (apart > COPY_NS) & ((apart <= LIFE_NS) | ~of.steady[made.clock[one]])
    return np.unique(found.flow[made.first[one[same]]])


__all__ = ["FAR", "LIFE_NS", "AcrossHosts", "HostReason", "across_hosts"]
