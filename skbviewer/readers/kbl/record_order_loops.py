# SPDX-License-Identifier: MIT
"""Order records of equal times: loops of record_order.py."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records.compiled import Int, compiled
from ...records.types import Int64s, UInt8s
from .slot_scan_loops import CARRIED, FIRST_CARRIED, MINE, OTHER, Cpus

BITS = 63
STEP = 1 << 20
ALL_CPUS = 1 << 16
Places = npt.NDArray[np.int32]


@compiled
def settle_ties(
    key: Int64s,
    bits: int,
    version: int,
    class_: UInt8s,
    cpu: Cpus,
    place: Places,
    carry: Int64s,
    call: Int64s,
) -> None:
    """Write the position of each row in time order into `place`; list CARRY events and their calls.

    A row is the number of a head slot.  `key` is sorted: time << `bits` | row.  `carry` gets the
    rows of CARRY events, and `call` the rows of their calls, which have the same time and the same
    CPU.  If an event has no call with this time and CPU, its `call` is -1.  The class of an event
    without a call, in `class_`, becomes OTHER.  In version 2, `carry`, `call` and `class_` do not
    change.
    """
    mask = (np.int64(1) << bits) - 1
    # By CPU: the index in `key` at which the run of equal times with its last entry begins.
    run_begin = np.full(ALL_CPUS, -1, np.int64)
    entry = np.zeros(ALL_CPUS, np.int64)  # and the first entry of that run
    found, begin, size = 0, np.int64(0), len(key)
    while begin < size:
        time = key[begin] >> bits
        end = begin + np.int64(1)
        while end < size and key[end] >> bits == time:
            end += 1
        if version == 2:
            _by_cpu(key, begin, end, mask, cpu, place)
            begin = end
            continue
        if end - begin > 1:
            for i in range(begin, end):
                row = key[i] & mask
                if class_[row] == MINE and run_begin[cpu[row]] != begin:
                    run_begin[cpu[row]], entry[cpu[row]] = begin, row
        first, further = 0, 0
        for i in range(begin, end):
            row = key[i] & mask
            if class_[row] == CARRIED or class_[row] == FIRST_CARRIED:
                carry[found] = row
                if run_begin[cpu[row]] != begin:
                    class_[row] = OTHER
                else:
                    call[found] = entry[cpu[row]]
                    class_[row] = MINE if class_[row] == FIRST_CARRIED else CARRIED
                found += 1
            first += class_[row] == MINE
            further += class_[row] == CARRIED
        mine, carried, other = begin, begin + first, begin + first + further
        for i in range(begin, end):
            row = key[i] & mask
            if class_[row] == MINE:
                place[row] = mine
                mine += 1
            elif class_[row] == CARRIED:
                place[row] = carried
                carried += 1
            else:
                place[row] = other
                other += 1
        begin = end


@compiled
def _by_cpu(key: Int64s, begin: Int, end: Int, mask: Int, cpu: Cpus, place: Places) -> None:
    """Order the rows from `begin` to `end` - 1 of `key` by CPU; their times are equal.

    The rows of one CPU stay in the order in which they were written.
    """
    last, at = np.int64(-1), begin
    while at < end:
        least = np.int64(ALL_CPUS)
        for i in range(begin, end):
            mine = np.int64(cpu[key[i] & mask])
            if last < mine < least:
                least = mine
        for i in range(begin, end):
            row = key[i] & mask
            if cpu[row] == least:
                place[row] = at
                at += 1
        last = least
