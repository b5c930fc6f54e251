# SPDX-License-Identifier: MIT
"""Session times of packets.

They depend on a packet's number and interface: a clock may be set during a capture, and interfaces
may have clocks of their own.

Input: the time base, and the column chunks of table `packet`.  Output: ns of session time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from ...records.types import Int64s


class Clock(Protocol):
    """Converts times of a source's clock to session time, ns."""

    def to_session(self, source: int, ts: Int64s) -> Int64s:
        """Return the session times of `ts`, times on the clock of `source`."""

    def to_source(self, source: int, session_ns: Int64s, interface: int | None = None) -> Int64s:
        """Return the session times `session_ns` as times on the clock of `source`.

        If `interface` is given, the clock is that of this interface of a capture.
        """

    def of_packets(
        self, source: int, ts: Int64s, number: Int64s, interface: Int64s | None = None
    ) -> Int64s:
        """Return the session times of packets of the capture `source`.

        By packet: `ts` on the capture's clock, its `number` (n, from 1), and its `interface`.
        """

    def spans(self, source: int, begin: int | None, end: int | None) -> list[tuple[int, int]]:
        """Return the times (first, last) of a source's clock that may be from `begin` to `end`."""

    def interfaces(self, source: int) -> tuple[int, ...]:
        """Return the interfaces of a capture that have clocks of their own."""

    def error(self, source: int, interface: int | None = None) -> int:
        """Return the possible error (ns) of the session times of a source or of one interface."""


class Columns(Protocol):
    """Column chunks: see store.Columns."""

    def array(self, table: str, column: str) -> Any:
        """Return a whole column of numbers, and keep it in memory."""

    def once(self, table: str, column: str) -> Any:
        """Return a whole column without keeping it in memory."""

    def pieces(self, table: str, *columns: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Yield (first row, values of each column) in blocks of rows."""

    def length(self, table: str) -> int:
        """Return the number of rows of `table`."""


def packet_times(columns: Columns, clock: Clock, source: int, rows: Int64s, ts: Int64s) -> Int64s:
    """Return the session times (ns) of packets of the capture `source`.

    `rows` are the packets' 0-based rows.  `ts` are their times of capture; none of them is UNTIMED.
    """
    interface = None
    if clock.interfaces(source):
        interface = np.asarray(columns.array("packet", "interface"))[rows]
    return clock.of_packets(source, ts, rows + 1, interface)
