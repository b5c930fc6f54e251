# SPDX-License-Identifier: MIT
"""The times when interrupts ran, as far as the log shows them.

Input: the records of a KBL.  Output: intervals, and what probes and events cost in each of them.
Interrupts are found by their events (irq, softirq), and by calls in a higher context on the same
CPU.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...matching import Rows, record_blocks
from ...records import Gathered, Records, Scratch, scratch_of
from ...records.types import Int32s, Int64s
from .interrupt_time_loops import (
    COLUMNS,
    END,
    EVENTS,
    LEVELS,
    PLACE,
    RECORD,
    order_intervals,
    pair_events,
    unite,
)
from .probe_cost_per_record import Costs
from .recorded_cpus import cpus_of

ROWS = EVENTS + 1


class Interrupts(NamedTuple):
    """The intervals in which interrupts ran, sorted by context, CPU and time, without overlaps.

    The intervals that interrupted a context on a CPU begin at row first[cpus_of(records) * context
    + CPU].  `total` is the length (ns) of all intervals before each interval.  `probes_ns` and
    `events_ns` are the costs of all probes and of all events before each interval.
    """

    first: Int32s
    begin: Int64s
    end: Int64s
    total: Int64s
    probes_ns: Int64s
    events_ns: Int64s


def interrupts(records: Records, costs: Costs) -> Interrupts:
    """Return the intervals in which interrupts ran, and what probes and events cost in them."""
    places = LEVELS * cpus_of(records)
    spans, scratch, done = _spans(records, places), scratch_of(records), np.zeros(1, np.int64)
    last = np.zeros((ROWS, places), np.int64)
    last[END] = -1
    united = tuple(Gathered(scratch, np.int64) for _ in range(ROWS))
    made = np.empty((ROWS, 0), np.int64)
    for some in record_blocks(records):
        ts, leave, kind, context, cpu, left_on = Rows(records, some).columns(COLUMNS)
        if made.shape[1] < LEVELS * len(ts):
            made = np.empty((ROWS, LEVELS * len(ts)), np.int64)
        count = unite(
            some.start, ts, leave, kind, context, cpu, left_on,
            costs.probes(some), costs.events(some), spans, done, last, made,
        )  # fmt: skip
        for column, values in zip(united, made[:, :count], strict=True):
            column.add(values.copy())
    last[PLACE] = np.arange(places)
    for column, values in zip(united, last[:, last[END] >= 0], strict=True):
        column.add(values.copy())
    return _ordered(scratch, places, *(column.whole() for column in united))


def _ordered(
    scratch: Scratch,
    places: int,
    where: Int64s,
    begin: Int64s,
    end: Int64s,
    probes: Int64s,
    events: Int64s,
) -> Interrupts:
    """Sort intervals by context and CPU (encoded in `where`), and sum up lengths and costs."""
    size = np.bincount(where, minlength=places)
    first = np.append(0, np.cumsum(size))
    columns = [scratch.take(len(where) + more, np.int64) for more in (0, 0, 1, 1, 1)]
    order_intervals(where, begin, end, probes, events, first[:-1].copy(), *columns)
    return Interrupts(first.astype(np.int32), *columns)


def _spans(records: Records, places: int) -> Int64s:
    """Return interrupts with entry and exit events, in order of entry, as an array with 4 rows."""
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
