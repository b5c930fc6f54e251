# SPDX-License-Identifier: MIT
"""The time at which the function of each record got its skb.

A function gets its skb at its entry, or at its return if it returns the skb.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records import Records, part
from ...records.types import Int32s, Int64s

Rows = slice | npt.NDArray[np.integer] | npt.NDArray[np.bool_]


class RecordTimes:
    """For each record (by index), the time (ns) at which its function got the skb."""

    def __init__(self, records: Records, record: Int32s, exit_ts: Int64s) -> None:
        """Use `exit_ts` for the records `record` (sorted indices), the entry for all others."""
        self._records, self.record, self.exit_ts = records, record, exit_ts

    def __getitem__(self, rows: Rows) -> Int64s:
        made = part(self._records, "ts", rows).copy()
        if not len(self.record):
            return made
        if isinstance(rows, slice):
            begin, end, _ = rows.indices(len(self._records))
            mine = slice(*np.searchsorted(self.record, (begin, end)))
            made[self.record[mine] - begin] = self.exit_ts[mine]
            return made
        item = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        place = np.minimum(np.searchsorted(self.record, item), len(self.record) - 1)
        return np.where(self.record[place] == item, self.exit_ts[place], made)
