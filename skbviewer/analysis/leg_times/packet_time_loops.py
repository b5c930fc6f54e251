# SPDX-License-Identifier: MIT
"""Add up times of legs that overlap, each nanosecond once, in loops for packet_times.py."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.compiled import Int, allocation_free, compiled
from ...records.types import Bools, Int32s, Int64s, UInt8s
from ..words.wait_kinds import BUSY, LOST, RANKS

KERNEL_NS, BUSY_NS, UNKNOWN_NS, CPU_NS = range(4)  # rows of sums
NAMES = ("kernel_ns", "busy_ns", "unknown_ns", "cpu_ns")


class SpentLegs(NamedTuple):
    """For each leg: begin and end, sums of times (ns), and `gap`: whether it may lack records.

    The waits of a leg are the rows from at[leg] to at[leg + 1] of `kind`, `wait_begin` and
    `wait_end`.
    """

    begin: Int64s
    end: Int64s
    busy: Int64s
    unknown: Int64s
    cpu: Int64s
    gap: Bools  # its records may be lost
    at: Int32s
    kind: UInt8s
    wait_begin: Int64s
    wait_end: Int64s


@compiled
def sum_groups(
    group: Int64s,
    leg: Int64s,
    legs: SpentLegs,
    made: Int64s,
    own: Int64s,
    open_: Int64s,
    waits: int,
) -> None:
    """Write the sums of times (ns) of each group of legs into `made`.

    A group has the legs of a packet, or of an skb lifetime.

    group[i] is the group of leg[i]; both arrays are sorted by group.  `made` has a column for each
    group.  If a leg of a group lacks records, the column of the group is left as it is.  `own` and
    `open_` are scratch space.  `waits` is the largest number of waits that a leg has.
    """
    i = 0
    while i < len(group):
        size, known, apart, end = 0, True, True, np.int64(0)
        one = group[i]
        while i < len(group) and group[i] == one:
            at = size
            while at > 0 and legs.begin[own[at - 1]] > legs.begin[leg[i]]:
                own[at] = own[at - 1]
                at -= 1
            own[at] = leg[i]
            known = known and not legs.gap[leg[i]]
            size += 1
            i += 1
        if not known:
            continue
        for k in range(size):
            apart = apart and (k == 0 or legs.begin[own[k]] >= end)
            end = max(end, legs.end[own[k]])
        made[:, one] = 0
        for k in range(size):
            made[CPU_NS, one] += legs.cpu[own[k]]
            if apart:
                made[KERNEL_NS, one] += legs.end[own[k]] - legs.begin[own[k]]
                made[BUSY_NS, one] += legs.busy[own[k]]
                made[UNKNOWN_NS, one] += legs.unknown[own[k]]
        if not apart:
            most = size * (2 * waits + 1)
            rank, times = np.empty(most, np.int64), np.empty(2 * most, np.int64)
            spans = np.int64(0)
            for k in range(size):
                spans = _paint(own[k], legs, rank, times, spans)
            _sweep(np.argsort(times[: 2 * spans]), rank, times, open_, made[:, one])


@allocation_free
def _paint(leg: Int, legs: SpentLegs, rank: Int64s, times: Int64s, count: Int) -> np.int64:
    """Append the spans of a leg to `rank` and `times`; return the new number of spans."""
    at, end = legs.begin[leg], legs.end[leg]
    for k in range(legs.at[leg], legs.at[leg + 1]):
        begin, until = min(legs.wait_begin[k], end), min(legs.wait_end[k], end)
        if begin > at:
            rank[count], times[2 * count], times[2 * count + 1] = BUSY, at, begin
            count += 1
        if until > begin:
            rank[count], times[2 * count], times[2 * count + 1] = legs.kind[k], begin, until
            count += 1
            at = until
    if end > at:
        rank[count], times[2 * count], times[2 * count + 1] = BUSY, at, end
        count += 1
    return np.int64(count)


@allocation_free
def _sweep(order: Int64s, rank: Int64s, times: Int64s, open_: Int64s, made: Int64s) -> None:
    """Add the time (ns) of each rank to `made`; while several ranks are open, the lowest counts."""
    open_[:] = 0
    at = np.int64(0)
    for i in range(len(order)):
        now = times[order[i]]
        if now > at:
            for each in range(RANKS):
                if open_[each] > 0:
                    made[KERNEL_NS] += now - at
                    made[BUSY_NS] += now - at if each == BUSY else 0
                    made[UNKNOWN_NS] += now - at if each >= LOST else 0
                    break
            at = now
        open_[rank[order[i] // 2]] += 1 if order[i] % 2 == 0 else -1
