# SPDX-License-Identifier: MIT
"""The drops of chosen packets that no socket had received (breakdown/lost_packets.py)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Int64s
from ..breakdown.lost_packets import Key, all_drops
from ..packet_legs import first_packets
from .rule_inputs import Case


class Drops(NamedTuple):
    """Drops as recorded: 0-based event, time (ns) on the log's clock, and packet (0: unknown).

    `key` is the reason and place of each drop, as an index of `keys`.  `needless` says that nobody
    misses the packet; otherwise the packet was lost.
    """

    event: Int64s
    ts: Int64s
    packet: Int64s
    key: Int64s
    keys: list[Key]
    needless: Bools

    def positions(self, key: Key) -> Int64s:
        """Return the indices, in this table, of the drops whose reason and place are `key`."""
        return np.flatnonzero(self.key == self.keys.index(key))

    def rows(self, which: Int64s) -> Int64s:
        """Return the packets (n, or -n for row K<n>) of the drops at the indices `which`.

        Unknown packets are left out.
        """
        found = self.packet[which]
        return np.asarray(found[found != 0], np.int64)


def drops_of(case: Case) -> Drops:
    """Return the drops of chosen packets that no socket had received; they are found only once."""
    found: Drops = case.cached("drops", _drops)
    return found


def _drops(case: Case) -> Drops:
    """Return the drops of chosen packets; `keys` begins with the most frequent reason and place.

    Drops after a socket had received the packet are left out.
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
    """Return for each leg a packet that matches it exactly; -n for its row K<n>; 0 if none.

    If several packets match the leg, the first one is returned.
    """
    columns = case.scope.columns
    row = columns.take("series", "kernel_only", case.of_leg("series", legs) - 1).astype(np.int64)
    packet = first_packets(columns, legs)
    return np.asarray(np.where(packet > 0, packet, -np.maximum(row, 0)), np.int64)
