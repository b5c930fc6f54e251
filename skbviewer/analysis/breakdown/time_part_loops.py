# SPDX-License-Identifier: MIT
"""Divide the time in kernel of packets into parts, in a compiled loop.

A leg is cut into pieces.  A piece is either a wait, or a time in which the innermost call of the
packet does not change.
Where several legs of a packet overlap, the piece with the lowest rank counts, as in
analysis/leg_times/packet_times.py.  If several pieces are busy, the piece that began last counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.compiled import Int, allocation_free, compiled
from ...records.types import Int64s
from ..words.wait_kinds import BUSY, RANKS
from .leg_columns import LegColumns
from .leg_stage_loops import BITS, STAGES, stage_at, stages_of

# Parts after the functions: busy time without a probed function, the probes, then waits by kind.
UNPROBED, PROBES, WAITS = 0, 1, 2
EXTRA = WAITS + RANKS
PIECES = 5  # rows of pieces: begin, end, part, rank, cost
BEGIN, END, PLACE, RANK, COST = range(PIECES)
STAGE_COUNT = len(STAGES)


class Scratch(NamedTuple):
    """Scratch space of the loop: pieces (PIECES x n), open calls, indices of pieces, sums by part.

    A part has the number stage * per_stage + index in the stage.
    """

    pieces: Int64s
    open_: Int64s
    at: Int64s  # where the pieces of each leg of a packet begin
    now: Int64s  # the piece of each leg
    spent: Int64s  # ns by part
    places: Int64s  # parts with time
    first: Int64s
    begins: Int64s


def scratch_for(pieces: int, legs: int, per_stage: int) -> Scratch:
    """Return scratch space for packets of at most `pieces` pieces and `legs` legs.

    `per_stage` is the number of parts of a stage, as in divide().
    """
    sizes = (pieces, legs + 2, legs + 2, STAGE_COUNT * per_stage, STAGE_COUNT * per_stage, BITS)
    made = [np.zeros(size, np.int64) for size in (*sizes, STAGE_COUNT)]
    return Scratch(np.zeros((PIECES, pieces), np.int64), *made)


@compiled
def count_pieces(
    units: Int64s, at: Int64s, of: Int64s, calls_at: Int64s, waits_at: Int64s, needed: Int64s
) -> None:
    """Find how much scratch space the packets `units` need, and write it into `needed`.

    needed[0] becomes an upper bound of the number of pieces of a packet. needed[1] becomes the
    largest number of legs of a packet, or 1 plus the largest number of calls of a leg if that is
    larger.  The legs of packet i are of[at[i] : at[i + 1]]; the calls and waits of leg k begin at
    calls_at[k] and waits_at[k].
    """
    for n in range(len(units)):
        unit, pieces = units[n], np.int64(0)
        for i in range(at[unit], at[unit + 1]):
            calls = calls_at[of[i] + 1] - calls_at[of[i]]
            pieces += 2 * calls + 2 * (waits_at[of[i] + 1] - waits_at[of[i]]) + 4
            needed[1] = max(needed[1], calls + 1)
        needed[0] = max(needed[0], pieces)
        needed[1] = max(needed[1], at[unit + 1] - at[unit])


@compiled
def divide(
    units: Int64s,
    first: Int,
    at: Int64s,
    of: Int64s,
    legs: LegColumns,
    per_stage: Int,
    scratch: Scratch,
    made: Int64s,
    counts: Int64s,
) -> np.int64:
    """Divide the times of the packets `units`, from index `first` on, into parts.

    Each part becomes one column of `made`: made[0] is the packet's index in `units`, made[1] is
    stage * per_stage + index in the stage, and made[2] is the time (ns). counts[0] becomes the
    number of columns.  `per_stage` is the number of parts of a stage: one for each function, and
    EXTRA others.  The legs of packet i are of[at[i] : at[i + 1]], indices into `legs`.  Returns the
    index in `units` of the first packet for which `made` had no space left.
    """
    n = np.int64(first)
    while n < len(units):
        if counts[0] + len(scratch.places) > made.shape[1]:
            break
        unit = units[n]
        i, last = at[unit], at[unit + 1]
        found = np.int64(0)
        while i < last:
            log, several = legs.log[of[i]], np.int64(0)
            scratch.at[0] = 0
            while i < last and legs.log[of[i]] == log:
                scratch.at[several + 1] = pieces_of(
                    of[i], scratch.at[several], legs, per_stage, scratch
                )
                several += 1
                i += 1
            found = merge(several, per_stage, scratch, found)
        for k in range(found):
            made[0, counts[0]], made[1, counts[0]] = n, scratch.places[k]
            made[2, counts[0]] = scratch.spent[scratch.places[k]]
            scratch.spent[scratch.places[k]] = 0
            counts[0] += 1
        n += 1
    return n


@allocation_free
def pieces_of(leg: Int, at: Int, legs: LegColumns, per_stage: Int, scratch: Scratch) -> np.int64:
    """Write the pieces of a leg into `scratch.pieces`, from index `at` on.

    `per_stage` is the number of parts of a stage.  Returns the index after the last piece.
    """
    stages_of(leg, legs, scratch.first, scratch.begins)
    edge, step = legs.edge[legs.log[leg]], legs.step[legs.log[leg]]
    unprobed = per_stage - EXTRA + UNPROBED
    depth, time, cost = np.int64(0), legs.begin[leg], np.int64(0)
    wait = legs.waits_at[leg]
    count = np.int64(at)
    for i in range(legs.calls_at[leg], legs.calls_at[leg + 1] + 1):
        is_last = i == legs.calls_at[leg + 1]
        entry = legs.end[leg] if is_last else min(legs.entry[i], legs.end[leg])
        while depth > 0:
            top = scratch.open_[depth - 1]
            end = legs.entry[top] + max(legs.dur[top], 0)
            if end > entry:
                break
            if end > time:
                wait, count = put(
                    leg, wait, count, time, end, np.int64(legs.function[top]), cost + edge,
                    legs, per_stage, scratch,
                )  # fmt: skip
                time = end
            cost = step
            depth -= 1
        if entry > time:
            function = unprobed
            if depth > 0:
                function = np.int64(legs.function[scratch.open_[depth - 1]])
                if function == per_stage - EXTRA:
                    function = unprobed
            wait, count = put(
                leg, wait, count, time, entry, function, cost + (0 if is_last else step),
                legs, per_stage, scratch,
            )  # fmt: skip
            time = entry
        if not is_last:
            scratch.open_[depth] = i
            depth += 1
            cost = edge
    return count


@allocation_free
def put(
    leg: Int,
    wait: Int,
    count: Int,
    begin: Int,
    end: Int,
    function: Int,
    cost: Int,
    legs: LegColumns,
    per_stage: Int,
    scratch: Scratch,
) -> tuple[np.int64, np.int64]:
    """Add a leg's pieces from `begin` to `end` (ns): its waits, and `function` between the waits.

    `function` is the part (an index in its stage) to which the time between the waits belongs.
    `wait` is the row of the leg's next wait, and `count` the number of pieces so far.  `cost` is
    the probes' share of the time, in ns.  The cost is ignored if `function` is one of the EXTRA
    parts.  Returns the new values of `wait` and `count`.
    """
    pieces, last = scratch.pieces, legs.waits_at[leg + 1]
    left = cost if function < per_stage - EXTRA else 0
    wait, count, time = np.int64(wait), np.int64(count), np.int64(begin)
    while time < end:
        until = np.int64(end)
        rank, part = np.int64(BUSY), np.int64(function)
        while wait < last and legs.wait_end[wait] <= time:
            wait += 1
        if wait < last and legs.wait_begin[wait] <= time:
            until = min(until, legs.wait_end[wait])
            rank = np.int64(legs.wait_kind[wait])
            part = per_stage - EXTRA + WAITS + rank
        elif wait < last:
            until = min(until, legs.wait_begin[wait])
        pieces[BEGIN, count], pieces[END, count] = time, until
        pieces[PLACE, count] = stage_at(time, scratch.begins) * per_stage + part
        pieces[RANK, count] = rank
        pieces[COST, count] = left if rank == BUSY else 0
        if rank == BUSY:
            left = max(left - (until - time), 0)
        count += 1
        time = until
    return wait, count


@allocation_free
def merge(several: Int, per_stage: Int, scratch: Scratch, found: Int) -> np.int64:
    """Add up, by part, the pieces of a packet's legs in one log; no nanosecond counts twice.

    `several` is the number of the packet's legs; their pieces are in `scratch`.  `per_stage` is the
    number of parts of a stage.  `found` is the number of parts that had time before this call.
    Returns the new number of these parts.
    """
    pieces, at, now = scratch.pieces, scratch.at, scratch.now
    found = np.int64(found)
    for k in range(several):
        now[k] = at[k]
    time = np.int64(-1)
    while True:
        best, until = np.int64(-1), np.int64(-1)
        for k in range(several):
            while now[k] < at[k + 1] and pieces[END, now[k]] <= time:
                now[k] += 1
            if now[k] == at[k + 1]:
                continue
            i = now[k]
            is_open = pieces[BEGIN, i] <= time
            change = pieces[END, i] if is_open else pieces[BEGIN, i]
            until = change if until < 0 else min(until, change)
            if is_open and (
                best < 0
                or pieces[RANK, i] < pieces[RANK, best]
                or (
                    pieces[RANK, i] == pieces[RANK, best] and pieces[BEGIN, i] > pieces[BEGIN, best]
                )
            ):
                best = i
        if until < 0:
            break
        if best >= 0:
            found = spend(best, until - time, per_stage, scratch, found)
        time = until
    return found


@allocation_free
def spend(piece: Int, ns: Int, per_stage: Int, scratch: Scratch, found: Int) -> np.int64:
    """Add `ns` of a piece to its part, except the cost of probes, which goes to the probes' part.

    `piece` is an index of `scratch.pieces`, and `per_stage` the number of parts of a stage.
    `found` is the number of parts that had time before this call.  Returns the new number
    of these parts.
    """
    place = scratch.pieces[PLACE, piece]
    cost = min(scratch.pieces[COST, piece], ns)
    scratch.pieces[COST, piece] -= cost
    found = np.int64(found)
    if cost > 0:
        probes = place // per_stage * per_stage + per_stage - EXTRA + PROBES
        found = add(probes, cost, scratch, found)
    if ns > cost:
        found = add(place, ns - cost, scratch, found)
    return found


@allocation_free
def add(place: Int, ns: Int, scratch: Scratch, found: Int) -> np.int64:
    """Add `ns` to the part with the number `place` (stage * per_stage + part).

    `found` is the number of parts that had time before this call.  Returns the new number
    of these parts.
    """
    found = np.int64(found)
    if scratch.spent[place] == 0:
        scratch.places[found] = place
        found += 1
    scratch.spent[place] += ns
    return found
