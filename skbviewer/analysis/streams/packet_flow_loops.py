# SPDX-License-Identifier: MIT
"""Count the packets of each flow in a hash table, in compiled loops for packet_flows.py."""

from __future__ import annotations

import numpy as np

from ...matching import EXACT
from ...records import UNTIMED
from ...records.compiled import compiled
from ...records.types import Int64s, UInt64s

# Sums by flow: packets, bytes, times in kernel that are known, their sum, exact matches whose time
# is unknown, first and last capture time.
SUMS = 7
PACKETS, BYTES, KNOWN, KERNEL, UNKNOWN, BEGIN, END = range(SUMS)


@compiled
def place_hashes(hashes: UInt64s, slots: Int64s) -> None:
    """Enter each flow's number in a free slot of the hash table `slots` (-1 = free)."""
    last = np.uint64(len(slots) - 1)
    for flow in range(len(hashes)):
        place = np.int64((hashes[flow] ^ (hashes[flow] >> np.uint64(32))) & last)
        while slots[place] >= 0:
            place = (place + 1) & (len(slots) - 1)
        slots[place] = flow


@compiled
def hash_keys(keys: Int64s, odd: np.uint64, found: UInt64s) -> None:
    """Write a hash of each column of `keys` into `found`; `odd` is a factor of the hash."""
    for row in range(keys.shape[1]):
        hash_ = np.uint64(0)
        for at in range(keys.shape[0]):
            hash_ = (hash_ ^ np.uint64(keys[at, row])) * odd
            hash_ ^= hash_ >> np.uint64(29)
        found[row] = hash_


@compiled
def count_flows(
    keys: Int64s,
    of: UInt64s,
    values: Int64s,
    first: np.int64,
    slots: Int64s,
    kept: Int64s,
    hashes: UInt64s,
    sums: Int64s,
    count: Int64s,
) -> np.int64:
    """Add packets, from column `first` on, to the sums of their flows.

    A column of `keys` identifies a packet's flow; `of` is the hash of the column.  A column of
    `values` has four values of a packet: bytes, capture time (ns, UNTIMED if unknown), time in
    kernel (ns, negative if unknown), and verdict.  `slots` is a hash table of flows (-1 = free),
    whose length is a power of two.  For each flow, `kept` has its key, `hashes` its hash, and
    `sums` its sums (PACKETS to END). count[0] is the number of flows.  Returns the index of the
    first packet that was not counted, because the table is half full.

    The caller computes the hashes beforehand, so that the CPU can fetch the flows of several
    packets at a time.
    """
    last = np.uint64(len(slots) - 1)
    for row in range(first, keys.shape[1]):
        hash_ = of[row]
        place = np.int64((hash_ ^ (hash_ >> np.uint64(32))) & last)
        flow = slots[place]
        while flow >= 0:
            if hashes[flow] == hash_:
                equal = True
                for at in range(keys.shape[0]):
                    if kept[flow, at] != keys[at, row]:
                        equal = False
                if equal:
                    break
            place = (place + 1) & (len(slots) - 1)
            flow = slots[place]
        if flow < 0:
            if count[0] == len(kept):
                return np.int64(row)
            flow = count[0]
            count[0] += 1
            slots[place], hashes[flow] = flow, hash_
            for at in range(keys.shape[0]):
                kept[flow, at] = keys[at, row]
        sums[flow, PACKETS] += 1
        sums[flow, BYTES] += values[0, row]
        if values[2, row] >= 0:
            sums[flow, KNOWN] += 1
            sums[flow, KERNEL] += values[2, row]
        elif values[3, row] == EXACT:
            sums[flow, UNKNOWN] += 1
        time = values[1, row]
        if time != UNTIMED:
            sums[flow, BEGIN] = min(sums[flow, BEGIN], time)
            sums[flow, END] = max(sums[flow, END], time)
    return np.int64(keys.shape[1])
