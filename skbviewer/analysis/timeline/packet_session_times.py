# SPDX-License-Identifier: MIT
"""Session times of packets.

The session time of a packet depends on its number and its interface, because a clock may be set
during a capture, and interfaces may have clocks of their own.

Input: the time base, and the column chunks of table `packet`.  Output: times in ns of session time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from ...records.types import Int64s


class Clock(Protocol):
    """Converts times on the clocks of sources into session time, and back; in ns."""

    def to_session(self, source: int, ts: Int64s) -> Int64s:
        """Return the times `ts`, on the clock of `source`, as session times (ns)."""

    def to_source(self, source: int, session_ns: Int64s, interface: int | None = None) -> Int64s:
        """Return the session times `session_ns` as times (ns) on the clock of `source`.

        If `interface` is given, the times are on the clock of this interface of the capture.
        """

    def of_packets(
        self, source: int, ts: Int64s, number: Int64s, interface: Int64s | None = None
    ) -> Int64s:
        """Return the session times (ns) of packets in the capture `source`.

        Each packet has a time `ts` on the capture's clock, a `number` (from 1), and an `interface`.
        """

    def spans(self, source: int, begin: int | None, end: int | None) -> list[tuple[int, int]]:
        """Return spans (first, last) on a source's clock that include session times in the range.

        `begin` and `end` limit the range (ns of session time); None means no limit.
        """

    def interfaces(self, source: int) -> tuple[int, ...]:
        """Return the interfaces of a capture that have their own clocks; () if all share one."""

    def error(self, source: int, interface: int | None = None) -> int:
        """Return the possible error (ns) of session times of a source, or of one interface."""


class Columns(Protocol):
    """The columns of a session, stored in chunks: see store.Columns."""

    def array(self, table: str, column: str) -> Any:
        """Return a whole column of numbers, and keep it in memory."""

    def once(self, table: str, column: str) -> Any:
        """Return a whole column, but do not keep it in memory."""

    def pieces(self, table: str, *columns: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Yield (first row, values of each column) for each block of rows."""

    def length(self, table: str) -> int:
        """Return the number of rows of `table`."""


def packet_times(columns: Columns, clock: Clock, source: int, rows: Int64s, ts: Int64s) -> Int64s:
    """Return the session times (ns) of packets in the capture `source`.

    `rows` are the packets' 0-based rows.  `ts` are their capture times; none of them may be
    UNTIMED.
    """
    interface = None
    if clock.interfaces(source):
        interface = np.asarray(columns.array("packet", "interface"))[rows]
    return clock.of_packets(source, ts, rows + 1, interface)
