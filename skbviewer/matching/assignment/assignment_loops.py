# SPDX-License-Identifier: MIT
"""Follow the assignments of a packet group, state by state: loops of consistent_assignments.py."""

from __future__ import annotations

import mmap
from typing import NamedTuple

import numpy as np

from ...records.compiled import allocation_free
from ...records.types import Bools, Int8s, Int64s
from .packet_group_loops import CROWDED, EXACT, SEVERAL, TOO_LARGE, Groups, Tangle
from .packet_groups import Places

SLOTS = 62  # moments that a state can mark as taken: its bits, without the sign
EVERY = (1 << SLOTS) - 1
LONG_AGO = -(1 << 62)
MIX, MIX2 = -7046029254386353131, -4417276706812531889  # odd, about 2**64 / golden ratio; any
# Counts: steps left for all groups; states made so far; most steps stored at a time; steps stored
# now; free slots (bits); how often states were simplified.
LEFT, STATES, MOST, STEPS, FREE, FORGOT, COUNTS = range(7)
FEW = 8  # steps for each pair of a group that do not count against the limits


class Limits(NamedTuple):
    """How many steps from state to state a search may take: in one group (`steps`), in `total`."""

    steps: int = 1 << 18
    total: int = 1 << 24


class Scratch(NamedTuple):
    """Scratch arrays of the search: states, steps between states, and a hash table of states.

    The columns of states are `taken`, `latest` and `leads`.  The columns of steps between states
    are `source`, `pair` and `target`.  By place (a moment of a packet group, see Places): `slot` is
    the bit of this moment in a state, or -1, and `last` is the last packet that may have this
    moment.  By slot (a bit in a state): `holder` is the place that uses the slot.  `counts` holds
    numbers about the whole search, at the indices LEFT to FORGOT.
    """

    taken: Int64s
    latest: Int64s
    source: Int64s
    pair: Int64s
    target: Int64s
    table: Int64s
    slot: Int64s
    last: Int64s
    holder: Int64s
    leads: Bools
    counts: Int64s

    @classmethod
    def of(cls, limits: Limits) -> Scratch:
        """Return empty scratch arrays for a search that may take as many steps as `limits` says."""
        holder, counts = np.zeros(SLOTS, np.int64), np.zeros(COUNTS, np.int64)
        counts[LEFT], counts[STATES], counts[MOST] = limits.total, 1, limits.steps
        a, b, c, d, e, f, g, h = (np.zeros(0, np.int64) for _ in range(8))
        return cls(a, b, c, d, e, f, g, h, holder, np.zeros(0, np.bool_), counts)

    def ready(self, places: int) -> Scratch:
        """Return scratch arrays for a group of packets that may have `places` moments."""
        scratch = self._replace(slot=np.zeros(places, np.int64), last=np.full(places, -1))
        if len(self.table):
            return scratch
        steps = int(self.counts[MOST])
        size = 1 << (2 * steps + 2).bit_length()
        return scratch._replace(
            taken=np.empty(steps + 2, np.int64),
            latest=np.empty(steps + 2, np.int64),
            leads=np.empty(steps + 2, np.bool_),
            source=np.empty(steps, np.int64),
            pair=np.empty(steps, np.int64),
            target=np.empty(steps, np.int64),
            table=_zeros(size),
        )


def _zeros(size: int) -> Int64s:
    """Return an int64 array of zeros whose pages take memory only when they are written.

    numpy clears a whole array if it reuses freed memory for it, although most groups need little of
    the array.
    """
    return np.frombuffer(mmap.mmap(-1, size * np.dtype(np.int64).itemsize), np.int64)


@allocation_free
def follow_groups(
    tangle: Tangle, groups: Groups, places: Places, scratch: Scratch, seen: Bools, sure: Int8s
) -> None:
    """In each packet group marked SEVERAL, drop the pairs that no assignment of the group has.

    Sets `sure` of each of these groups to EXACT (each remaining pair is in an assignment),
    TOO_LARGE (some remaining pairs may be in none) or CROWDED (the group has no assignment, and
    keeps all pairs).  `seen` is scratch space: a flag for each pair.
    """
    for g in range(len(sure)):
        if sure[g] != SEVERAL:
            continue
        first, last = groups.first[g], groups.first[g + 1]
        pairs = _ends(tangle, groups.order, first, last, places, scratch)
        sure[g] = _group(tangle, groups.order, first, last, places, scratch, seen, pairs)
        if sure[g] == CROWDED:
            continue
        for n in range(first, last):
            packet = groups.order[n]
            for pair in range(tangle.rows[packet], tangle.rows[packet + 1]):
                tangle.kept[pair] = seen[pair]


