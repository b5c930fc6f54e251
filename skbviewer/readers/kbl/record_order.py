# SPDX-License-Identifier: MIT
"""Find the position of each record of a .kbl file in time order.

Version 2's records with equal times are ordered by CPU; on one CPU, they stay as written.  In
version 3, entries come first among records of equal times.  A call is written at its end, so the
first packet of a list is put before the list's other packets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Int64s
from .record_order_loops import BITS, STEP, Places, settle_ties
from .slot_scan import Scan
from .slot_scan_loops import CARRIES, UNKNOWN


class Order(NamedTuple):
    """Positions in time order of all head slots, of CARRY events, and of these events' calls.

    `place` is the position of each head slot; -1 means that the slot is left out.  `size` is the
    number of positions.
    """

    place: Places
    size: int
    carry: Int64s  # positions of CARRY events
    call: Int64s  # positions of their calls, parallel to `carry`; -1: not in the file


def time_places(scan: Scan, version: int) -> Order:
    """Return the position of each record in time order, from the results of the first pass.

    `version` is the version of the file's format, which decides the order of equal times.

    The times in `scan` are overwritten, so `scan` must not be used afterwards.
    """
    rows = len(scan.ts)
    key = _keys(scan)
    place = np.full(rows, -1, np.int32)
    carries = int(scan.counts[CARRIES])
    carry, call = np.zeros(carries, np.int64), np.full(carries, -1, np.int64)
    bits = rows.bit_length()
    settle_ties(key, bits, version, scan.order, scan.cpu, place, carry, call)
    return Order(place, len(key), place[carry].astype(np.int64), _placed(place, call))


def _placed(place: Places, rows: Int64s) -> Int64s:
    return np.where(rows >= 0, place[rows], -1).astype(np.int64) if len(rows) else rows


def _keys(scan: Scan) -> Int64s:
    """Return the sorted keys of the rows that are kept: time << bits | row."""
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
    """Return keys that have ranks instead of times, because the times do not fit into a key."""
    order = np.argsort(ts, kind="stable")
    found = ts[order]
    rank = np.cumsum(np.concatenate([[0], found[1:] != found[:-1]]))
    return np.asarray((rank << bits) | order, np.int64)
