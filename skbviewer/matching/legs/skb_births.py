# SPDX-License-Identifier: MIT
"""Find the times at which skbs were born, as far as the log shows births.

Input: the records of one KBL with their series.  Output: a time for each series.  No sniffer stamps
an skb before its birth.  So a recorded birth bounds the time of the stamp, even if other records
are missing.
"""

from __future__ import annotations

import numpy as np

from ...records import Records, part
from ...records.compiled import allocation_free
from ...records.kernel_events import BIRTHS, Trait, numbers_with
from ...records.types import EARLIEST_NS, Int32s, Int64s
from ..arrays.record_column_blocks import Rows, record_blocks
from ..lifetimes.skb_lifetimes import SeriesTable
from ..record_kinds import EVENT
from .calls_after_skb_release import first_records, last_life_events

OWN_BIRTHS = tuple(set(BIRTHS) - set(numbers_with(Trait.CHILD)))
LIFE_EVENTS = (*BIRTHS, *numbers_with(Trait.FREE, Trait.RELEASE, Trait.MERGED))


def births(records: Records, series: SeriesTable) -> Int64s:
    """Return the time (ns) of each series' birth; EARLIEST_NS if the log does not show it.

    The log shows the birth of a series if the last birth or end at the skb's address before the
    first record of the series is a birth.
    """
    made = np.full(len(series.parent), EARLIEST_NS)
    first = _first_records(records, series)
    known = np.flatnonzero(first >= 0)
    index = first[known]
    last = last_life_events(records, series, index, LIFE_EVENTS)
    own = part(records, "kind", index) == EVENT
    own &= np.isin(part(records, "event", index), OWN_BIRTHS)
    last = np.where(own, index, last)
    is_birth = last >= 0
    is_birth[is_birth] = np.isin(part(records, "event", last[is_birth]), BIRTHS)
    made[known[is_birth]] = series.met[first_records(records, series, last[is_birth])]
    return made


def _first_records(records: Records, series: SeriesTable) -> Int64s:
    """Return for each series its first record with an address, or -1."""
    made = np.full(len(series.parent), -1, np.int64)
    for some in record_blocks(records):
        _see(some.start, series.of[some], Rows(records, some)["skb"], made)
    return made


@allocation_free
def _see(start: int, of: Int32s, skb: Int64s, first: Int64s) -> None:
    for i in range(len(of)):
        if of[i] >= 0 and skb[i] != 0 and first[of[i]] < 0:
            first[of[i]] = start + i
