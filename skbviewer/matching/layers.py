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
FEW = 8  # steps for each pair of a group that are allowed anyway


class Limits(NamedTuple):
    """`steps` from states to states: of one group at a time, and of all groups together."""

    steps: int = 1 << 18
    total: int = 1 << 24


class Room(NamedTuple):
    """States (`taken`, `latest`, `leads`), steps (`source`, `pair`, `target`), and a hash table.

    `slot` and `last` are of places; `holder` is the place that has each slot.  `left`: of the
    limit of all groups; how many states there have been.
    """

    taken: Index
    latest: Index
    leads: Flags
    source: Index
    pair: Index
    target: Index
    table: Index
    slot: Index
    last: Index
    holder: Index
    left: Index

    @classmethod
    def of(cls, limits: Limits) -> Room:
        """Room without states."""
        none = np.zeros(0, np.int64)
        left = np.array([limits.total, 1, limits.steps])
        flags = np.zeros(0, np.bool_)
        return cls(none, none, flags, *[none] * 6, np.zeros(SLOTS, np.int64), left)

    def ready(self, places: int) -> Room:
        """Room for that many places."""
        steps = int(self.left[2])
        slot, last = np.zeros(places, np.int64), np.full(places, -1)
        if len(self.table):
            return self._replace(slot=slot, last=last)
        states = (np.zeros(steps + 2, np.int64) for _ in range(2))
        made = (np.zeros(steps, np.int64) for _ in range(3))
        size = 1 << (2 * steps + 2).bit_length()
        leads, table = np.zeros(steps + 2, np.bool_), np.zeros(size, np.int64)
        return Room(*states, leads, *made, table, slot, last, self.holder, self.left)


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
    extra = min(room.left[2], max(room.left[0], 0))
    allowed = pairs * FEW + extra
    spent, forgot, free = np.int64(0), False, np.int64(EVERY)
    low, high, steps = np.int64(0), np.int64(1), np.int64(0)
    room.taken[0], room.latest[0] = 0, LONG_AGO
    for n in range(first, last):
        packet = order[n]
        begin, end = tangle.rows[packet], tangle.rows[packet + 1]
        count = np.int64(0)
        for pair in range(begin, end):
            count += 1 if tangle.kept[pair] else 0
        more = (high - low) * count
        if high - low == 1 or steps + more > room.left[2] or spent + more > allowed:
            forgot |= high - low > 1
            _settle(room, low, high, steps, seen)
            low, high, steps = np.int64(0), np.int64(1), np.int64(0)
        gone = np.int64(0)
        if count > room.left[2]:  # too many for one packet: it stays as it is, and takes nothing
            forgot = True
            for pair in range(begin, end):
                seen[pair] = tangle.kept[pair]
                place = places.of[tangle.moment[pair]]
                if tangle.kept[pair] and room.last[place] == n and room.slot[place] >= 0:
                    gone |= np.int64(1) << room.slot[place]
            room.taken[0] &= ~gone
            free |= gone
            continue
        for pair in range(begin, end):
            if not tangle.kept[pair]:
                continue
            place = places.of[tangle.moment[pair]]
            if room.last[place] == n:
                if room.slot[place] >= 0:
                    gone |= np.int64(1) << room.slot[place]
            elif room.slot[place] < 0:
                if free:
                    slot = _lowest(free)
                    free &= ~(np.int64(1) << slot)
                    room.slot[place], room.holder[slot] = slot, place
                else:
                    forgot = True
        made = high
        for state in range(low, high):
            for pair in range(begin, end):
                if not tangle.kept[pair]:
                    continue
                place = places.of[tangle.moment[pair]]
                bit = np.int64(0)
                if room.slot[place] >= 0:
                    bit = np.int64(1) << room.slot[place]
                if places.end[place] < room.latest[state] or room.taken[state] & bit:
                    continue
                latest = max(room.latest[state], places.begin[place])
                taken = (room.taken[state] | bit) & ~gone
                if latest > room.latest[state]:
                    taken = _open(taken, latest, room.holder, places.end)
                target = _state(room, high, made, taken, latest)
                made = max(made, target + 1)
                room.source[steps], room.pair[steps], room.target[steps] = state, pair, target
                steps += 1
        spent += more
        free |= gone
        low, high = high, made
        if low == high:
            room.left[0] -= max(np.int64(0), spent - pairs * FEW)
            room.left[1] += high
            return CROWDED
    _settle(room, low, high, steps, seen)
    room.left[0] -= max(np.int64(0), spent - pairs * FEW)
    return TOO_LARGE if forgot else EXACT


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
    known, at = room.left[1], (mixed * MIX) >> 20 & (len(room.table) - 1)
    while room.table[at] >= known + low:
        state = room.table[at] - known
        if room.taken[state] == taken and room.latest[state] == latest:
            return state
        at = (at + 1) & (len(room.table) - 1)
    room.table[at] = known + high
    room.taken[high], room.latest[high] = taken, latest
    return high


@lean
def _settle(room: Room, low: np.int64, high: np.int64, steps: np.int64, seen: Flags) -> None:
    """Go back from the states that are left to what led there; then all of them become one."""
    for state in range(high):
        room.leads[state] = state >= low
    for step in range(steps - 1, -1, -1):
        if room.leads[room.target[step]]:
            room.leads[room.source[step]] = True
            seen[room.pair[step]] = True
    taken, latest = room.taken[low], room.latest[low]
    for state in range(low + 1, high):
        taken &= room.taken[state]
        latest = min(latest, room.latest[state])
    room.taken[0], room.latest[0] = taken, latest
    room.left[1] += high
