# SPDX-License-Identifier: MIT
"""Find the stages of legs, in compiled loops."""

from __future__ import annotations

import numpy as np

from ...matching import FORWARD, TX
from ...records.compiled import Int, allocation_free, compiled
from ...records.types import LATEST_NS, Int64s
from ..words.stage_names import FORWARDING, RECEIVING, SENDING
from .leg_columns import (
    BEGINS_IP,
    BEGINS_QUEUE,
    BEGINS_SENDING,
    BEGINS_STACK,
    BEGINS_TRANSPORT,
    LegColumns,
)

STAGES = (*SENDING, *FORWARDING, *RECEIVING[:2])
FORWARDED, RECEIVED = len(SENDING), len(SENDING) + len(FORWARDING)  # first stage of each kind
MOST_STAGES = max(len(SENDING), len(FORWARDING))  # of one leg
BITS = 5
NONE = LATEST_NS


@allocation_free
def stages_of(leg: Int, legs: LegColumns, first: Int64s, begins: Int64s) -> None:
    """Set begins[i] to the time (ns) at which stage i of STAGES starts in a leg.

    `leg` is an index into `legs`.  `first` is scratch space of BITS elements.  If the leg does not
    have the stage, begins[i] is NONE.
    """
    first[:], begins[:] = NONE, NONE
    for i in range(legs.calls_at[leg], legs.calls_at[leg + 1]):
        bits = np.int64(legs.begins[legs.function[i]])
        if bits != 0 and legs.entry[i] >= legs.begin[leg]:
            for bit in range(BITS):
                if bits >> bit & 1:
                    first[bit] = min(first[bit], legs.entry[i])
    kind = legs.kind[leg]
    at, count = RECEIVED, 2
    if kind == TX:
        at, count = 0, FORWARDED
        begins[1], begins[2] = first[_TRANSPORT], first[_IP]
        begins[3], begins[4] = first[_QUEUE], first[_SENDING]
    elif kind == FORWARD:
        at, count = FORWARDED, 4
        begins[at + 1], begins[at + 2] = first[_STACK], first[_QUEUE]
        begins[at + 3] = first[_SENDING]
    else:
        begins[at + 1] = first[_STACK]
    begins[at] = legs.begin[leg]
    following = legs.end[leg]
    for i in range(at + count - 1, at - 1, -1):
        if begins[i] <= following:
            following = begins[i]
        else:
            begins[i] = NONE


@allocation_free
def stage_at(time: Int, begins: Int64s) -> np.int64:
    """Return the stage (index of STAGES) of a leg that began last, but not after `time` (ns).

    `begins` has the times (ns) at which the stages begin, as stages_of() writes them.
    """
    found, latest = np.int64(0), np.int64(-1)
    for i in range(len(begins)):
        if begins[i] != NONE and begins[i] <= time and begins[i] >= latest:
            found, latest = np.int64(i), begins[i]
    return found


@compiled
def cut_legs(
    wanted: Int64s, legs: LegColumns, first: Int64s, begins: Int64s, made: Int64s
) -> np.int64:
    """Write a column of `made` for each stage of the legs `wanted`: index in STAGES, duration (ns).

    A stage lasts until the leg's next stage begins, or until the leg ends.  `first` and `begins`
    are scratch space as for stages_of().  Returns the number of columns.
    """
    count = np.int64(0)
    for n in range(len(wanted)):
        stages_of(wanted[n], legs, first, begins)
        following = legs.end[wanted[n]]
        for i in range(len(begins) - 1, -1, -1):
            if begins[i] != NONE:
                made[0, count], made[1, count] = i, following - begins[i]
                following = begins[i]
                count += 1
    return count


def _bit(flag: int) -> int:
    return flag.bit_length() - 1


_TRANSPORT, _IP = _bit(BEGINS_TRANSPORT), _bit(BEGINS_IP)
_QUEUE, _SENDING, _STACK = _bit(BEGINS_QUEUE), _bit(BEGINS_SENDING), _bit(BEGINS_STACK)
