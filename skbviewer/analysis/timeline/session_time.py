# SPDX-License-Identifier: MIT
"""Session times of packets, by their numbers and interfaces, because clocks are set and differ.

Input: the time base, and the column chunks of table `packet`.  Output: ns of session time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from ...records.types import Int64s


class Clock(Protocol):
    """Converts times of a source's clock to session time, ns."""

    def to_session(self, source: int, ts: Int64s) -> Int64s: ...
    def to_source(
        self, source: int, session_ns: Int64s, interface: int | None = None
    ) -> Int64s: ...
    def of_packets(
        self, source: int, ts: Int64s, number: Int64s, interface: Int64s | None = None
    ) -> Int64s: ...
    def interfaces(self, source: int) -> tuple[int, ...]: ...
    def error(self, source: int, interface: int | None = None) -> int: ...


class Columns(Protocol):
    """Column chunks: see store.Columns."""

    def array(self, table: str, column: str) -> Any: ...  # numbers
    def once(self, table: str, column: str) -> Any: ...
    def pieces(self, table: str, *columns: str) -> Iterator[tuple[int, tuple[Any, ...]]]: ...
    def length(self, table: str) -> int: ...


def packet_times(columns: Columns, clock: Clock, source: int, rows: Int64s, ts: Int64s) -> Int64s:
    """Return session times of packets of one capture: `rows` are 0-based, `ts` has no UNTIMED."""
    interface = None
    if clock.interfaces(source):
        interface = np.asarray(columns.array("packet", "interface"))[rows]
    return clock.of_packets(source, ts, rows + 1, interface)
