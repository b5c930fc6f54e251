# SPDX-License-Identifier: MIT
"""The input of matching across hosts: sightings of packets, and the clocks of their times.

A sighting is a captured packet, or an skb lifetime that no packet matches.  A clock is the clock of
a kernel log, or of a capture without a kernel log.  All arrays are int64.
"""

from __future__ import annotations

from typing import NamedTuple

from ...records.types import Bools, Int64s

UNKNOWN, IN, OUT = 0, 1, 2  # Sightings.way: the device received or sent the packet
SENDS, RECEIVES, FORWARDS = 1, 2, 3  # Sightings.role: what the host's stack did; or UNKNOWN
NO_VALUE = -1


class Sightings(NamedTuple):
    """Sightings, in any order.

    `identity` is equal for equal header values.  Two sightings of one clock with the same
    `appearance` belong to one skb lifetime.  The packet passed between the times `low_ns` and
    `high_ns` on the clock `clock`.  `position` is the order in the capture; it decides which
    sightings of a clock were before the clock was set.  `ttl_in` and `ttl_out` are the highest and
    the lowest time to live in the skb lifetime.  `ttl` and `payload` are NO_VALUE if they are
    unknown.  `flow` is the conversation in the direction of the packet, `back` in the other
    direction; `hosts` are both addresses in any order.  `shared` is set if several hosts may
    receive the packet.
    """

    identity: Int64s
    clock: Int64s
    appearance: Int64s
    low_ns: Int64s
    high_ns: Int64s
    position: Int64s
    ttl: Int64s
    ttl_in: Int64s
    ttl_out: Int64s
    way: Int64s
    role: Int64s
    payload: Int64s
    flow: Int64s
    back: Int64s
    hosts: Int64s
    shared: Int64s

    def rows(self, index: Int64s) -> Sightings:
        """Return the sightings that the row numbers `index` select."""
        return Sightings._make(column[index] for column in self)


class Counts(NamedTuple):
    """How many packets of each key a clock's recording has; a key is a flow or two addresses."""

    clock: Int64s
    key: Int64s
    packets: Int64s


class Recordings(NamedTuple):
    """Facts about each clock's recording.

    `steady` is set if nobody can set the clock.  `complete` is set if the log shows all packets
    that the host sent.  `flows` and `hosts` count all packets, also packets that no other recording
    has.
    """

    steady: Bools
    complete: Bools
    flows: Counts
    hosts: Counts
