# SPDX-License-Identifier: MIT
"""Group sightings into appearances, and find pairs of appearances that may be the same packet.

An appearance is one packet in one recording: all sightings with one skb lifetime and one identity.
If a router captures on two devices, it sees each packet twice, but the packet has one appearance
there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Int64s
from .packet_sightings import IN, NO_VALUE, OUT, RECEIVES, SENDS, Sightings

CROWD = 64  # identities with more appearances get no pairs


class Appearances(NamedTuple):
    """Appearances, sorted by identity.

    `first` and `last` are rows of sightings; `of` is the appearance of each sighting.
    """

    identity: Int64s
    clock: Int64s
    first: Int64s
    last: Int64s
    role: Int64s
    of: Int64s


class Pairs(NamedTuple):
    """Pairs of appearances with one identity on two clocks; `ordered`: `a` was before `b`."""

    a: Int64s
    b: Int64s
    ordered: Bools

    def rows(self, index: Int64s | Bools) -> Pairs:
        """Return the pairs that `index` (indices or flags) selects."""
        return Pairs._make(column[index] for column in self)


def appearances(found: Sightings) -> Appearances:
    """Group the sightings that have the same identity, clock and lifetime into appearances."""
    late_ttl = -found.ttl  # a packet's time to live only falls
    order = np.lexsort(
        (found.low_ns, found.way, late_ttl, found.appearance, found.clock, found.identity)
    )
    keys = (found.identity[order], found.clock[order], found.appearance[order])
    begins = np.ones(len(order), np.bool_)
    begins[1:] = False
    for key in keys:
        begins[1:] |= key[1:] != key[:-1]
    number = np.cumsum(begins) - 1
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(order)) - 1
    of = np.empty(len(order), np.int64)
    of[order] = number
    role = np.maximum.reduceat(found.role[order], first) if len(first) else first
    rows = order[first], order[last[: len(first)]]
    return Appearances(keys[0][first], keys[1][first], *rows, role, of)


def candidate_pairs(found: Sightings, made: Appearances) -> tuple[Pairs, Bools]:
    """Return pairs of appearances that may be one packet, and a flag for each appearance.

    The flag is set if too many appearances have its identity; such appearances are in no pair.
    """
    count = len(made.identity)
    begins = np.flatnonzero(np.r_[True, made.identity[1:] != made.identity[:-1]][:count])
    size = np.diff(np.append(begins, count))
    crowded = np.repeat(size > CROWD, size)
    rank = np.arange(count) - np.repeat(begins, size)
    left = np.repeat(size, size) - rank - 1  # later appearances of this identity
    left[crowded] = 0
    a = np.repeat(np.arange(count), left)
    b = a + 1 + np.arange(len(a)) - np.repeat(np.cumsum(left) - left, left)
    keep = made.clock[a] != made.clock[b]
    keep &= ~_differ(found.payload[made.first[a]], found.payload[made.first[b]])
    a, b = a[keep], b[keep]
    onward, back = is_before(found, made, a, b), is_before(found, made, b, a)
    swap = back & ~onward
    return Pairs(np.where(swap, b, a), np.where(swap, a, b), onward != back), crowded


def _differ(one: Int64s, other: Int64s) -> Bools:
    return np.asarray((one != other) & (one != NO_VALUE) & (other != NO_VALUE), np.bool_)


def is_before(found: Sightings, made: Appearances, a: Int64s, b: Int64s) -> Bools:
    """Return for each pair whether the packet certainly left `a` before it reached `b`.

    Only a router lowers the time to live.  If the time to live is equal, the sender is first, and
    the receiver is last.  A router is first where it has already lowered the time to live, and last
    where it has not lowered it yet.
    """
    end, begin = made.last[a], made.first[b]
    ttl = found.ttl
    known = (ttl[end] != NO_VALUE) & (ttl[begin] != NO_VALUE)
    lower = ttl[end] > ttl[begin]
    out = (made.role[a] == SENDS) | (found.ttl_in[end] > ttl[end])
    out &= found.way[end] == OUT
    into = (made.role[b] == RECEIVES) | (ttl[begin] > found.ttl_out[begin])
    into &= found.way[begin] == IN
    return np.asarray(known & (lower | ((ttl[end] == ttl[begin]) & (out | into))), np.bool_)
