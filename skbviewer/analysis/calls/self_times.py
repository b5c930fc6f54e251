# SPDX-License-Identifier: MIT
"""The self time of each call: docs/times.md, "Times of one call".

Input: the records of a KBL, the nesting, and the times when CPUs were interrupted or switched
threads.  Output: the times of each record that is a call, whatever packets the call handled.  The
calls directly inside a call cut its time into parts.  Interrupts and thread switches are searched
in each part separately.  So an interrupt or switch during an inner call counts only for the inner
call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...matching import Nesting, Rows, record_blocks, whole
from ...records import Records, scratch_of
from ...records.types import Int64s
from .interrupt_times import Interrupts
from .self_time_loops import add_stretches, add_totals
from .task_switches import Switches

Cpus = npt.NDArray[np.uint16]


class Between(NamedTuple):
    """The times when CPUs were interrupted, and when they switched threads."""

    higher: Interrupts
    switched: Switches


class SelfTimes(NamedTuple):
    """For each record of a call: self time, time of interrupts, and time switched out (ns).

    `irq_ns` and `off_ns` also count interrupts and switches during inner calls.  `probes_ns` and
    `events_ns` are what the probes of calls and the events in those interrupts cost.  `probes_ns`
    and `events_ns` are empty if all these costs are 0.
    """

    self_ns: Int64s
    irq_ns: Int64s
    off_ns: Int64s
    probes_ns: Int64s
    events_ns: Int64s


def self_times(records: Records, nesting: Nesting, between: Between) -> SelfTimes:
    """Return the times of each record (ns); 0 for a record that is not a call or did not return.

    `between` holds the times of interrupts and of thread switches.
    """
    higher, switched = between
    scratch, count = scratch_of(records), len(records)
    costly = higher.probes_ns[-1] or higher.events_ns[-1]
    sizes = [count] * 3 + [count if costly else 0] * 2
    made = [scratch.full(size, np.int64, 0) for size in sizes]
    at, at_cpu = scratch.take(count, np.int64), scratch.take(count, np.int32)
    near = higher.first.astype(np.int64)
    kind, context = whole(records, "kind", "u1"), whole(records, "context", "u1")
    pid, exit_cpu = whole(records, "pid", "i4"), whole(records, "exit_cpu", "i4")
    exit_ts = whole(records, "exit_ts", "i8")
    runs = switched.first, switched.ts, switched.first.astype(np.int64)
    beside: tuple[Any, ...] = (*runs, *higher, near, *made)
    for some in record_blocks(records):
        ts, cpu = Rows(records, some).columns("ts cpu")
        add_stretches(
            some.start, ts, cpu, kind, context, pid, exit_ts, exit_cpu,
            nesting.parent, nesting.carried, at, at_cpu, *beside,
        )  # fmt: skip
    for some in record_blocks(records, backwards=True):
        add_totals(
            some.start, some.stop, kind, context, pid, exit_ts, exit_cpu,
            nesting.parent, nesting.carried, at, at_cpu, *beside,
        )  # fmt: skip
    return SelfTimes(*made)
