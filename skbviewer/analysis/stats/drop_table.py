# SPDX-License-Identifier: MIT
"""Drops by reason and place, and how many of them lost a packet: `skbviewer stats drops`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Int64s
from ..breakdown.lost_packets import Key, all_drops
from ..packet_legs import first_packets
from ..scope import Scope
from ..words.function_layers import layer_of

EXAMPLES = 5


class DropRow(NamedTuple):
    """The drops for one reason at one place in the code.

    `lost` is the number of drops that lost their packet (breakdown/lost_packets.py).  `packets` are
    the numbers of the first captured packets among the dropped ones.
    """

    reason: str
    function: str  # the function that dropped them, with the offset in it; "" = unknown
    layer: str
    number: int
    lost: int
    wire: int  # number of these packets that are in a loaded capture
    packets: tuple[int, ...]


def drop_rows(scope: Scope) -> list[DropRow]:
    """Return the selected drops by reason and place, the most frequent first."""
    drops = all_drops(scope, scope.happened)
    packet = first_packets(scope.columns, drops.leg)
    rows = [
        _row(key, packet[drops.key == at], drops.lost[drops.key == at])
        for at, key in enumerate(drops.keys)
    ]
    return sorted(rows, key=lambda row: (-row.number, row.reason, row.function))


def _row(key: Key, packet: Int64s, lost: Bools) -> DropRow:
    seen = np.unique(packet[packet > 0])
    layer = layer_of(key.function) if key.place else ""
    numbers = len(packet), int(lost.sum()), len(seen)
    return DropRow(*key, layer, *numbers, tuple(seen[:EXAMPLES].tolist()))
