# SPDX-License-Identifier: MIT
"""The packets that packet sockets got, from the EXT slots TAP of calls."""

from __future__ import annotations

import numpy as np

from ...records import TAP_DTYPE, Table, empty
from ...records import kbl_layout as kbl
from .event_details import Asides
from .record_order_loops import Places


def read_taps(asides: Asides, place: Places) -> Table:
    """Return what packet sockets got in their calls, as rows of TAP_DTYPE.

    place[ordinal] is the position of each record in time order; records with -1 are left out.
    """
    owner, slots = asides.of_type(kbl.KblExtType.TAP, kbl.KBL_EXT_TAP)
    at = place[owner]
    slots, at = slots[at >= 0], at[at >= 0]
    taps = empty(TAP_DTYPE, len(at))
    valid = slots["valid"].astype(np.int64)
    taps["record"], taps["sock"] = at, slots["sk"].astype(np.int64)
    taps["summed"], taps["direction"] = slots["ip_summed"], slots["pkt_type"]
    for name, bit in (("content", kbl.KBL_TAP_CONTENT), ("checksum", kbl.KBL_TAP_CHECKSUM)):
        taps[name] = np.where(valid & bit, slots[name].astype(np.int64), -1)
    return taps
