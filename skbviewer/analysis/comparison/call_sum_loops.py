# SPDX-License-Identifier: MIT
"""Go over the calls of a recording once, and compute sums by block, times of stages, and paths.

Array operations would go through the memory once for each of these sums.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...matching import FORWARD, RX, TX
from ...records.compiled import Int, allocation_free
from ...records.types import LATEST_NS, Bools, Float64s, Int32s, Int64s, UInt8s
from ..breakdown.path_class_rule import begin_path, is_step, mix
from ..calls.interruptions import MARK_GAP
from .group_statistics import VALUE_BITS, VALUES
from .time_blocks import BLOCK, GROUP_BITS

# Rows of sums; from CALLS on, there is a row for each direction (leg_directions.py).
SELF, TIMED, DURATION, RETURNED, COUNTER, COUNTED, GAPS, CALLS = range(8)
DIRECTIONS = 4
ROWS = CALLS + DIRECTIONS
RECEIVED, QUEUED, SENT, TRANSPORT, IP = 1, 2, 4, 8, 16  # bits of a function's role
# Columns of stages: those of sending, forwarding, receiving, each in the order of time.
SEND_AT, FORWARD_AT, RECEIVE_AT, STAGES = 0, 5, 9, 11
LEG, AT_RECEIVED, AT_QUEUED, AT_SENT, AT_TRANSPORT, AT_IP, KEYS, EARLY = range(8)
STATE = 8
EARLY_ROWS = 6
TASK, SOCK, SKB_IS_RET = 0, 0x80, 0x10  # context, and flags of kbl.h


class Calls(NamedTuple):
    """Some consecutive rows of table `call`.

    Only `chosen` calls are added to sums.  A call may be stored in several rows: `once` marks only
    one row of each chosen call.
    """

    leg: Int64s  # from 1
    func: Int64s
    self_ns: Int64s
    dur_ns: Int64s
    counter: Int64s
    marks: Int64s
    depth: Int64s
    entry_ns: Int64s
    flags: Int64s
    skb: Int64s
    context: Int64s
    parent: Int64s  # row of the call around it, from 1
    chosen: Bools
    once: Bools


class Legs(NamedTuple):
    """Columns of all legs of a recording.

    `direction` is an index of leg_directions.WORDS.  `usable` marks the legs whose records are all
    known, and `staged` the legs that have stages.
    """

    begin: Int64s
    end: Int64s
    reader: Int64s
    kind: UInt8s
    direction: UInt8s
    dropped: Bools
    source: Int32s
    block: Int32s
    usable: Bools
    staged: Bools


class Functions(NamedTuple):
    """The functions of a recording.

    `number` is the function of each pair of source and probe, -1 = no name.  Each function has a
    `path_step`, a `layer` and a `role`.
    """

    number: Int32s
    path_step: Int64s
    layer: Int64s
    role: UInt8s


class Found(NamedTuple):
    """The results of going over all calls.

    `sums`, `layers`, `stages` and `shown` have an element for each row of Blocks.  `sums` is also
    divided by function, `layers` by direction and layer, `stages` and `shown` by stage.  `key` and
    `key_block` have an element for each call with a self time, as in Grouped.  `is_early` marks
    calls that began before they had their packet.  `early` has a column for each early call, and
    for each call inside one.  The column has the call's row, layer, direction and block, its self
    time (-1: it counts for no layer), and the time during which the call had its packet.
    """

    sums: Float64s  # [ROWS, block, function]
    layers: Float64s  # [block, direction, layer]
    stages: Float64s  # [block, stage]
    shown: Float64s  # [block, stage]: number of legs
    path: Int64s  # by leg
    visited: Bools
    key: Int64s
    key_block: Int32s
    is_early: Bools
    early: Int64s  # [EARLY_ROWS, ...]
    state: Int64s
    seen: Int64s  # by function: the last leg whose path has it
    first_group: Int64s  # row of sums


@allocation_free
def pass_over(first: Int, calls: Calls, legs: Legs, functions: Functions, found: Found) -> None:
    """Add a block of calls, which begins at row `first` of the table, to the sums in `found`.

    The calls of one leg must follow each other.  The last leg is not finished, because the next
    block may continue it.
    """
    state = found.state
    for at in range(len(calls.leg)):
        if not calls.chosen[at]:
            continue
        leg = calls.leg[at] - 1
        if leg != state[LEG]:
            if state[LEG] >= 0:
                _stages(state[LEG], legs, found)
            _begin(leg, legs, found)
        func = calls.func[at]
        source = legs.source[leg]
        function = np.int64(-1)
        if 0 <= func < functions.number.shape[1]:
            function = np.int64(functions.number[source, func])
        if function >= 0:
            _step(leg, calls.entry_ns[at], function, legs, functions, found)
            _firsts(calls.entry_ns[at], legs.begin[leg], functions.role[function], state)
        _layer(first, at, leg, function, calls, legs, functions, found)
        if function >= 0 and calls.once[at]:
            _function(at, legs.block[leg], legs.direction[leg], function, calls, found)


@allocation_free
def finish(legs: Legs, found: Found) -> None:
    """Add the stages of the last leg, and those of legs that have no calls."""
    if found.state[LEG] >= 0:
        _stages(found.state[LEG], legs, found)
    for leg in range(len(legs.begin)):
        if legs.usable[leg] and not found.visited[leg]:
            _begin(np.int64(leg), legs, found)
            _stages(np.int64(leg), legs, found)


@allocation_free
def _begin(leg: Int, legs: Legs, found: Found) -> None:
    state = found.state
    state[LEG] = leg
    for at in range(AT_RECEIVED, AT_IP + 1):
        state[at] = LATEST_NS
    found.path[leg] = begin_path(np.int64(legs.kind[leg]), np.int64(legs.dropped[leg]))
    found.visited[leg] = True


@allocation_free
def _step(
    leg: Int, entry: Int, function: Int, legs: Legs, functions: Functions, found: Found
) -> None:
    """Add a function to the path of a leg if it counts as a step, and is not yet in the path."""
    number = functions.path_step[function]
    if found.seen[function] != leg and is_step(number, entry, legs.begin[leg], legs.end[leg]):
        found.seen[function] = leg
        found.path[leg] = mix(found.path[leg], number)


@allocation_free
def _firsts(entry: Int, begin: Int, role: Int, state: Int64s) -> None:
    """Store in `state` when the leg first called a function of each role after `begin`."""
    if entry < begin or not role:
        return
    for bit in range(AT_IP - AT_RECEIVED + 1):
        if role >> bit & 1 and entry < state[AT_RECEIVED + bit]:
            state[AT_RECEIVED + bit] = entry


@allocation_free
def _layer(
    first: Int,
    at: Int,
    leg: Int,
    function: Int,
    calls: Calls,
    legs: Legs,
    functions: Functions,
    found: Found,
) -> None:
    """Add a call's self time to its layer, as stats/layer_time_loops.py does; store early calls."""
    entry, own = calls.entry_ns[at], calls.self_ns[at]
    end = entry + max(calls.dur_ns[at], 0)
    since = legs.begin[leg]
    if legs.kind[leg] == RX and legs.reader[leg] >= 0 and calls.context[at] == TASK:
        is_sock = calls.flags[at] & SOCK != 0 and calls.skb[at] == 0
        if (is_sock or calls.flags[at] & SKB_IS_RET != 0) and end >= legs.reader[leg]:
            since = max(since, legs.reader[leg])
    counts = function >= 0 and own >= 0 and legs.usable[leg] and calls.once[at]
    is_early, parent = entry < since, calls.parent[at] - 1
    found.is_early[first + at] = is_early
    if is_early or (parent >= 0 and found.is_early[parent]):
        place = found.state[EARLY]
        found.early[0, place] = first + at
        found.early[1, place] = functions.layer[function]
        found.early[2, place] = legs.direction[leg]
        found.early[3, place] = legs.block[leg]
        found.early[4, place] = own if counts and is_early else -1
        found.early[5, place] = max(end - max(entry, since), 0)
        found.state[EARLY] += 1
    if counts and not is_early:
        block, layer = legs.block[leg], functions.layer[function]
        for row in (block & BLOCK, found.first_group[0] + (block >> GROUP_BITS)):
            found.layers[row, legs.direction[leg], layer] += own


