# SPDX-License-Identifier: MIT
"""All consistent assignments of a group, followed packet by packet.

What later packets must know of the earlier ones is a state: which moments are taken that a later
packet may have, and when the latest taken one begins.  States that are equal go on as one, so a
long group costs little if few moments overlap at a time.  At the end, and where only one state is
left, the way back shows which pairs lead there.

Beyond the limits all states of a packet become one that forbids what each of them forbids: then
assignments may be thought possible that are not, but none is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..records.compiled import lean
from .tangle import (
    CROWDED,
    EXACT,
    SEVERAL,
    TOO_LARGE,
    Bytes,
    Flags,
    Groups,
    Index,
    Places,
    Tangle,
)

SLOTS = 62  # moments that can be taken at a time: bits of a state, without the sign
EVERY = (1 << SLOTS) - 1
LONG_AGO = -(1 << 62)
MIX, MIX2 = -7046029254386353131, -4417276706812531889  # odd, about 2**64 / golden ratio; any
# Counts: steps left to all groups, states there have been, steps that one group may have at a time
# and has, slots that are free, how often something was forgotten.
LEFT, STATES, MOST, STEPS, FREE, FORGOT, COUNTS = range(7)
FEW = 8  # steps for each pair of a group that are allowed anyway


class Limits(NamedTuple):
    """`steps` from states to states: of one group at a time, and of all groups together."""

    steps: int = 1 << 18
    total: int = 1 << 24


class Room(NamedTuple):
    """States (`taken`, `latest`, `leads`), steps (`source`, `pair`, `target`), and a hash table.

    `slot` and `last` are of places; `holder` is the place that has each slot.  `counts` are the
    numbers below.
    """

    taken: Index
    latest: Index
    source: Index
    pair: Index
    target: Index
    table: Index
    slot: Index
    last: Index
    holder: Index
    leads: Flags
    counts: Index

    @classmethod
    def of(cls, limits: Limits) -> Room:
        """Room without states."""
        holder, counts = np.zeros(SLOTS, np.int64), np.zeros(COUNTS, np.int64)
        counts[LEFT], counts[STATES], counts[MOST] = limits.total, 1, limits.steps
        a, b, c, d, e, f, g, h = (np.zeros(0, np.int64) for _ in range(8))
        return cls(a, b, c, d, e, f, g, h, holder, np.zeros(0, np.bool_), counts)

    def ready(self, places: int) -> Room:
        """Room for that many places."""
        room = self._replace(slot=np.zeros(places, np.int64), last=np.full(places, -1))
        if len(self.table):
            return room
        steps = int(self.counts[MOST])
        size = 1 << (2 * steps + 2).bit_length()
        return room._replace(
            taken=np.zeros(steps + 2, np.int64),
            latest=np.zeros(steps + 2, np.int64),
            leads=np.zeros(steps + 2, np.bool_),
            source=np.zeros(steps, np.int64),
            pair=np.zeros(steps, np.int64),
            target=np.zeros(steps, np.int64),
            table=np.zeros(size, np.int64),
        )


def follow(tangle: Tangle, groups: Groups, places: Places, room: Room, sure: Bytes) -> None:
    """Drop pairs that lead nowhere in the groups that are SEVERAL, and set `sure` of these.

    EXACT: each pair that is left is in an assignment.  TOO_LARGE: perhaps.  CROWDED: there is none.
    """
    _follow(tangle, groups, places, room, np.zeros(len(tangle.kept), np.bool_), sure)


@lean
def _follow(
    tangle: Tangle, groups: Groups, places: Places, room: Room, seen: Flags, sure: Bytes
) -> None:
    for g in range(len(sure)):
        if sure[g] != SEVERAL:
            continue
        first, last = groups.first[g], groups.first[g + 1]
        pairs = _ends(tangle, groups.order, first, last, places, room)
        sure[g] = _group(tangle, groups.order, first, last, places, room, seen, pairs)
        if sure[g] == CROWDED:
            continue
        for n in range(first, last):
            packet = groups.order[n]
            for pair in range(tangle.rows[packet], tangle.rows[packet + 1]):
                tangle.kept[pair] = seen[pair]


@lean
def _ends(
    tangle: Tangle, order: Index, first: np.int64, last: np.int64, places: Places, room: Room
) -> np.int64:
    """Which packet is the last that may have each place; how many pairs there are."""
    pairs = np.int64(0)
    for n in range(first, last):
        for pair in range(tangle.rows[order[n]], tangle.rows[order[n] + 1]):
            if tangle.kept[pair]:
                place = places.of[tangle.moment[pair]]
                room.last[place], room.slot[place] = n, -1
                pairs += 1
    return pairs


@lean
def _group(
    tangle: Tangle,
    order: Index,
    first: np.int64,
    last: np.int64,
    places: Places,
    room: Room,
    seen: Flags,
    pairs: np.int64,
) -> int:
    """Follow one group; what is said of it."""
    counts = room.counts
    allowed = pairs * FEW + min(counts[MOST], counts[LEFT])
    spent, low, high = np.int64(0), np.int64(0), np.int64(1)
    counts[FREE], counts[FORGOT], counts[STEPS] = EVERY, 0, 0
    room.taken[0], room.latest[0] = 0, LONG_AGO
    for n in range(first, last):
        packet = order[n]
        options = _options(tangle, packet)
        more = (high - low) * options
        if high - low == 1 or max(counts[STEPS] + more - counts[MOST], spent + more - allowed) > 0:
            counts[FORGOT] += high - low > 1
            _settle(room, low, high, seen)
            low, high = np.int64(0), np.int64(1)
        gone = _slots(tangle, packet, np.int64(n), places, room)
        if options > counts[MOST]:  # of one packet: it keeps them all, and takes none
            _pass(tangle, packet, room, gone, seen)
            continue
        spent += (high - low) * options
        made = _step(tangle, packet, places, room, gone, low, high)
        low, high = high, made
        if low == high:
            break
    counts[LEFT] -= max(np.int64(0), spent - pairs * FEW)
    if low == high:
        counts[STATES] += high
        return CROWDED
    _settle(room, low, high, seen)
    return TOO_LARGE if counts[FORGOT] else EXACT


@lean
def _options(tangle: Tangle, packet: np.int64) -> np.int64:
    """How many pairs of a packet are left."""
    options = np.int64(0)
    for pair in range(tangle.rows[packet], tangle.rows[packet + 1]):
        options += 1 if tangle.kept[pair] else 0
    return options


@lean
def _slots(tangle: Tangle, packet: np.int64, n: np.int64, places: Places, room: Room) -> np.int64:
    """Give slots to moments that packets behind the n-th may have, too.

    Returns the bits of those that are free behind it, as nobody else may have their moments.
    """
    gone, counts = np.int64(0), room.counts
    for pair in range(tangle.rows[packet], tangle.rows[packet + 1]):
        if not tangle.kept[pair]:
            continue
        place = places.of[tangle.moment[pair]]
        slot = room.slot[place]
        if room.last[place] == n:
            gone |= np.int64(1) << slot if slot >= 0 else np.int64(0)
        elif slot < 0 and counts[FREE]:
            slot = _lowest(counts[FREE])
            counts[FREE] &= ~(np.int64(1) << slot)
            room.slot[place], room.holder[slot] = slot, place
        elif slot < 0:
            counts[FORGOT] += 1
    return gone


@lean
def _pass(tangle: Tangle, packet: np.int64, room: Room, gone: np.int64, seen: Flags) -> None:
    """Go on without a packet."""
    for pair in range(tangle.rows[packet], tangle.rows[packet + 1]):
        seen[pair] = tangle.kept[pair]
    room.taken[0] &= ~gone
    room.counts[FREE] |= gone
    room.counts[FORGOT] += 1


@lean
def _step(
    tangle: Tangle,
    packet: np.int64,
    places: Places,
    room: Room,
    gone: np.int64,
    low: np.int64,
    high: np.int64,
) -> np.int64:
    """Make the states behind a packet, from `high` on, of those before it; returns their end."""
    made, counts = high, room.counts
    for state in range(low, high):
        for pair in range(tangle.rows[packet], tangle.rows[packet + 1]):
            if not tangle.kept[pair]:
                continue
            place = places.of[tangle.moment[pair]]
            slot, latest = room.slot[place], max(room.latest[state], places.begin[place])
            bit = np.int64(1) << slot if slot >= 0 else np.int64(0)
            if places.end[place] < room.latest[state] or room.taken[state] & bit:
                continue
            taken = (room.taken[state] | bit) & ~gone
            if latest > room.latest[state]:
                taken = _open(taken, latest, room.holder, places.end)
            target, step = _state(room, high, made, taken, latest), counts[STEPS]
            room.source[step], room.pair[step], room.target[step] = state, pair, target
            made = max(made, target + 1)
            counts[STEPS] += 1
    counts[FREE] |= gone
    return made


@lean
def _lowest(bits: np.int64) -> np.int64:
    """The number of the lowest bit that is set."""
    at = np.int64(0)
    while not (bits >> at) & 1:
        at += 1
    return at


@lean
def _open(taken: np.int64, latest: np.int64, holder: Index, end: Index) -> np.int64:
    """Taken moments without those that no later packet can have: they ended before `latest`."""
    slot, rest = np.int64(0), taken
    while rest:
        if rest & 1 and end[holder[slot]] < latest:
            taken &= ~(np.int64(1) << slot)
        rest >>= 1
        slot += 1
    return taken


@lean
def _state(
    room: Room, low: np.int64, high: np.int64, taken: np.int64, latest: np.int64
) -> np.int64:
    """The state, of those from `low` on, that is like this; else the new one `high`."""
    mixed = (taken * MIX) ^ (latest * MIX2)
    mixed ^= mixed >> 29
    known, at = room.counts[STATES], (mixed * MIX) >> 20 & (len(room.table) - 1)
    while room.table[at] >= known + low:
        state = np.int64(room.table[at] - known)
        if room.taken[state] == taken and room.latest[state] == latest:
            return state
        at = (at + 1) & (len(room.table) - 1)
    room.table[at] = known + high
    room.taken[high], room.latest[high] = taken, latest
    return high


@lean
def _settle(room: Room, low: np.int64, high: np.int64, seen: Flags) -> None:
    """Go back from the states that are left to what led there; then all of them become one."""
    for state in range(high):
        room.leads[state] = state >= low
    for step in range(room.counts[STEPS] - 1, -1, -1):
        if room.leads[room.target[step]]:
            room.leads[room.source[step]] = True
            seen[room.pair[step]] = True
    taken, latest = room.taken[low], room.latest[low]
    for state in range(low + 1, high):
        taken &= room.taken[state]
        latest = min(latest, room.latest[state])
    room.taken[0], room.latest[0] = taken, latest
    room.counts[STATES] += high
    room.counts[STEPS] = 0
