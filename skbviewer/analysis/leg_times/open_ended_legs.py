# SPDX-License-Identifier: MIT
"""Find legs whose birth or end may have been lost, by the use of skb addresses.

Input: a KBL that lost records, its lifetimes and legs.  Output: a flag for each leg.  An skb
address holds one packet at a time.  So if a lifetime has no recorded end, it ended before the next
lifetime at its address began.  If a lifetime has no recorded birth, it began after the last record
of the previous lifetime at its address.  If records were lost between the two lifetimes, the loss
may be the reason.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...matching import RECEIVE_START, IntIndex, LegTable, Rows, SeriesTable, record_blocks
from ...records import KernelLog
from ...records.types import Bools, Int32s, Int64s, UInt8s
from ..calls.record_loss_times import Spans
from .open_ended_leg_loops import (
    BEGIN,
    CLOSE,
    END,
    EVENT,
    EVENTS,
    FIELDS,
    FRESH,
    IS_CHILD,
    KINDS,
    MET,
    NEAR,
    UNSEEN,
    end_addresses,
    follow_addresses,
)


class _Found(NamedTuple):
    """What the use of addresses shows about the births and ends of lifetimes.

    Each leg has `bits`.  If the birth of a leg is missing, `begun` is the kind of its first record.
    If the end of a leg is missing, `by` is the kind of its last record.  The kind of a record is
    its event, or EVENTS + its function.  `seen` is the number of recorded births and ends for each
    kind of leg.  `quiet` is, for each kind of last record, the number of lifetimes that have no
    recorded end although no records were lost.
    """

    bits: UInt8s
    begun: Int32s
    by: Int32s
    seen: Int64s
    quiet: Int64s


def open_ended(log: KernelLog, series: SeriesTable, legs: LegTable, spans: Spans) -> Bools:
    """Return for each leg whether a loss may be why its birth or its end is not recorded.

    The loss must lie between the leg and the lifetime before or after it at its address.  The loss
    explains the missing record if most legs of the same kind have this record, or if the loss is at
    most REACH_NS away.  A loss nearby does not explain why the birth is missing if the leg begins
    in RECEIVE_START.

    After some kinds of last records, the end is often missing without a loss.  These are the kinds
    of last records for which at least half of the lifetimes without a recorded end ended while no
    records were lost.  After a last record of such a kind, a loss does not explain the missing end.
    But a loss does explain the missing end if records were lost within CLOSE_NS after the leg's
    last record.
    """
    count, functions = len(legs.rows), max(log.probes, default=-1) + 1
    found = _Found(
        np.zeros(count, np.uint8),
        np.zeros(count, np.int32),
        np.zeros(count, np.int32),
        np.zeros((2, KINDS), np.int64),
        np.zeros(EVENTS + functions, np.int64),
    )
    kind = np.array(legs.rows["kind"], np.uint8)
    _look(log, series, legs, kind, spans, found)
    receives = np.zeros(len(found.quiet), np.bool_)
    receives[[EVENTS + p.id for p in log.probes.values() if p.name in RECEIVE_START]] = True
    begins = _explained(kind, found, 0, receives[found.begun])
    ends = _explained(kind, found, 1, np.zeros(count, np.bool_))
    hits = np.bincount(found.by[ends], minlength=len(found.quiet))
    usual = (found.quiet >= hits)[found.by] & (found.bits & (CLOSE << END) == 0)
    return np.asarray(begins | (ends & ~usual))


def _explained(kind: UInt8s, found: _Found, number: int, usual: Bools) -> Bools:
    """Return for each leg whether a loss may have swallowed its birth (`number` 0) or end (1).

    `usual` marks the legs for which a missing record is normal.
    """
    bits = found.bits >> np.uint8((BEGIN, END)[number])
    met, unseen = (bits & MET) != 0, (bits & UNSEEN) != 0
    missing = np.bincount(kind[unseen & ~met], minlength=KINDS)
    as_a_rule = found.seen[number] + (number == 0) > missing  # births, unless the log contradicts
    return np.asarray(met & (as_a_rule[kind] | (((bits & NEAR) != 0) & ~usual)))


def _look(
    log: KernelLog, series: SeriesTable, legs: LegTable, kind: UInt8s, spans: Spans, found: _Found
) -> None:
    of_series = np.array(legs.rows["series"], np.int64)
    is_first = np.r_[True, of_series[1:] != of_series[:-1]][: len(of_series)]
    parent = np.array(series.parent, np.int64)
    addresses, state = IntIndex(), np.zeros((0, FIELDS), np.int64)
    for some in record_blocks(log.records):
        rows = Rows(log.records, some)
        ts, kinds, event, func, skb, data = rows.columns("ts kind event func skb data")
        of = legs.of[some]
        child = (kinds == EVENT) & IS_CHILD[event] & (of >= 0)
        own, made = (
            addresses.numbers_of(np.where(of >= 0, skb, 0)),
            addresses.numbers_of(np.where(child, data, 0)),
        )
        state = _longer(state, addresses.count)
        follow_addresses(
            ts, kinds, event, func, of, own, made, state, of_series, is_first, kind, parent,
            spans.begins, spans.ends, *found,
        )  # fmt: skip
    end_addresses(state, spans.begins, spans.ends, *found)


def _longer(state: Int64s, count: int) -> Int64s:
    if count <= len(state):
        return state
    made = np.empty((max(count, 2 * len(state)), FIELDS), np.int64)
    made[: len(state)], made[len(state) :] = state, FRESH
    return made
