# SPDX-License-Identifier: MIT
"""When an skb may have been stamped, if it may be a copy of another one."""

from __future__ import annotations

import numpy as np

from skbviewer.matching.legs.leg_cutting import LEG_DTYPE, LegTable
from skbviewer.matching.legs.leg_cutting_loops import RX, TX
from skbviewer.matching.legs.tap_moments import WAIT_NS, Arrival, perhaps_of_originals
from skbviewer.records import ColumnTable

BEGIN = 5_000_000_000


def legs(*kinds: int) -> LegTable:
    """One leg of each of these kinds, each of a lifetime of its own."""
    rows = np.zeros(len(kinds), LEG_DTYPE)
    rows["series"], rows["kind"] = np.arange(len(kinds)), kinds
    columns = {name: rows[name].copy() for name in LEG_DTYPE.names or ()}
    none = np.zeros(0, np.int32)
    return LegTable(ColumnTable(LEG_DTYPE, columns), none, none.astype(np.int64))


def test_a_received_skb_without_a_birth_may_have_the_stamp_of_its_original() -> None:
    shown = Arrival(np.full(4, BEGIN), np.ones(4, np.bool_))
    is_unborn = np.array([True, False, True, False])
    made = perhaps_of_originals(legs(RX, RX, TX, TX), is_unborn, shown)
    assert made.ns.tolist() == [BEGIN - WAIT_NS, BEGIN, BEGIN, BEGIN]
    assert made.shown.tolist() == [False, True, True, True]
