# SPDX-License-Identifier: MIT
"""Find the earliest and the latest tap moment that each packet of a group can have.

Overlapping moments form clusters; two clusters do not overlap.  Of two packets, the packet that is
later in the file has a moment of the same cluster or of a later cluster.  A cluster can hold as
many packets as it has moments.  So a pass forward from the first packet finds each packet's
earliest cluster, and a pass back from the last packet finds its latest cluster.  If each cluster
has only one moment, every moment between these bounds is possible.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Int8s
from .packet_group_loops import Groups, Tangle
from .packet_groups import Places
from .tap_moment_bound_loops import narrow_groups


def narrow(tangle: Tangle, groups: Groups, places: Places, sure: Int8s) -> None:
    """Drop the pairs whose moment is outside its packet's bounds; set `sure` of each group.

    The bounds follow from the order of the packets in the file.  Sets `sure` of a packet group to
    CROWDED (it has no assignment), EXACT (each remaining pair is in an assignment) or SEVERAL (not
    known yet).
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
