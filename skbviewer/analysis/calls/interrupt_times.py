# SPDX-License-Identifier: MIT
"""The times when interrupts ran, as far as the log shows them.

Input: the records of a KBL.  Output: intervals, and the number of probed calls in them.  Interrupts
are derived from their events (irq, softirq) and from calls of a higher context on the same CPU.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...matching import Rows, record_blocks
from ...records import Gathered, Records, Scratch, scratch_of
from ...records.types import Int32s, Int64s
from .interrupt_loops import (
    COLUMNS,
    END,
    FIELDS,
    LEVELS,
    PLACE,
    RECORD,
    order_intervals,
    pair_events,
    unite,
)
from .probed_calls import Probed
from .recorded_cpus import cpus_of


class Interrupts(NamedTuple):
    """Intervals in order of time that do not overlap.

    Those of a context and CPU begin at index first[cpus_of(records) * context + CPU].  `total` is
    the length of all intervals before each one; `calls` and `with_skb` count the probed calls in
    these.
    """

    first: Int32s
    begin: Int64s
    end: Int64s
    total: Int64s
    calls: Int32s
    with_skb: Int32s


def interrupts(records: Records, probed: Probed) -> Interrupts:
    """Return when interrupts ran, by context and CPU; `probed` marks the calls to be counted."""
    places = LEVELS * cpus_of(records)
    spans, scratch, done = _spans(records, places), scratch_of(records), np.zeros(1, np.int64)
    last = np.zeros((len(FIELDS), places), np.int64)
    last[END] = -1
    united = tuple(Gathered(scratch, field) for field in FIELDS)
    made = np.empty((len(FIELDS), 0), np.int64)
    for some in record_blocks(records):
        ts, leave, kind, context, cpu = Rows(records, some).columns(COLUMNS)
        if made.shape[1] < LEVELS * len(ts):
            made = np.empty((len(FIELDS), LEVELS * len(ts)), np.int64)
        every, with_skb = probed.every[some], probed.with_skb[some]
        count = unite(
            some.start, ts, leave, kind, context, cpu, every, with_skb, spans, done, last, made
        )
        for column, values, field in zip(united, made[:, :count], FIELDS, strict=True):
            column.add(values.astype(field))
    last[PLACE] = np.arange(places)
    for column, values, field in zip(united, last[:, last[END] >= 0], FIELDS, strict=True):
        column.add(values.astype(field))
    return _ordered(scratch, places, *(column.whole() for column in united))


def _ordered(
    scratch: Scratch,
    places: int,
    where: Int64s,
    begin: Int64s,
    end: Int64s,
    calls: Int32s,
    with_skb: Int32s,
) -> Interrupts:
    """Sort intervals by place (FIELDS), and sum them up."""
    size = np.bincount(where, minlength=places)
    first = np.append(0, np.cumsum(size))
    times = [scratch.take(len(where) + more, np.int64) for more in (0, 0, 1)]
    numbers = [scratch.take(len(where) + 1, np.int32) for _ in range(2)]
    order_intervals(where, begin, end, calls, with_skb, first[:-1].copy(), *times, *numbers)
    return Interrupts(first.astype(np.int32), *times, *numbers)


def _spans(records: Records, places: int) -> Int64s:
    """Return interrupts with entry and exit events, in order of entry: an array of shape (4, n)."""
    last = np.full(places, -1, np.int64)
    parts = [np.zeros((4, 0), np.int64)]
    for some in record_blocks(records):
        rows = Rows(records, some)
        made = np.empty((4, some.stop - some.start), np.int64)
        ts, kind, event, cpu = rows.columns("ts kind event cpu")
        count = pair_events(some.start, ts, kind, event, cpu, last, made)
        parts.append(made[:, :count].copy())
    every = np.concatenate(parts, axis=1)
    return np.ascontiguousarray(every[:, np.argsort(every[RECORD], kind="stable")])
