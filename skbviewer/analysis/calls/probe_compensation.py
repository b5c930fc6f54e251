# SPDX-License-Identifier: MIT
"""The durations that calls would have without probes (see struct kbl_calibration in kbl.h).

Input: calls with their durations and marks, and the probed calls inside them.  Output: columns
`comp_ns` and `comp_err_ns`.  A probed call delays all calls around it equally, whether it is in
their own execution context or in a context that interrupted them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...matching import Nesting
from ...records import Calibration, part
from ...records.types import Int64s
from .call_table import CallTable, Column
from .interruptions import MARK_GAP
from .probed_calls import Probed

Columns = tuple[Column, Column]


def compensated_durations(
    known: Calibration, nesting: Nesting, probed: Probed, in_interrupts: Columns, calls: CallTable
) -> Columns:
    """Return T = T' - empty - K * nested (NetSlice) of each call, and its possible error; ns.

    T is at least 0; both are -1 if T' or K is unknown.  T' is the recorded duration, and K is the
    number of probed calls inside the call and inside interrupts during it.  `in_interrupts` has the
    numbers of probed calls in these interrupts: of all such calls, and of those with a packet.
    error_bar() computes the possible error of T.
    """
    own = nesting.counts_inside(probed.every), nesting.counts_inside(probed.with_skb)

    def inside(which: int, rows: slice) -> Int64s:
        found = in_interrupts[which][rows].astype(np.int64)
        found += own[which][calls.part("entry", rows)]
        return np.asarray(found, np.int64)

    def costs(rows: slice) -> Int64s:
        shown = part(calls.records, "skb", calls.part("entry", rows)) != 0
        taken = inside(0, rows) * known.nested
        taken += inside(1, rows) * (known.skb_nested - known.nested)
        return taken + np.where(shown, known.skb_empty, known.empty)

    def left(rows: slice) -> Column:
        left = np.maximum(calls.part("dur_ns", rows) - costs(rows), 0)
        return np.where(is_known(calls, rows), left, -1)

    def unsure(rows: slice) -> Column:
        wrong = inside(0, rows) * abs(known.skb_nested - known.nested) + known.error
        wrong = error_bar(wrong, costs(rows), calls.part("dur_ns", rows))
        return np.where(is_known(calls, rows), wrong, -1)

    return calls.by_parts(left), calls.by_parts(unsure)


def error_bar(apart: Int64s, costs: Int64s, dur: Int64s) -> Int64s:
    """Return the possible error of durations from which `costs` were subtracted; all in ns.

    The error is at least half of the costs, and at least `apart`, by which the costs of probes with
    and without a packet differ (tests/lab/test_calibration.py).  If the costs exceed the duration
    `dur`, the excess is a lower bound of the error.
    """
    return np.asarray(np.maximum(np.maximum(apart, -(-costs // 2)), costs - dur), np.int64)


def is_known(calls: CallTable, rows: slice) -> npt.NDArray[np.bool_]:
    """Return for each call whether its duration and its inner calls are known."""
    known = (calls.part("dur_ns", rows) >= 0) & ((calls.part("marks", rows) & MARK_GAP) == 0)
    return np.asarray(known, np.bool_)
