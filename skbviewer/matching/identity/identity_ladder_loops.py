# SPDX-License-Identifier: MIT
"""One rung of the identity ladder: loops of identity_ladder.py."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records.compiled import allocation_free
from ...records.types import Bools, Int64s
from .identity_columns import NONE

FRAGMENT = 0x3FFF  # MF and offset of frag_off
SEVERAL = -2
CONTRADICTS, CUT = -1, -2  # values of `agreed` instead of a number of columns


@allocation_free
def take_rung(
    level: int,
    pair: Int64s,
    agreed: npt.NDArray[np.int8],
    crowded: Bools,
    best: npt.NDArray[np.int8],
    rung: npt.NDArray[np.int8],
    keep: Bools,
) -> None:
    """Set keep[i] to True if the footprint of pair i stays a candidate after this rung.

    For each pair of a packet and a series, only those footprints stay that agree with the packet in
    the most columns.

    `agreed` is the number of columns in which the packet and the footprint of a pair agree, or
    CONTRADICTS, or CUT.  `pair` has a number for each pair of a packet and a series; `best` is an
    array by this number.  A pair is `crowded` if its packet has several series.  A series stays
    even if a different series agrees in more columns, because each may be the packet's.  Sets
    `rung` to `level` for packets of which this rung excluded a pair.
    """
    for i in range(len(pair)):
        best[pair[i]] = 0
    for i in range(len(pair)):
        best[pair[i]] = max(best[pair[i]], agreed[i])
    for i in range(len(pair)):
        most = best[pair[i]]
        agrees = agreed[i] > 0 and agreed[i] == most
        keep[i] = (agrees or not crowded[i] or most == 0) and agreed[i] != CONTRADICTS
        if crowded[i] and agrees:
            rung[i] = level


@allocation_free
def find_crowded(
    packet: Int64s,
    series: Int64s,
    of_packet: npt.NDArray[np.int32],
    of_series: npt.NDArray[np.int32],
    made: Bools,
) -> None:
    """Set made[i] if the packet of pair i has several series, or the series several packets.

    By packet: `of_packet` becomes its only series, or SEVERAL.  By series: `of_series` becomes its
    only packet, or SEVERAL.  The caller fills `of_packet` and `of_series` with NONE.
    """
    for i in range(len(packet)):
        p, s = packet[i], series[i]
        if of_packet[p] != s:
            of_packet[p] = s if of_packet[p] == NONE else SEVERAL
        if of_series[s] != p:
            of_series[s] = p if of_series[s] == NONE else SEVERAL
    for i in range(len(packet)):
        made[i] = of_packet[packet[i]] == SEVERAL or of_series[series[i]] == SEVERAL
