# SPDX-License-Identifier: MIT
"""Find the earliest and the latest tap moments that each packet of a group can have.

Moments that overlap form clusters; clusters do not overlap.  Of two packets, the later one has a
moment of the same or of a later cluster, and a cluster holds as many packets as it has moments.  So
a pass forward from the first packet finds the earliest cluster of each packet, and a pass back from
the last packet finds the latest.  If no cluster has two moments, every moment between the two is
possible.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Int8s
from .packet_group_loops import Groups, Tangle
from .packet_groups import Places
from .tap_moment_bound_loops import narrow_groups


def narrow(tangle: Tangle, groups: Groups, places: Places, sure: Int8s) -> None:
    """Drop pairs outside the bounds of each packet's moments, and set `sure` of each group.

    The packets' order in the file gives the bounds.  CROWDED: the group has no assignment.  EXACT:
    each remaining pair is in one.  SEVERAL: not known yet.
    """
    size = len(places.begin)
    narrow_groups(
        tangle,
        groups,
        places,
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(len(groups.order), np.int64),
        sure,
    )