@allocation_free
def _function(
    at: Int, block: Int, direction: Int, function: Int, calls: Calls, found: Found
) -> None:
    sums = found.sums
    own, duration, counter = calls.self_ns[at], calls.dur_ns[at], calls.counter[at]
    if own >= 0:
        place = found.state[KEYS]
        found.key[place] = function << VALUE_BITS | min(own, VALUES)
        found.key_block[place] = block
        found.state[KEYS] += 1
    for row in (block & BLOCK, found.first_group[0] + (block >> GROUP_BITS)):
        sums[CALLS + direction, row, function] += 1
        if own >= 0:
            sums[SELF, row, function] += own
            sums[TIMED, row, function] += 1
        if duration >= 0:
            sums[DURATION, row, function] += duration
            sums[RETURNED, row, function] += 1
        if counter >= 0:
            sums[COUNTER, row, function] += counter
            sums[COUNTED, row, function] += 1
        if calls.marks[at] & MARK_GAP:
            sums[GAPS, row, function] += 1


@allocation_free
def _stages(leg: Int, legs: Legs, found: Found) -> None:
    """Add the durations of a leg's stages; each lasts until the next one, or the leg's end."""
    if not legs.staged[leg]:
        return
    state, block = found.state, legs.block[leg]
    following = legs.end[leg]
    if legs.kind[leg] == TX:
        following = _stage(np.int64(SEND_AT + 4), state[AT_SENT], following, block, found)
        following = _stage(np.int64(SEND_AT + 3), state[AT_QUEUED], following, block, found)
        following = _stage(np.int64(SEND_AT + 2), state[AT_IP], following, block, found)
        following = _stage(np.int64(SEND_AT + 1), state[AT_TRANSPORT], following, block, found)
        _stage(np.int64(SEND_AT), legs.begin[leg], following, block, found)
    elif legs.kind[leg] == FORWARD:
        following = _stage(np.int64(FORWARD_AT + 3), state[AT_SENT], following, block, found)
        following = _stage(np.int64(FORWARD_AT + 2), state[AT_QUEUED], following, block, found)
        following = _stage(np.int64(FORWARD_AT + 1), state[AT_RECEIVED], following, block, found)
        _stage(np.int64(FORWARD_AT), legs.begin[leg], following, block, found)
    else:
        following = _stage(np.int64(RECEIVE_AT + 1), state[AT_RECEIVED], following, block, found)
        _stage(np.int64(RECEIVE_AT), legs.begin[leg], following, block, found)


