# SPDX-License-Identifier: MIT
"""Find lifetimes of larger skbs for packets whose header equals no footprint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...records import Packets
from ...records.types import Int64s
from ..arrays.hash_join import distinct
from ..identity.gso_segments import covers
from ..identity.identity_candidates import Candidates, is_strong

if TYPE_CHECKING:
    from ..match_types import KernelSide


def segments(packets: Packets, kernel: KernelSide, wire: Int64s) -> Candidates:
    """Return pairs of a packet and the lifetime of a larger skb that may contain it.

    `wire` are the numbers of the packets for which pairs are wanted.
    """
    packet, shown = covers(packets, wire, kernel.prints)
    series = kernel.prints.series[shown]
    pairs = distinct(packet, series)
    packet, series = packet[pairs], series[pairs]
    strong = is_strong(packets, packet)
    rung, sure = np.zeros(len(packet), np.int8), np.zeros(len(packet), np.bool_)
    return Candidates(packet, series, rung, strong, wire[:0], sure)