@allocation_free
def _ends(
    tangle: Tangle, order: Int64s, first: np.int64, last: np.int64, places: Places, scratch: Scratch
) -> np.int64:
    """Set scratch.last[place] to the last packet of a group that may have the place's moment.

    Returns the number of pairs that the packets of the group have.
    """
    pairs = np.int64(0)
    for n in range(first, last):
        for pair in range(tangle.rows[order[n]], tangle.rows[order[n] + 1]):
            if tangle.kept[pair]:
                place = places.of[tangle.moment[pair]]
                scratch.last[place], scratch.slot[place] = n, -1
                pairs += 1
    return pairs


@allocation_free
def _group(
    tangle: Tangle,
    order: Int64s,
    first: np.int64,
    last: np.int64,
    places: Places,
    scratch: Scratch,
    seen: Bools,
    pairs: np.int64,
) -> int:
    """Follow the assignments of a group of packets; mark the pairs that they contain in `seen`.

    Returns EXACT, TOO_LARGE or CROWDED.
    """
    counts = scratch.counts
    allowed = pairs * FEW + min(counts[MOST], counts[LEFT])
    spent, low, high = np.int64(0), np.int64(0), np.int64(1)
    counts[FREE], counts[FORGOT], counts[STEPS] = EVERY, 0, 0
    scratch.taken[0], scratch.latest[0] = 0, LONG_AGO
    for n in range(first, last):
        packet = order[n]
        options = _options(tangle, packet)
        more = (high - low) * options
        if high - low == 1 or max(counts[STEPS] + more - counts[MOST], spent + more - allowed) > 0:
            counts[FORGOT] += high - low > 1
            _settle(scratch, low, high, seen)
            low, high = np.int64(0), np.int64(1)
        gone = _slots(tangle, packet, np.int64(n), places, scratch)
        if options > counts[MOST]:  # too many for one packet
            _pass(tangle, packet, scratch, gone, seen)
            continue
        spent += (high - low) * options
        made = _step(tangle, packet, places, scratch, gone, low, high)
        low, high = high, made
        if low == high:
            break
    counts[LEFT] -= max(np.int64(0), spent - pairs * FEW)
    if low == high:
        counts[STATES] += high
        return CROWDED
    _settle(scratch, low, high, seen)
    return TOO_LARGE if counts[FORGOT] else EXACT


@allocation_free
def _options(tangle: Tangle, packet: np.int64) -> np.int64:
    """Return how many pairs of a packet have not been dropped."""
    options = np.int64(0)
    for pair in range(tangle.rows[packet], tangle.rows[packet + 1]):
        options += 1 if tangle.kept[pair] else 0
    return options


@allocation_free
def _slots(
    tangle: Tangle, packet: np.int64, n: np.int64, places: Places, scratch: Scratch
) -> np.int64:
    """Give a slot (a bit) to each moment of a group's n-th packet that later packets may have, too.

    Returns the slots (as bits) that become free after this packet, because no later packet may have
    their moments.
    """
    gone, counts = np.int64(0), scratch.counts
    for pair in range(tangle.rows[packet], tangle.rows[packet + 1]):
        if not tangle.kept[pair]:
            continue
        place = places.of[tangle.moment[pair]]
        slot = scratch.slot[place]
        if scratch.last[place] == n:
            gone |= np.int64(1) << slot if slot >= 0 else np.int64(0)
        elif slot < 0 and counts[FREE]:
            slot = _lowest(counts[FREE])
            counts[FREE] &= ~(np.int64(1) << slot)
            scratch.slot[place], scratch.holder[slot] = slot, place
        elif slot < 0:
            counts[FORGOT] += 1
    return gone


