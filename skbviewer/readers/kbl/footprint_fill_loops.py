# SPDX-License-Identifier: MIT
"""Copy footprints to records in order of time: loops of footprint_fill.py."""

from __future__ import annotations

import numpy as np

from ...records import kbl_layout as kbl
from ...records.compiled import Int, allocation_free
from ...records.types import Int64s
from .record_column_loops import Rows
from .slot_scan_loops import CARRY, ENTRY, EVENT, FOOTPRINT

UNREAD = kbl.KBL_FLAG_EXT_LOST
STEP = 1 << 22  # number of records after which their pages are returned to the system
SMALLEST = 1 << 12  # slots of a new table; a power of two
KEY_SKB, KEY_CPU, PRINT, ERA, FIELDS = range(5)
SPREAD = 0x9E3779B97F4A7C15 - (1 << 64)  # 2^64 / golden ratio


@allocation_free
def move_slots(table: Int64s, larger: Int64s) -> None:
    """Insert all used slots of `table` into the larger table, which must be empty."""
    for i in range(len(table)):
        if table[i, KEY_SKB] != 0:
            at = _find(larger, table[i, KEY_SKB], table[i, KEY_CPU])
            for field in range(FIELDS):
                larger[at, field] = table[i, field]


@allocation_free
def _find(table: Int64s, skb: Int, cpu: Int) -> Int:
    """Return the slot of an skb (not 0) on this CPU, or the free slot for it."""
    mask = len(table) - 1
    mixed = (skb ^ cpu << 48) * SPREAD
    at = (mixed >> 32) & mask
    while table[at, KEY_SKB] != 0 and (table[at, KEY_SKB] != skb or table[at, KEY_CPU] != cpu):
        at = (at + 1) & mask
    return at


@allocation_free
def fill_records(
    rows: Rows, stop: int, times: Int64s, cpus: Int64s, eras: Int64s, table: Int64s, state: Int64s
) -> bool:
    """Give each record without a footprint the last footprint of its skb on its CPU.

    Stops at row `stop`.

    A record gets no footprint if a gap lies between the footprint and the record.  Returns False if
    `table` is too small.  `state` holds the number of the next record, the count of barriers
    passed, and the count of skbs in `table`.  Barriers are gaps, in order of time: `times[i]` on
    `cpus[i]`.  `eras` counts the barriers that each CPU has passed.
    """
    begin, passed, known = state
    # Taking an array out of a tuple inside the loop costs an atomic operation.
    ts, cpu, kind, event, flags = rows.ts, rows.cpu, rows.kind, rows.event, rows.flags
    skb, footprint = rows.skb, rows.footprint
    size, scratch = len(ts), len(table) // 2
    while begin < min(stop, size):
        time, end = ts[begin], begin
        while passed < len(times) and times[passed] <= time:
            eras[cpus[passed]] += 1
            passed += 1
        while end < size and ts[end] == time:  # at equal times the footprint comes first
            if event[end] == FOOTPRINT and kind[end] == EVENT and skb[end] != 0:
                on = np.int64(cpu[end])
                at = _find(table, skb[end], on)
                if table[at, KEY_SKB] == 0:
                    if known >= scratch:
                        state[0], state[1], state[2] = begin, passed, known
                        return False
                    known += 1
                    table[at, KEY_SKB], table[at, KEY_CPU] = skb[end], on
                table[at, PRINT], table[at, ERA] = footprint[end], eras[on]
            end += 1
        for i in range(begin, end):
            asks = kind[i] == ENTRY and (flags[i] & UNREAD) == 0
            asks = asks or (kind[i] == EVENT and event[i] == CARRY)
            if asks and skb[i] != 0 and footprint[i] == 0:
                on = np.int64(cpu[i])
                at = _find(table, skb[i], on)
                if table[at, KEY_SKB] != 0 and table[at, ERA] == eras[on]:
                    footprint[i] = table[at, PRINT]
        begin = end
    state[0], state[1], state[2] = begin, passed, known
    return True
