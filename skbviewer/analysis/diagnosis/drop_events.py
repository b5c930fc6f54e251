# SPDX-License-Identifier: MIT
"""The drops of chosen packets that nobody received (breakdown/lost_packets.py)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Int64s
from ..breakdown.lost_packets import Key, all_drops
from ..packet_legs import first_packets
from .rule_inputs import Case


class Drops(NamedTuple):
    """Drops as recorded: the 0-based event, its time on the log's clock, and its packet (0: none).

    `key` is the reason and place of the drop, an index of `keys`.  `needless` says that nobody
    lacks the packet; otherwise it was lost.
    """

    event: Int64s
    ts: Int64s
    packet: Int64s
    key: Int64s
    keys: list[Key]
    needless: Bools

    def positions(self, key: Key) -> Int64s:
        """Return the indices, in this table, of the drops with the reason and place `key`."""
        return np.flatnonzero(self.key == self.keys.index(key))

    def rows(self, which: Int64s) -> Int64s:
        """Return the packets (n, or -n for row K<n>) of the drops at the indices `which`.

        Unknown packets are left out.
        """
        found = self.packet[which]
        return np.asarray(found[found != 0], np.int64)


def drops_of(case: Case) -> Drops:
    """Return the drops of the chosen packets, found once (see _drops())."""
    found: Drops = case.cached("drops", _drops)
    return found


def _drops(case: Case) -> Drops:
    """Return the drops of chosen packets, most frequent reason and place first.

    Drops of packets that a socket had received are left out.
    """
    drops = all_drops(case.scope, case.is_chosen)
    drops = drops.selected(drops.lost | drops.needless)
    count = np.bincount(drops.key, minlength=len(drops.keys))
    order = sorted(np.flatnonzero(count).tolist(), key=lambda at: (-count[at], drops.keys[at]))
    place = np.zeros(len(count), np.int64)
    place[order] = np.arange(len(order))
    keys = [drops.keys[at] for at in order]
    packets = _packets(case, drops.leg)
    return Drops(drops.event, drops.ts, packets, place[drops.key], keys, drops.needless)


def _packets(case: Case, legs: Int64s) -> Int64s:
    """Return for each of `legs` a packet that matches it exactly; -n for its row K<n>; 0 if none.

    Of several packets the first one counts.
    """
    columns = case.scope.columns
    row = columns.take("series", "kernel_only", case.of_leg("series", legs) - 1).astype(np.int64)
    packet = first_packets(columns, legs)
    return np.asarray(np.where(packet > 0, packet, -np.maximum(row, 0)), np.int64)
