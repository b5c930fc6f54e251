# SPDX-License-Identifier: MIT
"""The durations that calls would have without probes (see struct kbl_calibration in kbl.h).

Input: calls with their durations and marks, and the probed calls inside them.  Output: columns
`comp_ns` and `comp_err_ns`.  The probe of a call delays all calls around the call equally, whether
they run in its context or in a context that it interrupted.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...matching import Nesting
from ...records import Calibration, part
from ...records.types import Int64s
from .call_table import CallTable, Column
from .interruptions import MARK_GAP
from .probe_cost_per_record import Costs

Columns = tuple[Column, Column]


def compensated_durations(
    known: Calibration, nesting: Nesting, costs: Costs, in_interrupts: Columns, calls: CallTable
) -> Columns:
    """Return the duration that each call would have without probes, and its possible error (ns).

    The result is the recorded duration minus three costs: the probe of the call itself (`empty`),
    the probes of calls inside it, and events inside it.  The duration is at least 0.  Duration and
    error are both -1 if the duration is unknown.  What happened in interrupts is also inside the
    call: `in_interrupts` has the costs of the probes and of the events in interrupts. error_bar()
    computes the error.
    """
    own = nesting.sums_inside(costs.probes), nesting.sums_inside(costs.events)

    def inside(which: int, rows: slice) -> Int64s:
        owner = nesting.owner(calls.part("entry", rows))
        return np.asarray(in_interrupts[which][rows] + own[which][owner], np.int64)

    def probes(rows: slice) -> Int64s:
        shown = part(calls.records, "skb", calls.part("entry", rows)) != 0
        return inside(0, rows) + np.where(shown, known.skb_empty, known.empty)

    def left(rows: slice) -> Column:
        left = calls.part("dur_ns", rows) - probes(rows) - inside(1, rows)
        return np.where(is_known(calls, rows), np.maximum(left, 0), -1)

    def unsure(rows: slice) -> Column:
        wrong = error_bar(known, probes(rows), inside(1, rows), calls.part("dur_ns", rows))
        return np.where(is_known(calls, rows), wrong, -1)

    return calls.by_parts(left), calls.by_parts(unsure)


def error_bar(known: Calibration, probes: Int64s, events: Int64s, dur: Int64s) -> Int64s:
    """Return the possible error (ns) of durations from which probe and event costs were subtracted.

    The cost of probes may be wrong by half (tests/lab/test_calibration.py), and at least by the
    difference between calls with and without a packet.  The cost of events is an estimate, so all
    of it may be wrong.  If the two costs together exceed the duration `dur`, the error is at least
    the excess.
    """
    unsure = np.maximum(-(-probes // 2), known.error) + events
    return np.asarray(np.maximum(unsure, probes + events - dur), np.int64)


def is_known(calls: CallTable, rows: slice) -> npt.NDArray[np.bool_]:
    """Return for each call in `rows` whether its duration and all calls inside it are known."""
    known = (calls.part("dur_ns", rows) >= 0) & ((calls.part("marks", rows) & MARK_GAP) == 0)
    return np.asarray(known, np.bool_)