@allocation_free
def _pass(tangle: Tangle, packet: np.int64, scratch: Scratch, gone: np.int64, seen: Bools) -> None:
    """Skip a packet: keep all its pairs, and mark none of their moments as taken."""
    for pair in range(tangle.rows[packet], tangle.rows[packet + 1]):
        seen[pair] = tangle.kept[pair]
    scratch.taken[0] &= ~gone
    scratch.counts[FREE] |= gone
    scratch.counts[FORGOT] += 1


@allocation_free
def _step(
    tangle: Tangle,
    packet: np.int64,
    places: Places,
    scratch: Scratch,
    gone: np.int64,
    low: np.int64,
    high: np.int64,
) -> np.int64:
    """Make the states after a packet from the states before it (`low` to `high`).

    The new states begin at `high`; returns where they end.
    """
    made, counts = high, scratch.counts
    for state in range(low, high):
        for pair in range(tangle.rows[packet], tangle.rows[packet + 1]):
            if not tangle.kept[pair]:
                continue
            place = places.of[tangle.moment[pair]]
            slot, latest = scratch.slot[place], max(scratch.latest[state], places.begin[place])
            bit = np.int64(1) << slot if slot >= 0 else np.int64(0)
            if places.end[place] < scratch.latest[state] or scratch.taken[state] & bit:
                continue
            taken = (scratch.taken[state] | bit) & ~gone
            if latest > scratch.latest[state]:
                taken = _open(taken, latest, scratch.holder, places.end)
            target, step = _state(scratch, high, made, taken, latest), counts[STEPS]
            scratch.source[step], scratch.pair[step], scratch.target[step] = state, pair, target
            made = max(made, target + 1)
            counts[STEPS] += 1
    counts[FREE] |= gone
    return made


@allocation_free
def _lowest(bits: np.int64) -> np.int64:
    """Return the index of the lowest bit of `bits` that is set."""
    at = np.int64(0)
    while not (bits >> at) & 1:
        at += 1
    return at


@allocation_free
def _open(taken: np.int64, latest: np.int64, holder: Int64s, end: Int64s) -> np.int64:
    """Clear the bits of taken moments that ended before `latest`: no later packet can have them."""
    slot, rest = np.int64(0), taken
    while rest:
        if rest & 1 and end[holder[slot]] < latest:
            taken &= ~(np.int64(1) << slot)
        rest >>= 1
        slot += 1
    return taken


@allocation_free
def _state(
    scratch: Scratch, low: np.int64, high: np.int64, taken: np.int64, latest: np.int64
) -> np.int64:
    """Return the index of the state (`taken`, `latest`) among the states from `low` to `high`.

    If the state is not among them, it is added at index `high`.
    """
    mixed = (taken * MIX) ^ (latest * MIX2)
    mixed ^= mixed >> 29
    known, at = scratch.counts[STATES], (mixed * MIX) >> 20 & (len(scratch.table) - 1)
    while scratch.table[at] >= known + low:
        state = np.int64(scratch.table[at] - known)
        if scratch.taken[state] == taken and scratch.latest[state] == latest:
            return state
        at = (at + 1) & (len(scratch.table) - 1)
    scratch.table[at] = known + high
    scratch.taken[high], scratch.latest[high] = taken, latest
    return high


@allocation_free
def _settle(scratch: Scratch, low: np.int64, high: np.int64, seen: Bools) -> None:
    """Go back from the last states, and mark in `seen` the pairs that lead to them.

    Then replace the last states of the search by a single state.
    """
    for state in range(high):
        scratch.leads[state] = state >= low
    for step in range(scratch.counts[STEPS] - 1, -1, -1):
        if scratch.leads[scratch.target[step]]:
            scratch.leads[scratch.source[step]] = True
            seen[scratch.pair[step]] = True
    taken, latest = scratch.taken[low], scratch.latest[low]
    for state in range(low + 1, high):
        taken &= scratch.taken[state]
        latest = min(latest, scratch.latest[state])
    scratch.taken[0], scratch.latest[0] = taken, latest
    scratch.counts[STATES] += high
    scratch.counts[STEPS] = 0
