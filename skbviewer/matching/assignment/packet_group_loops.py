# SPDX-License-Identifier: MIT
"""Compiled loops of packet_groups.py: join packets whose assignments depend on each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.compiled import allocation_free
from ...records.types import Bools, Int8s, Int64s

# Why a packet has no certain lifetime.
EXACT, SEVERAL, LACKING, CROWDED, TOO_LARGE, NONE_IN_TIME = range(6)
NEAR = 64  # most groups above a group in the stack; with more, it joins the topmost one


class Tangle(NamedTuple):
    """The packets, pairs and moments of a problem that are not decided yet.

    By pair: its `moment`, and whether it is still `kept`.  By moment: `begin` and `end` of its
    call, ns.  By packet: `why` is the reason for which it has no lifetime (see Assigned).  Packet p
    has the pairs rows[p] to rows[p + 1].
    """

    moment: Int64s
    begin: Int64s
    end: Int64s
    rows: Int64s
    kept: Bools
    why: Int8s


class Groups(NamedTuple):
    """Groups of several packets: group g consists of order[first[g] : first[g + 1]]."""

    order: Int64s
    first: Int64s


@allocation_free
def groups_of(tangle: Tangle, groups: Groups, group: Int64s) -> None:
    """For each moment that packets of `groups` may have, set group[moment] to their group."""
    for g in range(len(groups.first) - 1):
        for n in range(groups.first[g], groups.first[g + 1]):
            packet = groups.order[n]
            for pair in range(tangle.rows[packet], tangle.rows[packet + 1]):
                if tangle.kept[pair]:
                    group[tangle.moment[pair]] = g


@allocation_free
def join_by_moment(tangle: Tangle, owner: Int64s, root: Int64s) -> None:
    """Join the groups of packets that may have the same moment.

    By packet: `root` is the packet that stands for its group.  By moment: `owner` is scratch space,
    filled with -1.
    """
    for p in range(len(root)):
        if tangle.why[p] != EXACT and tangle.why[p] != TOO_LARGE:
            continue
        for pair in range(tangle.rows[p], tangle.rows[p + 1]):
            if tangle.kept[pair]:
                moment = tangle.moment[pair]
                if owner[moment] >= 0:
                    _join(root, owner[moment], np.int64(p))
                owner[moment] = p


@allocation_free
def join_by_order(tangle: Tangle, latest: Int64s, packet: Int64s, root: Int64s) -> None:
    """Join two packets' groups if their moments may contradict the packets' order in the file.

    Moments contradict the order if the packet that is earlier in the file may have a moment that
    begins after a moment of the later packet has ended.  By packet: `root` is the packet that
    stands for its group.  `latest` and `packet` are scratch space: a stack of packet groups, sorted
    by the start of the latest moment that each group may have.
    """
    high = np.int64(0)
    for p in range(len(root)):
        begun, over, some = np.int64(0), np.int64(0), False
        if tangle.why[p] == EXACT or tangle.why[p] == TOO_LARGE:
            for pair in range(tangle.rows[p], tangle.rows[p + 1]):
                if tangle.kept[pair]:
                    moment = tangle.moment[pair]
                    begin, end = tangle.begin[moment], tangle.end[moment]
                    begun = begin if not some else max(begun, begin)
                    over = end if not some else min(over, end)
                    some = True
        if not some:
            continue
        while high and latest[high - 1] > over:
            high -= 1
            _join(root, packet[high], np.int64(p))
            begun = max(begun, latest[high])
        high = _pile(latest, packet, high, begun, np.int64(p), root)


@allocation_free
def _pile(
    latest: Int64s, packet: Int64s, high: np.int64, begun: np.int64, p: np.int64, root: Int64s
) -> np.int64:
    """Insert packet `p` into the sorted stack, and return the new height of the stack.

    If NEAR or more groups in the stack are above the packet's place, the packet joins the topmost
    group instead.
    """
    at = high
    while at and latest[at - 1] > begun and high - at < NEAR:
        at -= 1
    if at and latest[at - 1] > begun:
        _join(root, packet[high - 1], p)
        return high
    for n in range(high, at, -1):
        latest[n], packet[n] = latest[n - 1], packet[n - 1]
    latest[at], packet[at] = begun, p
    return high + 1


@allocation_free
def _root(root: Int64s, p: np.int64) -> np.int64:
    while root[p] != p:
        root[p] = root[root[p]]
        p = root[p]
    return p


@allocation_free
def _join(root: Int64s, p: np.int64, q: np.int64) -> None:
    """Join the groups of two packets; the earlier of their first packets becomes the root."""
    p, q = _root(root, p), _root(root, q)
    if p < q:
        root[q] = p
    else:
        root[p] = q


@allocation_free
def settle_roots(root: Int64s) -> None:
    """Set root[p] to the packet that stands for the whole group of packet p.

    Before the call, root[p] is any packet of the same group that is not later than p.
    """
    for p in range(len(root)):
        root[p] = root[root[p]]