@allocation_free
def _stage(stage: Int, begin: Int, following: Int, block: Int, found: Found) -> np.int64:
    if begin > following:
        return np.int64(following)
    for row in (block & BLOCK, found.first_group[0] + (block >> GROUP_BITS)):
        found.stages[row, stage] += following - begin
        found.shown[row, stage] += 1
    return np.int64(begin)


def early_layers(
    row: Int64s, parent: Int64s, early: Int64s, layers: Float64s, first_group: int
) -> None:
    """Add to `layers` the self times of early calls, which began before they had their packet.

    Each call has a `row` of the table (rising), the row of the call around it in `parent` (-1:
    none), and a column of `early` (EARLY_ROWS).  A call adds its self time, but at most A - B: A is
    how long the call had its packet, and B is how long the calls directly inside it had their
    packets.  The first rows of `layers` are blocks of time; groups of flows follow from row
    `first_group` on.
    """
    _, layer, direction, block, own, late = early
    left = late.copy()
    place = np.minimum(np.searchsorted(row, parent), len(row) - 1)
    inside = np.flatnonzero((parent >= 0) & (row[place] == parent))
    np.subtract.at(left, place[inside], late[inside])
    counts = own >= 0
    value = np.minimum(own, np.maximum(left, 0))[counts]
    for place_of in (block & BLOCK, first_group + (block >> GROUP_BITS)):
        np.add.at(layers, (place_of[counts], direction[counts], layer[counts]), value)
