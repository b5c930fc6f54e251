# SPDX-License-Identifier: MIT
"""Where each record of a .kbl file belongs in time order.

At equal times, version 2's records are in order of CPU and then as written.  In version 3, entries
come first, and the first packet of a list before its others, because a call is written at its end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.compiled import Int, compiled
from ...records.types import Int64s, UInt8s
from .slot_scan import CARRIED, CARRIES, FIRST_CARRIED, MINE, OTHER, UNKNOWN, Cpus, Scan

BITS = 63
STEP = 1 << 20
ALL_CPUS = 1 << 16
Places = npt.NDArray[np.int32]


class Order(NamedTuple):
    """`place` of each head slot, -1 = left out; places of CARRY events and of their calls."""

    place: Places
    size: int
    carry: Int64s
    call: Int64s  # parallel to `carry`; -1: the call is not in the file


def time_places(scan: Scan, version: int) -> Order:
    """Return the order of `scan`.

    This overwrites the times in `scan`, which must not be used again.
    """
    rows = len(scan.ts)
    key = _keys(scan)
    place = np.full(rows, -1, np.int32)
    carries = int(scan.counts[CARRIES])
    carry, call = np.zeros(carries, np.int64), np.full(carries, -1, np.int64)
    bits = rows.bit_length()
    _settle(key, bits, version, scan.order, scan.cpu, place, carry, call)
    return Order(place, len(key), place[carry].astype(np.int64), _placed(place, call))


def _placed(place: Places, rows: Int64s) -> Int64s:
    return np.where(rows >= 0, place[rows], -1).astype(np.int64) if len(rows) else rows


def _keys(scan: Scan) -> Int64s:
    """Sorted keys of the rows to keep: the row number in the low bits, the time above it."""
    ts, rows = scan.ts, len(scan.ts)
    bits = rows.bit_length()
    start, end = (int(ts.min()), int(ts.max())) if rows else (0, 0)
    if (end - start).bit_length() + bits > BITS:
        key = _ranked(ts, bits)
    else:
        for begin in range(0, rows, STEP):
            some = ts[begin : begin + STEP]
            some -= start
            some <<= bits
            some |= np.arange(begin, begin + len(some))
        key = ts
    left = scan.order == UNKNOWN
    if left.any():
        key = key[~left] if key is ts else key[~left[key & ((1 << bits) - 1)]]
    key.sort(kind="stable")  # merges sorted runs that follow each other
    return key


def _ranked(ts: Int64s, bits: int) -> Int64s:
    """Make keys with ranks instead of times, for times that are too far apart."""
    order = np.argsort(ts, kind="stable")
    found = ts[order]
    rank = np.cumsum(np.concatenate([[0], found[1:] != found[:-1]]))
    return np.asarray((rank << bits) | order, np.int64)


@compiled
def _settle(
    key: Int64s,
    bits: int,
    version: int,
    class_: UInt8s,
    cpu: Cpus,
    place: Places,
    carry: Int64s,
    call: Int64s,
) -> None:
    """Fill `place`, and the rows of CARRY events with their calls: same time and same CPU."""
    mask = (np.int64(1) << bits) - 1
    run_begin = np.full(
        ALL_CPUS, -1, np.int64
    )  # begin of the run in which the CPU last had an entry
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
    """Place rows of one time by CPU, and rows of one CPU as written."""
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
