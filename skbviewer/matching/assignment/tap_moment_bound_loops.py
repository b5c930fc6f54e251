# SPDX-License-Identifier: MIT
"""Bound the tap moments that each packet can have: loops of tap_moment_bounds.py."""

from __future__ import annotations

import numpy as np

from ...records.compiled import allocation_free
from ...records.types import Int8s, Int64s
from .packet_group_loops import CROWDED, EXACT, SEVERAL, Groups, Tangle
from .packet_groups import Places

NOWHERE = (1 << 62) - 1


@allocation_free
def narrow_groups(
    tangle: Tangle,
    groups: Groups,
    places: Places,
    cluster: Int64s,
    holds: Int64s,
    least: Int64s,
    sure: Int8s,
) -> None:
    """Drop the pairs whose moment is outside its packet's bounds; set `sure` of each group.

    Sets `sure` of a packet group to CROWDED (it has no assignment), EXACT (each remaining pair is
    in an assignment) or SEVERAL (not known yet).  `tangle.kept` becomes False for dropped pairs.

    Scratch arrays: by moment of a packet group, `cluster` is the first moment of its cluster, and
    `holds` the number of moments in that cluster; by packet, `least` is its earliest cluster.
    """
    for g in range(len(sure)):
        single = _clusters(places, np.int64(g), cluster, holds)
        first, last = groups.first[g], groups.first[g + 1]
        low, used = np.int64(-1), np.int64(0)
        for n in range(first, last):
            best = np.int64(NOWHERE)
            packet = groups.order[n]
            for pair in range(tangle.rows[packet], tangle.rows[packet + 1]):
                if tangle.kept[pair]:
                    its = cluster[places.of[tangle.moment[pair]]]
                    if its < best and (its > low or (its == low and used < holds[its])):
                        best = its
            used = used + 1 if best == low else np.int64(1)
            low = best
            least[n] = low
            if low == NOWHERE:
                break
        if low == NOWHERE:
            sure[g] = CROWDED
            continue
        sure[g] = EXACT if single else SEVERAL
        high, used = np.int64(NOWHERE), np.int64(0)
        for n in range(last - 1, first - 1, -1):
            best = np.int64(-1)
            packet = groups.order[n]
            for pair in range(tangle.rows[packet], tangle.rows[packet + 1]):
                if tangle.kept[pair]:
                    its = cluster[places.of[tangle.moment[pair]]]
                    if its > best and (its < high or (its == high and used < holds[its])):
                        best = its
            used = used + 1 if best == high else np.int64(1)
            high = best
            for pair in range(tangle.rows[packet], tangle.rows[packet + 1]):
                if tangle.kept[pair]:
                    its = cluster[places.of[tangle.moment[pair]]]
                    tangle.kept[pair] = least[n] <= its and its <= high


@allocation_free
def _clusters(places: Places, g: np.int64, cluster: Int64s, holds: Int64s) -> bool:
    """Find the clusters of a packet group's moments; return whether each cluster has one moment.

    `cluster` and `holds` are the scratch arrays of narrow_groups().
    """
    single, at, over = True, np.int64(-1), np.int64(0)
    for place in range(places.first[g], places.first[g + 1]):
        if at < 0 or places.begin[place] > over:
            at, over = np.int64(place), places.end[place]
        else:
            single = False
            over = max(over, places.end[place])
        cluster[place] = at
        holds[at] = place - at + 1
    return single
