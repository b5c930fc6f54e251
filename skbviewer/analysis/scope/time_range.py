# SPDX-License-Identifier: MIT
"""Find the times of a source, and the rows of a table, that are in a range of session time.

Rows are found by the bounds of column chunks.  So only a few chunks are read for a short range of a
long recording.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Int64s
from ...store import Columns
from ..timeline.packet_session_times import Clock, packet_times


class TimeRange(NamedTuple):
    """The session times from begin_ns up to, but not including, end_ns; None means no limit."""

    columns: Columns
    clock: Clock
    begin_ns: int | None
    end_ns: int | None

    @property
    def is_limited(self) -> bool:
        """Return whether the range has a limit at all."""
        return self.begin_ns is not None or self.end_ns is not None

    def has(self, source: Int64s, ts: Int64s, rows: Int64s | None = None) -> Bools:
        """Return for each time `ts` (ns on the clock of `source`) whether it is in the range.

        If the times are those of packets, `rows` must have the 0-based numbers of the packets,
        because their times are converted by capture and interface.
        """
        inside = np.ones(len(ts), np.bool_)
        if not self.is_limited:
            return inside
        begin, end = self.begin_ns, self.end_ns
        for number in np.flatnonzero(np.bincount(source)).tolist():
            mine = np.flatnonzero(source == number)
            if rows is None:
                when = self.clock.to_session(number, ts[mine])
            else:
                when = packet_times(self.columns, self.clock, number, rows[mine], ts[mine])
            inside[mine] = (begin is None or when >= begin) & (end is None or when < end)
        return inside

    def meets(self, source: int, spans: Sequence[tuple[int, int]]) -> bool:
        """Return whether one of `spans` overlaps the range.

        A span is (begin, end), in ns on the clock of `source`.
        """
        if not len(spans) or not self.is_limited:
            return len(spans) > 0
        times = np.array(spans, np.int64)
        first, last = self.clock.to_session(source, times.ravel()).reshape(-1, 2).T
        begin, end = self.begin_ns, self.end_ns
        return bool(np.any((begin is None or last >= begin) & (end is None or first < end)))

    def rows(self, table: str, column: str, sources: Iterable[int]) -> Int64s:
        """Return rows of `table` (0-based, rising) that include all rows in the range of time.

        `column` has the times, on the clocks of `sources`.  Rows outside the range may be among the
        returned rows.
        """
        if not self.is_limited:
            return np.arange(self.columns.length(table))
        spans = [self.clock.spans(one, self.begin_ns, self.end_ns) for one in sources]
        return self.columns.rows_within(table, column, [span for of in spans for span in of])
