# SPDX-License-Identifier: MIT
"""Pair the events that begin and end something: interrupts by CPU, system calls by thread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....records.types import Int64s
from ...scope import Scope


class Pairs(NamedTuple):
    """Pairs of events: log, CPU, thread, data of both events, and the time between them (ns).

    `begin` is when the first event of the pair happened (ns on the log's clock).  `event` is the
    0-based row of this first event.
    """

    source: Int64s
    cpu: Int64s
    pid: Int64s
    data: Int64s
    result: Int64s
    ns: Int64s
    begin: Int64s
    event: Int64s


def pairs_of(scope: Scope, begins: int, ends: int, by: str) -> Pairs:
    """Return pairs: an event of kind `begins` in the range of time, and the next event `ends`.

    `by` is "cpu" or "pid": what both events of a pair must have in common.  Events without a
    partner are left out, and so are pairs between whose events records were lost.  Raises
    Cancelled.
    """
    scope.progress.report("Counting", 0, 0)
    event = scope.columns.array("event", "event")
    rows = np.flatnonzero((event == begins) | (event == ends))
    source, ts, of = (scope.of_event(name, rows) for name in ("source", "ts", by))
    order = np.lexsort((rows, ts, of, source))
    rows, source, ts, of = rows[order], source[order], ts[order], of[order]
    first = np.asarray(event[rows] == begins)
    pair = first[:-1] & ~first[1:] & (source[1:] == source[:-1]) & (of[1:] == of[:-1])
    at = np.flatnonzero(pair)
    at = at[scope.in_range(source[at], ts[at])]
    at = at[~scope.lost_between(source[at], ts[at], ts[at + 1])]
    return Pairs(
        source[at],
        scope.of_event("cpu", rows[at]),
        scope.of_event("pid", rows[at]),
        scope.of_event("data", rows[at]),
        scope.of_event("data", rows[at + 1]),
        ts[at + 1] - ts[at],
        ts[at],
        rows[at],
    )
