# SPDX-License-Identifier: MIT
"""Compute the time of each leg in each layer, in compiled loops over the calls of a block.

A system call that sends begins before its packet is made.  A system call that receives begins
before its packet arrives.  What a system call does before it has its packet does not belong to the
packet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...matching import RX
from ...records.compiled import Int, allocation_free, compiled
from ...records.types import Bools, Int8s, Int64s
from ..scope import SOCK

TASK = 0  # context
SKB_IS_RET = 0x10  # kbl.h KBL_FLAG_SKB_IS_RET


class LegTimes(NamedTuple):
    """For each leg: whether it counts, its kind, its begin, and when a reader got the packet."""

    usable: Bools
    kind: Int8s
    begin: Int64s
    reader: Int64s


class Calls(NamedTuple):
    """The calls of whole legs, one leg after the other; times are in ns.

    `own` is the self time; -1 = unknown.  `parent` is the index of the calling call in these
    arrays; -1 if it is not in them.  `layer` is -1 if the function has no name, or if another row
    counts for the call.
    """

    leg: Int64s
    entry: Int64s
    dur: Int64s
    own: Int64s
    flags: Int64s
    skb: Int64s
    context: Int64s
    parent: Int64s
    layer: Int64s


@allocation_free
def since(call: Int, calls: Calls, legs: LegTimes) -> np.int64:
    """Return the time (ns) from which a call has its packet.

    `call` is an index of `calls`.
    """
    leg = calls.leg[call]
    begin, reader, flags = legs.begin[leg], legs.reader[leg], calls.flags[call]
    if legs.kind[leg] != RX or reader < 0 or calls.context[call] != TASK:
        return np.int64(begin)
    is_sock = (flags & SOCK) != 0 and calls.skb[call] == 0
    if not is_sock and (flags & SKB_IS_RET) == 0:
        return np.int64(begin)
    if calls.entry[call] + max(calls.dur[call], 0) < reader:
        return np.int64(begin)
    return np.int64(max(begin, reader))


@allocation_free
def late(call: Int, calls: Calls, legs: LegTimes) -> np.int64:
    """Return how long (ns) the call `call` runs after it has got its packet.

    `call` is an index of `calls`.  A socket function may get its packet long after it was called.
    `legs` has the times from which since() computes when the call got the packet.
    """
    entry = calls.entry[call]
    end = entry + max(calls.dur[call], 0)
    return np.int64(max(end - max(entry, since(call, calls, legs)), 0))


@compiled
def own_times(calls: Calls, legs: LegTimes, left: Int64s, made: Int64s) -> None:
    """Set made[i] to the self time (ns) that call i has in its leg; -1 = unknown.

    The self time counts from the leg's start.  For calls of the leg's reader, the self time counts
    from the time when the reader gets the packet.  A call may begin before its self time counts,
    and no record shows when in the call interrupts and other packets took their time.  For such a
    call, the result is how long it ran, without its inner calls, after its self time began to
    count; the result is at most the self time.  `left` is scratch space with an element for each
    call.
    """
    for i in range(len(calls.leg)):
        left[i] = -1
        if calls.entry[i] < since(i, calls, legs):
            left[i] = late(i, calls, legs)
        made[i] = calls.own[i]
    for i in range(len(calls.leg)):
        parent = calls.parent[i]
        if parent >= 0 and calls.entry[parent] < since(parent, calls, legs):
            left[parent] -= late(i, calls, legs)
    for i in range(len(calls.leg)):
        if calls.entry[i] < since(i, calls, legs):
            made[i] = min(calls.own[i], max(left[i], np.int64(0)))


@compiled
def layer_sums(
    calls: Calls, legs: LegTimes, own: Int64s, last: Int64s, made: Int64s,
    counts: Int64s,
) -> np.int64:  # fmt: skip
    """Add up the times `own` (ns) of calls by leg and layer; counts[k] becomes layer k's calls.

    Each sum becomes a column of `made`: the layer, and the sum (ns).  `last` is scratch space with
    an element for each layer, filled with -1.  Returns the number of sums.
    """
    count = np.int64(0)
    first = np.int64(0)
    for i in range(len(calls.leg)):
        leg = calls.leg[i]
        if i > 0 and leg != calls.leg[i - 1]:
            first = count
        layer = calls.layer[i]
        if layer < 0 or own[i] < 0 or not legs.usable[leg]:
            continue
        counts[layer] += 1
        if last[layer] < first:  # the leg's first call in this layer
            last[layer] = count
            made[0, count], made[1, count] = layer, 0
            count += 1
        made[1, last[layer]] += own[i]
    return count
