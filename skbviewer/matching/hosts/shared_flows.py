# SPDX-License-Identifier: MIT
"""Find conversations whose packets, and not only their addresses, are in two recordings.

Different tenants may use the same addresses, and hosts behind an address translator share an
address.  So equal headers prove something only if nearly all packets of a conversation are in both
recordings.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Bools, Int64s
from .packet_appearances import Appearances, Pairs
from .packet_sightings import Counts, Recordings, Sightings

MISSING = 0.2  # most of a conversation's packets that may be missing in either recording
ONE = 1  # and this many more
AGREEING = 8  # packets between two addresses that both recordings must have
HALF = 0.5  # of the packets between two addresses, in the recording with fewer of them


def is_shared(
    found: Sightings, made: Appearances, pairs: Pairs, alone: Bools, of: Recordings
) -> Bools:
    """Return for each pair whether both recordings contain its conversation.

    `alone` marks pairs that have no rival; only these are counted.
    """
    row_a, row_b = made.first[pairs.a], made.first[pairs.b]
    one = np.minimum(found.clock[row_a], found.clock[row_b])
    two = np.maximum(found.clock[row_a], found.clock[row_b])
    flow, back, hosts = found.flow[row_a], found.back[row_a], found.hosts[row_a]
    common, least, most = _counted(one, two, flow, flow, alone, of.flows)
    enough = (common >= 1) & (most - common <= ONE + MISSING * most)
    common, least, most = _counted(one, two, flow, back, alone, of.flows)
    enough &= (least == 0) | (most - common <= ONE + MISSING * most)
    common, least, most = _counted(one, two, hosts, hosts, alone, of.hosts)
    return np.asarray(enough & (common >= AGREEING) & (common >= HALF * least), np.bool_)


def _counted(
    one: Int64s, two: Int64s, own: Int64s, key: Int64s, alone: Bools, counts: Counts
) -> tuple[Int64s, Int64s, Int64s]:
    """Return for each pair how many pairs and how many packets (least, most) have its key.

    The first number counts the pairs that are `alone`.  Each of the two recordings has a number of
    packets with this key: the second result is the smaller of these numbers, and the third the
    larger.
    """
    codes = _codes(np.r_[counts.key, own, key])
    stored, mine, asked = np.split(codes, np.cumsum([len(counts.key), len(own)]))
    clocks = int(max(counts.clock.max(initial=0), two.max(initial=0))) + 1
    pair = (mine * clocks + one) * clocks + two
    wanted = (asked * clocks + one) * clocks + two
    known, number = np.unique(pair[alone], return_counts=True)
    common = _found(known, number, wanted)
    order = np.argsort(code := stored * clocks + counts.clock)
    sums = [_found(code[order], counts.packets[order], asked * clocks + at) for at in (one, two)]
    return common, np.minimum(*sums), np.maximum(*sums)


def _codes(keys: Int64s) -> Int64s:
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def _found(keys: Int64s, values: Int64s, asked: Int64s) -> Int64s:
    """Return the value of each key of `asked`, 0 for keys that are not in `keys` (sorted)."""
    if not len(keys):
        return np.zeros(len(asked), np.int64)
    at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.where(keys[at] == asked, values[at], 0)
