# SPDX-License-Identifier: MIT
"""Find the pairs that occur in consistent assignments of a packet group, packet by packet.

A state is what later packets need to know about earlier packets: which moments that
a later packet may have are taken, and when the latest taken moment begins.  Equal states are
merged, so a long group of packets costs little if few moments overlap at any time.  At the end, and
wherever only one state remains, the search goes back over its steps, to find the pairs that lead to
this state.

If a search exceeds its limits, a single state replaces all states of a packet.  This state forbids
only the moments that each of the replaced states forbids.  After this replacement, some impossible
assignments may count as possible, but no possible assignment is omitted.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Int8s
from .assignment_loops import Scratch, follow_groups
from .packet_group_loops import Groups, Tangle
from .packet_groups import Places


def follow(tangle: Tangle, groups: Groups, places: Places, scratch: Scratch, sure: Int8s) -> None:
    """In each packet group marked SEVERAL, drop the pairs that no assignment of the group has.

    `tangle` contains the packets and their pairs, `groups` the groups of packets, and `places` the
    moments that each group may have.  Sets `sure` of each of these groups to EXACT (each remaining
    pair is in an assignment), TOO_LARGE (some remaining pairs may be in none) or CROWDED (the group
    has no assignment).
    """
    follow_groups(tangle, groups, places, scratch, np.zeros(len(tangle.kept), np.bool_), sure)
