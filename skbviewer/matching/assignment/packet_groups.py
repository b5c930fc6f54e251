# SPDX-License-Identifier: MIT
"""Groups of packets that decide about each other's tap moments.

Two packets are in one group if they may have the same moment, if they may have moments that
contradict their order in the file, or if both are in a group with a third one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.compiled import allocation_free
from ...records.types import Bools, Int8s, Int64s

# Why a packet has no certain lifetime.
EXACT, SEVERAL, LACKING, CROWDED, TOO_LARGE, NONE_IN_TIME = range(6)
NEAR = 64  # groups above a group's place in the stack; with more, it joins the topmost one


class Tangle(NamedTuple):
    """What is left of a problem: the pairs that are still `kept`, and `why` packets have none.

    By pair: its `moment`.  By moment: `begin` and `end` of its call, ns.  The pairs of packet p are
    those from rows[p] to rows[p + 1].
    """

    moment: Int64s
    begin: Int64s
    end: Int64s
    rows: Int64s
    kept: Bools
    why: Int8s


class Groups(NamedTuple):
    """Packets of groups of more than one: group g is order[first[g] : first[g + 1]]."""

    order: Int64s
    first: Int64s


class Places(NamedTuple):
    """The moments of groups, sorted by group and begin; those of group g start at place first[g].

    `of` is the place of each moment; `begin` and `end` are those of the moment at each place.
    """

    of: Int64s
    first: Int64s
    begin: Int64s
    end: Int64s


def linked(tangle: Tangle, ordered: bool) -> Int64s:
    """Return for each packet the first packet of its group.

    Packets that share moments are in one group; if `ordered`, also those whose order the moments
    may contradict.
    """
    root = np.arange(len(tangle.why))
    _by_moment(tangle, np.full(len(tangle.begin), -1), root)
    if ordered:
        _by_order(tangle, np.zeros(len(root), np.int64), np.zeros(len(root), np.int64), root)
    _settled(root)
    return root


def grouped(root: Int64s, tangle: Tangle, known: Int64s | None = None) -> Groups:
    """Return groups of several packets; leave out those that `known` already has as one group."""
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
    """Return which packets have a moment in every assignment."""
    return np.asarray((tangle.why == EXACT) | (tangle.why == TOO_LARGE))


def placed(tangle: Tangle, groups: Groups) -> Places:
    """Return the moments that packets of these groups may still have."""
    group = np.full(len(tangle.begin), -1)
    _groups_of(tangle, groups, group)
    moments = np.flatnonzero(group >= 0)
    moments = moments[np.lexsort((tangle.begin[moments], group[moments]))]
    of = np.full(len(group), -1)
    of[moments] = np.arange(len(moments))
    first = np.searchsorted(group[moments], np.arange(len(groups.first)))
    return Places(of, first, tangle.begin[moments], tangle.end[moments])


@allocation_free
def _groups_of(tangle: Tangle, groups: Groups, group: Int64s) -> None:
    for g in range(len(groups.first) - 1):
        for n in range(groups.first[g], groups.first[g + 1]):
            packet = groups.order[n]
            for pair in range(tangle.rows[packet], tangle.rows[packet + 1]):
                if tangle.kept[pair]:
                    group[tangle.moment[pair]] = g


@allocation_free
def _by_moment(tangle: Tangle, owner: Int64s, root: Int64s) -> None:
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
def _by_order(tangle: Tangle, latest: Int64s, packet: Int64s, root: Int64s) -> None:
    """Join two packets if the earlier may have a moment that begins after one of the later ended.

    Groups are on a stack, sorted by the begin of the latest moment that they may have.
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
    """Insert a packet into the sorted stack; if its place is far down, join it to the topmost
    group.
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
    """Join two groups; the earlier of their first packets becomes the root."""
    p, q = _root(root, p), _root(root, q)
    if p < q:
        root[q] = p
    else:
        root[p] = q


@allocation_free
def _settled(root: Int64s) -> None:
    """Set the final root of each packet; a root is never later than the packets that lead to it."""
    for p in range(len(root)):
        root[p] = root[root[p]]
