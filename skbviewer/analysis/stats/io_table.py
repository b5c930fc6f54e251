# SPDX-License-Identifier: MIT
"""Packets, bits, time in kernel and drops over time: `skbviewer stats io`.

Intervals count from the time of packet 1, as in tshark's `-z io,stat`; without a capture, from the
begin of the first leg in a kernel log.
"""

from __future__ import annotations

from typing import NamedTuple

from ...records import UNTIMED
from ..graphs.io_graph_series import UNKNOWN, io_series
from ..scope import Scope


class IoRow(NamedTuple):
    """One interval of time.

    Times in kernel are those of packets captured in the interval; None if unknown.
    """

    after_ns: int  # begin of the interval, since the zero of the Time column
    packets: int
    bits: int  # on the wire
    p50_ns: int | None
    p90_ns: int | None
    p99_ns: int | None
    max_ns: int | None
    drops: int


def io_rows(scope: Scope) -> list[IoRow]:
    """Return a row for each interval; empty intervals between others have rows, too.

    Raises Cancelled.  Raises KeyError, with a message, if the intervals that the user chose are too
    short.
    """
    rows: list[IoRow] = []
    for one in io_series([scope], scope.interval_ns):
        times = (one.p50_ns, one.p90_ns, one.p99_ns, one.max_ns)
        known = [[None if ns == UNKNOWN else ns for ns in column.tolist()] for column in times]
        after = [one.after_ns + at * one.interval_ns for at in range(len(one.packets))]
        counts = (one.packets.tolist(), one.bits.tolist())
        columns = (after, *counts, *known, one.drops.tolist())
        rows += [IoRow(*row) for row in zip(*columns, strict=True)]
    return rows


def zero_notes(scope: Scope, rows: list[IoRow]) -> tuple[str, ...]:
    """Return a sentence about the time from which `rows` count, if this is not packet 1's time."""
    if not rows:
        return ()
    if not scope.columns.length("packet"):
        return ("there is no capture, so times count from the first leg in the kernel log",)
    if scope.columns.array("packet", "ts")[0] == UNTIMED:
        return ("packet 1 has no time, so times count from the start of the first interval",)
    if rows[0].after_ns < 0:
        return ("times count from packet 1, so intervals before packet 1 have negative times",)
    return ()
