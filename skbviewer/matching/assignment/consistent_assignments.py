# SPDX-License-Identifier: MIT
"""Follow all consistent assignments of a group, packet by packet.

A state is the effect of earlier packets on later ones: the taken moments that a later packet may
have, and the time at which the latest taken moment begins.  Equal states are merged, so a long
group costs little if few moments overlap at a time.  At the end, and wherever only one state
remains, the steps are followed backwards, to find the pairs that lead to this state.

Beyond the limits, all states of a packet are replaced by a single state, which forbids only what
all of them forbid.  Then some impossible assignments may count as possible, but no possible one is
omitted.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Int8s
from .assignment_loops import Scratch, follow_groups
from .packet_group_loops import Groups, Tangle
from .packet_groups import Places


def follow(tangle: Tangle, groups: Groups, places: Places, scratch: Scratch, sure: Int8s) -> None:
    """Drop pairs of SEVERAL groups that are in no assignment, and set `sure` of these groups.

    `tangle` are the packets with their pairs, `groups` the groups of packets, and `places` the
    moments that each group may have.  EXACT: each remaining pair is in an assignment.  TOO_LARGE:
    some may be in none.  CROWDED: there is no assignment.
    """
    follow_groups(tangle, groups, places, scratch, np.zeros(len(tangle.kept), np.bool_), sure)
